// A script running over bars: blocks of 4,096, the hoisted columns of a block first and then its bars one by one.
//
// A block's columns stay in the processor's cache until the bars are run, and what was computed ahead is never more than
// a block ahead: handing bars in one at a time gives the same numbers as all at once.

import { requestsItself, tooManyFrames } from '../messages/failing.ts'
import { assert } from '../../lib/assert.ts'
import { GraphReader, GraphWriter } from '../../lib/graph-bytes.ts'
import type { Bars } from '../../market/bars.ts'
import { BLOCK, type Executable, type Instance, type ColumnData } from './executable.ts'
import type { StateClass } from './state-class.ts'
import type {
  AlertEvent,
  LogEntry,
  RunEnvironment,
  ScriptRun,
  Series,
  SharedColumn,
  SharedColumns,
} from '../environment.ts'
import { Checkpoint } from './checkpoint.ts'
import { PastArray, PineArray, PineMap } from './collections.ts'
import { Budget } from './budget.ts'
import { RunContext, strideAfter } from './run-context.ts'
import { ChartPoint, Drawings, forgetPast } from './drawings.ts'
import { heldBy } from './held.ts'
import { History } from './history.ts'
import { plotElsewhere } from '../messages/running.ts'
import {
  isPlotSource,
  resolveInputs,
  type InputSpec,
  type PlotSource,
  type ResolvedInputs,
} from './inputs.ts'
import { located } from './locate.ts'
import { MatrixRow, PastMatrix, PineMatrix } from './matrix.ts'
import { plotValues, tracksOf, type PlotTrack } from './plots.ts'
import { requestedBy, type ChildRun, type Opened, type RequestFeed } from './request.ts'

/** Frames of call sites; calls of calls of calls multiply, and a million of them would fill the memory. */
const FRAME_LIMIT = 200_000

/** Bars between two looks at the clock, at most; each look costs as much as a few bars of a small script. */
const WATCHED_BARS = 256

/** How many numbers the processor fetches at once. */
const CACHE_LINE = 8

/** request.security() within request.security(). */
const REQUEST_DEPTH = 12

/** What a snapshot keeps of a run, besides the objects that its frames lead to. */
interface Saved {
  readonly position: number
  /** The columns whose past may be read, up to `position`. */
  readonly columns: readonly { readonly from: number; readonly data: ColumnData }[]
  readonly handedOut: number
  readonly alerts: readonly AlertEvent[]
  readonly logs: readonly LogEntry[]
  readonly frames: { readonly state: object; readonly hoisted: object; readonly drawings: Drawings }
  readonly feeds: readonly unknown[]
}

/** A feed, with the feeds of the run behind it. */
interface Opening {
  readonly request: Opened
  readonly feeds: readonly Opening[]
}

/** Classes of objects that scripts create while running. A run that was just opened has an instance of every other class. */
const MADE_ON_THE_WAY = [
  PineArray,
  PastArray,
  PineMap,
  PineMatrix,
  PastMatrix,
  MatrixRow,
  ChartPoint,
  History,
]

export class Run implements ScriptRun {
  readonly context: RunContext
  readonly #executable: Executable
  readonly #instance: Instance
  readonly #resolved: ResolvedInputs
  readonly #sources: (Float64Array | null)[]
  readonly #shared: ReadonlySet<object>
  readonly #depth: number
  /** Bars from one look at the clock to the next. */
  #stride = 1
  /** The count at which the memory of built-ins is measured next, since they do not count it themselves. */
  #recountAt = 0
  readonly #budget: Budget
  #position = 0
  /** Columns are computed up to this bar, which is ahead of the position only while the bars are passed a few at a time. */
  #hoistedTo = 0
  /** Up to which bar the sources of inputs are read. */
  #readTo = 0
  /** The bar at which the clock was looked at last. */
  #watchedAt = 0
  /** Nobody reads this field; keeping it makes sure that its computation is not optimized away. */
  near = 0
  #beforeBar: { readonly bar: number; readonly state: Checkpoint } | null = null

