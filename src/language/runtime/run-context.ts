// A run's context: what built-ins and the generated code see of the run they are part of. See `runtime.ts` for the port.

import { memo, memoOf } from '../../lib/memo.ts'
import { Spares } from '../../lib/spares.ts'
import { tooManyRequests, tooManyRounds, tooManySeries } from '../messages/failing.ts'
import { type Bars } from '../../market/bars.ts'
import { calendarOf, periodFinder } from '../../market/calendar.ts'
import { exchangeRate, type RateAt } from '../../market/exchange-rates.ts'
import { intervalMs, isIntraday, parseInterval } from '../../market/interval.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { roomOf, type ColumnData, type Executable, type PineVersion, type RunColumn } from './executable.ts'
import type { Broker } from '../broker.ts'
import type { RunWarning } from '../messages/message.ts'
import { logsCut, noRates } from '../messages/running.ts'
import type { AlertEvent, LogEntry, RunEnvironment, Series } from '../environment.ts'
import type { CoarserBars } from './coarser.ts'
import type { Drawings } from './drawings.ts'
import type { Budget } from './budget.ts'
import { Footprints } from './footprint.ts'
import { Grids } from './grids.ts'
import { SeriesNeeded, type Runtime } from './runtime.ts'
import type { Limits } from './limits.ts'

const DAY = 86_400_000

/** Generated loops call `looped` once in this many rounds. */
const ROUNDS_A_CALL = 256
const STRIDE_MAX = 1024

/** A round may cost a nanosecond or a second: looks come closer until they are a few milliseconds apart. */
export function strideAfter(stride: number, elapsedMs: number, most: number): number {
  if (elapsedMs > 10) return Math.max(1, stride >> 2)
  return elapsedMs < 2 ? Math.min(most, stride * 2) : stride
}

/** The memory of an alert or a log line besides its text. */
const EVENT_BYTES = 100

function saidBytes(text: string): number {
  return EVENT_BYTES + 2 * text.length
}

/** Lines a script may log; later ones are counted, not kept. */
const LOG_LIMIT = 10_000
/** Made once: numbers as people write them take browsers 11 µs, and a script can log a million times. */
const LOGS_CUT = logsCut(LOG_LIMIT)

const closesOf = memoOf((_bars: Bars) => new Map<string, Float64Array<ArrayBuffer>>())

/** Columns that runs of this thread have left, three a run: they were a fifth of its new memory. */
const SPARE_MAX = 32
const sparesOf = memo(8, (_kindAndLength) => new Spares<Float64Array | Uint8Array>(SPARE_MAX))

/**
 * Whole columns, mostly of plots, for runs over as many bars: two plots of 53,929 bars took half of the run, while the system found
 * the memory. Longer ones are not kept: these are 4 MB.
 */
const wholeSparesOf = memo(1, (_length) => new Spares<Float64Array>(8))
const WHOLE_MAX = 65_536

function wholeColumn(length: number): Float64Array {
  return wholeSparesOf(String(length)).take() ?? new Float64Array(length)
}

/** What stands in it is of another run, and is written over before it is read. */
function spareColumn(kind: 'f64' | 'u8', length: number): Float64Array | Uint8Array {
  const spare = sparesOf(`${kind}${length}`).take()
  return spare ?? (kind === 'f64' ? new Float64Array(length) : new Uint8Array(length))
}

