// Asks providers for followed series: those without a stream again and again, those with one where it left something out.
//
// `line.ts` says whose turn it is. Series that go well and want a few bars are asked for together where the provider takes a
// batch; of a batch that is refused because of one of them, each is asked for alone.

import type { Clock } from '../../lib/clock.ts'
import type { BarCache } from '../bar-cache.ts'
import { rowsOf } from '../bars.ts'
import type { Calendar } from '../calendar.ts'
import { intervalMs } from '../interval.ts'
import { answerWithin } from '../providers/answer-within.ts'
import {
  BARS_AT_FIRST,
  calendarFor,
  datedAs,
  datedPages,
  marginOf,
  type ProviderOf,
} from '../providers/fetch-bars.ts'
import {
  type BarQuery,
  type BarRow,
  fetchBatch,
  type Http,
  type Provider,
  type ProviderDeps,
} from '../providers/provider.ts'
import { ProviderError } from '../providers/provider-error.ts'
import type { Followed, Following } from './followed.ts'
import { type AnswerTimes, RECENT } from './kept-series.ts'
import { IDLE_MS, Line } from './line.ts'
import type { SeriesWriter } from './series-writer.ts'

interface AskerDeps {
  readonly cache: BarCache
  readonly http: Http
  readonly clock: Clock
  readonly spread: () => number
  readonly providerOf: ProviderOf
}

/** What is asked about a series. */
interface Question {
  readonly followed: Followed
  readonly from: number | null
  readonly query: BarQuery
  readonly calendar: Calendar
}

const ANSWER_MS = 20_000
/** Answers name their second alone. */
const SKEW_MS = 1000

export class Asker {
  readonly #deps: AskerDeps
  readonly #following: Following
  readonly #writer: SeriesWriter
  /** By the name of the provider: one that is slow, or lets us wait, holds up no other. */
  readonly #lines = new Map<string, Line<Followed>>()
  readonly #running = new Set<Promise<void>>()
  #signal: AbortSignal | null = null

  constructor(deps: AskerDeps, following: Following, writer: SeriesWriter) {
    this.#deps = deps
    this.#following = following
    this.#writer = writer
  }

  lineOf(provider: Provider): Line<Followed> {
    const known = this.#lines.get(provider.name)
    if (known) return known
    const line = new Line<Followed>(provider)
    this.#lines.set(provider.name, line)
    if (this.#signal && !this.#signal.aborted) this.#start(line, this.#signal)
    return line
  }

  /** Another key was given: those of the provider that wait are asked for at once. */
  askAgain(name: string): void {
    const line = this.#lines.get(name)
    if (!line) return
    for (const { key } of line.members) {
      const provider = this.#deps.providerOf(key.exchange)
      if (provider?.name === name) line.provider = provider
    }
    line.again()
  }

  run(signal: AbortSignal): void {
    this.#signal = signal
    for (const line of this.#lines.values()) this.#start(line, signal)
  }

  /** Resolves once the signal has aborted and nothing is asked any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
    this.#signal = null
  }

  #start(line: Line<Followed>, signal: AbortSignal): void {
    const running = this.#askBy(line, signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #askBy(line: Line<Followed>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    while (!signal.aborted) {
      const now = clock.now()
      const next = line.next(now)
      if (next && next.at <= now) {
        await this.#ask(line, next.member, signal)
        await clock.sleep(line.provider.gapMs, signal)
      } else {
        const napMs = Math.min(IDLE_MS, next ? next.at - now : IDLE_MS)
        line.wake = new AbortController()
        line.napUntil = now + napMs
        await clock.sleep(napMs, AbortSignal.any([signal, line.wake.signal]))
        line.napUntil = 0
      }
    }
  }

  /** Asks for a series, and for those that can be asked for with it. */
  async #ask(line: Line<Followed>, first: Followed, signal: AbortSignal): Promise<void> {
    const { http, clock, cache } = this.#deps
    const { provider } = line
    const asked = clock.now()
    let said = asked
    const deps: ProviderDeps = {
      http: answerWithin(http, clock, ANSWER_MS),
      clock,
      tries: 1,
      answered: (at) => (said = asked - at > SKEW_MS ? at : asked),
    }
    const all = together(line, first, asked)
    const before = all.map(({ askedAt }) => askedAt)
    for (const one of all) one.askedAt = asked
    try {
      const questions = await Promise.all(all.map((one) => questionOf(cache, one, asked)))
      if (provider.batch && questions.length > 1) {
        const answers = await fetchBatch(
          { ...provider, batch: provider.batch },
          batchOf(questions),
          deps,
          signal,
        )
        await Promise.all(
          questions.map(async (question, i) => {
            const answer = answers[i] ?? null
            // There was no room for it.
            if (answer === null) question.followed.askedAt = before[i]!
            else if (answer instanceof ProviderError) this.#following.failed(question.followed, answer)
            else {
              const bars = datedAs(answer, provider, question.query.interval, question.calendar)
              await this.#answered(question, rowsOf(bars), { asked, said }, signal)
            }
          }),
        )
      } else {
        const question = questions[0]!
        const rows = await this.#rowsOf(question, deps, signal)
        await this.#answered(question, rows, { asked, said }, signal)
        first.isAlone = false
      }
      line.worked()
    } catch (error) {
      if (signal.aborted) return
      if (all.length > 1 && isOfOne(error)) {
        for (const one of all) one.isAlone = true
        for (const [i, one] of all.entries()) one.askedAt = before[i]!
        return
      }
      const known = error instanceof ProviderError ? error : new ProviderError('unavailable', String(error))
      if (known.kind !== 'unknown_symbol' && known.kind !== 'unsupported_interval')
        line.failed(known, clock.now(), this.#deps.spread())
      for (const one of all) this.#following.failed(one, known)
    }
  }

  async #rowsOf(
    { followed, from, query, calendar }: Question,
    deps: ProviderDeps,
    signal: AbortSignal,
  ): Promise<readonly BarRow[]> {
    const pages: (readonly BarRow[])[] = []
    const { provider } = followed.line
    for await (const bars of datedPages(provider, followed.key, { ...query, calendar }, deps, signal)) {
      // Nobody asks for the rest of what was unfollowed meanwhile.
      if (!this.#following.has(followed)) return []
      const before = pages.at(-1)
      // A long way back may be cut short and goes on from there, so what is certainly over is stored as it comes.
      if (from === null && before) await this.#writer.mend(followed, before, false)
      pages.push(rowsOf(bars))
    }
    return pages.flat()
  }

  async #answered(
    { followed, from, calendar }: Question,
    rows: readonly BarRow[],
    times: AnswerTimes,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted || !this.#following.has(followed)) return
    const isMended = await this.#writer.taken(followed, from !== null, () =>
      followed.series.filled(rows, from, times, calendar),
    )
    if (isMended) {
      followed.failures = 0
      followed.retryAt = 0
      followed.filledAt = times.asked
      const { streamed } = followed
      if (!streamed || streamed.isConnected) followed.lastError = null
      if (streamed?.series.isLive) streamed.liveSince ??= times.asked
    }
    this.#following.tell(followed)
  }
}

