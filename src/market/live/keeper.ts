// The keeper keeps followed series fresh: by a stream where there is one, else by polling; one stream or poll a series, whoever
// wants it.
//
// Both ways, REST says what is true: `LiveSeries` and `PolledSeries` know when it has to be asked, and what of an answer is
// closed. The keeper asks, one request at a time a provider (`line.ts`), and stores what is closed. A series whose stream is
// cut for long, or refused, is fetched as bars end, so it stays fresh either way.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { BarCache } from '../bar-cache.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import { BAR_FIELDS, type Bars, emptyBars } from '../bars.ts'
import type { Calendar } from '../calendar.ts'
import { storeBars } from '../import.ts'
import { intervalMs } from '../interval.ts'
import { answerWithin } from '../providers/answer-within.ts'
import {
  BARS_AT_FIRST,
  calendarFor,
  datedAs,
  datedPages,
  marginOf,
  type ProviderOf,
  rowAt,
} from '../providers/fetch-bars.ts'
import {
  type BarQuery,
  type BarRow,
  fetchBatch,
  type Http,
  type ProviderDeps,
  ProviderError,
} from '../providers/provider.ts'
import type { OpenSocket } from './connection.ts'
import type { FeedNews, FeedStatus } from './feed-status.ts'
import type { FormingBars } from './forming-bars.ts'
import { type AnswerTimes, RECENT } from './kept-series.ts'
import { backOff, Line, type Member, RETRY_MOST_MS } from './line.ts'
import type { LiveProvider } from './live-provider.ts'
import { type Source, sourceOf } from './live-providers.ts'
import { isSame, LiveSeries } from './live-series.ts'
import { PolledSeries } from './polled-series.ts'
import { type StreamListener, type StreamOf, Streams } from './streams.ts'

export interface KeeperDeps {
  readonly cache: BarCache
  readonly http: Http
  readonly clock: Clock
  readonly log: Log
  readonly open: OpenSocket
  readonly spread: () => number
  readonly forming: FormingBars
  readonly providers: readonly LiveProvider[]
  readonly providerOf: ProviderOf
}

interface Streamed {
  readonly of: StreamOf
  readonly series: LiveSeries
  readonly listener: StreamListener
  isConnected: boolean
  liveSince: number | null
  heardAt: number | null
  cuts: number
  lastCut: { readonly at: number; readonly reason: string } | null
}

interface Followed extends Member {
  readonly key: SeriesKey
  readonly source: Source
  /** How long after its end a bar is told of. */
  readonly delayMs: number
  readonly line: Line<Followed>
  readonly streamed: Streamed | null
  /** What is written is written in order; what waits behind a write that failed is not written, since it would leave a hole. */
  writing: Promise<void>
  writes: number
  writesFailed: number
  /** While an answer is taken up: what the stream has closed behind it, which is written after it. */
  behind: (readonly BarRow[])[] | null
  /**
   * Its forming bar, which is shown once all bars before it are stored: an alert that has seen a bar looks at none before it
   * any more.
   */
  formed: BarRow | null
  filledAt: number | null
  /** Bars that REST had and the store had not, or otherwise. */
  mended: number
  failures: number
  lastError: string | null
  /** It is not asked for together with others, which one that is refused would take with it. */
  isAlone: boolean
}

/** What is asked about a series. */
interface Question {
  readonly followed: Followed
  readonly from: number | null
  readonly query: BarQuery
  readonly calendar: Calendar
}

const IDLE_MS = 60_000
const ANSWER_MS = 20_000
/** Answers name their second alone. */
const SKEW_MS = 1000
/** Where a correction reaches back to the first bar that was asked for once more, so much more is asked for. */
const REACH = 8

export class Keeper {
  readonly #deps: KeeperDeps
  readonly #followed = new Map<string, Followed>()
  /** Those that nobody can be asked for. */
  readonly #lacking = new Map<string, FeedNews>()
  readonly #listeners = new Set<(feed: FeedNews) => void>()
  /** By the name of the provider: one that is slow, or lets us wait, holds up no other. */
  readonly #lines = new Map<string, Line<Followed>>()
  readonly #running = new Set<Promise<void>>()
  readonly #streams: Streams
  #signal: AbortSignal | null = null

  constructor(deps: KeeperDeps) {
    this.#deps = deps
    this.#streams = new Streams(deps)
  }

