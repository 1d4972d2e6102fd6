// Continuous futures: one series made of contracts, named as TradingView names them. `CME:ES1!` is the contract in front,
// `ES2!` the one behind it, of ESH2025, ESM2025 and what else is stored under that root.
//
// A name says how: `ES1!` are prices as they were traded, `ES1!B` is back-adjusted by differences, `ES1!R` by ratios. Without
// more, the series goes on with a later contract on the day after that one traded more (the most traded, since gold has
// months that hardly trade), or when its own contract ends, and never goes back. `ES1!@-10` leaves each contract ten days
// before the first of its month, `@8` eight days after it. Both rules use nothing that a trader of that day could not know.
//
// At a change of contracts, all older prices move by the difference (or ratio) of the closes of both contracts on the last
// day that both traded before it. The newest contract's prices are the traded ones.

import { Problem } from '../lib/problem.ts'
import { concatBars, emptyBars, lowerBound, sliceBars, type Bars } from './bars.ts'

export interface ContinuousName {
  readonly root: string
  /** 1 = the contract in front. */
  readonly position: number
  readonly adjustment: 'none' | 'difference' | 'ratio'
  /** Days from the first of a contract's month to the day it is left; null = by volume. */
  readonly leaveAfter: number | null
}

export interface Contract {
  readonly symbol: string
  /** Months since year 0. */
  readonly month: number
}

/** A contract and its days (or longer bars, where there are no days). */
export interface TradedContract extends Contract {
  readonly days: Bars
}

/** Bars of one contract within a continuous series: all that open in [from, to). */
export interface ContractSpan {
  readonly symbol: string
  readonly from: number
  readonly to: number
  /** What is added to its prices, and what they are multiplied by. */
  readonly shift: number
  readonly factor: number
}

const NAME = /^([\p{L}\p{N}_.&]+?)([1-9])!([BR])?(?:@([+-]?\d{1,3}))?$/u
const MONTHS = 'FGHJKMNQUVXZ'
const DAY = 86_400_000
/** How many days back a close of both contracts is looked for. */
const COMMON_DAYS = 10

const PRICES = ['open', 'high', 'low', 'close'] as const
const NO_BARS = emptyBars(0)
const ADJUSTMENTS = { '': 'none', B: 'difference', R: 'ratio' } as const

/** What a symbol's name means; null if it is no continuous future. */
export function continuousName(symbol: string): ContinuousName | null {
  const [, root = '', position = '', adjustment = '', leaveAfter] = NAME.exec(symbol) ?? []
  if (root === '') return null
  return {
    root,
    position: Number(position),
    adjustment: ADJUSTMENTS[adjustment as keyof typeof ADJUSTMENTS],
    leaveAfter: leaveAfter === undefined ? null : Number(leaveAfter),
  }
}

/** The root and the contract that a symbol is: `ESH2025` or `ESH25`; null if it is none. */
export function contractOf(symbol: string): (Contract & { readonly root: string }) | null {
  const [, root = '', letter = '', digits = ''] = /^(.+?)([FGHJKMNQUVXZ])(\d{4}|\d{2})$/u.exec(symbol) ?? []
  if (root === '') return null
  const year = Number(digits)
  const full = digits.length === 4 ? year : year + (year < 70 ? 2000 : 1900)
  return { root, symbol, month: full * 12 + MONTHS.indexOf(letter) }
}

/** The contracts of a root among symbols, the earliest month first. */
export function contractsOf(symbols: Iterable<string>, root: string): Contract[] {
  const found = new Map<number, Contract>()
  for (const symbol of symbols) {
    const contract = contractOf(symbol)
    if (contract?.root === root) found.set(contract.month, contract)
  }
  return [...found.values()].sort((a, b) => a.month - b.month)
}

const CONTRACTS_NAMED = 12

/** Why a continuous future has no bars, among the series that are stored; null if the name means something else. */
export function contractLacking(
  stored: readonly { readonly exchange: string; readonly symbol: string }[],
  {
    exchange,
    symbol,
    interval,
  }: { readonly exchange: string; readonly symbol: string; readonly interval: string },
): string | null {
  const name = continuousName(symbol)
  if (!name) return null
  const { root, position } = name
  const names = contractsOf(
    stored.flatMap((one) => (one.exchange === exchange ? [one.symbol] : [])),
    root,
  ).map((contract) => contract.symbol)
  if (names.length === 0)
    return `No contracts of ${exchange}:${root} are stored. A continuous future is named ${root}1! and made of series named ${root}H2025, ${root}M2025 and so on.`
  const shown = `${names.slice(0, CONTRACTS_NAMED).join(', ')}${names.length > CONTRACTS_NAMED ? ', …' : ''}`
  const count = names.length === 1 ? 'one contract is' : `${names.length} contracts are`
  const lacks =
    position > names.length
      ? `too few for a number ${position}. Import later contracts.`
      : `and ${names.length === 1 ? 'it has no' : 'none of them has'} bars of ${interval} while it is number ${position}. Import later contracts, or other bars of these.`
  return `${exchange}:${symbol} is number ${position}, counted from the contract in front. Of ${exchange}:${root} ${count} stored (${shown}), ${lacks}`
}

