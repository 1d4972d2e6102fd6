// The doctor's examination of a database: is every page, record, index entry and chunk of bars as it should be?
//
// It reads the file itself (`lmdb-file.ts`), so it takes no lock, writes nothing, and survives any damage. All collections
// build their keys in the same way (`collection.ts`), so it can check indexes without knowing what they hold.

import { mistakeOf } from '../market/bar-stage.ts'
import type { Bars } from '../market/bars.ts'
import type { SeriesInfo } from '../market/bar-store.ts'
import { decodeAll } from './bar-chunks.ts'
import { documentName, isWhole } from './damage.ts'
import { fingerprintOf, type Instance, INSTANCE_KEY } from './instance-key.ts'
import { decodeKey } from './key.ts'
import type { Key } from './kv.ts'
import { textInParts } from './large-text.ts'
import { RECORDS } from './lmdb-bars.ts'
import { CHUNKS } from './lmdb-chunks.ts'
import { type LmdbFile, readLmdbFile } from './lmdb-file.ts'
import { DOCUMENTS } from './lmdb.ts'
import { knownLayout, VERSION_KEY } from './migrate.ts'

export interface Findings {
  readonly file: LmdbFile
  readonly layout: number | null
  readonly records: number
  readonly indexEntries: number
  readonly series: number
  readonly bars: number
  /** Work that waits for the next start, counted by name. */
  readonly pending: Readonly<Record<string, number>>
  /** One sentence for each fault, up to as many as anybody reads. */
  readonly wrong: readonly string[]
}

/** Every value of a table with versions begins with this many bytes of version. */
const VERSION_BYTES = 8
const WRONG_MAX = 50
/** Counters which together count all records of their collection. */
const WHOLE_COUNTERS = ['owner', 'user', 'all']
/** The states of records with unfinished work. */
const PENDING: Readonly<Record<string, readonly string[]>> = {
  deliveries: ['pending'],
  backtests: ['queued', 'running'],
  letters: ['waiting'],
}

/** `key` has the bytes of the key file, or is null without one. Answers null if there is no database. Throws `FileDamage`. */
export function examine(path: string, key: Uint8Array | null): Findings | null {
  const documents = new Documents()
  const series = new SeriesCheck()
  const file = readLmdbFile(path, {
    whole: true,
    entry(table, bytes, value) {
      if (table === DOCUMENTS.name) documents.add(bytes, value)
      if (table === CHUNKS.name) series.chunk(bytes, value)
      if (table === RECORDS.name) series.record(bytes, value)
    },
  })
  if (!file) return null
  const wrong = [
    ...keyMistakes(documents.instance, key),
    ...layoutMistakes(documents.layout),
    ...documents.mistakes(),
    ...series.mistakes(),
  ]
  return {
    file,
    layout: documents.layout,
    records: documents.records,
    indexEntries: documents.entries.length,
    series: series.count,
    bars: series.bars,
    pending: { ...documents.pending, ...series.pending() },
    wrong:
      wrong.length > WRONG_MAX
        ? [...wrong.slice(0, WRONG_MAX), `… and ${wrong.length - WRONG_MAX} more`]
        : wrong,
  }
}

function keyMistakes(instance: Instance | null, key: Uint8Array | null): string[] {
  if (!instance || (key && fingerprintOf(key) === instance.keyFingerprint)) return []
  const what = key ? 'is not the key of this database' : 'is missing'
  return [`instance.key ${what}: put the right one back, or start once with --new-key.`]
}

