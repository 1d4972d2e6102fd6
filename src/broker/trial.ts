// A trial: one run of a sweep, of which only numbers are kept.
//
// A sweep makes thousands of runs that nobody looks at one by one. So a trial is a row of numbers: the value of the
// objective, the requested figures, the moments of its returns a bar, and their sums over blocks of bars, which are all
// that a test of overfitting needs. All of these are of the in-sample bars; if the end was held out, its figures come
// separately. The run itself covers all bars, so those before a stretch warm it up and do not count.

import { Problem } from '../lib/problem.ts'
import { isTrue, numberIn, parseExpression, type Expression } from '../lib/expression.ts'
import { momentsOfPowers } from './statistics/moments.ts'
import {
  rowLayout,
  type Measured,
  type RowLayout,
  type TrialInputs,
  type TrialSpan,
  type WindowWinner,
} from './measured.ts'
import type { Backtest, BacktestRequest } from './backtest.ts'
import { openBacktest } from './run.ts'
import { inputNamed } from '../language/runtime/inputs.ts'
import { figureNamed } from './figures.ts'
import { SpanFigures, SPAN_FIGURES, type SpanRecord } from './span-figures.ts'
import { CompiledScripts } from './compiled-scripts.ts'
import { TrialColumns, variedAmong } from './trial-columns.ts'
import { TrialNames } from './trial-name.ts'

/** A batch of trials in order: rows of numbers, and everything that does not fit into them. */
export interface TrialBatch {
  /** `rowLayout` says what is where; NaN if there is no value. */
  readonly rows: Float64Array
  /** Why trials failed, by their index in the batch. */
  readonly failures: readonly { readonly trial: number; readonly code: string; readonly message: string }[]
  /** Names by which the ledger tells trials apart; '' for a trial that failed. */
  readonly names: readonly string[]
  /** The best trial of this batch in each window; null if none has a score. */
  readonly winners: readonly (WindowWinner | null)[]
}

/** Runs every point. A script that does not compile throws; a point that fails is reported among the failures. */
export function runTrials(
  request: BacktestRequest,
  points: readonly TrialInputs[],
  measured: Measured,
  {
    done,
    started = [],
    columns,
  }: {
    readonly done?: (trials: number) => void
    readonly started?: (TrialNumbers | null)[]
    readonly columns?: TrialColumns | undefined
  } = {},
): TrialBatch {
  const judge = new Judge(measured)
  const shared = columns ?? new TrialColumns(request.bars.length, variedAmong(points))
  // A run that needs another series starts again once it is there; the trials before it are kept in `started`.
  const scripts = request.scripts ?? new CompiledScripts()
  for (let i = started.length; i < points.length; i++) {
    started.push(numbersOf({ ...request, scripts, shared }, points[i]!, judge))
    shared.next()
    done?.(i + 1)
  }
  if (columns === undefined) shared.leave()
  const { width } = judge.layout
  const rows = new Float64Array(points.length * width).fill(NaN)
  for (const [i, numbers] of started.entries()) if (numbers?.row) rows.set(numbers.row, i * width)
  return {
    rows,
    failures: started.flatMap((numbers, trial) =>
      numbers?.failure ? [{ trial, code: numbers.failure.code, message: numbers.failure.message }] : [],
    ),
    names: started.map((numbers) => numbers?.name ?? ''),
    winners: measured.windows.map((_, window) => winnerOf(started, window)),
  }
}

export interface TrialNumbers {
  readonly row: Float64Array | null
  readonly name: string
  readonly failure: Problem | null
  readonly windows: readonly (Omit<WindowWinner, 'trial'> | null)[]
}

function winnerOf(trials: readonly (TrialNumbers | null)[], window: number): WindowWinner | null {
  let best: WindowWinner | null = null
  for (const [trial, numbers] of trials.entries()) {
    const found = numbers?.windows[window]
    if (found && (best === null || found.score > best.score)) best = { trial, ...found }
  }
  return best
}

/** A trial's run, before its first bar. */
function openTrial(request: BacktestRequest, { inputs, overrides }: TrialInputs): Backtest {
  return openBacktest({
    ...request,
    inputs: { ...request.inputs, ...inputs },
    overrides: { ...request.overrides, ...overrides },
    figuresOnly: true,
  })
}

/** What came of a trial, run over all bars. */
export function trialResults(request: BacktestRequest, trial: TrialInputs): ReturnType<Backtest['results']> {
  const backtest = openTrial(request, trial)
  backtest.advance(backtest.bars.length)
  return backtest.results()
}

