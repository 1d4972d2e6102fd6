// A portfolio: several strategies, each on its own bars, that trade with one pot of money.
//
// Each part is a backtest of its own that is advanced bar by bar. Whose turn it is the closing times of the bars say (M2), so
// nobody sees a price before its time; what the parts have in common, the pot knows (broker/pot.ts). A part that is alone
// is advanced to its end in one go, and is to the last byte the backtest that it would be without a portfolio.

import { problemOfPart } from '../lib/part-problem.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import type { Bars } from '../market/bars.ts'
import { calendarOf, periodFinder } from '../market/calendar.ts'
import { parseInterval } from '../market/interval.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { PortfolioResult } from '../wire/portfolio.ts'
import { Pot } from './emulator/pot.ts'
import { CompiledScripts } from './compiled-scripts.ts'
import { figuresOf } from './portfolio-figures.ts'
import type { Backtest, BacktestRequest, BacktestResult } from './backtest.ts'
import { openBacktest, declarationOf } from './run.ts'

export interface PortfolioRequest {
  /** In the order in which they were asked for. */
  readonly parts: readonly { readonly request: BacktestRequest; readonly priority: number }[]
  /** null: the initial capital of the first part. */
  readonly capital: number | null
  /** null: the currency of the first part. */
  readonly currency: string | null
  /** Told now and then how many bars of all parts are done. */
  readonly progress?: (bars: number) => void
}

export interface PortfolioRun {
  readonly result: PortfolioResult
  /** One for each part. */
  readonly parts: readonly BacktestResult[]
}

/** Throws what would keep it from beginning: what `runBacktest` throws before the first bar, with the part's number. */
export function checkPortfolio(request: PortfolioRequest): void {
  openParts(request)
}

/** Throws what `runBacktest` throws, with the number of the part in the message. */
export function runPortfolio(request: PortfolioRequest): PortfolioRun {
  const { opened, requests, settings, order } = openParts(request)
  const closes = opened.map(({ bars }, i) => closingTimes(bars, requests[i]!.symbol, requests[i]!.interval))
  advanceAll(opened, closes, order, request.progress ?? (() => {}))
  const figures = figuresOf(
    opened.map((backtest, i) => ({ backtest, closes: closes[i]! })),
    settings.initial_capital,
    settings.currency,
  )
  const results = opened.map((backtest) => backtest.result())
  const parts = figures.parts.map((part, i) => ({
    ...part,
    warnings: results[i]!.report.warnings.map(({ message }) => message),
  }))
  return { result: { ...figures, parts }, parts: results }
}

function openParts({ parts, capital, currency }: PortfolioRequest) {
  const scripts = new CompiledScripts()
  const requests = parts.map(({ request }) => ({ scripts, ...request }))
  const declared = requests.map((request, i) => ofPart(i, parts.length, () => strategyOf(request)))
  const pot = new Pot()
  const settings = {
    initial_capital: capital ?? declared[0]!.initialCapital,
    currency: currency ?? declared[0]!.currency,
  }
  const order = orderOf(parts.map(({ priority }) => priority))
  const opened: Backtest[] = []
  for (const i of order)
    opened[i] = ofPart(i, parts.length, () =>
      openBacktest({
        ...requests[i]!,
        overrides: {
          ...requests[i]!.overrides,
          initial_capital: settings.initial_capital,
          // M7. One that has this currency anyway is to have the very settings of a run of its own.
          ...(declared[i]!.currency !== settings.currency && { currency: settings.currency }),
        },
        pot,
      }),
    )
  return { opened, requests, settings, order }
}

function strategyOf(request: BacktestRequest) {
  const { kind, settings } = declarationOf(request)
  if (kind !== 'strategy')
    throw invalidField('/source', 'not_a_strategy', 'Only strategies trade; this is an indicator.')
  return settings
}

/** The places of the parts, the highest priority first (M2, M4). */
function orderOf(priorities: readonly number[]): number[] {
  return priorities.map((_, i) => i).toSorted((a, b) => priorities[b]! - priorities[a]! || a - b)
}

/** When each bar is over. */
function closingTimes({ time, length }: Bars, symbol: SymbolInfo, interval: string): Float64Array {
  const parsed = parseInterval(interval)
  const period = parsed && periodFinder(calendarOf(symbol), parsed, parsed)
  const closes = new Float64Array(length)
  for (let i = 0; i < length; i++) closes[i] = period ? period(time[i]!).end : time[i]!
  return closes
}

/** Bars between two looks at how far it is. */
const TOLD_EVERY = 4096

/**
 * Runs the part whose next bar closes first (of several, the one that is named first), for as many bars as no bar of another
 * part comes between; then the next.
 */
function advanceAll(
  parts: readonly Backtest[],
  closes: readonly Float64Array[],
  order: readonly number[],
  progress: (bars: number) => void,
): void {
  const done = parts.map(() => 0)
  let [bars, told] = [0, 0]
  for (;;) {
    const { first, next } = nextTimes(closes, done)
    if (first === Infinity) break
    for (const part of order) {
      const times = closes[part]!
      const from = done[part]!
      if (times[from] !== first) continue
      let to = from + 1
      while (to < times.length && (times[to] === first || times[to]! < next)) to++
      const { broker } = parts[part]!
      broker.beginTurn()
      ofPart(part, parts.length, () => parts[part]!.advance(to, times.length))
      broker.endTurn()
      done[part] = to
      bars += to - from
    }
    if (bars - told < TOLD_EVERY) continue
    told = bars
    progress(bars)
  }
  progress(bars)
}

/** The earliest time at which a part's next bar closes, and the next at which one of another part does, which may be the same. */
function nextTimes(closes: readonly Float64Array[], done: readonly number[]) {
  let [first, next] = [Infinity, Infinity]
  for (let i = 0; i < closes.length; i++) {
    const close = closes[i]![done[i]!] ?? Infinity
    if (close < first) {
      next = first
      first = close
    } else if (close < next) next = close
  }
  return { first, next }
}

function ofPart<T>(part: number, parts: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof Problem ? problemOfPart(error, part, parts) : error
  }
}
