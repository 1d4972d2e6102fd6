// The scripts whose plots a run reads through its source inputs: an average of an RSI, a band around an average.
//
// Each is a run of its own over the same bars, opened when its plot is first asked for, and never a bar ahead of the run that
// reads it. So a run in one go and one bar by bar agree, and a restored run opens the scripts again.

import { Problem, invalidField } from '../lib/problem.ts'
import { isPlotSource, type PlotSource } from '../language/compile.ts'
import type { Backtest, BacktestRequest } from './backtest.ts'

/** The longest chain of scripts in which each reads a plot of the next, and the most that one script may read. */
const DEPTH_MAX = 5
const SCRIPTS_MAX = 10

/** Two plots are of the same run if everything but the plot is the same. */
const nameOf = ({ script, inputs }: PlotSource): string => JSON.stringify([script, inputs])

/** The sources of all scripts whose plots inputs read, and of those that these read in turn. */
export function scriptsReadBy(inputs: Readonly<Record<string, unknown>>, depth = 0): readonly string[] {
  if (depth >= DEPTH_MAX) return []
  return Object.values(inputs)
    .filter(isPlotSource)
    .flatMap((one) => [one.script, ...scriptsReadBy(one.inputs, depth + 1)])
}

interface Plotted {
  readonly backtest: Backtest
  /** The plots so far, by title and by number. */
  readonly columns: Map<string, { values: Float64Array; known: number }>
  bytes: number
}

export class PlottedScripts {
  readonly #request: BacktestRequest
  /** How many bars the reading run has: calc_bars_count leaves it the last of the request's alone. */
  readonly #bars: number
  readonly #open: (request: BacktestRequest) => Backtest
  readonly #opened = new Map<string, Plotted>()
  #own = 0

  constructor(request: BacktestRequest, bars: number, open: (request: BacktestRequest) => Backtest) {
    this.#request = request
    this.#bars = bars
    this.#open = open
  }

  /** The first bar whose plots a bar to come may change; Infinity = none. */
  get unsettledFrom(): number {
    return Math.min(Infinity, ...[...this.#opened.values()].map(({ backtest }) => backtest.unsettledFrom))
  }

  /** Reports how much memory the run holds, together with the scripts that it reads. */
  tell(own: number): void {
    this.#own = own
    let bytes = own
    for (const plotted of this.#opened.values()) bytes += plotted.bytes
    this.#request.used?.(bytes)
  }

  column(of: PlotSource, end: number): Float64Array {
    return this.#told(of, () => {
      const plotted = this.#plotted(of)
      return columnOf(plotted, of, end, this.#bars)
    })
  }

  #plotted(of: PlotSource): Plotted {
    const name = nameOf(of)
    const known = this.#opened.get(name)
    if (known) return known
    const depth = (this.#request.plottedFor ?? 0) + 1
    if (depth > DEPTH_MAX)
      throw new Problem(
        422,
        'script_limit_exceeded',
        `More than ${DEPTH_MAX} scripts read each other's plots.`,
      )
    if (this.#opened.size >= SCRIPTS_MAX)
      throw new Problem(
        422,
        'script_limit_exceeded',
        `A script reads plots of more than ${SCRIPTS_MAX} others.`,
      )
    // Settings, money and finer bars belong to the script that was asked for; its trials share no columns with others.
    const {
      overrides: _overrides,
      pot: _pot,
      shared: _shared,
      figuresOnly: _figures,
      ...rest
    } = this.#request
    const made: Plotted = {
      backtest: this.#open({
        ...rest,
        source: of.script,
        inputs: of.inputs,
        plottedFor: depth,
        progress: () => {},
        used: (bytes) => {
          made.bytes = bytes
          this.tell(this.#own)
        },
      }),
      columns: new Map(),
      bytes: 0,
    }
    this.#opened.set(name, made)
    return made
  }

  /** What is wrong with the other script is told of the input that reads it. */
  #told<T>(of: PlotSource, work: () => T): T {
    try {
      return work()
    } catch (error) {
      const isTheirs =
        error instanceof Problem &&
        ['script_invalid', 'script_runtime_error', 'validation_failed'].includes(error.code)
      if (!isTheirs) throw error
      const found = Object.entries(this.#request.inputs).find(
        ([, value]) => isPlotSource(value) && nameOf(value) === nameOf(of),
      )
      const label = found?.[0] ?? ''
      throw invalidField(
        `/inputs/${label.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        'invalid_input',
        `"${label}" reads a plot of another script. ${error.message}`,
      )
    }
  }
}

function columnOf(
  { backtest, columns }: Plotted,
  { plot }: PlotSource,
  end: number,
  bars: number,
): Float64Array {
  let column = columns.get(plot)
  if (!column) columns.set(plot, (column = { values: new Float64Array(bars), known: 0 }))
  if (column.known >= end) return column.values
  // Both end with the same bar, but either may begin later than the other.
  const later = bars - backtest.bars.length
  backtest.advance(Math.max(0, end - later))
  const from = Math.max(0, column.known - later)
  const plots = backtest.run.plotsFrom(from)
  const found =
    plots.find(([title]) => title === plot) ?? (/^\d+$/.test(plot) ? plots[Number(plot)] : undefined)
  if (!found) {
    const names = plots.map(([title], i) => JSON.stringify(title || String(i)))
    const has = names.length === 0 ? 'It plots nothing.' : `It has ${names.slice(0, 20).join(', ')}.`
    throw new Problem(422, 'validation_failed', `It has no plot "${plot}". ${has}`)
  }
  column.values.fill(Number.NaN, column.known, from + later)
  column.values.set(found[1], from + later)
  column.known = end
  return column.values
}
