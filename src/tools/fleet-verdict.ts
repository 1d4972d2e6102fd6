// What a run of `bun run fleet-test` has to come to: pure functions over its history, which is what was answered, what
// services were sent, and what is stored in the end. They answer findings, a sentence for each promise that was not kept.
//
// A history in which nothing happened keeps every promise, so that is a finding as well.

import type { Firing } from '../notify/alerts/alert.ts'
import type { Notification } from '../notify/channels/channel.ts'
import type { InboxMessage } from '../notify/channels/inboxes.ts'
import type { Parcel } from '../notify/webhooks/parcels.ts'
import type { Delivery } from '../notify/webhooks/deliveries.ts'

/** A server that is cut off from the database stops when its lease may have run out. */
const TWICE_MAX_MS = 5000

/** What nodes of the store alone said. */
export class NodeHistory {
  readonly acked = new Set<string>()
  readonly ticks = new Set<string>()
  readonly wrong: string[] = []
  away = 0
  longestGapMs = 0
  #tickedAt: number | null = null
  #ticksBefore = 0

  /** `now` is when the line came. */
  hear(line: string, now: number): void {
    const [what = '', id = ''] = line.split(' ')
    if (what === 'ack') this.acked.add(id)
    else if (what === 'away') this.away++
    else if (what === 'tick') this.#tick(id, now)
    else if (what !== 'ready') this.wrong.push(line)
  }

  /** Nothing is done to the nodes any more: from here on there has to be a tick. */
  lastBlow(): void {
    this.#ticksBefore = this.ticks.size
  }

  get hasTickedSince(): boolean {
    return this.ticks.size > this.#ticksBefore
  }

  #tick(id: string, now: number): void {
    if (this.ticks.has(id)) this.wrong.push(`tick ${id} came twice`)
    this.ticks.add(id)
    if (this.#tickedAt !== null) this.longestGapMs = Math.max(this.longestGapMs, now - this.#tickedAt)
    this.#tickedAt = now
  }
}

/** What nodes have left in the database. */
export interface NodeStore {
  readonly writes: ReadonlySet<string>
  readonly ticks: ReadonlySet<string>
  /** What the counters of all writes say together. */
  readonly counted: number
  /** How often the change feed told of each write. */
  readonly heard: ReadonlyMap<string, number>
}

export function nodeFindings(
  history: NodeHistory,
  { writes, ticks, counted, heard }: NodeStore,
): readonly string[] {
  return [
    ...history.wrong,
    ...nothing({ 'write was acknowledged': history.acked.size }),
    ...(history.hasTickedSince ? [] : ['no tick came after the last blow']),
    ...[...history.acked]
      .filter((id) => !writes.has(id))
      .map((id) => `lost: ${id} was acknowledged and is not stored`),
    ...(counted === writes.size ? [] : [`the counters say ${counted}, stored are ${writes.size}`]),
    ...[...writes.union(new Set(heard.keys()))]
      .filter((id) => heard.get(id) !== (writes.has(id) ? 1 : 0))
      .map((id) => `the feed told of ${id} ${heard.get(id) ?? 0} times`),
    ...[...new Set([...history.ticks, ...Array.from({ length: ticks.size }, (_, i) => String(i + 1))])]
      .filter((tick) => !ticks.has(tick))
      .map((tick) => `tick ${tick} is missing`),
  ]
}

/** What a server shows of a change that it has just made itself. */
export interface OwnRead {
  readonly subject: string
  /** null: it was deleted. */
  readonly wanted: string | null
  readonly status: number
  readonly shown: string
}

export type Idea = Readonly<Record<'id' | 'title' | 'body', string>>

/** A series of bars, and the alert that watches it. */
export interface Series {
  readonly name: string
  readonly alertId: string
  /** What every server has to show, by time. */
  readonly rows: ReadonlyMap<number, string>
  /** The bars that the alert has to fire on; it may on some more that came while it was made. */
  readonly fires: readonly number[]
  mayFire(time: number): boolean
  /** A bar as findings name it. */
  nameOf(time: number): string
}

export interface ShownBars {
  readonly time: readonly number[]
  readonly open: readonly number[]
  readonly high: readonly number[]
  readonly low: readonly number[]
  readonly close: readonly number[]
  readonly volume: readonly number[]
}

/** What each server shows of a series, by its name; null where it cannot be read. */
export type Shown = ReadonlyMap<string, ShownBars | null>

/** What a service was sent: how often it took each by its id, and under which ids it was told of each subject. */
export interface Received {
  readonly taken: ReadonlyMap<string, number>
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
}

