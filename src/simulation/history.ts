// What the world has seen of the servers, and what it holds against them. Each check has a name, by which a finding says
// which promise was broken.

import { type BarStore, type SeriesKey, seriesName } from '../market/bar-store.ts'
import { collection } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import { readMark } from '../notify/alerts/mark.ts'
import { alertRecords } from '../notify/alerts/records.ts'
import { notificationCollection } from '../notify/channels/channel.ts'
import { deliveryCollection } from '../notify/webhooks/deliveries.ts'
import type { Life } from './life.ts'
import { EPOCH, type Timeline } from './timeline.ts'

export const CHECKS = {
  durable: 'What was acknowledged is there, and one’s own writes are read',
  looked: 'Bars that came are seen by every server, and looked at to the last',
  once: 'An alert fires exactly once for each bar that it should',
  delivered: 'A delivery that was accepted, and known to be, is not made again',
  private: 'Nobody sees what is another’s',
  revoked: 'A session that was ended opens nothing',
  released: 'A server that stops in order leaves its work to the others at once',
  counted: 'A counter is what it counts',
  exclusive: 'The work of a shard is one server’s at a time',
  lent: 'A piece of a sweep is answered or given back by the server that has it, and once',
  worked: 'Long work ends as it should, once, and a forward run does what a backtest of its bars does',
  fed: 'Bars of an exchange are stored as it says them in the end',
  settled: 'When the faults have stopped, everything pending comes to its end',
  answered: 'A server does not answer that it is at fault itself',
} as const
export type Check = keyof typeof CHECKS

/** What may be under way, of which a fault may be in the way. */
export const MOMENTS = ['delivery', 'bars', 'trial'] as const
type Moment = (typeof MOMENTS)[number]

export interface Finding {
  readonly check: Check
  readonly at: number
  readonly says: string
}

interface Owned {
  readonly id: string
  readonly ownerId: string
}

interface Accepted {
  readonly at: number
  readonly life: Life
  /** Whether the answer is on its way: a server that stops in order waits for it. */
  readonly isAnswered: boolean
  /** When the server had the answer; null = it never had. */
  knownAt: number | null
}

/** A document of a user: what it holds, and what it may hold instead, since no answer came. null = it is gone. */
export interface Doc {
  readonly id: string
  readonly user: string
  readonly path: string
  value: string | null
  maybe: (string | null)[]
  /** Which life of a server has acknowledged it last. */
  by: Life | null
  /** Until when an unanswered write may still come true. */
  openUntil: number
}

interface WatchedAlert {
  readonly id: string
  readonly series: number
  /** It waits for closes, and then fires when it was not true before. */
  readonly isOfCloses: boolean
  readonly armedAt: number
  /** Since when it may be gone; null = it is there. */
  endedAt: number | null
}

export interface FedBar {
  readonly series: number
  readonly time: number
  readonly isHigh: boolean
  /** What it looked like while it was not over; null = nobody was told. */
  readonly halfHigh: boolean | null
  readonly askedAt: number
  storedAt: number | null
  /** Whether no clock could take its half for the whole. */
  isWholeAtClose: boolean
}

/** A server that is killed so soon after an answer may not have written it down. */
const WRITING_MS = 5000
/** A letter is not tried again before a minute, whatever became of it, even if nobody can write that down; less what clocks are wrong. */
const LETTER_MS = 40_000
/** An alert fires so soon, where nothing is in the way. */
export const PROMPT_MS = 120_000
/** After a fault all are back, and have tried again what failed, within this. */
export const QUIET_MS = 150_000
/** So long after shards have changed hands everybody knows whose they are. */
export const CHANGING_MS = 60_000
/** A server that stood still has its hands full for a moment. */
export const THAW_MS = 1000
/** A store that failed is tried again after a minute at most. */
const BACKOFF_MS = 75_000

export class History {
  readonly findings: Finding[] = []
  readonly docs = new Map<string, Doc>()
  readonly alerts = new Map<string, WatchedAlert>()
  readonly bars: FedBar[] = []
  /** When the store was at fault, which an outcome may have waited for; an open end while it is. */
  readonly storeFaults: { readonly from: number; to: number }[] = []
  isStoreBroken = false
  /** The document in which a bit has flipped, whether somebody was refused since, and whether the server says why. */
  #damage: { readonly doc: Doc; isMet: boolean; isTold: boolean } | null = null
  /** Whose documents were damaged, and when. */
  readonly #damages: { readonly user: string; readonly from: number; to: number }[] = []
  /** Work that it befell may have ended with that. */
  wasStoreBroken = false
  /** Since when nothing is in the way of anybody. */
  quietSince = EPOCH
  readonly counts = { calls: 0, unanswered: 0, refused: 0, accepted: 0, firings: 0 }
  /** Who waits for the next moment of a kind. */
  readonly #waiting = new Map<Moment, (() => void)[]>()
  readonly #timeline: Timeline
  /** Who tries which choices of sweeps. */
  readonly #tried = new Map<string, Life>()
  readonly #accepted = new Map<string, Accepted[]>()
  /** When each letter was last handed over. */
  readonly #handed = new Map<string, number>()

