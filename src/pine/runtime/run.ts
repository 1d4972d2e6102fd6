// A script running over bars: blocks of 4,096, the hoisted columns of a block first and then its bars one by one.
//
// A block's columns stay in the processor's cache until the bars are run, and what was computed ahead is never more than
// a block ahead: handing bars in one at a time gives the same numbers as all at once.

import { assert } from '../../lib/assert.ts'
import type { Bars } from '../../market/bars.ts'
import type { Expr, Program } from '../2-check/program.ts'
import { planProgram } from '../3-plan/plan.ts'
import { requestKey } from '../3-plan/request-key.ts'
import { callsOn, sliceProgram } from '../3-plan/slice.ts'
import { generate, type Generated, type Instance } from '../4-generate/generate.ts'
import { BLOCK } from '../4-generate/module.ts'
import type { RunEnvironment, ScriptRun, Series } from '../compile.ts'
import { Context } from './context.ts'
import { Drawings } from './drawings.ts'
import { resolveInputs, type ResolvedInputs } from './inputs.ts'
import { located } from './locate.ts'
import { tracksOf, type PlotTrack } from './plots.ts'
import type { ChildRun, FeedSnapshot } from './request.ts'
import { ScriptError } from './runtime.ts'
import { Checkpoint, copyGraph } from './snapshot.ts'

/** Frames of call sites; calls of calls of calls multiply, and a million of them would fill the memory. */
const FRAME_LIMIT = 200_000

/** Bars between two looks at the clock; each costs as much as a few bars of a small script. */
const WATCHED_BARS = 256

/** request.security() within request.security(). */
const REQUEST_DEPTH = 12

interface Snapshot {
  readonly position: number
  readonly state: object
  readonly hoisted: object
  readonly drawings: object
  /** Columns of objects up to `position`, by number: the script may reach and change what they hold. */
  readonly past: readonly (readonly unknown[] | null)[]
  readonly feeds: readonly FeedSnapshot[]
  readonly alerts: number
  readonly logs: number
}

export class Run implements ScriptRun {
  readonly context: Context
  readonly #program: Program
  readonly #generated: Generated
  readonly #instance: Instance
  readonly #resolved: ResolvedInputs
  readonly #sources: (Float64Array | null)[]
  readonly #shared: ReadonlySet<unknown>
  readonly #depth: number
  #position = 0
  #beforeBar: { readonly bar: number; readonly state: Checkpoint } | null = null