export interface Message {
  readonly text: string
  readonly isTaken: boolean
  /** An inbox knows no message again: it may be stored once a request. */
  readonly tries: number
}

interface Forward {
  readonly wanted: number
  readonly seen: number
  readonly state: string
  /** What a comparison with a backtest says. */
  readonly equal: boolean
  readonly corrected: number
  readonly said: string
  /** Fills that it told of while it went on, and those of a run of its bars from the first. */
  readonly told: readonly string[]
  readonly fills: readonly string[]
}

interface Results {
  readonly rows: number
  readonly came: ReadonlyMap<string, readonly number[]>
}

/** What is stored once all bars have been looked at and everything was sent. */
export interface ServerStore {
  readonly ideas: readonly Idea[]
  readonly firings: readonly Pick<Firing, 'id' | 'alertId' | 'exchange' | 'barTime'>[]
  readonly deliveries: readonly Pick<Delivery, 'id' | 'state' | 'attempts'>[]
  readonly notifications: readonly (Pick<Notification, 'id' | 'state' | 'attempts'> & {
    readonly notice: Pick<Notification['notice'], 'firingId' | 'text'>
  })[]
  readonly messages: readonly Pick<InboxMessage, 'text'>[]
}

export interface ServerHistory extends ServerStore {
  /** Answers that should not have been. */
  readonly wrong: readonly string[]
  readonly reads: readonly OwnRead[]
  /** Title and body of the ideas that have to be there, and of those that must not, by id. */
  readonly kept: ReadonlyMap<string, string>
  readonly deleted: ReadonlyMap<string, string>
  readonly series: readonly (readonly [Series, Shown])[]
  readonly hook: Received
  readonly phone: Received
  /** The exchange whose alerts tell the phone. */
  readonly phoneExchange: string
  /** What was sent to the inbox. */
  readonly asked: readonly Message[]
  /** What sweeps and scans came to, and which of them; each has to have so many rows. */
  readonly results: Readonly<Record<string, Results>>
  readonly forward: Forward
  /** How often a server took up a series that the exchange streams. */
  readonly subscriptions: number
  /** The longest time for which a series was streamed to two servers. */
  readonly longestTwiceMs: number
  readonly silence: Pick<Silence, 'longestMs' | 'isSeen'>
  /** The time within which every shard has to have a server again. */
  readonly withinMs: number
}

export function serverFindings(history: ServerHistory): readonly string[] {
  const { firings, notifications, messages, forward } = history
  return [
    ...history.wrong,
    ...nothing({
      'change was read back': history.reads.length,
      'idea was kept': history.kept.size,
      'alert fired': firings.length,
      'delivery was made': history.deliveries.length,
      'notice was made': notifications.length,
      'message was taken': messages.length,
      'bar was seen by the forward run': forward.wanted,
      'order of the forward run filled': forward.fills.length,
      'series was streamed': history.subscriptions,
      ...Object.fromEntries(
        Object.entries(history.results).map(([noun, { came }]) => [`${noun} was done`, came.size]),
      ),
      ...Object.fromEntries(history.series.map(([{ name, rows }]) => [`bar of ${name} came`, rows.size])),
    }),
    ...readFindings(history.reads),
    ...history.series.flatMap(([one, shown]) => barFindings(one, shown)),
    ...ideaFindings(history),
    ...firingFindings(
      history.series.map(([one]) => one),
      firings,
    ),
    ...hookFindings(history),
    ...resultFindings(history.results),
    ...forwardFindings(forward),
    ...noticeFindings(history),
    ...(history.longestTwiceMs > TWICE_MAX_MS
      ? [`a series was streamed to two servers for ${seconds(history.longestTwiceMs)}`]
      : []),
    ...(history.silence.isSeen ? [] : ['it was never seen that every shard has a server']),
    ...(history.silence.longestMs > history.withinMs
      ? [`a shard had no server for ${seconds(history.silence.longestMs)}`]
      : []),
  ]
}

function nothing(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count === 0)
    .map(([what]) => `no ${what}`)
}

function readFindings(reads: readonly OwnRead[]): string[] {
  return reads
    .filter(({ wanted, status, shown }) =>
      wanted === null ? status !== 404 : status !== 200 || shown !== wanted,
    )
    .map(
      ({ subject, wanted, status, shown }) =>
        `stale: ${subject} is ${status} ${shown} on the server that has just ${wanted === null ? 'deleted it' : `stored ${wanted}`}`,
    )
}