  constructor(timeline: Timeline) {
    this.#timeline = timeline
  }

  /** Resolves once something is under way that a fault may hit. */
  nextMoment(moment: Moment): Promise<void> {
    return new Promise((resolve) => this.#waiting.getOrInsertComputed(moment, () => []).push(resolve))
  }

  isMoment(moment: Moment): void {
    for (const resolve of this.#waiting.get(moment)?.splice(0) ?? []) resolve()
  }

  found(check: Check, says: string): void {
    this.#timeline.tell('FOUND', `${check}: ${says}`)
    this.findings.push({ check, at: this.#timeline.now, says })
  }

  /** What a server writes into its log. */
  logged(line: string): void {
    const doc = this.#damage?.doc
    if (doc && line.includes(`${doc.path}/id/${doc.id}`)) this.#damage!.isTold = true
  }

  isDamaged(doc: Doc): void {
    this.#damage = { doc, isMet: false, isTold: false }
    this.#damages.push({ user: doc.user, from: this.#timeline.now, to: Infinity })
  }

  /** Whether nobody can answer this user, who needs what is damaged. */
  isRefused(user: string): boolean {
    if (this.#damage?.doc.user === user) return (this.#damage.isMet = true)
    return this.isStoreBroken
  }

  /** What was damaged is as it was. */
  isHealed(): void {
    const damage = this.#damage
    this.#damage = null
    for (const one of this.#damages) one.to = Math.min(one.to, this.#timeline.now)
    if (damage?.isMet === true && !damage.isTold)
      this.found('answered', `${damage.doc.path}/${damage.doc.id} is damaged, and the server does not say so`)
  }

  /** A server begins to try choices of a sweep. Answers what ends that. */
  tries(life: Life, choices: readonly string[], shardsChangedAt: number): () => void {
    const { now } = this.#timeline
    this.isMoment('trial')
    for (const choice of choices) {
      const other = this.#tried.get(choice)
      this.#tried.set(choice, life)
      if (!other || other === life || other.isOver || now < other.standsUntil + THAW_MS) continue
      // Who takes up a sweep need not know what others do for its last server.
      if (now > shardsChangedAt + CHANGING_MS)
        this.found('exclusive', `${life.name} begins ${choice}, while ${other.name} tries it`)
    }
    return () => {
      for (const choice of choices) if (this.#tried.get(choice) === life) this.#tried.delete(choice)
    }
  }

  /** A receiver takes a delivery. Answers what its answer is noted in. */
  accepted(receiver: string, id: string, life: Life, what: string, isAnswered: boolean): Accepted {
    const now = this.#timeline.now
    const before = this.#accepted.get(id) ?? []
    const wrong = before.find((one) => !this.#mayRepeat(one))
    if (wrong)
      this.found(
        'delivered',
        `${id} (${what}) came to ${receiver} again from ${life.name}, ${Math.round(now - wrong.at)} ms after it was accepted from it`,
      )
    const accepted = { at: now, life, isAnswered, knownAt: null }
    this.#accepted.set(id, [...before, accepted])
    this.counts.accepted++
    return accepted
  }

  /** A letter is handed to the mail server, which may end whoever does so. */
  handed(id: string, { name }: Life): void {
    const { now } = this.#timeline
    const before = this.#handed.get(id) ?? -Infinity
    this.#handed.set(id, now)
    // It may have waited for the store before.
    if (
      now < before + LETTER_MS &&
      !this.storeFaults.some(({ from, to }) => from <= now && before <= to + BACKOFF_MS)
    )
      this.found(
        'delivered',
        `${id} (letter) is sent by ${name} ${Math.round(now - before)} ms after the last try`,
      )
  }

  /** Whether what was accepted may come again all the same, since nobody may have written down that it was. */
  #mayRepeat({ at, knownAt, isAnswered, life }: Accepted): boolean {
    const end = life.end?.at ?? this.#timeline.now
    if (this.storeFaults.some(({ from, to }) => from <= end && at <= to + BACKOFF_MS)) return true
    if (life.end?.isCrash === true) return knownAt === null || end - knownAt < WRITING_MS
    return !isAnswered || (life.end === null && knownAt === null)
  }

  /** A document was read by its owner; null = it is not there. */
  read(doc: Doc, seen: string | null): void {
    if (seen === doc.value) return
    if (!doc.maybe.includes(seen))
      this.found(
        'durable',
        `${doc.path}/${doc.id} of ${doc.user} is ${JSON.stringify(seen)}; ${JSON.stringify(doc.value)} was acknowledged`,
      )
    doc.value = seen
    if (this.#timeline.now > doc.openUntil) doc.maybe = []
  }

  /** Of all alerts: each bar that came after it was armed has fired once, and no other has. */
  async checkFirings(kv: Kv, isOver: boolean): Promise<void> {
    const { firings } = alertRecords(kv, 0)
    const fired = new Map<string, number>()
    for await (const { alertId, barTime } of firings.each()) {
      const key = `${alertId} ${barTime}`
      fired.set(key, (fired.get(key) ?? 0) + 1)
      if (fired.get(key) === 2) this.found('once', `${alertId} fired twice for the bar ${iso(barTime)}`)
    }
    this.counts.firings = fired.size
    for (const { id, series, isOfCloses, armedAt, endedAt } of this.alerts.values())
      for (const bar of this.bars) {
        if (bar.series !== series) continue
        const has = fired.has(`${id} ${bar.time}`)
        const may = bar.isHigh || (bar.halfHigh === true && !(isOfCloses && bar.isWholeAtClose))
        if (has && !may) this.found('once', `${id} fired for the bar ${iso(bar.time)}, which is low`)
        const should =
          !isOfCloses && bar.isHigh && bar.storedAt !== null && bar.askedAt > armedAt && endedAt === null
        if (isOver && should && !has && !this.#mayMiss(id, bar))
          this.found('once', `${id} has not fired for the bar ${iso(bar.time)}`)
      }
  }

  /** What somebody keeps was damaged about when the bar came, and an alert of theirs needs it. */
  #mayMiss(alertId: string, { askedAt, storedAt }: FedBar): boolean {
    const user = this.docs.get(alertId)?.user
    const until = (storedAt ?? askedAt) + PROMPT_MS
    return this.#damages.some((one) => one.user === user && one.from <= until && one.to >= askedAt)
  }

  /** Of a bar that was stored a while ago, while nothing was in the way: all that it fires has fired. */
  async checkPrompt(kv: Kv, { series, time, isHigh, askedAt }: FedBar): Promise<void> {
    if (!isHigh || this.quietSince > askedAt) return
    const { firings } = alertRecords(kv, 0)
    for (const { id, ...alert } of this.alerts.values()) {
      if (alert.series !== series || alert.isOfCloses || alert.armedAt >= askedAt || alert.endedAt !== null)
        continue
      const { items } = await firings.list('alert', [id], { limit: 20 })
      if (!items.some(({ barTime }) => barTime === time) && this.alerts.get(id)?.endedAt === null)
        this.found(
          'once',
          `${id} has not fired for the bar ${iso(time)}, ${PROMPT_MS} ms after it was stored`,
        )
    }
  }

  /** While nothing is in the way, and bars came a while ago: what series there are has been looked at, to its last bar. */
  async checkLooked(kv: Kv, bars: BarStore): Promise<void> {
    if (this.quietSince > this.#timeline.now) return
    await this.checkFirings(kv, true)
    for (const { key } of await bars.notes())
      if (isFed(key)) this.found('looked', `nobody has looked at the bars that came to ${seriesName(key)}`)
    for (const { last, ...key } of await bars.list()) {
      const { mark } = await readMark(kv, { owner: '', ...key })
      // Without an alert nobody looks, and one that came later has nothing to look at.
      const isWatched = [...this.alerts.values()].some(
        ({ series, armedAt, endedAt }) => key.symbol === `S${series}` && endedAt === null && armedAt < last,
      )
      if (mark && isFed(key) && isWatched && mark.time !== last)
        this.found(
          'looked',
          `${seriesName(key)} was looked at to ${iso(mark.time)}, and ends at ${iso(last)}`,
        )
    }
  }

  /** The deliveries that have not come to their end. */
  async pending(kv: Kv): Promise<string[]> {
    const found: string[] = []
    for (const all of [deliveryCollection(kv), notificationCollection(kv)])
      for await (const { id, state, attempts } of all.each())
        if (state === 'pending') found.push(`${id} after ${attempts.length} attempts`)
    return found
  }

  /** Of what people keep: its counters, and how much of it there is. */
  async checkCounts(kv: Kv): Promise<void> {
    for (const name of ['watchlists', 'ideas', 'alerts', 'webhooks', 'channels']) {
      const left = new Map<string, number>()
      for (const { key, value } of await kv.list({ prefix: [name, 'count', 'owner'] }, { limit: 10_000 }))
        left.set(String(key.at(-1)), Number(value))
      for await (const { ownerId } of collection<Owned>(kv, name).each())
        left.set(ownerId, (left.get(ownerId) ?? 0) - 1)
      for (const [owner, count] of left)
        if (count !== 0) this.found('counted', `the counter of the ${name} of ${owner} is wrong by ${count}`)
    }
  }
}

/** It gets bars by request alone; others get some all the time. */
const isFed = ({ exchange }: SeriesKey) => exchange === 'SIM'
const iso = (time: number) => new Date(time).toISOString()