  constructor(program: Program, generated: Generated, env: RunEnvironment, depth = 0) {
    this.#depth = depth
    this.#program = program
    this.#generated = generated
    this.#resolved = resolveInputs(program, env.inputs)
    const drawings = new Drawings(env.limits, program.declaration.args)
    this.context = new Context(program, generated.columns, env, drawings, depth > 0)
    if (generated.frameCount > FRAME_LIMIT)
      throw new ScriptError(
        `The script's functions call each other in ${generated.frameCount.toLocaleString('en')} places in all; ${FRAME_LIMIT.toLocaleString('en')} are allowed.`,
        'script_limit_exceeded',
      )
    this.#sources = this.#resolved.values.map(() => null)
    this.#instance = this.#located(() =>
      generated.instantiate(this.context, this.#resolved.values, this.#sources),
    )
    this.context.rerun = () => this.#rerun()
    this.context.spawn = (site, path, series) => this.#spawn(site, path, series)
    this.context.requestKey = (site, path) => requestKey(callsOn(program, path), this.#wantedBy(site))
    const members = program.enums.flatMap((one) => one.members)
    this.#shared = new Set<unknown>([this.context, env.broker, env, ...members])
  }

  get position(): number {
    return this.#position
  }
  get plots(): readonly PlotTrack[] {
    return tracksOf(this.#generated.tracks, this.#instance.options, this.context.columns, this.#position)
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

  advance(end: number): void {
    const { env } = this.context
    assert(end <= env.bars.length, 'a run goes no further than its bars')
    if (end <= this.#position) return
    this.context.grow(end)
    this.#readSources(end)
    this.#instance.bind()
    this.#located(() => {
      while (this.#position < end) {
        const to = Math.min(end, this.#position + BLOCK)
        this.#instance.hoist(this.#position, to)
        try {
          while (this.#position < to) this.#runWatched(Math.min(to, this.#position + WATCHED_BARS))
        } catch (error) {
          // What the bars before have plotted is there to be seen.
          this.#position = this.context.bar
          throw error
        }
        env.progress?.(to)
      }
    })
  }

  /** A run whose time is over does its last bar once more up to a loop, if it has one, whose line the error names then. */
  #runWatched(to: number): void {
    const { env } = this.context
    this.#instance.run(this.#position, to)
    this.#position = to
    try {
      env.watch?.()
    } catch (error) {
      this.context.loopsFrom = 1023
      this.#instance.body(to - 1)
      throw error
    }
  }

  snapshot(): unknown {
    return this.#copyState()
  }

  restore(snapshot: unknown): void {
    const saved = snapshot as Snapshot
    // Copied once more, so that a snapshot can be gone back to any number of times.
    const { state, hoisted, drawings, past } = copyGraph(
      { state: saved.state, hoisted: saved.hoisted, drawings: saved.drawings, past: saved.past },
      this.#shared,
    )
    for (const [i, column] of past.entries()) if (column) this.context.columns[i] = column as unknown[]
    for (const [i, feed] of this.context.feeds.entries()) feed.restore(saved.feeds[i] ?? null, saved.position)
    Object.assign(this.#instance.state, state)
    Object.assign(this.#instance.hoisted, hoisted)
    Object.assign(this.context.drawings, drawings)
    this.context.forget(saved.alerts, saved.logs)
    this.#position = saved.position
    this.#beforeBar = null
  }

  #copyState(): Snapshot {
    const { state, hoisted } = this.#instance
    const { drawings, alerts, logs, columns, feeds } = this.context
    const past = columns.map((column) =>
      Array.isArray(column) && holdsObjects(column, this.#position) ? column.slice(0, this.#position) : null,
    )
    return {
      position: this.#position,
      ...copyGraph({ state, hoisted, drawings, past }, this.#shared),
      feeds: feeds.map((feed) => feed.snapshot()),
      alerts: alerts.length,
      logs: logs.length,
    }
  }

  /** The slice behind a request's call site, on other bars. */
  #spawn(site: number, path: string, series: Series): ChildRun {
    if (this.#depth >= REQUEST_DEPTH)
      throw new ScriptError(
        'A request.security() needs its own result: what it evaluates leads back to the call itself.',
      )
    const { slices } = this.#generated
    const key = `${site}@${path}`
    let slice = slices.get(key)
    if (!slice) {
      const program = sliceProgram(this.#program, callsOn(this.#program, path), this.#wantedBy(site))
      slice = { program, generated: generate(planProgram(program)) }
      slices.set(key, slice)
    }
    const { env } = this.context
    const run = new Run(
      slice.program,
      slice.generated,
      { ...env, ...series, main: this.context.main, progress: () => env.progress?.(this.context.bar) },
      this.#depth + 1,
    )
    run.context.warnings = this.context.warnings
    return run.asChild()
  }

  #wantedBy(site: number): Expr {
    const wanted = this.#generated.requests.find((request) => request.site === site)?.wanted
    assert(wanted, 'a request knows what it wants')
    return wanted
  }

  asChild(): ChildRun {
    const { results } = this.#generated
    const { columns } = this.context
    const three = this.#program.version < 6
    return {
      advance: (end) => this.advance(end),
      snapshot: () => this.snapshot(),
      restore: (snapshot) => this.restore(snapshot),
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

  /** Columns of the source inputs: bar columns as they are, derived ones worked out for the bars that are new. */
  #readSources(end: number): void {
    const { bars } = this.context
    for (const input of this.#program.inputs) {
      if (input.kind !== 'source') continue
      const name = this.#resolved.values[input.index]
      if (typeof name !== 'string' || name === '') continue
      this.#sources[input.index] = sourceColumn(
        bars,
        name,
        this.#position,
        end,
        this.#sources[input.index] ?? null,
      )
    }
  }

  #located<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw located(error, this.#generated.offsets)
    }
  }
}

/** A column's values are all of one type: the first that is there tells. */
function holdsObjects(column: readonly unknown[], end: number): boolean {
  for (let i = 0; i < end; i++) {
    const value = column[i]
    if (value !== null && value !== undefined) return typeof value === 'object'
  }
  return false
}

/** The column of a source; a derived one is worked out for the bars to be run now, as the last may have been forming. */
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
  for (let i = from; i < end; i++) {
    const [o, h, l, c] = [open[i]!, high[i]!, low[i]!, close[i]!]
    if (name === 'hl2') column[i] = (h + l) / 2
    else if (name === 'hlc3') column[i] = (h + l + c) / 3
    else if (name === 'ohlc4') column[i] = (o + h + l + c) / 4
    else column[i] = (h + l + 2 * c) / 4
  }
  return column
}