function numbersOf(request: BacktestRequest, trial: TrialInputs, judge: Judge): TrialNumbers {
  try {
    const backtest = openTrial(request, trial)
    assertNamedOnce(backtest, trial)
    if (backtest.bars.length !== request.bars.length)
      throw new Problem(
        422,
        'validation_failed',
        `The script runs on its last ${backtest.bars.length} bars only (calc_bars_count), and trials are judged on all. Take as many bars as that.`,
      )
    if (backtest.program.declaration.kind !== 'strategy')
      throw new Problem(
        422,
        'script_invalid',
        'An indicator trades nothing, so nothing of it can be optimised. Take a strategy.',
      )
    backtest.advance(backtest.bars.length)
    const name = judge.names.of(backtest.run.inputs, backtest.settings, trial.overrides)
    const numbers = judge.measure(backtest)
    backtest.release()
    return { ...numbers, name, failure: null }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'script_invalid') throw error
    return { row: null, name: '', failure: error, windows: [] }
  }
}

/** An input that is varied by its title and by its variable too would make many trials of one. */
function assertNamedOnce({ program }: Backtest, { inputs }: TrialInputs): void {
  const names = new Map<object | undefined, string>()
  for (const name of Object.keys(inputs)) {
    const input = inputNamed(program, name)
    const other = names.get(input)
    if (other !== undefined)
      throw new Problem(
        422,
        'validation_failed',
        `"${other}" and "${name}" are the same input of the script. Vary it under one of its names.`,
      )
    names.set(input, name)
  }
}

class Judge {
  readonly layout: RowLayout
  readonly names = new TrialNames()
  readonly #measured: Measured
  /** Where the pieces begin, and where the last one ends. */
  readonly #bounds: Int32Array
  readonly #objective: Expression
  readonly #constraints: readonly Expression[]
  readonly #asksDrawdown: boolean
  /** The best score so far in each window; a trial that is not better need not be judged out of sample. */
  readonly #best: Float64Array
  #room = { equity: new Float64Array(0), returns: new Float64Array(0) }