function layoutMistakes(layout: number | null): string[] {
  if (layout === null) return []
  try {
    const entry = { key: VERSION_KEY, value: String(layout), version: '' }
    knownLayout(entry)
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

interface IndexEntry {
  readonly collection: string
  readonly id: string
  readonly what: string
}

/** First parts of keys whose values are texts as they are, not JSON: beginnings of sources, pictures as base64, and CSV. */
const PLAIN_TEXTS: ReadonlySet<string> = new Set([
  'backtest-beginning',
  'snapshot-picture',
  'portfolio-trades',
])

class Documents {
  instance: Instance | null = null
  layout: number | null = null
  records = 0
  readonly pending: Record<string, number> = {}
  readonly entries: IndexEntry[] = []
  readonly #ids = new Map<string, Set<string>>()
  /** Sums by collection and counter. */
  readonly #counts = new Map<string, { readonly collection: string; sum: number }>()
  readonly #unreadable: string[] = []
  /** Keys of what is no JSON; the parts of a long text are among them, each only a piece of it. */
  readonly #noJson: Key[] = []
  readonly #inParts = new Set<string>()

  add(bytes: Buffer, stored: Buffer): void {
    const key = decodedKey(bytes)
    if (!key) {
      this.#unreadable.push(`A document cannot be read: ${bytes.toString('hex')}.`)
      return
    }
    const text = stored.toString('utf8', VERSION_BYTES)
    if (!isWhole(stored.readDoubleLE(0), text)) this.#unreadable.push(`${documentName(key)} is damaged.`)
    const inParts = textInParts(key, text)
    if (inParts) this.#inParts.add(JSON.stringify(inParts))
    if (PLAIN_TEXTS.has(String(key[0]))) return
    const value = parsed(text)
    if (value === undefined) {
      this.#noJson.push(key)
      return
    }
    const [collection, kind, name] = key.map(String)
    if (collection === undefined) return
    if (same(key, INSTANCE_KEY)) this.instance = value as Instance
    else if (same(key, VERSION_KEY)) this.layout = Number(value)
    else if (kind === 'id' && key.length === 3 && name !== undefined) this.#record(collection, name, value)
    else if (kind === 'by' && key.length > 3)
      this.entries.push({ collection, id: String(key.at(-1)), what: `index ${name}` })
    else if (kind === 'unique' && key.length > 2 && typeof value === 'string')
      this.entries.push({ collection, id: value, what: `name ${name}` })
    else if (kind === 'count' && name !== undefined && WHOLE_COUNTERS.includes(name)) {
      const counter = this.#counts.get(`${collection} ${name}`) ?? { collection, sum: 0 }
      counter.sum += Number(value)
      this.#counts.set(`${collection} ${name}`, counter)
    }
  }

  #record(collection: string, id: string, value: unknown): void {
    this.records += 1
    const ids = this.#ids.get(collection) ?? new Set()
    this.#ids.set(collection, ids.add(id))
    const { id: own, state } = (value ?? {}) as { readonly id?: unknown; readonly state?: unknown }
    if (own !== id)
      this.#unreadable.push(`A record of ${collection} is kept as ${id} and calls itself otherwise.`)
    if (typeof state === 'string' && PENDING[collection]?.includes(state))
      this.pending[collection] = (this.pending[collection] ?? 0) + 1
  }

  mistakes(): string[] {
    const dangling = this.entries
      .filter(({ collection, id }) => !this.#ids.get(collection)?.has(id))
      .map(({ collection, id, what }) => `${what} of ${collection} points to ${id}, which is not there.`)
    const counts = [...this.#counts].flatMap(([name, { collection, sum }]) => {
      const size = this.#ids.get(collection)?.size ?? 0
      return sum === size ? [] : [`The counter ${name} says ${sum}, and there are ${size}.`]
    })
    const unreadable = this.#noJson
      .filter((key) => !this.#inParts.has(JSON.stringify(key.slice(0, -1))))
      .map((key) => `A document cannot be read: ${shown(key)}.`)
    return [...this.#unreadable, ...unreadable, ...dangling, ...counts]
  }
}

interface Chunks {
  count: number
  first: number
  last: number
}

class SeriesCheck {
  count = 0
  bars = 0
  readonly #chunks = new Map<number, Chunks>()
  readonly #owners = new Map<number, string>()
  readonly #records: { readonly name: string; readonly info: SeriesInfo; readonly id: number }[] = []
  readonly #unreadable: string[] = []
  /** For each damaged chunk, its first bad bar. */
  readonly #damaged: { readonly id: number; readonly time: number; readonly mistake: string }[] = []
  #drafts = 0

  chunk(bytes: Buffer, value: Buffer): void {
    const [id, first] = (decodedKey(bytes) ?? []).map(Number)
    const bars = barsOf(value)
    if (id === undefined || first === undefined || bars?.time[0] !== first) {
      this.#unreadable.push(`A chunk of bars cannot be read: ${bytes.toString('hex')}.`)
      return
    }
    const chunks = this.#chunks.get(id) ?? { count: 0, first, last: 0 }
    if (chunks.count > 0 && chunks.last >= first)
      this.#unreadable.push(`Two chunks of series number ${id} hold the same time.`)
    this.#chunks.set(id, { ...chunks, count: chunks.count + bars.length, last: bars.time.at(-1)! })
    const damage = damageOf(bars)
    if (damage) this.#damaged.push({ id, ...damage })
  }

  record(bytes: Buffer, value: Buffer): void {
    const key = decodedKey(bytes)
    const content = parsed(value.toString())
    if (!key || content === undefined) {
      this.#unreadable.push(`A record of bars cannot be read: ${bytes.toString('hex')}.`)
      return
    }
    if (key[0] === 'draft') {
      this.#drafts += 1
      this.#owners.set(Number(key[1]), 'a draft')
    }
    if (key[0] !== 'series') return
    const info = content as SeriesInfo & { readonly id: number }
    this.#records.push({ name: `${info.exchange}:${info.symbol} ${info.interval}`, info, id: info.id })
    this.#owners.set(info.id, info.symbol)
    this.count += 1
    this.bars += info.count
  }

  pending(): Record<string, number> {
    return this.#drafts > 0 ? { 'imports cut short': this.#drafts } : {}
  }

  mistakes(): string[] {
    const differing = this.#records.flatMap(({ name, info, id }) => {
      const found = this.#chunks.get(id) ?? { count: 0, first: info.first, last: info.last }
      if (found.count !== info.count) return [`${name} has ${found.count} bars of ${info.count}.`]
      const ends = found.first === info.first && found.last === info.last
      return ends ? [] : [`${name} begins or ends at another time than it says.`]
    })
    const orphans = [...this.#chunks.keys()].filter((id) => !this.#owners.has(id))
    const nobodys = orphans.map((id) => `The bars of series number ${id} belong to no series.`)
    const names = new Map(this.#records.map(({ id, name }) => [id, name]))
    const damaged = this.#damaged.map(
      ({ id, time, mistake }) =>
        `${names.get(id) ?? `Series number ${id}`} is damaged at ${new Date(time).toISOString()}: ${mistake}.`,
    )
    return [...this.#unreadable, ...damaged, ...differing, ...nobodys]
  }
}

function barsOf(value: Buffer): Bars | null {
  try {
    const bars = decodeAll([value])
    return bars.length > 0 && bars.time.every((time, i) => i === 0 || time > (bars.time[i - 1] ?? time))
      ? bars
      : null
  } catch {
    return null
  }
}

/** The pages of a long value carry no checksum, so its bars are checked as an import checks them. */
function damageOf({ length, time, open, high, low, close, volume, bought }: Bars) {
  for (let i = 0; i < length; i++) {
    const mistake = mistakeOf(time[i]!, open[i]!, high[i]!, low[i]!, close[i]!, volume[i]!)
    if (mistake) return { time: time[i]!, mistake }
    if (bought && (bought[i]! < 0 || bought[i]! > volume[i]!))
      return { time: time[i]!, mistake: 'more was bought than traded' }
  }
  return null
}

function decodedKey(bytes: Buffer): Key | null {
  try {
    return decodeKey(bytes)
  } catch {
    return null
  }
}

/** undefined if the text is not JSON: no JSON parses to it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shown = (key: Key) => key.map(String).join(' ')
const same = (a: Key, b: Key) => a.length === b.length && a.every((part, i) => part === b[i])