function ideaFindings({ ideas, kept, deleted }: ServerHistory): string[] {
  const stored = new Map(ideas.map(({ id, title, body }) => [id, `${title} ${body}`]))
  return [
    ...[...kept]
      .filter(([id, text]) => stored.get(id) !== text)
      .map(([id, text]) => `lost: ${text}, stored is ${stored.get(id)}`),
    ...[...deleted]
      .filter(([id]) => stored.has(id))
      .map(([, text]) => `lost: the end of ${text}, which is stored`),
    ...[...stored]
      .filter(([id]) => !kept.has(id) && !deleted.has(id))
      .map(([id, text]) => `${text} is stored as ${id}, which nobody was answered`),
  ]
}

export function barFindings({ name, rows, nameOf }: Series, shown: Shown): string[] {
  return [...shown].flatMap(([server, bars]) => {
    if (bars === null) return [`${name} could not be read on ${server}`]
    const found = rowsOf(bars)
    const wrong = [...rows]
      .filter(([time, row]) => found.get(time) !== row)
      .map(([time, row]) => `${nameOf(time)} is ${found.get(time)} instead of ${row}`)
    return [
      ...(wrong.length > 0
        ? [`lost: ${wrong.length} bars of ${name} on ${server}: ${wrong.slice(0, 3).join('; ')}`]
        : []),
      // By its times, for the same one twice is one row.
      ...(bars.time.length > rows.size
        ? [`${name} has ${bars.time.length} bars on ${server}, not ${rows.size}`]
        : []),
    ]
  })
}

/** Open, high, low, close and volume as a text, by time. */
export function rowsOf({ time, open, high, low, close, volume }: ShownBars): Map<number, string> {
  return new Map(time.map((at, i) => [at, [open[i], high[i], low[i], close[i], volume[i]].join()]))
}

/** Bars whose alert has not fired. */
export function silentBars(series: readonly Series[], firings: ServerStore['firings']): string[] {
  const fired = Map.groupBy(firings, ({ alertId }) => alertId)
  return series.flatMap(({ name, alertId, fires, nameOf }) => {
    const times = new Set(fired.get(alertId)?.map(({ barTime }) => barTime))
    return fires.filter((time) => !times.has(time)).map((time) => `${nameOf(time)} of ${name} did not fire`)
  })
}

function firingFindings(series: readonly Series[], firings: ServerStore['firings']): string[] {
  const watching = new Map(series.map((one) => [one.alertId, one]))
  const each = Map.groupBy(firings, ({ alertId, barTime }) => `${alertId} ${barTime}`)
  return [
    ...silentBars(series, firings),
    ...[...each]
      .filter(([, all]) => all.length > 1)
      .map(([name, all]) => `fired ${all.length} times: ${name}`),
    ...firings
      .filter(({ alertId, barTime }) => watching.get(alertId)?.mayFire(barTime) !== true)
      .map(
        ({ alertId, barTime }) =>
          `fired without a reason: ${alertId} ${watching.get(alertId)?.nameOf(barTime) ?? barTime}`,
      ),
  ]
}

/** A delivery a firing, under one id. */
function hookFindings({ firings, deliveries, hook }: ServerHistory): string[] {
  const known = new Set(firings.map(({ id }) => id))
  return [
    ...[...hook.ids]
      .filter(([, ids]) => ids.size !== 1)
      .map(([firing, ids]) => `firing ${firing} was sent under ${ids.size} ids`),
    ...[...hook.ids.keys()]
      .filter((firing) => !known.has(firing))
      .map((firing) => `firing ${firing} was sent and is not stored`),
    ...firings.filter(({ id }) => !hook.ids.has(id)).map(({ id }) => `firing ${id} was never sent`),
    ...sentFindings('delivery', deliveries, hook),
  ]
}

/** Each was taken under its own id, with one success in the log. */
function sentFindings(
  noun: string,
  parcels: readonly Pick<Parcel, 'id' | 'state' | 'attempts'>[],
  { taken }: Received,
): string[] {
  const known = new Set(parcels.map(({ id }) => id))
  return [
    ...parcels.flatMap(({ id, state, attempts }) => {
      const successes = attempts.filter(({ status }) => status >= 200 && status < 300).length
      return successes === 1
        ? []
        : [
            `${noun} ${id} (${state}) has ${successes} successes in ${attempts.length} attempts, not one success`,
          ]
    }),
    ...[...known].filter((id) => !taken.has(id)).map((id) => `${noun} ${id} never came`),
    ...[...taken.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `a ${noun} came under an id that nobody knows: ${id}`),
  ]
}