  constructor(measured: Measured) {
    this.#measured = measured
    this.layout = rowLayout(measured)
    const { inside, pieces } = measured
    this.#bounds = Int32Array.from({ length: pieces + 1 }, (_, piece) => boundOf(inside, piece, pieces))
    this.#objective = parseExpression(measured.objective)
    this.#constraints = measured.constraints.map(parseExpression)
    const names = [this.#objective, ...this.#constraints].flatMap((expression) => expression.names)
    this.#asksDrawdown = names.some((name) => /drawdown/i.test(name))
    this.#best = new Float64Array(measured.windows.length).fill(-Infinity)
  }

  measure(backtest: Backtest): Pick<TrialNumbers, 'row' | 'windows'> {
    const { inside, outside, windows, figures } = this.#measured
    const { layout } = this
    const results = backtest.results()
    const isWhole = inside.from === 0 && inside.to === backtest.bars.length
    const initial = results.figures.initialCapital
    const row = new Float64Array(layout.width).fill(NaN)
    const { equity, returns } = this.#roomFor(backtest.bars.length)
    results.readEquity(equity)
    this.#returns(row, equity, returns, initial)
    const needsSpans = !isWhole || outside !== null || windows.length > 0
    const spans = needsSpans ? new SpanFigures(backtest.broker.position, equity, returns, initial) : null
    const within = isWhole || spans === null ? null : spans.of(inside)
    const figure = (name: string) =>
      within === null ? figureNamed(results, name) : (within[name as keyof SpanRecord] ?? null)
    row[layout.score] = this.#scoreOf(figure)
    for (const [i, name] of figures.entries()) row[layout.figures + i] = figure(name) ?? NaN
    if (outside && spans) {
      const found = spans.of(outside)
      row[layout.outside] = this.#scoreOf((name) => found[name as keyof SpanRecord] ?? null)
      for (const [i, name] of SPAN_FIGURES.entries()) row[layout.outside + 1 + i] = found[name]
    }
    results.release()
    return { row, windows: spans === null ? [] : windows.map((_, window) => this.#windowOf(spans, window)) }
  }

  #scoreOf(figure: (name: string) => number | null): number {
    const holds = this.#constraints.every(({ evaluate }) => isTrue(evaluate(figure)))
    return holds ? numberIn(this.#objective.evaluate(figure)) : NaN
  }

  #windowOf(spans: SpanFigures, window: number): TrialNumbers['windows'][number] {
    const { inside, outside } = this.#measured.windows[window]!
    const within = spans.of(inside, this.#asksDrawdown)
    const score = this.#scoreOf((name) => within[name as keyof SpanRecord] ?? null)
    if (!(score > this.#best[window]!)) return null
    this.#best[window] = score
    const beyond = spans.of(outside)
    return {
      score,
      inProfit: within.netProfit,
      outProfit: beyond.netProfit,
      outDrawdownPct: beyond.maxDrawdownPct,
    }
  }

  /** Memory for the trial's equity and returns, reused because allocating it would cost as much as computing the numbers. */
  #roomFor(bars: number): { readonly equity: Float64Array; readonly returns: Float64Array } {
    if (this.#room.equity.length !== bars)
      this.#room = { equity: new Float64Array(bars), returns: new Float64Array(bars) }
    return this.#room
  }

  /**
   * Computes returns, their moments and the sums of blocks and pieces in one pass over the pieces. A block consists of
   * whole pieces, so their bounds agree.
   */
  #returns(row: Float64Array, equity: Float64Array, returns: Float64Array, initial: number): void {
    const { inside, blocks, pieces } = this.#measured
    const { layout } = this
    const bounds = this.#bounds
    row.fill(0, layout.sums, layout.squares + blocks)
    const powers = new Float64Array(4)
    const before = (bar: number) => (bar === 0 ? initial : equity[bar - 1]!)
    returnsBetween(equity, returns, before(0), 0, inside.from, powers)
    powers.fill(0)
    const each = pieces % blocks === 0 ? pieces / blocks : 0
    const sum = new Float64Array(4)
    for (let piece = 0; piece < pieces; piece++) {
      const from = bounds[piece]!
      returnsBetween(equity, returns, before(from), from, bounds[piece + 1]!, sum)
      row[layout.pieces + piece] = sum[0]!
      if (each > 0) addTo(row, layout, Math.floor(piece / each), sum[0]!, sum[1]!)
      for (let power = 0; power < 4; power++) powers[power]! += sum[power]!
    }
    returnsBetween(equity, returns, before(inside.to), inside.to, equity.length, sum)
    if (each === 0)
      for (let block = 0; block < blocks; block++) {
        const [first, second] = sumsOf(returns, blockOf(inside, block, blocks))
        addTo(row, layout, block, first, second)
      }
    const moments = momentsOfPowers(inside.to - inside.from, [powers[0]!, powers[1]!, powers[2]!, powers[3]!])
    row[layout.bars] = moments.count
    row[layout.sharpe] = moments.sharpe
    row[layout.skewness] = moments.skewness
    row[layout.kurtosis] = moments.kurtosis
  }
}

function addTo(row: Float64Array, layout: RowLayout, block: number, sum: number, square: number): void {
  row[layout.sums + block]! += sum
  row[layout.squares + block]! += square
}

/** Returns of equity from close to close; 0 once everything is lost. Adds the sums of their first four powers to `powers`. */
function returnsBetween(
  equity: Float64Array,
  returns: Float64Array,
  start: number,
  from: number,
  to: number,
  powers: Float64Array,
): void {
  let before = start
  // One by one: from a list they took 2.6 times as long to add up.
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let i = from; i < to; i++) {
    const now = equity[i]!
    // Without a branch for bars on which nothing is held: it took three times as long as the division that it saved.
    const value = before > 0 ? now / before - 1 : 0
    before = now
    returns[i] = value
    const square = value * value
    first += value
    second += square
    third += square * value
    fourth += square * square
  }
  powers[0] = first
  powers[1] = second
  powers[2] = third
  powers[3] = fourth
}

function sumsOf(returns: Float64Array, { from, to }: TrialSpan): readonly [sum: number, square: number] {
  let sum = 0
  let square = 0
  for (let t = from; t < to; t++) {
    const value = returns[t]!
    sum += value
    square += value * value
  }
  return [sum, square]
}

/** The bars of one of `blocks` blocks of a span. */
function blockOf(span: TrialSpan, block: number, blocks: number): TrialSpan {
  return { from: boundOf(span, block, blocks), to: boundOf(span, block + 1, blocks) }
}

function boundOf({ from, to }: TrialSpan, block: number, blocks: number): number {
  return from + Math.floor((block * (to - from)) / blocks)
}
