// Finds out by running a script whether it sees the future, or shows something else live than in the past.
//
// There are three tests. *Truncation*: on the first n bars a script must show the same as when more bars are known, or it
// has looked ahead. *Live*: with the last bar as if it were forming (a requested coarser interval is not closed yet,
// barstate says so) it must show the same for that bar as later. *Settings*: recalculation at fills, which sees the
// finished bar, is switched off. The syntax tree suggests causes (`language/repaint-causes.ts`). A cause is named if the
// difference disappears without it, or appears with it. What no run can show is inferred from the text.

import { Problem } from '../lib/problem.ts'
import { selectBars, sliceBars, type Bars } from '../market/bars.ts'
import { calendarOf, periodFinder } from '../market/calendar.ts'
import { compareIntervals, parseInterval } from '../market/interval.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Series } from '../language/environment.ts'
import { repaintSuspects, withChanges, type Suspect } from '../language/repaint-causes.ts'
import type { PlotTrack } from '../language/runtime/plots.ts'
import { Source } from '../language/source.ts'
import type { Repaint, RepaintFinding } from '../wire/repaint.ts'
import type { Backtest, BacktestRequest } from './backtest.ts'
import { openBacktest } from './run.ts'

/** More samples find rarer differences. Each costs a run of half the length on average. */
const SAMPLES_MAX = 24
const SAMPLES_MIN = 6
/** This many samples are run again for every suspect. */
const TRIED_SAMPLES = 6
const BARS_IN_ALL = 400_000
/** No test begins after this many times the limit of one run; tests under way still finish. */
const RUNS_IN_TIME = 3
/** The most suspects of one cause, in the order of the text; further ones of a kind change little. */
const SUSPECTS_MAX = 8

/** What differs at a sample: the titles of plots, and whether orders differ. */
interface Difference {
  readonly sample: number
  readonly plots: ReadonlySet<string>
  readonly orders: boolean
  /** The first bar that differs. */
  readonly bar: number
}

/** Throws what running the script throws. */
export function findRepaint(request: BacktestRequest): Repaint {
  return new Search(request).findings()
}

class Search {
  readonly #request: BacktestRequest
  readonly #bars: Bars
  readonly #suspects: readonly Suspect[]
  readonly #source: Source
  readonly #samples: readonly number[]
  readonly #findings: RepaintFinding[] = []
  readonly #began: number
  #tested = 0
  readonly #named = new Set<Suspect>()
  readonly #cutter: SeriesCutter

  constructor(request: BacktestRequest) {
    this.#began = request.now?.() ?? 0
    this.#suspects = repaintSuspects(request.source)
    this.#source = new Source(request.source)
    const whole = openBacktest(request)
    this.#bars = selectBars(whole.bars, {})
    this.#request = { ...request, bars: this.#bars, figuresOnly: true }
    this.#samples = samplesOf(this.#bars.length)
    this.#cutter = new SeriesCutter(request)
  }

  findings(): Repaint {
    const differences = this.#truncated(this.#request, this.#samples)
    if (differences.length > 0) this.#blame(differences)
    const isTrading = this.#settings()
    this.#live()
    this.#fromText(isTrading)
    const findings = this.#findings.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    return { clean: findings.length === 0, samples: this.#tested, findings }
  }

  // ——— truncation ———