/** One notice a firing, and one a message that is stored. */
function noticeFindings({
  firings,
  notifications,
  messages,
  asked,
  phone,
  phoneExchange,
}: ServerHistory): string[] {
  const stored = Map.groupBy(messages, ({ text }) => text)
  const told = Map.groupBy(notifications, ({ notice: { firingId, text } }) => firingId ?? text)
  const wanted = new Map([
    ...firings.filter(({ exchange }) => exchange === phoneExchange).map(({ id }) => [id, 1] as const),
    ...[...stored].map(([text, all]) => [text, all.length] as const),
  ])
  return [
    ...asked.filter(({ text, isTaken }) => isTaken && !stored.has(text)).map(({ text }) => `lost: ${text}`),
    ...asked
      .filter(({ text, tries }) => (stored.get(text)?.length ?? 0) > tries)
      .map(({ text, tries }) => `${text} was sent ${tries} times and is stored more often`),
    ...[...new Set([...wanted.keys(), ...told.keys()])]
      .filter((name) => told.get(name)?.length !== wanted.get(name))
      .map((name) => `${name} has ${told.get(name)?.length ?? 0} notices, not ${wanted.get(name) ?? 0}`),
    ...sentFindings('notice', notifications, phone),
  ]
}

/** Whoever works on it, and however often: the same work has the same results. */
function resultFindings(results: ServerHistory['results']): string[] {
  return Object.entries(results).flatMap(([noun, { rows, came }]) => {
    const [[first] = [''], ...others] = came
    return [
      // An answer that is always the same may be a refusal.
      ...[...came].flatMap(([result, which]) => {
        const found = Object.values(JSON.parse(result) as object).find(Array.isArray)?.length
        return found === rows ? [] : [`${noun} ${which.join()} has ${found} results, not ${rows}`]
      }),
      ...others.map(
        ([result, which]) =>
          `${noun} ${which.join()} has other results: ${result.slice(0, 300)} for ${first.slice(0, 300)}`,
      ),
    ]
  })
}

/** Results without what is of one run alone. */
export function resultOf(json: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(json, (key, value: unknown) =>
    /^(?:id|requestId|at|.*At|.*Ms|nextCursor)$/.test(key) ? undefined : value,
  )
}

function forwardFindings({ wanted, seen, state, equal, corrected, said, told, fills }: Forward): string[] {
  const at = fills.findIndex((fill, i) => fill !== told[i])
  if (state !== 'running') return [`the forward run is ${state}`]
  return [
    ...(seen === wanted ? [] : [`the forward run has seen ${seen} of ${wanted} bars`]),
    ...(equal && corrected === 0 ? [] : [`the forward run differs from a backtest: ${said}`]),
    ...(at >= 0 ? [`the forward run told of ${told[at]} instead of ${fills[at]}`] : []),
    ...told.slice(fills.length).map((fill) => `the forward run told of ${fill}, which is one too many`),
  ]
}

/** How long a shard was without a server: from the last sign of life of one to the first of the next. */
export class Silence {
  longestMs = 0
  /** Whether every shard ever had a server, else nothing was measured. */
  isSeen = false
  /** The last sign of life of a server of each shard. */
  #aliveAt: readonly number[] = []
  /** While the database is away nobody does anything, and that is not the servers' fault. */
  #backAt = Infinity

  /** How long ago the server of each shard gave a sign of life; null = the shard has none. No shards = the database is away. */
  look(now: number, silentMs: readonly (number | null)[]): void {
    this.#backAt = silentMs.length === 0 ? Infinity : Math.min(this.#backAt, now)
    this.isSeen ||= silentMs.length > 0 && !silentMs.includes(null)
    this.#aliveAt = silentMs.map((ms, shard) =>
      Math.max(this.#backAt, this.#aliveAt[shard] ?? 0, ms === null ? 0 : now - ms),
    )
    for (const aliveAt of this.#aliveAt) this.longestMs = Math.max(this.longestMs, now - aliveAt)
  }
}

/** For how long something was in several places at once. */
export class Overlap {
  longestMs = 0
  readonly #since = new Map<string, number>()

  /** `all` has each thing once for each place that it is in. */
  look(now: number, all: readonly string[]): void {
    const several = Map.groupBy(all, (one) => one)
    for (const one of new Set([...several.keys(), ...this.#since.keys()]))
      if ((several.get(one)?.length ?? 0) > 1) {
        const since = this.#since.get(one) ?? now
        this.#since.set(one, since)
        this.longestMs = Math.max(this.longestMs, now - since)
      } else this.#since.delete(one)
  }
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
