// Numbers and times as text for traders: with sign and unit, thousands separated, prices rounded to the tick.

import { memo } from '../lib/memo.ts'
import { placesOf } from '../lib/tick-places.ts'

/** An interval as TradingView shows it: 15m, 1h, 1D, 1W, 1M. */
export const intervalText = (interval: string): string =>
  interval.replace(/[dw]$/, (unit) => unit.toUpperCase())

/** A symbol, whatever the interval. */
export interface Named {
  readonly exchange: string
  readonly symbol: string
}

export const nameOf = ({ exchange, symbol }: Named): string => `${exchange}:${symbol}`

/** A series by its name: SP:SPX 1D. */
export const marketText = (of: Named & { readonly interval: string }): string =>
  `${nameOf(of)} ${intervalText(of.interval)}`

/** What the server says, with series as they are named here: SP:SPX 1D. */
export const saidText = (sentence: string): string =>
  sentence.replaceAll(/\S:\S+ \d+[dw]\b/g, (series) => series.slice(0, -1) + series.at(-1)!.toUpperCase())

const decimalsNamed = memo(100, (text): Intl.NumberFormat => {
  const places = Number(text)
  return new Intl.NumberFormat('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })
})
const decimals = (places: number): Intl.NumberFormat => decimalsNamed(String(places))

/** U+2212, as wide as a plus in tabular figures. */
const MINUS = '−'
const DASH = '—'
/** A number that rounds to zero is shown without a sign. */
function signed(text: string, value: number, plus: boolean): string {
  const figures = text.replace('-', '')
  if (!/[1-9]/.test(figures)) return figures
  return value < 0 ? MINUS + figures : plus ? `+${figures}` : figures
}

type Figure = number | null | undefined
const isThere = (value: Figure): value is number => Number.isFinite(value)

export const ratio = (value: Figure, places = 2): string =>
  isThere(value) ? signed(decimals(places).format(value), value, false) : DASH

export const price = (value: Figure, mintick: number): string => ratio(value, placesOf(mintick))

export const count = (value: Figure): string => ratio(value, 0)

/** Money with its currency; `plus` for results. Small amounts keep enough places to be seen. */
export function money(value: Figure, currency: string, { plus = false } = {}): string {
  if (!isThere(value)) return DASH
  const places = value !== 0 && Math.abs(value) < 0.01 ? 6 : 2
  return `${signed(decimals(places).format(value), value, plus)} ${currency}`.trim()
}

/** A fraction as per cent: 0.1234 → 12.34%. */
export function percent(fraction: Figure, { plus = false, places = 2 } = {}): string {
  if (!isThere(fraction)) return DASH
  return `${signed(decimals(places).format(fraction * 100), fraction, plus)}%`
}

/** A result as per cent, with its sign: +12.34%. */
export const gain = (fraction: Figure): string => percent(fraction, { plus: true })

/** A number with its noun: `1 bar`, `1,200 bars`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/** Quantities keep their digits, up to 8 decimal places. */
export const quantity = (value: Figure): string =>
  isThere(value)
    ? new Intl.NumberFormat('en-US', { maximumFractionDigits: 8 }).format(value).replace('-', MINUS)
    : DASH

export const compact = (value: number): string =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 })
    .format(value)
    .replace('-', MINUS)

/** A day or a bar's time but on axes: `2020-03-23`, `2020-03-23 14:30`. Two are a `rangeText`, a user's own moment is an `Ago`. */
export function time(ms: Figure, zone: string, withClock: boolean): string {
  if (!isThere(ms)) return DASH
  const parts = formatter(zone).formatToParts(ms)
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? ''
  const day = `${part('year')}-${part('month')}-${part('day')}`
  return withClock ? `${day} ${part('hour')}:${part('minute')}` : day
}

const formatter = memo(100, (zone): Intl.DateTimeFormat => {
  const two = '2-digit'
  const options = { year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' } as const
  try {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone || 'UTC' })
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' })
  }
})

/** `3 minutes ago`, `in 2 days`; narrow: `3m ago`. */
export function ago(ms: number, now = Date.now(), style: 'long' | 'narrow' = 'long'): string {
  const seconds = (ms - now) / 1000
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style })
  const steps = [
    ['year', 31_557_600],
    ['month', 2_629_800],
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const
  for (const [unit, size] of steps)
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit)
  return 'just now'
}

export const duration = (ms: number): string =>
  ms < 1000
    ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1000).toFixed(1)} s`
      : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`

/** The class that colours a result. */
export const tone = (value: Figure): string => (!value ? '' : value > 0 ? 'up' : 'down')

/** What an exit is called. TradingView calls that of `strategy.close` "Close entry(s) order NAME", of which NAME is cut off everywhere. */
export const exitName = (of: { readonly exitComment: string | null; readonly exitId: string }): string =>
  of.exitComment || of.exitId.replace('entry(s) order ', '')

/** What was won by what was lost: a report says a million where nothing was lost. */
export const factorText = (value: Figure): string => ((value ?? 0) >= 1e6 ? '∞' : ratio(value))