  /** A script that needs all its time for one run is tested with fewer samples. */
  #isLate(): boolean {
    const { now = () => 0, limits } = this.#request
    return now() - this.#began > RUNS_IN_TIME * limits.timeMs
  }

  /** Finds where a run on the bars up to a sample shows something else than the run on all bars. */
  #truncated(request: BacktestRequest, samples: readonly number[]): Difference[] {
    const whole = openBacktest(request)
    const found: Difference[] = []
    for (const sample of samples) {
      if (this.#isLate()) break
      whole.advance(sample)
      const part = this.#runTo(request, sample)
      const { plots, bar } = plotDifferences(part.run.plots, whole.run.plots, 0, sample)
      const orders = !sameBytes(part.broker.dealings(), whole.broker.dealings())
      if (plots.size > 0 || orders) found.push({ sample, plots, orders, bar: Math.min(bar, sample - 1) })
      if (samples === this.#samples) this.#tested++
    }
    return found
  }

  #runTo(request: BacktestRequest, sample: number, more: Partial<BacktestRequest> = {}): Backtest {
    const bars = sliceBars(this.#bars, 0, sample)
    const part = openBacktest({ ...request, bars, series: this.#cutter.upTo(bars), ...more })
    part.advance(sample)
    return part
  }

  /** Names the suspects that cause a difference alone, with the others taken away; if none does, all of them. */
  #blame(differences: readonly Difference[]): void {
    const suspects = this.#suspects.filter(
      ({ cause, neutral }) => neutral !== undefined || cause === 'lookahead_on',
    )
    if (suspects.length === 0) return this.#add(null, differences)
    const tried = spread(differences, TRIED_SAMPLES).map(({ sample }) => sample)
    const guilty = suspects.slice(0, SUSPECTS_MAX).flatMap((one) => {
      if (suspects.length === 1) return [{ one, seen: differences }]
      const seen = this.#tryAlone(one, suspects, tried)
      return seen.length > 0 ? [{ one, seen }] : []
    })
    if (guilty.length === 0) for (const one of suspects) this.#add(one, differences)
    for (const { one, seen } of guilty) this.#add(one, seen)
  }

  #tryAlone(suspect: Suspect, all: readonly Suspect[], samples: readonly number[]): readonly Difference[] {
    const changes = all.flatMap(({ start, end, neutral: text }) =>
      start === suspect.start || text === undefined ? [] : [{ start, end, text }],
    )
    const source = withChanges(this.#request.source, changes)
    return orNull(() => this.#truncated({ ...this.#request, source }, samples)) ?? []
  }

  // ——— live ———

  #live(): void {
    const coarser = this.#suspects.filter(
      (one) => one.cause === 'higher_interval' && (this.#orderOf(one) ?? 1) > 0,
    )
    const changed = this.#suspects.filter(({ live }) => live !== undefined).slice(0, SUSPECTS_MAX)
    if (coarser.length === 0 && changed.length === 0) return
    const seen = new Map<Suspect | null, Difference[]>()
    for (const sample of this.#samples) {
      if (this.#isLate()) break
      const closed = this.#runTo(this.#request, sample)
      const compare = (suspect: Suspect | null, live: Backtest | null) => {
        const found = live && differenceOfLast(closed, live, sample)
        if (found) seen.set(suspect, [...(seen.get(suspect) ?? []), found])
      }
      if (coarser.length > 0) compare(null, this.#runTo(this.#request, sample, { developing: true }))
      for (const one of changed) {
        const source = withChanges(this.#request.source, [{ ...one, text: one.live ?? '' }])
        compare(
          one,
          orNull(() => this.#runTo({ ...this.#request, source }, sample)),
        )
      }
    }
    for (const [suspect, differences] of seen)
      for (const one of suspect === null ? coarser : [suspect]) this.#add(one, differences)
  }

  // ——— settings, and what only the text says ———

  /** Answers whether the script trades at all. */
  #settings(): boolean {
    const whole = this.#whole(this.#request)
    const fills = whole.broker.position.fills.count
    const suspect = this.#suspects.find(({ cause }) => cause === 'calc_on_order_fills')
    if (suspect && whole.settings['calc_on_order_fills'] === true) {
      const overrides = { ...this.#request.overrides, calc_on_order_fills: false }
      const without = this.#whole({ ...this.#request, overrides })
      const bar = firstOtherFill(whole, without)
      if (bar !== null)
        this.#add(suspect, [{ sample: this.#bars.length, plots: new Set(), orders: true, bar }])
    }
    return fills > 0
  }

  #fromText(isTrading: boolean): void {
    for (const one of this.#suspects) {
      const { cause, reachesOutput = false } = one
      const order = reachesOutput ? (this.#orderOf(one) ?? 0) : 0
      if (
        cause === 'varip' ||
        cause === 'negative_offset' ||
        cause === 'drawn_back' ||
        (cause === 'calc_on_every_tick' && isTrading) ||
        (cause === 'lower_interval' && order < 0) ||
        // If none of the tested bars differs, that is luck.
        (cause === 'higher_interval' && order > 0 && !this.#named.has(one) && this.#matters(one))
      )
        this.#add(one, [])
    }
  }

  /** Whether the result depends on a request; an input may switch it off. */
  #matters({ ahead }: Suspect): boolean {
    if (ahead === undefined || this.#isLate()) return true
    const source = withChanges(this.#request.source, [ahead])
    const other = orNull(() => this.#whole({ ...this.#request, source }))
    if (other === null) return true
    const whole = this.#whole(this.#request)
    const { plots } = plotDifferences(other.run.plots, whole.run.plots, 0, this.#bars.length)
    return plots.size > 0 || firstOtherFill(other, whole) !== null
  }

  #whole(request: BacktestRequest): Backtest {
    const whole = openBacktest(request)
    whole.advance(whole.bars.length)
    return whole
  }

  /** Compares the interval of a request with the chart's; null if the text does not tell. */
  #orderOf({ timeframe }: Suspect): number | null {
    const wanted = timeframe === undefined ? null : parseInterval(timeframe)
    const chart = parseInterval(this.#request.interval)
    return wanted && chart && compareIntervals(wanted, chart)
  }

  #add(suspect: Suspect | null, differences: readonly Difference[]): void {
    if (suspect) this.#named.add(suspect)
    const place = suspect && this.#source.position(suspect.start)
    const bars = differences.map(({ bar }) => bar)
    const bar = bars.length === 0 ? null : Math.min(...bars)
    const cause = suspect?.cause ?? 'unknown'
    const plots = new Set(differences.flatMap((one) => [...one.plots]))
    if (suspect?.plot !== undefined) plots.add(suspect.plot)
    this.#findings.push({
      cause,
      ...TEXTS[cause],
      line: place?.line ?? null,
      column: place?.column ?? null,
      evidence: differences.length > 0 ? 'run' : 'text',
      plots: [...plots],
      trades: differences.some(({ orders }) => orders),
      samples: differences.length,
      bar,
      time: bar === null ? null : (this.#bars.time[bar] ?? null),
    })
  }
}

const TEXTS: Readonly<Record<RepaintFinding['cause'], Pick<RepaintFinding, 'kind' | 'message' | 'remedy'>>> =
  {
    lookahead_on: {
      kind: 'lookahead',
      message: 'With lookahead_on the past sees how a longer bar ends while it is still going on.',
      remedy: 'Ask for the value of the bar before: close[1] with lookahead_on.',
    },
    last_bar: {
      kind: 'lookahead',
      message: 'Where the data ends is known on bars before the end.',
      remedy: 'Count from the first bar, or take the stretch of time from an input.',
    },
    last_box: {
      kind: 'lookahead',
      message: 'The size of the bricks is worked out from the last bar there is.',
      remedy: 'Use the style "Traditional" with a size of your own.',
    },
    negative_offset: {
      kind: 'lookahead',
      message: 'The plot is drawn to the left of the bar on which its value was known.',
      remedy: 'Plot it without the offset.',
    },
    drawn_back: {
      kind: 'lookahead',
      message: 'The drawing ends on bars before the one on which its condition was known.',
      remedy: 'Draw it at bar_index, where one could have acted on it.',
    },
    calc_on_order_fills: {
      kind: 'lookahead',
      message: 'A recalculation at a fill sees the high, low and close of the bar that is still going on.',
      remedy: 'Leave calc_on_order_fills out.',
    },
    barstate: {
      kind: 'repaint',
      message: 'What is shown hangs on whether the bar is the last, is new or is still forming.',
      remedy: 'Let barstate decide on drawings only, or wait for barstate.isconfirmed.',
    },
    higher_interval: {
      kind: 'repaint',
      message:
        'Live, the longer bar is not closed yet and its value moves; of the past only how it ended is shown.',
      remedy: 'Ask for the value of the bar before: close[1] with barmerge.lookahead_on.',
    },
    lower_interval: {
      kind: 'repaint',
      message: 'A shorter interval by request.security() gives another bar live than in the past.',
      remedy: 'Use request.security_lower_tf().',
    },
    varip: {
      kind: 'repaint',
      message: 'A varip variable keeps what every tick made of it; the past has one tick a bar.',
      remedy: 'Use var, or change it only on barstate.isconfirmed.',
    },
    calc_on_every_tick: {
      kind: 'repaint',
      message: 'Live, the strategy trades on ticks within the bar; in the past at closes only.',
      remedy: 'Leave calc_on_every_tick out, or wait for barstate.isconfirmed.',
    },
    timenow: {
      kind: 'repaint',
      message: 'What is shown of a bar hangs on when the script runs.',
      remedy: 'Use time or time_close.',
    },
    unknown: {
      kind: 'lookahead',
      message:
        'With fewer bars the script shows something else of the same bars; no cause was found in its text.',
      remedy: 'Look into the libraries it imports.',
    },
  }

/** Where the tested stretches end, ascending: evenly spread, but not in step with days or weeks. */
function samplesOf(bars: number): number[] {
  const count = Math.min(SAMPLES_MAX, Math.max(SAMPLES_MIN, Math.floor(BARS_IN_ALL / Math.max(1, bars))))
  const ends = Array.from({ length: count }, (_, i) => {
    const even = ((i + 1) * bars) / (count + 1)
    return Math.floor(even) + ((i * 7) % 5)
  })
  return [...new Set(ends.filter((end) => end > 0 && end < bars))].sort((a, b) => a - b)
}

function spread<Item>(items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items]
  return Array.from({ length: count }, (_, i) => items[Math.floor(((i + 0.5) * items.length) / count)]!)
}

/** Compares bars `from` to `to` - 1. `bar` is the first that differs; Infinity = none does. */
function plotDifferences(
  found: readonly PlotTrack[],
  expected: readonly PlotTrack[],
  from: number,
  to: number,
): { readonly plots: ReadonlySet<string>; readonly bar: number } {
  const plots = new Set<string>()
  let bar = Infinity
  for (const [i, plot] of found.entries())
    for (const part of ['columns', 'colors'] as const)
      for (const [name, column] of Object.entries(plot[part])) {
        const other = expected[i]?.[part][name]
        const at = other ? firstOther(column, other, from, to) : -1
        if (at < 0) continue
        plots.add(plot.title || plot.kind)
        bar = Math.min(bar, at)
      }
  return { plots, bar }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b)
}

function firstOther(a: Float64Array, b: Float64Array, from: number, to: number): number {
  for (let i = from; i < to; i++) if (a[i] !== b[i] && !(Number.isNaN(a[i]) && Number.isNaN(b[i]))) return i
  return -1
}

function differenceOfLast(closed: Backtest, live: Backtest, sample: number): Difference | null {
  const { plots } = plotDifferences(live.run.plots, closed.run.plots, sample - 1, sample)
  const orders = !sameBytes(live.broker.dealings(), closed.broker.dealings())
  return plots.size > 0 || orders ? { sample, plots, orders, bar: sample - 1 } : null
}

/** The bar of the first fill that only one run has. */
function firstOtherFill(one: Backtest, other: Backtest): number | null {
  const [a, b] = [one.broker.position.fills, other.broker.position.fills]
  for (let i = 0; i < Math.max(a.count, b.count); i++)
    if (
      i >= a.count ||
      i >= b.count ||
      a.bar[i] !== b.bar[i] ||
      a.price[i] !== b.price[i] ||
      a.units[i] !== b.units[i]
    )
      return Math.min(i < a.count ? a.bar[i]! : Infinity, i < b.count ? b.bar[i]! : Infinity)
  return null
}

/** A script that was changed may not run. */
function orNull<Answer>(work: () => Answer): Answer | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

/** What is known about other series when a bar of the chart closes: of their forming bar, only the open. */
class SeriesCutter {
  readonly #request: BacktestRequest
  constructor(request: BacktestRequest) {
    this.#request = request
  }

  upTo(bars: Bars): BacktestRequest['series'] {
    const { symbol, interval, series } = this.#request
    const until = closeOf(bars.time[bars.length - 1] ?? 0, symbol, interval)
    return (...name) => {
      const found = series(...name)
      return found && { ...found, bars: knownBy(found, until) }
    }
  }
}

function knownBy({ bars, symbol, interval }: Series, until: number): Bars {
  const known = selectBars(bars, { to: until })
  const last = known.length - 1
  if (last < 0 || closeOf(known.time[last]!, symbol, interval) <= until) return known
  const opened = known.open[last]!
  const forming = (column: Float64Array, value: number) => {
    const copy = column.slice()
    copy[last] = value
    return copy
  }
  return {
    ...known,
    high: forming(known.high, opened),
    low: forming(known.low, opened),
    close: forming(known.close, opened),
    volume: forming(known.volume, 0),
  }
}

function closeOf(time: number, symbol: SymbolInfo, interval: string): number {
  const parsed = parseInterval(interval)
  return parsed === null ? time : periodFinder(calendarOf(symbol), parsed, parsed)(time).end
}
