// Explains why a list of trades that TradingView exported differs from a run.
//
// Scripts do not state everything they run with: capital, order size, commission and more are set in TradingView's dialog.
// So the likely changes (likely.ts) are tried one at a time, then combined with the best of those, as long as that brings
// the lists closer. Changes that turn out to be unnecessary are dropped. Runs and time are bounded; if nothing explains the
// difference, the answer says so.

import { assert } from '../../lib/assert.ts'
import { Problem } from '../../lib/problem.ts'
import { DATED_CHANGES, dayText, isInForce } from '../../language/behaviour.ts'
import { inputViews, type InputView } from '../../language/runtime/inputs.ts'
import { lowerBound } from '../../market/bars.ts'
import { zoneOf, type Zone } from '../../market/zone.ts'
import type { Explanation } from '../../wire/explanation.ts'
import type { Report } from '../../wire/report.ts'
import { compareTrades, ZONES } from '../compare.ts'
import type { BacktestRequest } from '../backtest.ts'
import { openBacktest, runBacktest } from '../run.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'
import { agreementOf, type Agreement } from './agreement.ts'
import { asCause, changed, mergedOf, nameOf, type ExplainedChange, type Room } from './change.ts'
import { diagnosisOf, firstOther, OTHER_SCRIPT } from './diagnosis.ts'
import { likelyInputs, narrowedInputs } from './inputs.ts'
import { likelyChanges } from './likely.ts'
import { fitOf, notesOn, type Note } from './notes.ts'

/** The most runs of one search. */
const RUNS_MAX = 800
/** The most changes that are combined. */
const DEPTH_MAX = 4
/** How many of the best single changes are combined with others. */
const WIDTH = 4
const TRIED_SHOWN = 20
/** A change that gains less does not count. */
const STEP = 1e-9
/** A partial explanation must make at least this fraction more of the trades agree. */
const PART = 0.02
/** A part that leaves more than this of the difference is named behind what the lists tell. */
const MOST = 0.5
/** How many fills are used to find the export's time zone. */
const ZONE_FILLS = 400

/** An attempt without its run, since a search makes many. */
interface Tried extends Agreement {
  readonly changes: readonly ExplainedChange[]
}
type Attempt = (changes: readonly ExplainedChange[]) => Tried | null

export interface ExplainOptions extends Room {
  readonly exported: readonly ExportedTrade[]
  /** Trades of the export that could not be read. */
  readonly lost?: number
  /** The zone of the export's times; null = to be found out. */
  readonly timezone: string | null
}

/** A search that can be started again after fetching a series it needed, with its earlier runs kept. */
export class Explainer {
  readonly #options: ExplainOptions
  readonly #expected: readonly ExportedTrade[]
  readonly #lost: number
  readonly #known = new Map<string, Tried | null>()
  readonly #notes: Note[] = []
  /** Account currencies that were not tried because a rate is missing. */
  readonly #currencies = new Set<string>()
  #views: readonly InputView[] = []
  #runs = 0
  #longest = 0
  #spent = 0
  #isComplete = true

  constructor(options: ExplainOptions) {
    this.#options = options
    this.#lost = options.lost ?? 0
    this.#expected = options.exported.filter(({ open }) => !open)
  }

