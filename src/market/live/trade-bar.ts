// A bar as it is made of trades. Volumes are added up as the decimals that they are written as: 0.1 and 0.2 are 0.3.

import type { BarRow } from '../providers/provider.ts'

const DIGITS = 18

interface Trade {
  readonly price: string
  readonly size: string
}

export interface TradeBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** In units of 10^-18. */
  readonly volume: bigint
}

export function firstTrade(time: number, { price, size }: Trade): TradeBar {
  const value = Number(price)
  return { time, open: value, high: value, low: value, close: value, volume: unitsOf(size) }
}

/** A bar that somebody else began. */
export function begunBar([time, open, high, low, close, volume]: BarRow): TradeBar {
  return { time, open, high, low, close, volume: unitsOf(volume.toFixed(DIGITS)) }
}

export function withTrade(bar: TradeBar, { price, size }: Trade): TradeBar {
  const close = Number(price)
  return {
    ...bar,
    high: Math.max(bar.high, close),
    low: Math.min(bar.low, close),
    close,
    volume: bar.volume + unitsOf(size),
  }
}

export function rowOfTrades({ time, open, high, low, close, volume }: TradeBar): BarRow {
  const digits = String(volume).padStart(DIGITS + 1, '0')
  return [time, open, high, low, close, Number(`${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`)]
}

function unitsOf(size: string): bigint {
  const [whole = '0', fraction = ''] = size.split('.')
  return BigInt(whole + fraction.slice(0, DIGITS).padEnd(DIGITS, '0'))
}
