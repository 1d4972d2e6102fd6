// What a script says about a market right now: one row of a scan over many markets.
//
// A row has the last value of every plot, the conditions that hold on the last bar, and for a strategy the head of its
// report. A condition is an alertcondition(), or a shape, character or arrow on the last bar, since that is how scripts
// have always marked what they look for.

import { walkBlock } from '../language/2-check/walk.ts'
import { placeOf } from '../language/2-check/argument.ts'
import type { Program } from '../language/2-check/program.ts'
import type { PlotTrack } from '../language/runtime/plots.ts'
import type { ReportSummary } from '../wire/report.ts'
import { momentsOfEquity } from './statistics/moments.ts'
import type { Backtest, BacktestRequest } from './backtest.ts'
import { openBacktest } from './run.ts'
import { trialName } from './trial-name.ts'

/** The columns of a script's rows, which are the same on every market. */
export interface ScanColumns {
  readonly kind: 'strategy' | 'indicator'
  /** Titles of the plots, each once. */
  readonly values: readonly string[]
  readonly conditions: readonly string[]
}

export interface ScannedMarket {
  readonly bars: number
  /** The time of the last bar. */
  readonly time: number
  readonly close: number
  /** The last close divided by the previous one, minus 1; null if there is only one bar. */
  readonly change: number | null
  /** In the order of the columns; null = na. */
  readonly values: readonly (number | null)[]
  /** The indexes of the conditions that hold. */
  readonly holds: readonly number[]
  /** Only for a strategy. */
  readonly summary: ReportSummary | null
  /** Contracts held at the end, negative if short; null for an indicator. */
  readonly position: number | null
}

/** The run of a strategy, as the ledger of trials counts it. */
export interface ScannedTrial {
  readonly trial: string
  /** A bar; null if nothing was traded. */
  readonly sharpe: number | null
}

/** Throws a Problem as a backtest does. There must be bars. */
export function scanMarket(request: BacktestRequest): {
  readonly columns: ScanColumns
  readonly found: ScannedMarket
  readonly tried: ScannedTrial | null
} {
  const backtest = openBacktest({ ...request, figuresOnly: true })
  const { bars, run, program } = backtest
  backtest.advance(bars.length)
  const last = bars.length - 1
  const values = new Map<string, number | null>()
  const conditions = new Map(conditionTitles(program).map((title) => [title, false]))
  for (const plot of run.plots) {
    const column = plot.columns['series']
    const value = column?.[last] ?? NaN
    if (plot.kind === 'plot') values.set(freeName(values, plot.title || 'Plot'), finite(value))
    else if (MARKS.has(plot.kind)) {
      const title = freeName(conditions, plot.title || MARK_NAMES[plot.kind] || 'Mark')
      conditions.set(title, !Number.isNaN(value) && value !== 0)
    }
  }
  for (const { bar, title } of run.alerts)
    if (bar === last) conditions.set(title === '' ? ALERT_CALL : title, true)
  const isStrategy = program.declaration.kind === 'strategy'
  const titles = [...conditions.keys()]
  const close = bars.close[last]!
  const before = bars.close[last - 1]
  return {
    columns: {
      kind: isStrategy ? 'strategy' : 'indicator',
      values: [...values.keys()],
      conditions: titles,
    },
    found: {
      bars: bars.length,
      time: bars.time[last]!,
      close,
      change: before === undefined || !(before > 0) ? null : close / before - 1,
      values: [...values.values()],
      holds: titles.flatMap((title, i) => (conditions.get(title) ? [i] : [])),
      summary: isStrategy ? { ...backtest.results().figures.summary } : null,
      position: isStrategy ? backtest.broker.account.positionSize : null,
    },
    tried: isStrategy ? triedIn(backtest) : null,
  }
}

function triedIn(backtest: Backtest): ScannedTrial {
  const { run, settings, bars } = backtest
  const { figures, readEquity } = backtest.results()
  const equity = new Float64Array(bars.length)
  readEquity(equity)
  const { sharpe } = momentsOfEquity(equity, figures.initialCapital)
  const hasTraded = figures.all.trades + figures.all.openTrades > 0
  return { trial: trialName(run.inputs, settings), sharpe: hasTraded ? sharpe : null }
}

/** The condition's name for an alert() on the last bar, whose texts differ from market to market. */
const ALERT_CALL = 'alert()'
const MARKS: ReadonlySet<PlotTrack['kind']> = new Set(['shape', 'char', 'arrow'])
const MARK_NAMES: Partial<Readonly<Record<PlotTrack['kind'], string>>> = {
  shape: 'Shape',
  char: 'Char',
  arrow: 'Arrow',
}

/** In the script's order, whether they hold or not. */
function conditionTitles({ body, functions }: Program): string[] {
  const titles = new Set<string>()
  const look = (block: Program['body']) =>
    walkBlock(block, (expr) => {
      if (expr.kind !== 'BuiltinCall') return
      if (expr.builtin.name === 'alert') titles.add(ALERT_CALL)
      if (expr.builtin.name !== 'alertcondition') return
      const title = expr.args[placeOf(expr, 'title')]
      titles.add(title?.kind === 'Const' && typeof title.value === 'string' ? title.value : 'Alert')
    })
  look(body)
  for (const fn of functions) look(fn.body)
  return [...titles]
}

/** Two plots with the same title get two columns. */
function freeName(taken: ReadonlyMap<string, unknown>, title: string): string {
  if (!taken.has(title)) return title
  for (let n = 2; ; n++) if (!taken.has(`${title} ${n}`)) return `${title} ${n}`
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