export class RunContext implements Runtime {
  readonly version: PineVersion
  bar = 0
  readonly symbol: SymbolInfo
  readonly interval: string
  readonly grids: Grids
  readonly timezone: string
  readonly broker: Broker
  readonly drawings: Drawings
  readonly footprints: Footprints = new Footprints(this)
  readonly limits: Limits
  readonly budget: Budget
  readonly declaration: Runtime['declaration']
  /** Data of the plan's columns, by number. */
  readonly columns: ColumnData[]
  readonly alerts: AlertEvent[] = []
  readonly logs: LogEntry[] = []
  /** The chart's bars on coarser intervals, which requests of the same interval share. */
  readonly coarser = new Map<string, CoarserBars>()
  warnings: RunWarning[] = []
  /**
   * The first bar whose answers another bar to come may change: what the script does from there on is not to be kept.
   * A look ahead into a day that is not over, another series that ends sooner, the number of the last bar.
   */
  unsettledFrom = Infinity
  /** How many elements of collections were copied for request.*() so far. */
  handedOut = 0
  /** Set by the run: what a request evaluates, as a text. */
  requestKey: (site: number, path: string) => string = (site, path) => `${site}@${path}`
  /** What a bar's count of rounds starts from: near 256, the first round already calls `looped`. */
  loopsFrom = 0
  /** How many rounds of loops there are between two checks of the clock. */
  stride = ROUNDS_A_CALL
  /** For each share of columns, by index, whether the run computes it itself (1). */
  readonly computes: Uint8Array
  /** Columns that are not this run's own, or are kept by who handed them over. */
  readonly #lent = new Set<number>()
  #rounds = 0
  /** Bytes of the texts of alerts and log lines, all of which are written into the answer. */
  said = 0
  #looks = 0
  /** Set by the run: the body once more on this bar. */
  rerun: () => void = () => {}
  /** Set by the run: what its variables hold. */
  held: () => ReadonlySet<unknown> = () => new Set()
  readonly #env: RunEnvironment
  readonly #kinds: readonly RunColumn[]
  #capacity = 0
  #timeClose = new Float64Array(0)
  #timeCloseDone = 0
  readonly #rates = new Map<string, RateAt | null>()
  /** The different calls of request.*() so far; null in what a request runs elsewhere. */
  #requests: Set<string> | null
  #alertedBar = new Set<string>()
  #alertedOn = -1

  constructor(
    { program, columns, shares }: Pick<Executable, 'program' | 'columns' | 'shares'>,
    env: RunEnvironment,
    drawings: Drawings,
    budget: Budget,
    isChild = false,
  ) {
    this.#requests = isChild ? null : new Set()
    this.#env = env
    this.#kinds = columns
    this.version = program.version
    this.declaration = program.declaration.args
    this.symbol = env.symbol
    this.interval = env.interval
    this.grids = new Grids(env.symbol)
    this.timezone = env.symbol.timezone
    this.broker = env.broker
    this.limits = env.limits
    this.budget = budget
    this.drawings = drawings
    this.computes = new Uint8Array(shares.length).fill(1)
    this.columns = columns.map(({ kind, kept, back }) =>
      kind === 'any' ? [] : spareColumn(kind, kept ? 0 : roomOf(back)),
    )
  }

  get env(): RunEnvironment {
    return this.#env
  }
  get main(): Pick<Series, 'symbol' | 'interval'> {
    return this.#env.main ?? this.#env
  }
  get bars(): Bars {
    return this.#env.bars
  }
  /** The bars as they are when they have closed; `bars` may show the one at work as it is being made. */
  get closedBars(): Bars {
    return this.#env.ticks?.finished ?? this.#env.bars
  }
  /** Whether it runs over bars of the chart that are all there, none of which is still forming. */
  get isOfWholeChart(): boolean {
    const { stepwise, ticks, developing } = this.#env
    return this.#requests !== null && stepwise !== true && !ticks && developing !== true
  }
  /** A tick of a bar that has not closed. */
  get isTick(): boolean {
    return this.#env.ticks?.isDeveloping === true
  }
  get lastBar(): number {
    this.unsettle()
    return this.#env.bars.length - 1
  }
  get isLast(): boolean {
    return this.bar === this.#env.bars.length - 1
  }
  get now(): number {
    return this.timeClose[this.lastBar] ?? Number.NaN
  }