/**
 * Which contract the series is when, oldest first. `contracts` are sorted by month, each with at least one bar. The first
 * span begins at -∞, and the last one ends at ∞ if there still is a contract at the position.
 */
export function contractSpans(
  contracts: readonly TradedContract[],
  { position, adjustment, leaveAfter }: Omit<ContinuousName, 'root'>,
): ContractSpan[] {
  const fronts = frontsOf(contracts, leaveAfter)
  const held = fronts.flatMap(({ from, at }, i) => {
    const contract = contracts[at + position - 1]
    return contract ? [{ from, to: fronts[i + 1]?.from ?? Infinity, contract }] : []
  })
  const spans: ContractSpan[] = []
  let shift = 0
  let factor = 1
  for (let i = held.length - 1; i >= 0; i--) {
    const { from, to, contract } = held[i]!
    const later = held[i + 1]
    if (later && adjustment !== 'none') {
      const closes = lastCommonCloses(contract.days, later.contract.days, later.from)
      if (closes && adjustment === 'difference') shift += closes[1] - closes[0]
      else if (closes) factor *= ratioOf(closes, contract, later.contract)
    }
    const { symbol } = contract
    spans.unshift({
      symbol,
      from: i === 0 ? -Infinity : from,
      to,
      shift,
      factor,
    })
  }
  return spans
}

/** From when which contract (an index) is in front. */
function frontsOf(
  contracts: readonly TradedContract[],
  leaveAfter: number | null,
): readonly { readonly from: number; readonly at: number }[] {
  const fronts: { from: number; at: number }[] = []
  const next = contracts.map(() => 0)
  let at = -1
  let chosen = 0
  for (const time of allTimes(contracts)) {
    const volumes = contracts.map(({ days }, i) => {
      while (next[i]! < days.length && days.time[next[i]!]! < time) next[i]!++
      return days.time[next[i]!] === time ? days.volume[next[i]!]! : -1
    })
    if (at < 0) {
      chosen = volumes.findIndex((volume) => volume >= 0)
      if (leaveAfter === null) chosen = mostTraded(volumes, chosen)
    }
    while (chosen < contracts.length - 1 && isOver(contracts[chosen]!, time, leaveAfter)) chosen++
    if (chosen !== at) fronts.push({ from: time, at: chosen })
    at = chosen
    // What traded more today is in front tomorrow.
    if (leaveAfter === null) chosen = mostTraded(volumes, at)
  }
  return fronts
}

function isOver({ days, month }: TradedContract, time: number, leaveAfter: number | null): boolean {
  if (time > days.time.at(-1)!) return true
  if (leaveAfter === null) return false
  // The day of a session that opens the evening before is the next one; none opens after noon UTC of its own day.
  const day = Math.floor((time + DAY / 2) / DAY) * DAY
  return day >= Date.UTC(Math.floor(month / 12), month % 12, 1) + leaveAfter * DAY
}

/** The contract from `first` on with the highest volume, of equals the earliest; bars without volume change nothing. */
function mostTraded(volumes: readonly number[], first: number): number {
  let best = first
  for (let i = first + 1; i < volumes.length; i++) if (volumes[i]! > Math.max(0, volumes[best]!)) best = i
  return best
}

function allTimes(contracts: readonly TradedContract[]): readonly number[] {
  const times = new Set<number>()
  for (const { days } of contracts) for (const time of days.time) times.add(time)
  return [...times].sort((a, b) => a - b)
}

/** The closes of both on the last day before `time` that both traded; null if there is none nearby. */
function lastCommonCloses(older: Bars, newer: Bars, time: number): readonly [number, number] | null {
  const end = lowerBound(older.time, time)
  for (let i = end - 1; i >= Math.max(0, end - COMMON_DAYS); i--) {
    const j = lowerBound(newer.time, older.time[i]!)
    if (newer.time[j] === older.time[i]) return [older.close[i]!, newer.close[j]!]
  }
  return null
}

function ratioOf([before, after]: readonly [number, number], older: Contract, newer: Contract): number {
  if (before > 0 && after > 0) return after / before
  throw new Problem(
    404,
    'bars_not_found',
    `Between ${older.symbol} and ${newer.symbol} a price was nought or less, and there is no ratio of those. Use differences: B instead of R.`,
  )
}

/**
 * Bars of the spans in their order, with their prices moved. They are in shared memory, so that workers read them without
 * a copy.
 */
export function joinSpans(parts: readonly (readonly [ContractSpan, Bars])[]): Bars {
  const all = concatBars([...parts.map(([, bars]) => bars), NO_BARS], { shared: true })
  let at = 0
  for (const [{ shift, factor }, { length }] of parts) {
    if (shift !== 0 || factor !== 1) {
      const moved = sliceBars(all, at, at + length)
      for (const field of PRICES)
        for (let i = 0; i < length; i++) moved[field][i] = moved[field][i]! * factor + shift
    }
    at += length
  }
  return all
}