  /**
   * Following a series twice has no further effect, unless its exchange has another provider by now. A series without a
   * provider is stopped at once, and its status says why.
   */
  follow(key: SeriesKey): void {
    const name = seriesName(key)
    const source = sourceOf(key, this.#deps.providerOf, this.#deps.providers)
    const known = this.#followed.get(name)
    if ('lack' in source) {
      this.unfollow(key)
      this.#lacking.set(name, lacking(key, source))
      return
    }
    this.#lacking.delete(name)
    if (known && known.source.provider.name === source.provider.name) {
      known.line.provider = source.provider
      return
    }
    this.unfollow(key)
    const followed = this.#begin(key, source)
    this.#followed.set(name, followed)
    followed.line.members.add(followed)
    if (followed.streamed) this.#streams.join(followed.streamed.of, followed.streamed.listener)
    followed.line.wake.abort()
  }

  unfollow(key: SeriesKey): void {
    const name = seriesName(key)
    this.#lacking.delete(name)
    const followed = this.#followed.get(name)
    if (!followed) return
    this.#followed.delete(name)
    followed.line.members.delete(followed)
    this.#deps.forming.set(key, null)
    this.#leave(followed)
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

  status(): Promise<FeedStatus[]> {
    const { store } = this.#deps.cache
    const all = [...[...this.#followed.values()].map((one) => this.#newsOf(one)), ...this.#lacking.values()]
    return Promise.all(
      all.map(async (feed) => ({ ...feed, newestBar: (await store.info(feed.key))?.last ?? null })),
    )
  }

  /** `listener` is told of a series after each request for it, and when its stream comes or goes. */
  onAsked(listener: (feed: FeedNews) => void): void {
    this.#listeners.add(listener)
  }

  /** Runs until the signal says stop. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    this.#streams.run(signal)
    for (const line of this.#lines.values()) this.#start(line, signal)
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await this.#streams.ended()
    await Promise.all(this.#running)
    await this.settled()
    this.#signal = null
  }

  /** Resolves when all that was heard so far is stored. */
  async settled(): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ writing }) => writing))
  }

  #begin(key: SeriesKey, source: Source): Followed {
    const { provider, interval, stream } = source
    const forming = (row: BarRow | null) => {
      followed.formed = row
      this.#show(followed)
    }
    const delayMs = stream ? 0 : (provider.delayMs?.(key.exchange, interval) ?? 0)
    const since = this.#deps.clock.now()
    const streamed = stream && this.#streamedOf(key, source, stream, forming)
    const polled = stream ? null : new PolledSeries({ interval, delayMs, since, forming })
    const followed: Followed = {
      key,
      source,
      delayMs,
      line: this.#lineOf(provider.name, () => new Line<Followed>(provider)),
      series: (streamed?.series ?? polled)!,
      polled,
      streamed,
      writing: Promise.resolve(),
      writes: 0,
      writesFailed: 0,
      behind: null,
      formed: null,
      filledAt: null,
      mended: 0,
      failures: 0,
      lastError: null,
      askedAt: -Infinity,
      retryAt: 0,
      isStopped: false,
      isAlone: false,
    }
    return followed
  }

  /** False also of one that was unfollowed and followed anew, which is another. */
  #isFollowed(followed: Followed): boolean {
    return this.#followed.get(seriesName(followed.key)) === followed
  }

  #show(followed: Followed): void {
    const { key, formed, delayMs, writes } = followed
    if (formed !== null && (writes > 0 || !this.#isFollowed(followed))) return
    this.#deps.forming.set(key, formed, delayMs)
  }

  #streamedOf(
    key: SeriesKey,
    { interval }: Source,
    of: StreamOf,
    forming: (row: BarRow | null) => void,
  ): Streamed {
    const { clock } = this.#deps
    const name = seriesName(key)
    const series = new LiveSeries({
      interval,
      closing: of.provider.closing,
      store: (rows) => this.#store(key, rows),
      forming,
    })
    /** It has changed, so that it may have to be asked for. */
    const changed = (does: (streamed: Streamed, followed: Followed) => void) => {
      const followed = this.#followed.get(name)
      if (!followed) return
      does(streamed, followed)
      this.#tell(followed)
      followed.line.wake.abort()
    }
    const streamed: Streamed = {
      of,
      series,
      isConnected: false,
      liveSince: null,
      heardAt: null,
      cuts: 0,
      lastCut: null,
      listener: {
        subscribed: () =>
          changed((one, followed) => {
            series.subscribed()
            one.isConnected = true
            followed.lastError = null
          }),
        refused: (message) =>
          changed((one, followed) => {
            followed.lastError = `${one.of.provider.rest.name} refused the stream: ${message}`
          }),
        cut: (reason) =>
          changed((one) => {
            if (one.isConnected) one.cuts++
            one.isConnected = false
            one.liveSince = null
            one.lastCut = { at: clock.now(), reason }
            series.cut()
          }),
        heard: (message) => {
          const followed = this.#followed.get(name)
          const now = clock.now()
          streamed.heardAt = now
          series.heard(message, now)
          // Woken by each message, a hundred streams would have all others looked through a hundred times a second.
          if (followed && series.dueAt(now) < followed.line.napUntil) followed.line.wake.abort()
        },
      },
    }
    return streamed
  }

  #lineOf(name: string, make: () => Line<Followed>): Line<Followed> {
    const known = this.#lines.get(name)
    if (known) return known
    const line = make()
    this.#lines.set(name, line)
    if (this.#signal && !this.#signal.aborted) this.#start(line, this.#signal)
    return line
  }

  #leave({ streamed }: Followed): void {
    if (streamed) this.#streams.leave(streamed.of, streamed.listener)
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
            else if (answer instanceof ProviderError) this.#failed(question.followed, answer)
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
      for (const one of all) this.#failed(one, known)
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
      if (!this.#isFollowed(followed)) return []
      const before = pages.at(-1)
      // A long way back may be cut short and goes on from there, so what is certainly over is stored as it comes.
      if (from === null && before) await this.#mend(followed, before, false)
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
    if (signal.aborted || !this.#isFollowed(followed)) return
    followed.writes++
    const behind: (readonly BarRow[])[] = []
    followed.behind = behind
    const closed = followed.series.filled(rows, from, times, calendar)
    followed.behind = null
    const mending = this.#mend(followed, closed, from !== null)
    for (const streamed of behind) this.#store(followed.key, streamed)
    const isMended = await mending
    this.#written(followed)
    if (isMended) {
      followed.failures = 0
      followed.retryAt = 0
      followed.filledAt = times.asked
      const { streamed } = followed
      if (!streamed || streamed.isConnected) followed.lastError = null
      if (streamed?.series.isLive) streamed.liveSince ??= times.asked
    }
    this.#tell(followed)
  }

  #failed(followed: Followed, error: unknown): void {
    const { clock, spread } = this.#deps
    followed.failures++
    followed.lastError = error instanceof Error ? error.message : String(error)
    const kind = error instanceof ProviderError ? error.kind : 'unavailable'
    const asked = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0
    const isFinal = kind === 'banned' || kind === 'unauthorized'
    const wait = isFinal ? RETRY_MOST_MS : backOff(followed.failures, spread())
    followed.retryAt = clock.now() + Math.max(asked, wait)
    // Of one failure the next request knows no more than we do.
    if (followed.polled && followed.failures > 1) followed.polled.cut()
    if (kind === 'unknown_symbol' || kind === 'unsupported_interval') {
      followed.isStopped = true
      this.#leave(followed)
    }
    this.#tell(followed)
  }

  /** Stores what REST has where the store has something else. Answers false if it could not. */
  async #mend(followed: Followed, rows: readonly BarRow[], isMending: boolean): Promise<boolean> {
    const { cache, clock } = this.#deps
    const [first] = rows
    const last = rows.at(-1)
    if (!first || !last) return true
    return this.#write(followed, first[0], async () => {
      const { bars: stored } = await cache.store.read(followed.key, { from: first[0], to: last[0] + 1 })
      const known = new Map(rowsOf(stored).map((row) => [row[0], row]))
      const news = rows.filter((row) => !isSame(known.get(row[0]), row))
      if (news.length === 0 || !this.#isFollowed(followed)) return
      await storeBars(cache, followed.key, barsOf(news))
      if (isMending) followed.mended += countMended(followed, news, known)
      // After a split all bars before it are others as well.
      if (news[0] === first && known.has(first[0]) && rows.length > 1)
        followed.series.doubt(Math.max(0, first[0] - REACH * (last[0] - first[0])), clock.now())
    })
  }

  /** Stores what the stream has closed. */
  #store(key: SeriesKey, rows: readonly BarRow[]): void {
    const [first] = rows
    const followed = this.#followed.get(seriesName(key))
    if (!first || !followed) return
    if (followed.behind) return void followed.behind.push(rows)
    void this.#write(followed, first[0], async () => {
      await this.#deps.cache.upsert(key, barsOf(rows))
    })
  }

  /** What cannot be stored now is asked for again later. */
  async #write(followed: Followed, from: number, work: () => Promise<void>): Promise<boolean> {
    const { writesFailed } = followed
    followed.writes++
    const doubt = () => {
      followed.formed = null
      followed.series.unsettle(from)
      followed.line.wake.abort()
      return false
    }
    const written = followed.writing
      .then(async () => {
        if (followed.writesFailed > writesFailed) return doubt()
        // Whoever unfollows a series to remove it must not find it there again.
        if (!this.#isFollowed(followed)) return false
        await work()
        return true
      })
      .catch((error: unknown) => {
        followed.writesFailed++
        if (followed.failures === 0)
          this.#deps.log('error', `bars of ${seriesName(followed.key)} could not be stored`, {
            error: String(error),
          })
        this.#failed(followed, error)
        return doubt()
      })
    followed.writing = written.then(() => this.#written(followed))
    return written
  }

  #written(followed: Followed): void {
    followed.writes--
    this.#show(followed)
  }

  #tell(followed: Followed): void {
    const feed = this.#newsOf(followed)
    for (const listener of this.#listeners) listener(feed)
  }

  #newsOf({ key, line, source, series, polled, streamed, ...one }: Followed): FeedNews {
    const now = this.#deps.clock.now()
    const { failures, mended, isStopped, filledAt } = one
    const cut = streamed && !streamed.isConnected ? streamed.lastCut : null
    const lastError =
      one.lastError ?? (isStopped ? null : line.error) ?? (cut && `The stream was cut: ${cut.reason}.`)
    const isFresh = streamed ? streamed.series.isLive : filledAt !== null && lastError === null
    const state = isStopped
      ? 'stopped'
      : isFresh
        ? streamed
          ? 'live'
          : 'fresh'
        : failures > 0 || lastError !== null
          ? 'retrying'
          : 'waiting'
    const times = [streamed?.heardAt ?? null, filledAt].filter((time) => time !== null)
    const dueAt = Math.max(now, one.retryAt, Math.min(series.dueAt(now), now + IDLE_MS))
    const turnAt = Math.max(
      now,
      one.retryAt,
      series.dueAt(now),
      one.askedAt + line.roundMs,
      line.heldUntil(now),
    )
    return {
      key,
      state,
      provider: source.provider.name,
      lastSuccessAt: times.length > 0 ? Math.max(...times) : null,
      lastError,
      failures,
      nextAt: isStopped ? null : polled ? turnAt : dueAt,
      ...(streamed && {
        stream: {
          liveSince: streamed.liveSince,
          heardAt: streamed.heardAt,
          cuts: streamed.cuts,
          lastCut: streamed.lastCut,
          mended,
        },
      }),
      ...(polled && {
        poll: {
          everyMs: Math.max(polled.everyMs, line.roundMs),
          sharedBy: line.roundMs > polled.everyMs ? line.polled : null,
          delayMs: source.provider.delayMs?.(key.exchange, source.interval) ?? 0,
          aheadMs: polled.aheadMs,
          mended,
        },
      }),
    }
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

/** Of a stream each bar that it has not brought is mended; of polls each that was stored otherwise. */
function countMended(
  { polled }: Followed,
  news: readonly BarRow[],
  known: ReadonlyMap<number, BarRow>,
): number {
  return polled ? news.filter(([time]) => known.has(time)).length : news.length
}

function lacking(
  key: SeriesKey,
  { provider, lack }: Extract<ReturnType<typeof sourceOf>, { lack: string }>,
): FeedNews {
  return {
    key,
    state: 'stopped',
    provider: provider?.name ?? null,
    lastSuccessAt: null,
    lastError: lack,
    failures: 0,
    nextAt: null,
  }
}

const rowsOf = (bars: Bars): BarRow[] => Array.from({ length: bars.length }, (_, i) => rowAt(bars, i))

function barsOf(rows: readonly BarRow[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries())
    for (const [column, field] of BAR_FIELDS.entries()) bars[field][i] = row[column]!
  return bars
}
