// What `serve` prints once it listens: its address, how to create the first account, and commands to paste for a first run.

import smaCross from '../../data/samples/sma-cross.pine' with { type: 'text' }
import type { Config } from './config.ts'

/** The address for people on this machine. */
export function addressOf({ HOST, PUBLIC_URL }: Pick<Config, 'HOST' | 'PUBLIC_URL'>, port: number): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  return PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

interface FirstRun {
  readonly setupCode: string
  /** The password in the commands to paste; a fixed one would be known to everybody. */
  readonly password: string
}

/** `first` is null once there is an owner. */
export function welcome(address: string, first: FirstRun | null): string[] {
  if (first === null) return [`Chartroom is at ${address}`]
  return [
    `Chartroom is at ${address}`,
    '',
    'It has no owner yet. Open this link to make the first account, which will own this server:',
    `  ${address}/sign-up?invitation=${first.setupCode}`,
    '',
    'Or paste this: it signs up, runs the sample strategy on 20 years of the S&P 500, and shows the result.',
    '',
    tour(address, first),
    '',
  ]
}

function tour(address: string, { setupCode, password }: FirstRun): string {
  const account = { email: 'owner@example.com', password, invitation: setupCode }
  const backtest = {
    name: 'SMA cross',
    symbol: 'SPX',
    exchange: 'SP',
    interval: '1d',
    bars: 5104,
    inputs: {},
    source: smaCross.replace(/^\/\/(?!@).*\n/gm, ''),
  }
  const call = `curl -s --cookie-jar chartroom.cookie --cookie chartroom.cookie -H 'Content-Type: application/json'`
  return [
    `${call} ${address}/api/auth/sign-up -d ${quoted(account)} &&`,
    `${call} ${address}/api/platform/backtests -o report.json -d ${quoted(backtest)} &&`,
    `${call} ${address}/api/platform/backtests`,
  ].join('\n')
}

/** JSON in single quotes for a shell. An apostrophe would end the quotes, so it is escaped. */
function quoted(value: object): string {
  return `'${JSON.stringify(value).replaceAll("'", '\\u0027')}'`
}