/** A series, and others of its provider that are due and that can be asked for with it. */
function together(line: Line<Followed>, first: Followed, now: number): readonly Followed[] {
  const { batch, pace } = line.provider
  if (!batch || !mayJoin(first, first, now)) return [first]
  const others = [...line.members]
    .filter((one) => one !== first && mayJoin(one, first, now))
    .filter((one) => Math.max(one.retryAt, one.series.dueAt(now), one.askedAt + line.roundMs) <= now)
  const all = [first, ...others].slice(0, batch.most)
  if (!batch.isPaidBySymbol || !pace) return all
  const isFree = (count: number) => pace.freeAt(now, count) <= now
  return all.slice(0, Math.max(1, all.findLastIndex((_, i) => isFree(i + 1)) + 1))
}

/** Only those that go well are asked for together: of them, each wants a few bars. */
function mayJoin({ key, polled, isAlone, isStopped }: Followed, first: Followed, now: number): boolean {
  const from = polled?.askFrom() ?? null
  const { interval } = first.source
  return (
    from !== null &&
    !isAlone &&
    !isStopped &&
    key.exchange === first.key.exchange &&
    key.interval === first.key.interval &&
    now - from < BATCH_BARS * intervalMs(interval) + marginOf(interval)
  )
}

/** Bars that were not traded count, so this is a few days of minutes. */
const BATCH_BARS = 5000

/** Whether a batch may be refused because of one that is in it. */
const isOfOne = (error: unknown): boolean =>
  error instanceof ProviderError &&
  ['unknown_symbol', 'unsupported_interval', 'malformed'].includes(error.kind)

async function questionOf(cache: BarCache, followed: Followed, asked: number): Promise<Question> {
  const { key, source, series } = followed
  const { interval } = source
  const from = series.askFrom(asked)
  const step = intervalMs(interval)
  const last = from === null ? ((await cache.store.info(key))?.last ?? null) : null
  const first = last === null ? asked - step * BARS_AT_FIRST : last - step * RECENT
  const begin = Math.max(0, (from ?? first) - marginOf(interval))
  const { exchange, symbol } = key
  const query = { exchange, symbol, interval, from: begin, to: asked, now: asked }
  return { followed, from, query, calendar: await calendarFor(cache, key) }
}

/** All from the same time on, since a request has one. */
function batchOf(questions: readonly Question[]): readonly BarQuery[] {
  const from = Math.min(...questions.map(({ query }) => query.from))
  return questions.map(({ query }) => ({ ...query, from }))
}
