// What `serve` prints once it listens: its address, and how to create the first account.

import type { Config } from './config.ts'

/** The address for people on this machine. */
export function addressOf({ HOST, PUBLIC_URL }: Pick<Config, 'HOST' | 'PUBLIC_URL'>, port: number): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST
  return PUBLIC_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** `setupCode` is null once there is an owner. */
export function welcome(address: string, setupCode: string | null): string[] {
  if (setupCode === null) return [`Chartroom is at ${address}`]
  return [
    `Chartroom is at ${address}`,
    'Open this link to make the first account, which will own this server:',
    `  ${address}/sign-up?invitation=${setupCode}`,
  ]
}