  constructor(executable: Executable, env: RunEnvironment, depth = 0) {
    const { program } = executable
    this.#depth = depth
    this.#executable = executable
    this.#resolved = resolveInputs(program, env.inputs)
    const drawings = new Drawings(env.limits, program.declaration.args)
    this.#budget = env.budget ?? new Budget(env.limits)
    if (depth === 0) {
      this.#budget.countsFromEnd = program.version >= 6
      this.#budget.watch = () => void env.watch?.()
      if (env.collect) this.#budget.collect = env.collect
    }
    this.context = new RunContext(executable, env, drawings, this.#budget, depth > 0)
    if (executable.frameCount > FRAME_LIMIT) throw tooManyFrames(executable.frameCount, FRAME_LIMIT)
    this.#sources = this.#resolved.values.map(() => null)
    this.#instance = this.#located(() =>
      executable.instantiate(this.context, this.#resolved.values, this.#sources),
    )
    this.context.rerun = () => this.#rerun()
    this.context.held = () => heldBy(this.#instance.state, this.context.columns, this.context.bar)
    requestedBy(this.context).spawn = (site, path, series) => this.#spawn(site, path, series)
    this.context.requestKey = (site, path) => executable.requestKey(site, path)
    const members = program.enums.flatMap((one) => one.members)
    this.#shared = new Set<object>([this.context, this.#budget, env.broker, env, ...members])
    this.#budget.add(
      () => this.#roots(),
      this.#shared,
      () => this.context.said + (depth === 0 ? env.broker.bytes : 0),
    )
  }

  get position(): number {
    return this.#position
  }
  get plots(): readonly PlotTrack[] {
    return tracksOf(this.#executable.tracks, this.#instance.options, this.context.columns, this.#position)
  }
  plotsFrom(from: number) {
    const { tracks } = this.#executable
    return plotValues(tracks, this.#instance.options, this.context.columns, from, this.#position)
  }
  get drawings() {
    return this.context.drawings
  }
  get alerts() {
    return this.context.alerts
  }
  get logs() {
    return this.context.logs
  }
  get warnings() {
    return this.context.warnings
  }
  get inputs() {
    return this.#resolved.shown
  }

  advance(end: number, ahead = end): void {
    const { env } = this.context
    assert(end <= ahead && ahead <= env.bars.length, 'a run goes no further than its bars')
    if (end <= this.#position) return
    if (this.#position < this.#hoistedTo) this.#runHoisted(Math.min(end, this.#hoistedTo))
    if (end <= this.#position) return
    this.context.grow(ahead)
    const computed = env.shared && this.#executable.shares.length > 0 ? this.#share(env.shared, end) : null
    if (ahead > this.#readTo || ahead === end) this.#readSources(this.#position, ahead)
    this.#readTo = ahead
    this.#instance.bind()
    while (this.#position < end) {
      const to = Math.min(ahead, this.#position + BLOCK)
      if (!env.ticks) this.#located(() => this.#instance.hoist(this.#position, to))
      this.near = broughtNear(env.bars.open, this.#position, to)
      this.#hoistedTo = to
      this.#runHoisted(Math.min(end, to))
    }
    computed?.()
  }

  /** Runs bars for which everything is computed that can be computed ahead. */
  #runHoisted(end: number): void {
    try {
      while (this.#position < end) this.#runWatched(Math.min(end, this.#position + this.#stride))
    } catch (error) {
      // The plots of earlier bars exist already.
      this.#position = this.context.bar
      this.#forgetAhead()
      throw located(error, this.#executable.offsets)
    }
  }

  #forgetAhead(): void {
    this.#hoistedTo = 0
    this.#readTo = 0
  }

  /** Takes columns that earlier runs have computed; the returned function hands on those that this run computes. */
  #share(shared: SharedColumns, end: number): () => void {
    const { context } = this
    const { values } = this.#resolved
    assert(this.#position === 0 && end === context.bars.length, 'runs share columns of all their bars')
    const { shares, columns } = this.#executable
    for (const [at, share] of shares.entries()) {
      const found = shared.find(share, values)
      context.computes[at] = found ? 0 : 1
      for (const [i, column] of share.columns.entries())
        context.lend(column, found?.[i] ?? shared.room(column, columns[column]?.kind === 'u8' ? 'u8' : 'f64'))
    }
    return () => {
      for (const [at, share] of shares.entries())
        if (context.computes[at] === 1)
          shared.keep(
            share,
            values,
            share.columns.map((column) => context.columns[column] as SharedColumn),
          )
    }
  }

  /** A run whose time is over does its last bar once more up to a loop, if it has one, whose line the error names then. */
  #runWatched(to: number): void {
    const { env } = this.context
    if (env.ticks) for (let bar = this.#position; bar < to; bar++) this.#runTicks(bar)
    else this.#instance.run(this.#position, to)
    this.#position = to
    // While bars are passed one at a time, looking each time would cost more than the bars.
    if (to < this.#hoistedTo && to - this.#watchedAt < this.#stride) return
    this.#watchedAt = to
    try {
      if (this.#depth === 0 && to >= this.#recountAt) {
        this.#recountAt = 2 * Math.max(to, BLOCK)
        this.#budget.recount()
      } else this.#budget.check()
      this.#stride = strideAfter(this.#stride, env.watch?.() ?? 0, WATCHED_BARS)
      env.used?.(this.#budget.counted)
    } catch (error) {
      this.context.loopsFrom = 255
      this.context.stride = 1
      this.#instance.body(to - 1)
      throw error
    }
    env.progress?.(to)
  }

  /** Runs the body on each tick of a bar, each time from the state after the previous bar, and on its close (A10). */
  #runTicks(bar: number): void {
    const { broker } = this.context
    const { state, hoisted } = this.#instance
    this.context.bar = bar
    broker.account.bar = bar
    const before = new Checkpoint([state, hoisted, this.context.drawings], this.#shared)
    const run = () => {
      this.#readSources(bar, bar + 1)
      this.#instance.hoist(bar, bar + 1)
      this.#instance.body(bar)
    }
    broker.onBar(bar, () => {
      run()
      before.restore()
    })
    run()
    if (broker.dirty) broker.afterScript(bar)
  }

  /** All that a recount of the memory goes through. */
  #roots(): readonly unknown[] {
    const { columns, drawings } = this.context
    const { state, hoisted } = this.#instance
    return [state, hoisted, columns, drawings, this.#sources]
  }

  get unsettledFrom(): number {
    return this.context.unsettledFrom
  }

  /** The feeds of its requests. Whatever works behind one was made by `#spawn`. */
  get #feeds() {
    return requestedBy(this.context).feeds as RequestFeed<Run>[]
  }

  release(shown: boolean): void {
    for (const { child } of this.#feeds) child.run.release(shown)
    this.context.release(shown)
  }

  snapshot(): Uint8Array {
    return this.#written(Infinity)
  }

  essence(bars: number): Uint8Array {
    this.#forgetPast(this.#position - bars)
    return this.#written(bars)
  }

  #forgetPast(from: number): void {
    const { alerts, logs, drawings } = this.context
    refill(
      alerts,
      alerts.filter(({ bar }) => bar >= from),
    )
    logs.length = 0
    forgetPast(drawings)
    for (const { child } of this.#feeds) child.run.#forgetPast(Infinity)
  }

  #written(bars: number): Uint8Array {
    const writer = new GraphWriter()
    writer.write(this.#openings())
    writer.know(this.#known())
    // What a request runs warns in the list of the script's own run.
    writer.write({ warnings: this.#depth > 0 ? null : this.context.warnings, run: this.#saved(bars) })
    return writer.bytes()
  }

  restore(snapshot: Uint8Array): void {
    const reader = new GraphReader(snapshot, (of) => this.#make(of))
    this.#reopen(reader.read() as readonly Opening[])
    reader.know(this.#known())
    const { warnings, run } = reader.read({ run: this.#targets() }) as {
      warnings: RunContext['warnings'] | null
      run: Saved
    }
    if (warnings) refill(this.context.warnings, warnings)
    this.#put(run)
    // These objects now belong to this run; if they are too many, they are counted one by one.
    if (this.#depth === 0) this.#budget.used += snapshot.length
  }

  /** What both sides of a snapshot have: what code refers to, and what is no state of this run's. */
  #known(): readonly unknown[] {
    const { types } = this.#instance
    const constants = this.#executable.constants.filter(
      (one) => typeof one === 'object' || typeof one === 'function',
    )
    const members = this.#executable.program.enums.flatMap((one) => one.members)
    const own: unknown[] = [
      this.context,
      this.#budget,
      this.context.broker,
      ...MADE_ON_THE_WAY,
      ...constants,
      ...types,
      ...members,
    ]
    for (const { child } of this.#feeds) own.push(...child.run.#known())
    return own
  }

  /** The feeds requests have opened so far, and those of what they evaluate. */
  #openings(): readonly Opening[] {
    return this.#feeds.map(({ request, child }) => ({ request, feeds: child.run.#openings() }))
  }

  #reopen(openings: readonly Opening[]): void {
    const feeds = openings.map(({ request, feeds: below }) => {
      const made = requestedBy(this.context).sites.get(request.of)?.feed(request)
      assert(made, 'a request that was kept can be made again')
      const feed = made as RequestFeed<Run>
      feed.child.run.#reopen(below)
      return feed
    })
    // Feeds that were opened since then stay open and start over.
    const since = this.#feeds.filter((feed) => !feeds.includes(feed))
    refill(this.#feeds, [...feeds, ...since])
  }

  /** What is to be saved, with the columns of the last `bars`, or of more bars where the script reads them. */
  #saved(bars: number): Saved {
    const { state, hoisted } = this.#instance
    const { drawings, alerts, logs, handedOut, columns } = this.context
    const position = this.#position
    return {
      position,
      columns: this.#executable.columns.map(({ kept, back }, i) => {
        const from = Math.max(0, position - Math.max(back, kept ? bars : 0))
        const data = columns[i] ?? []
        if (Array.isArray(data)) return { from, data: data.slice(from, position) }
        if (kept) return { from, data: data.subarray(from, position) }
        // Two blocks, or one whose past nobody reads.
        const last = data.slice(0, position - from)
        for (let bar = from; bar < position; bar++) last[bar - from] = data[bar & (data.length - 1)]!
        return { from, data: last }
      }),
      handedOut,
      alerts,
      logs,
      frames: { state, hoisted, drawings },
      feeds: this.#feeds.map((feed) => feed.saved(() => feed.child.run.#saved(bars === Infinity ? bars : 0))),
    }
  }

  /** The objects of this run into which `restore` reads what was saved. */
  #targets(): unknown {
    const { state, hoisted } = this.#instance
    return {
      frames: { state, hoisted, drawings: this.context.drawings },
      feeds: this.#feeds.map((feed) => ({ child: feed.child.run.#targets() })),
    }
  }

  #put(saved: Saved): void {
    const { context } = this
    this.#position = saved.position
    this.#forgetAhead()
    // For the bars that will be run, too: a column that has to grow is copied.
    context.grow(Math.max(saved.position, context.bars.length))
    for (const [i, { from, data }] of saved.columns.entries()) {
      const own = context.columns[i]
      if (data.length === 0 || own === undefined) continue
      if (!Array.isArray(own) && this.#executable.columns[i]?.kept) own.set(data as Float64Array, from)
      else if (!Array.isArray(own))
        for (const [at, value] of (data as Float64Array).entries())
          own[(from + at) & (own.length - 1)] = value
      else {
        own.length = from
        for (const item of data) own.push(item)
      }
    }
    context.handedOut = saved.handedOut
    refill(context.alerts, saved.alerts)
    refill(context.logs, saved.logs)
    context.goBack()
    this.#sources.fill(null)
    this.#beforeBar = null
    for (const [i, feed] of this.#feeds.entries())
      feed.put(saved.feeds[i] ?? null, saved.position, (child) => feed.child.run.#put(child as Saved))
  }

  /** Call sites in loops have states that are made when a round first needs one. */
  #make(of: abstract new (...args: never[]) => object): object {
    if ('next' in (of.prototype as object)) return new (of as unknown as StateClass)(this.context)
    return Object.create(of.prototype as object) as object
  }

  /** The slice behind a request's call site, on other bars. */
  #spawn(site: number, path: string, series: Series): ChildRun {
    if (this.#depth >= REQUEST_DEPTH) throw requestsItself()
    const { env } = this.context
    const run = new Run(
      this.#executable.slice(site, path),
      {
        ...env,
        ...series,
        ticks: null,
        budget: this.#budget,
        main: this.context.main,
        progress: () => env.progress?.(this.context.bar),
        unsettle: () => this.context.unsettle(),
      },
      this.#depth + 1,
    )
    run.context.warnings = this.context.warnings
    return run.asChild()
  }

  asChild(): ChildRun {
    const { results } = this.#executable
    const { columns } = this.context
    const three = this.#executable.program.version < 6
    return {
      run: this,
      value: (item, bar) => {
        const column = results[item]
        assert(column, 'a slice gives the values wanted')
        const entry = columns[column.index]?.[bar]
        if (column.kind !== 'u8') return entry ?? null
        return entry === 2 && three ? null : entry === 1
      },
    }
  }

  /** calc_on_order_fills: the body once more on this bar, after which all but `varip` is as it was at the bar's start. */
  #rerun(): void {
    const { bar, drawings } = this.context
    if (this.#beforeBar?.bar !== bar)
      this.#beforeBar = { bar, state: new Checkpoint([this.#instance.state, drawings], this.#shared) }
    this.#instance.body(bar)
    this.#beforeBar.state.restore()
  }

  /** Columns of the source inputs: bar columns are used directly, derived ones are computed for the new bars. */
  #readSources(from: number, end: number): void {
    const { bars } = this.context
    for (const input of this.#executable.program.inputs) {
      if (input.kind !== 'source') continue
      const name = this.#resolved.values[input.index]
      if (isPlotSource(name)) this.#readPlot(input, name, end)
      if (typeof name !== 'string' || name === '') continue
      this.#sources[input.index] = sourceColumn(bars, name, from, end, this.#sources[input.index] ?? null)
    }
  }

  /** What request.*() evaluates on other bars may have the input, but the plot belongs to the chart's bars. */
  #readPlot(input: InputSpec, plot: PlotSource, end: number): void {
    const { env, bars } = this.context
    if (this.#depth === 0 && env.plotSource) {
      this.#sources[input.index] = env.plotSource(plot, end)
      return
    }
    if ((this.#sources[input.index]?.length ?? 0) >= end) return
    this.#sources[input.index] = new Float64Array(Math.max(end, bars.length)).fill(Number.NaN)
    this.context.warn(plotElsewhere(input.label))
  }

  #located<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw located(error, this.#executable.offsets)
    }
  }
}

/**
 * Fetches a block of a column into the processor's cache, from which orders will read single values: without this, each of
 * 39,000 fills waited 90 ns for its open.
 */
function broughtNear(column: Float64Array, from: number, to: number): number {
  let sum = 0
  for (let i = from; i < to; i += CACHE_LINE) sum += column[i]!
  return sum
}

/** Not by spreading: a script may have called alert() a million times. */
function refill<T>(list: T[], items: readonly T[]): void {
  list.length = 0
  for (const item of items) list.push(item)
}

/** The column of a source; a derived one is computed for the bars about to run, since the last one may have been forming. */
function sourceColumn(
  bars: Bars,
  name: string,
  from: number,
  end: number,
  known: Float64Array | null,
): Float64Array {
  if (name === 'open' || name === 'high' || name === 'low' || name === 'close' || name === 'volume')
    return bars[name]
  const { open, high, low, close } = bars
  let column = known
  if (column === null || column.length < end) {
    column = new Float64Array(Math.max(end, 2 * (known?.length ?? 0)))
    if (known) column.set(known)
  }
  for (let i = known === null ? 0 : from; i < end; i++) {
    const [o, h, l, c] = [open[i]!, high[i]!, low[i]!, close[i]!]
    if (name === 'hl2') column[i] = (h + l) / 2
    else if (name === 'hlc3') column[i] = (h + l + c) / 3
    else if (name === 'ohlc4') column[i] = (o + h + l + c) / 4
    else column[i] = (h + l + 2 * c) / 4
  }
  return column
}