  /** Computed on first use, since most scripts never need it. */
  get timeClose(): Float64Array {
    const { bars } = this
    if (this.#timeCloseDone === bars.length) return this.#timeClose
    if (this.#timeCloseDone === 0 && this.isOfWholeChart) return this.#closesOfChart(bars)
    return this.#closes(bars)
  }

  /** Runs over the same bars have the column in common: it is as long as they are, so that more bars make another. */
  #closesOfChart(bars: Bars): Float64Array {
    const { timezone, session } = this.symbol
    const key = `${bars.length} ${bars.time[bars.length - 1]} ${this.interval} ${timezone} ${session}`
    const known = closesOf(bars)
    this.#timeClose = known.get(key) ?? this.#closes(bars)
    this.#timeCloseDone = parseInterval(this.interval) ? bars.length : Math.max(0, bars.length - 1)
    known.set(key, this.#timeClose)
    return this.#timeClose
  }

  #closes(bars: Bars): Float64Array<ArrayBuffer> {
    if (this.#timeClose.length < bars.length) {
      const grown = new Float64Array(Math.max(bars.length, this.#timeClose.length * 2))
      grown.set(this.#timeClose)
      this.#timeClose = grown
    }
    const interval = parseInterval(this.interval)
    // Round the clock in UTC every bar of minutes ends on a multiple of its length; asking the calendar costs 0.2 µs a bar.
    const step = interval && isIntraday(interval) ? intervalMs(interval) : 0
    if (step > 0 && DAY % step === 0 && this.symbol.session === '24x7' && this.timezone === 'UTC') {
      for (let i = this.#timeCloseDone; i < bars.length; i++)
        this.#timeClose[i] = (Math.floor((bars.time[i] ?? Number.NaN) / step) + 1) * step
    } else if (interval) {
      const find = periodFinder(calendarOf(this.symbol), interval, interval)
      for (let i = this.#timeCloseDone; i < bars.length; i++)
        this.#timeClose[i] = find(bars.time[i] ?? Number.NaN).end
    } else
      for (let i = this.#timeCloseDone; i < bars.length; i++)
        this.#timeClose[i] = bars.time[i + 1] ?? Number.NaN
    // Without an interval the last bar's end is that of the next, which may come.
    this.#timeCloseDone = interval ? bars.length : Math.max(0, bars.length - 1)
    return this.#timeClose
  }

  /** Makes room for bars up to `end`. Doubling, so that bars handed in one at a time cost no more. */
  grow(end: number): void {
    if (end <= this.#capacity) return
    const capacity = this.#capacity === 0 ? end : Math.max(end, this.#capacity * 2)
    const kept = this.#kinds.filter((column) => column.kept).length
    if (kept * capacity * 8 > this.limits.memoryBytes) throw tooManySeries(kept, end)
    for (const [i, { kind, kept }] of this.#kinds.entries()) {
      const old = this.columns[i]
      if (!kept) continue
      this.budget.take((kind === 'u8' ? 1 : 8) * capacity)
      if (kind === 'any' || this.#lent.has(i)) continue
      const grown = kind === 'f64' ? wholeColumn(capacity) : new Uint8Array(capacity)
      if (this.#capacity > 0) grown.set(old as Float64Array)
      this.columns[i] = grown
    }
    this.#capacity = capacity
  }

  /** The run is over: its columns serve the next one, those of which something is shown only with `shown`. */
  release(shown: boolean): void {
    for (let i = 0; i < this.columns.length; i++)
      if (shown || this.#requests === null || !this.#kinds[i]!.kept) this.#leave(i)
  }

  #leave(i: number): void {
    const { kind, kept } = this.#kinds[i]!
    const column = this.columns[i]!
    if (this.#lent.has(i) || Array.isArray(column)) return
    if (!kept) sparesOf(`${kind}${column.length}`).leave(column)
    else if (column instanceof Float64Array && column.length <= WHOLE_MAX)
      wholeSparesOf(String(column.length)).leave(column)
    this.columns[i] = []
  }

  /** A whole column that the run need not make room for. */
  lend(column: number, data: ColumnData): void {
    if (!this.#kinds[column]!.kept) this.#leave(column)
    this.columns[column] = data
    this.#lent.add(column)
  }

  /** Two calls that ask for the same are one, and what a request needs of others is not counted. */
  countRequest(site: number, path: string, asked: string): void {
    if (this.#requests === null) return
    this.#requests.add(`${asked} ${this.requestKey(site, path)}`)
    if (this.#requests.size > this.limits.requests) throw tooManyRequests(this.limits.requests)
  }

  /** The last answer may be different when the next bar comes. */
  unsettle(): void {
    if (this.bar < this.unsettledFrom) this.unsettledFrom = this.bar
    this.#env.unsettle?.()
  }

  series(exchange: string, symbol: string, interval: string): Series | null {
    const series = this.#env.series(exchange, symbol, interval)
    if (series === undefined) throw new SeriesNeeded(exchange, symbol, interval)
    return series
  }

  /** Called by loops every 256 rounds. */
  looped(rounds: number): void {
    if (rounds > this.limits.loopsPerBar) throw tooManyRounds(this.limits.loopsPerBar)
    this.#rounds += ROUNDS_A_CALL
    if (this.#rounds < this.stride) return
    this.#rounds = 0
    this.budget.check()
    this.stride = strideAfter(this.stride, this.#env.watch?.() ?? 0, STRIDE_MAX)
    this.#env.used?.(this.budget.counted)
    if ((++this.#looks & 63) === 0) this.#env.progress?.(this.bar)
  }

  warn(warning: RunWarning): void {
    const { code, message } = warning
    if (!this.warnings.some((said) => said.code === code && said.message === message))
      this.warnings.push(warning)
  }

  log(level: 'info' | 'warning' | 'error', message: string): void {
    if (this.logs.length >= LOG_LIMIT) this.warn(LOGS_CUT)
    else {
      this.#say(message)
      this.logs.push({ bar: this.bar, time: this.bars.time[this.bar] ?? 0, level, message })
    }
  }

  #say(text: string): void {
    const bytes = saidBytes(text)
    this.said += bytes
    this.budget.take(bytes)
  }

  /** The run has gone back, or continues from another run's state. */
  goBack(): void {
    this.#alertedOn = -1
    this.said = 0
    for (const { title, message } of this.alerts) this.said += saidBytes(title + message)
    for (const { message } of this.logs) this.said += saidBytes(message)
  }

  alert(message: string, freq: string): void {
    if (freq === 'once_per_bar_close' && this.isTick) return
    if (this.#alertedOn !== this.bar) {
      this.#alertedOn = this.bar
      this.#alertedBar = new Set()
    }
    // Most scripts run once a bar, at its close: then the frequencies differ only in how often one bar may alert.
    if (freq !== 'all' && this.#alertedBar.has(message)) return
    this.#alertedBar.add(message)
    this.#say(message)
    this.alerts.push({ bar: this.bar, time: this.bars.time[this.bar] ?? 0, title: '', message })
  }

  /** What one `from` is worth in `to` on this bar; 1, with a warning, where no daily bars of a pair tell. */
  currencyRate(from: string | null, to: string | null, ignore: boolean | null): number {
    if (from === null || to === null) return Number.NaN
    const rate = this.rateBetween(from, to)
    if (rate) return rate(this.bars.time[this.bar] ?? Number.NaN)
    return ignore === true ? Number.NaN : 1
  }

  /** null, with a warning, where no daily bars of a pair tell. */
  rateBetween(from: string, to: string): RateAt | null {
    // Nothing given means no conversion: scripts have an input for the currency that is empty at first.
    if (from === to || from === '' || to === '' || from === 'NONE' || to === 'NONE') return () => 1
    // The day's own rate is not known before it is over.
    this.unsettle()
    const key = `${from}${to}`
    let rate = this.#rates.get(key)
    if (rate === undefined) {
      rate = exchangeRate(from, to, (pair) => this.series('', pair, '1d')?.bars ?? null)
      this.#rates.set(key, rate)
      if (!rate) this.warn(noRates(from, to))
    }
    return rate
  }

  alertCondition(title: string | null, message: string | null): void {
    this.#say(`${title ?? ''}${message ?? ''}`)
    this.alerts.push({
      bar: this.bar,
      time: this.bars.time[this.bar] ?? 0,
      title: title ?? 'Alert',
      message: message ?? '',
    })
  }
}