  /** Throws what running the script throws. null: the lists agree. */
  explain(request: BacktestRequest): Explanation | null {
    const started = clockOf(request)()
    const before = this.#spent
    try {
      return this.#search(request, () => {
        this.#spent = before + clockOf(request)() - started
        return this.#spent + 1.5 * this.#longest < request.limits.timeMs
      })
    } finally {
      this.#spent = before + clockOf(request)() - started
    }
  }

  #search(request: BacktestRequest, hasTime: () => boolean): Explanation | null {
    const opened = openBacktest(request)
    opened.advance(opened.bars.length)
    const plain = opened.result().report
    this.#views = inputViews(opened.program)
    const zone = this.#zone(plain, request)
    const attempt: Attempt = (changes) => this.#attempt(request, zone, changes, hasTime)
    const base = this.#measured(plain, zone, [])
    if (base.agrees && base.outside === 0) return null
    this.#isComplete = true
    const singles = base.agrees ? [] : this.#onTopOf(base, request, zone, attempt)
    let best = bestOf([base, ...singles])
    if (!best.agrees) singles.push(...this.#withInputs(base, plain, attempt))
    best = bestOf([base, ...singles])
    let wave = nearer(singles, base).slice(0, WIDTH)
    // Two switches can hide each other: if no single one gains anything, they are tried in pairs.
    if (wave.length === 0) wave = singles.slice(0, WIDTH)
    for (let depth = 1; depth < DEPTH_MAX && !best.agrees && wave.length > 0; depth++) {
      const before = best
      const next: Tried[] = []
      for (const one of wave) {
        if (best.agrees || !hasTime()) break
        next.push(...this.#onTopOf(one, request, zone, attempt))
        best = bestOf([best, ...next])
        if (!best.agrees && one === wave[0]) next.push(...this.#withInputs(one, plain, attempt))
        best = bestOf([best, ...next])
      }
      wave = nearer(next, before).slice(0, 1)
    }
    if (best.agrees) best = this.#withoutNeedless(best, attempt)
    return this.#told(base, best, nearer(singles, base), request, zone)
  }

  /** Adds each likely change to a run that has some already, until the lists agree. */
  #onTopOf(from: Tried, request: BacktestRequest, zone: Zone, attempt: Attempt): Tried[] {
    const kinds = new Set(from.changes.map(({ kind }) => kind))
    // Runs it again for its trades, since keeping those of all attempts would take too much memory.
    const { report } = runBacktest(changed(request, this.#options, from.changes))
    const likely = likelyChanges({
      expected: this.#expected,
      pairs: agreementOf(this.#expected, report, zone, this.#lost).pairs,
      report,
      symbol: { ...request.symbol, ...mergedOf(from.changes).symbol },
      timezone: zone.name,
      room: this.#options,
      bars: this.#options.earlier ?? request.bars,
    })
    const found: Tried[] = []
    for (const change of likely) {
      if (kinds.has(change.kind)) continue
      const tried = attempt([...from.changes, change])
      if (tried) found.push(tried)
      if (tried?.agrees) break
    }
    return found.sort(better)
  }

  /** Other values of the inputs, one at a time; the best of an input is then narrowed down. */
  #withInputs(from: Tried, { inputs }: Report, attempt: Attempt): Tried[] {
    const taken = mergedOf(from.changes).inputs
    const found: Tried[] = []
    const tryAll = (changes: readonly ExplainedChange[]) => {
      for (const change of changes) {
        if (found.some(({ agrees }) => agrees)) return
        const tried = attempt([...from.changes, change])
        if (tried) found.push(tried)
      }
    }
    const views = this.#views.filter(({ label }) => !(label in taken))
    tryAll(likelyInputs(views, inputs))
    for (let round = 0; round < 2; round++)
      for (const { label, ...view } of views) {
        const own = found.filter(({ changes }) => label in (changes.at(-1)?.inputs ?? {}))
        const [best] = nearer(own, from)
        const value = best?.changes.at(-1)?.inputs?.[label]
        if (typeof value !== 'number') continue
        const tried = own.map(({ changes }) => Number(changes.at(-1)?.inputs?.[label]))
        tryAll(narrowedInputs({ ...view, label }, value, [...tried, Number(inputs[label])]))
      }
    return found.sort(better)
  }

  /** Drops changes without which the agreement is as good. */
  #withoutNeedless(best: Tried, attempt: Attempt): Tried {
    for (const one of best.changes) {
      if (best.changes.length === 1) break
      const fewer = attempt(best.changes.filter((other) => other !== one))
      if (fewer?.agrees) return this.#withoutNeedless(fewer, attempt)
    }
    return best
  }

  /** null: the run fails with these changes, or there is no time left. */
  #attempt(
    request: BacktestRequest,
    zone: Zone,
    changes: readonly ExplainedChange[],
    hasTime: () => boolean,
  ): Tried | null {
    const name = nameOf(changes)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    if (this.#runs >= RUNS_MAX || !hasTime()) {
      this.#isComplete = false
      return null
    }
    const now = clockOf(request)
    const started = now()
    let tried: Tried | null = null
    try {
      const { report } = runBacktest(changed(request, this.#options, changes))
      const missing = report.warnings.find(({ code }) => code === 'currency_rate_missing')
      const isGuess = mergedOf(changes).overrides['currency'] !== undefined
      if (missing && isGuess) this.#currencies.add(String(mergedOf(changes).overrides['currency']))
      else if (missing) this.#note({ code: 'rate_missing', message: missing.message })
      else tried = this.#measured(report, zone, changes)
    } catch (error) {
      // The user cannot have used a setting with which the script does not run.
      if (!(error instanceof Problem)) throw error
    }
    this.#runs++
    this.#longest = Math.max(this.#longest, now() - started)
    this.#known.set(name, tried)
    return tried
  }

  #measured(report: Report, zone: Zone, changes: readonly ExplainedChange[]): Tried {
    const { pairs: _, ...agreement } = agreementOf(this.#expected, report, zone, this.#lost)
    return { ...agreement, changes }
  }

  #note(note: Note): void {
    if (!this.#notes.some(({ message }) => message === note.message)) this.#notes.push(note)
  }

  /** The zone that was given or that the trades tell, unless the prices tell another. */
  #zone(report: Report, { bars }: BacktestRequest): Zone {
    const { timezone } = this.#options
    const told = compareTrades(this.#options.exported, report.trades, bars, {
      mintick: report.mintick,
      timezone,
      exchangeTimezone: report.timezone,
    })
    const zone = zoneOf(told.timezone)
    assert(zone, 'a comparison names a zone there is')
    if (timezone !== null) return zone
    const every = Math.max(1, Math.floor((2 * this.#expected.length) / ZONE_FILLS))
    const fills = this.#expected.flatMap(({ entry, exit }) => [entry, exit]).filter((_, i) => i % every === 0)
    const slack = report.mintick
    let best = zone
    let most = fitOf(fills, bars, zone, slack) + 0.02 * fills.length
    for (const name of ZONES) {
      const other = zoneOf(name)
      const fit = other ? fitOf(fills, bars, other, slack) : 0
      if (other && fit > most) {
        best = other
        most = fit
      }
    }
    return best
  }

  #told(
    base: Tried,
    found: Tried,
    helpful: readonly Tried[],
    request: BacktestRequest,
    zone: Zone,
  ): Explanation {
    // Being closer is not yet an explanation.
    const isPart = found.exact >= base.exact + Math.max(1, PART * this.#expected.length)
    const best = found.agrees || isPart ? found : base
    const { bars, symbol } = changed(request, this.#options, best.changes)
    const untold = best.agrees ? null : this.#untold(base, best, request, zone)
    const isCertain = untold?.kind === 'contradiction'
    const causes = [
      ...(untold === null ? [] : [{ ...asCause(untold), since: this.#since(best.changes, request, zone) }]),
      ...best.changes.map((change) => {
        const others = best.changes.filter((one) => one !== change)
        return { ...asCause(change), since: this.#since(others, request, zone) }
      }),
    ]
    const notes = [
      ...notesOn(this.#expected, bars, zone, symbol.mintick),
      ...(best.agrees ? [] : this.#notes),
    ]
    if (!best.agrees && !this.#options.finer && !request.finer)
      notes.push({
        code: 'finer_bars_missing',
        message: `No finer bars of ${[symbol.exchange, symbol.symbol].filter(Boolean).join(':')} are cached, so it was not tried with the bar magnifier.`,
      })
    if (!best.agrees && this.#currencies.size > 0)
      notes.push({
        code: 'rate_missing',
        message: `It was not tried with ${[...this.#currencies].join(', ')} as base currency, for no rate is known. Import or fetch 1d bars of ${[...this.#currencies].map((one) => symbol.currency + one).join(', ')} if the account was in one of them.`,
      })
    if (this.#lost > 0)
      notes.push({
        code: 'trades_unreadable',
        message: `Trades of the export that could not be read: ${this.#lost}. This is about the ${this.#expected.length} others.`,
      })
    if (best.outside > 0)
      notes.push({
        code: 'export_is_shorter',
        message: `${best.outside} trades of the run lie before the first or behind the last of the export: it was made on fewer bars, or TradingView kept its last 9,000 trades.`,
      })
    return {
      message: [
        ...(isCertain ? [`${untold.message}.`] : []),
        ...madeWhen(best),
        isCertain && best === base
          ? `${best.exact} of ${this.#expected.length} trades agree.`
          : sentence(base, best, this.#expected.length, this.#isComplete),
        ...(untold === null || isCertain ? [] : [`Likeliest: ${untold.message}.`]),
      ].join(' '),
      expected: this.#expected.length,
      exact: best.exact,
      found: best.found,
      agrees: best.agrees,
      causes,
      ...mergedOf(best.changes),
      tried: helpful
        .filter(({ exact }) => exact > base.exact)
        .slice(0, TRIED_SHOWN)
        .map(({ changes, exact, found, agrees }) => {
          assert(changes[0], 'what was tried alone is one change')
          return { ...asCause(changes[0]), exact, found, agrees }
        }),
      notes,
      runs: this.#runs,
      complete: this.#isComplete,
    }
  }

  /** What the lists themselves speak for, or is left; null where the changes explain the most of it. */
  #untold(base: Tried, best: Tried, request: BacktestRequest, zone: Zone): ExplainedChange | null {
    const run = changed(request, this.#options, best.changes)
    const { report } = runBacktest(run)
    const { pairs } = agreementOf(this.#expected, report, zone, this.#lost)
    const isMost = best.score - base.score >= MOST * (1 - base.score)
    const told = diagnosisOf({ expected: this.#expected, pairs, report, bars: run.bars, zone })
    return told ?? (isMost ? null : OTHER_SCRIPT)
  }

  /** The first bar on which the export differs from a run with these changes. */
  #since(changes: readonly ExplainedChange[], request: BacktestRequest, zone: Zone): Cause['since'] {
    const { report } = runBacktest(changed(request, this.#options, changes))
    const time = firstOther(agreementOf(this.#expected, report, zone, this.#lost).pairs, report, zone)
    return Number.isFinite(time) ? { time, bar: lowerBound(request.bars.time, time) } : null
  }
}

type Cause = Explanation['causes'][number]

function clockOf({ spent, now }: BacktestRequest): () => number {
  return spent ?? now ?? (() => 0)
}

/** Sorts the best first. */
function better(a: Tried, b: Tried): number {
  return (
    Number(b.agrees) - Number(a.agrees) ||
    (Math.abs(b.score - a.score) > STEP ? b.score - a.score : 0) ||
    sizeOf(a) - sizeOf(b)
  )
}

/** The number of changed settings. */
function sizeOf({ changes }: Tried): number {
  const { overrides, symbol, inputs, bars, asOf } = mergedOf(changes)
  const others = [bars, asOf].filter((one) => one !== null)
  return [overrides, symbol, inputs].flatMap(Object.keys).length + others.length
}

function bestOf(all: readonly Tried[]): Tried {
  const [best] = all.toSorted(better)
  assert(best, 'there is a run without any change')
  return best
}

function nearer(all: readonly Tried[], than: Tried): Tried[] {
  return all.filter(({ score, agrees }) => agrees || score > than.score + STEP).sort(better)
}

/** When the export was made, if another day is a cause. */
function madeWhen({ changes }: Tried): string[] {
  const { asOf } = mergedOf(changes)
  if (asOf === null) return []
  const since = DATED_CHANGES.findLast((one) => isInForce(one, asOf))
  const until = DATED_CHANGES.find((one) => !isInForce(one, asOf))
  const when = until ? `before ${dayText(until.day)}` : `on ${dayText(since!.day)} or later`
  return [`This export was made ${when}.`]
}

function sentence(base: Tried, best: Tried, expected: number, isComplete: boolean): string {
  const list = best.changes.map(({ message }) => message).join('; ')
  if (best.agrees && best.changes.length === 0)
    return `All ${expected} trades of the export agree; the run has ${best.outside} more, before or behind it.`
  if (best.agrees) return `All ${expected} trades agree with: ${list}.`
  if (best !== base)
    return `With ${list}, ${best.exact} of ${expected} trades agree instead of ${base.exact}. The rest has another cause.`
  if (best.exact === expected && best.changes.length === 0)
    return `All ${expected} trades of the export agree, but the run has ${best.found - expected - best.outside} more among them, and nothing that was tried explains those${unfinished(isComplete)}.`
  return `Nothing that was tried explains it${unfinished(isComplete)}.`
}

const unfinished = (isComplete: boolean): string =>
  isComplete ? '' : ' so far; the time was over before all was tried'
