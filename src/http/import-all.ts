// Takes in what somebody exported, a line at a time: nothing of it is trusted, and no more of it is held than a line.
//
// What was taken is remembered by its old id, under the user, so that a file can be given again, after a cut as well, and only
// what is missing is made. Somebody's own things are found by the ids that they have.

import { users } from '../people/accounts/accounts.ts'
import { mayChangeShared } from '../people/accounts/users.ts'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { invalidField, Problem } from '../lib/problem.ts'
import { PROBLEM_CODES, type ProblemCode } from '../lib/problem-codes.ts'
import { encodeKey } from '../store/key.ts'
import type { Key, KeyPart } from '../store/kv.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import { plotNames } from '../market/files/chart-export.ts'
import { seriesOf } from '../market/seen-bars.ts'
import { CHART_BYTES, keepChart } from '../people/charts/imported-charts.ts'
import { transact } from '../store/transaction.ts'
import { DRAWINGS } from '../wire/drawing.ts'
import { CHANNELS } from '../wire/channel.ts'
import type { AnswerOf } from '../wire/operations.ts'
import type { Wire } from '../wire/schema.ts'
import { HeldOutOf, TriedTogether } from '../wire/transfer.ts'
import type { ApiDeps } from './access.ts'
import {
  type Ask,
  type Computed,
  isItem,
  type Item,
  KINDS,
  type MadeByHand,
  withSeriesOwner,
} from './belongings.ts'
import { FORMAT, FORMAT_VERSION, OWN } from './export-all.ts'
import { checkBody } from './validate.ts'

/** Some characters more than a script with fifty long revisions takes, or a stored part of a report. */
const LINE_MAX = 32 << 20
/** A record without its texts. */
const RECORD_MAX = 1 << 20
/** Unpacked; a file of zeros is refused by its first line before. */
const BYTES_MAX = 16 * 2 ** 30
/** Of all parts of one record. */
const PARTS_MAX = 512 << 20
const REFUSED_SHOWN = 100
/** A file of which so much cannot be taken is none that anybody wants to have taken. */
const REFUSED_MAX = 10_000

export type Imported = AnswerOf<'POST /api/platform/import'>

/** Makes a request as the caller would. */
export type AskAsCaller = (ask: Ask) => Promise<{ readonly status: number; readonly json: Item }>

interface Parts {
  readonly of: string
  readonly keys: Key[]
  bytes: number
}

interface ImportDeps extends Pick<ApiDeps, 'kv' | 'newId' | 'clock' | 'features' | 'runs' | 'bars'> {
  readonly ask: AskAsCaller
  readonly userId: string
}

export async function importAll(deps: ImportDeps, body: AsyncIterable<Uint8Array>): Promise<Imported> {
  const taking = new Taking(deps)
  let [lines, ended] = [0, false]
  for await (const line of linesOf(unpacked(body))) {
    if (ended) throw notOurs('something follows its end')
    const value = parsed(line)
    if (lines++ === 0) checkHead(value)
    else if (typeof value['end'] === 'number') ended = true
    else await taking.take(value, line.length)
  }
  await taking.dropParts()
  if (!ended)
    throw notOurs(
      lines === 0 ? 'it is empty' : 'it breaks off. What came before was taken; a whole file brings the rest',
    )
  return taking.said
}

class Taking {
  readonly said: {
    imported: Record<string, number>
    present: Record<string, number>
    refused: Imported['refused'][number][]
  }
  readonly #deps: ImportDeps
  readonly #ids = new Map<string, string>()
  /** Series of the file, and whether they are taken. */
  readonly #series = new Map<string, boolean>()
  #parts: Parts | null = null
  #refused = 0

  constructor(deps: ImportDeps) {
    this.#deps = deps
    this.said = { imported: {}, present: {}, refused: [] }
  }

  async take(line: Item, length: number): Promise<void> {
    if (typeof line['part'] === 'string') return this.#takePart(line['part'], line['key'], line['value'])
    const { kind, id, item } = line
    if (typeof kind !== 'string' || typeof id !== 'string' || id.length > 2000 || !isItem(item))
      throw notOurs('a line is neither an item nor a part of one')
    try {
      const isNew = await this.#takeItem(kind, id, item, length)
      const counts = isNew ? this.said.imported : this.said.present
      counts[kind] = (counts[kind] ?? 0) + 1
    } catch (error) {
      // What is wrong with the server, and not with the item, ends it all.
      if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) throw error
      this.#refuse(kind, item, error.message)
    }
  }

  #refuse(kind: string, item: Item, message: string): void {
    const name = [item['name'], item['title'], item['symbol']].find((one) => typeof one === 'string') ?? ''
    if (this.#refused++ < REFUSED_SHOWN)
      this.said.refused.push({ kind: kind.slice(0, 40), name: name.slice(0, 200), message })
    if (this.#refused > REFUSED_MAX) throw notOurs(`${REFUSED_MAX} of its items cannot be taken`)
  }

  /** Answers whether it was not there before. */
  async #takeItem(kind: string, id: string, item: Item, length: number): Promise<boolean> {
    const of = KINDS.find((one) => one.kind === kind)
    if (of && 'records' in of) return this.#takeComputed(of, id, item, length)
    await this.dropParts()
    if (of) return this.#takeMade(of, id, item)
    switch (kind) {
      case 'channel':
        return this.#takeChannel(id, item)
      case 'drawings':
        return this.#takeDrawings(item)
      case 'cursor':
        return this.#takeCursor(item)
      case 'bookmark':
        return this.#takeBookmark(item)
      case 'bars':
        return this.#takeBars(item)
      case 'chart':
        return this.#takeChart(item)
      case 'trials':
        return this.#takeTrials(item)
      case 'hold-out':
        return this.#takeHoldOut(item)
      default:
        throw invalidField('/kind', 'unknown', 'This version of Chartroom does not know this kind of item.')
    }
  }

  async #takeMade(of: MadeByHand, id: string, item: Item): Promise<boolean> {
    const { kv, userId } = this.#deps
    const key = (one: string): Key => [of.collection, 'id', one]
    const isOwn = async (one: string) => {
      const entry = await kv.get(key(one))
      return entry !== null && (JSON.parse(entry.value) as Item)['ownerId'] === userId
    }
    if (await this.#isThere(of.kind, id, isOwn)) return false
    const [first, ...rest] = of.asks(item, this.#ids)
    if (!first) return false
    const { id: made } = await this.#asked(first)
    if (typeof made !== 'string') throw new Error('assertion failed: what was made has no id')
    await this.#remember(of.kind, id, made)
    for (const { method, path, body } of rest)
      await this.#asked({ method, path: path.replace('{id}', made), body })
    return true
  }

  async #takeChannel(id: string, item: Item): Promise<boolean> {
    const { features, userId } = this.#deps
    if (await this.#isThere('channel', id, (one) => features.channels.has(userId, one))) return false
    const schema = CHANNELS['POST /api/platform/channels'].body
    const fields = checkBody(schema, item, []) as Parameters<typeof features.channels.takeIn>[1]
    await this.#remember('channel', id, (await features.channels.takeIn(userId, fields)).id)
    return true
  }

  async #takeDrawings(item: Item): Promise<boolean> {
    const { exchange, symbol, drawings } = item
    const schema = DRAWINGS['PATCH /api/platform/drawings'].body
    const asked = checkBody(schema, { exchange, symbol, put: drawings }, []) as {
      readonly exchange: string
      readonly symbol: string
      readonly put: readonly { readonly id: string }[]
    }
    const sheet = await this.#deps.features.drawings.of(this.#deps.userId, asked)
    const there = new Set(sheet.drawings.map((drawing) => drawing.id))
    const put = asked.put.filter((drawing) => !there.has(drawing.id))
    if (put.length === 0) return false
    await this.#asked({ method: 'PATCH', path: '/api/platform/drawings', body: { ...asked, put } })
    return true
  }

  async #takeCursor(item: Item): Promise<boolean> {
    const { features, userId } = this.#deps
    const { symbol, interval, exchange, cursorBar, speed, start, end } = item
    if (typeof symbol !== 'string' || typeof interval !== 'string')
      throw invalidField('/symbol', 'required', 'expected a symbol and an interval')
    if (await features.places.cursor(userId, symbol, interval)) return false
    const body = { symbol, interval, exchange, cursorBar, speed, start, end }
    await this.#asked({ method: 'POST', path: '/api/platform/replay/resume', body })
    return true
  }

  async #takeBookmark(item: Item): Promise<boolean> {
    const { features, userId } = this.#deps
    const { symbol, interval, bar, note } = item
    if (typeof symbol !== 'string' || typeof interval !== 'string')
      throw invalidField('/symbol', 'required', 'expected a symbol and an interval')
    const there = await features.places.bookmarks(userId, symbol, interval)
    if (there.some((one) => one.bar === bar)) return false
    const query = new URLSearchParams({ symbol, interval, bar: String(bar) })
    await this.#asked({
      method: 'POST',
      path: `/api/platform/replay/bookmarks?${query.toString()}`,
      body: { note },
    })
    return true
  }

  /** They count once, wherever they were made. */
  async #takeTrials(item: Item): Promise<boolean> {
    const { features, userId } = this.#deps
    return features.ledger.takeIn(userId, checkBody(TriedTogether, item, []) as Wire<typeof TriedTogether>)
  }

  /** So does a look at bars that are held out. */
  async #takeHoldOut(item: Item): Promise<boolean> {
    const { features, userId } = this.#deps
    return features.holdOuts.takeIn(userId, checkBody(HeldOutOf, item, []) as Wire<typeof HeldOutOf>)
  }

  /** A window of a series. A series that was there before stays as it is. */
  async #takeBars(item: Item): Promise<boolean> {
    const { exchange, symbol, interval, columns, bought } = item
    if (
      typeof exchange !== 'string' ||
      typeof symbol !== 'string' ||
      typeof interval !== 'string' ||
      !Array.isArray(columns)
    )
      throw invalidField('/columns', 'required', 'expected a series and its columns')
    const [time = []] = columns as unknown[][]
    if (
      !Array.isArray(time) ||
      columns.length !== 6 ||
      columns.some((column) => !Array.isArray(column) || column.length !== time.length)
    )
      throw invalidField('/columns', 'invalid', 'expected six columns of one length')
    if (bought !== undefined && !(Array.isArray(bought) && bought.length === time.length))
      throw invalidField('/bought', 'invalid', 'expected as many numbers as there are bars')
    const name = JSON.stringify([exchange, symbol, interval])
    const isOurs = this.#series.get(name) ?? !(await this.#hasSeries({ exchange, symbol, interval }))
    this.#series.set(name, isOurs)
    if (!isOurs) return false
    const rows = time.map((_, i) => {
      const row = (columns as unknown[][]).map((column) => Number(column[i])).join(',')
      return bought ? `${row},${(bought[i] as unknown) === null ? '' : Number(bought[i])}` : row
    })
    const query = new URLSearchParams({ exchange, symbol, interval, duplicates: 'first' })
    const csv = `time,open,high,low,close,volume${bought ? ',bought' : ''}\n${rows.join('\n')}\n`
    await this.#asked({ method: 'POST', path: `/api/platform/bars/import?${query.toString()}`, body: csv })
    return true
  }

  async #hasSeries(key: SeriesKey): Promise<boolean> {
    return (await this.#deps.bars.store.info(await this.#placeOf(key))) !== null
  }

  /** Where an import of this user puts a series. */
  async #placeOf(key: SeriesKey): Promise<SeriesKey> {
    const { kv, userId } = this.#deps
    const user = await users(kv).get(userId)
    return seriesOf(key, user !== null && mayChangeShared(user) ? '' : userId)
  }

  /** The chart that a series was imported from. It stands behind the bars, and comes with them or not at all. */
  async #takeChart({ exchange, symbol, interval, fileName, text }: Item): Promise<boolean> {
    const { kv, clock } = this.#deps
    if (this.#series.get(JSON.stringify([exchange, symbol, interval])) !== true) return false
    const plots = typeof text === 'string' && text.length <= CHART_BYTES ? plotNames(text) : []
    if (plots.length === 0) throw invalidField('/text', 'invalid', 'expected a chart with plots')
    await keepChart(kv, await this.#placeOf({ exchange, symbol, interval } as SeriesKey), {
      fileName: typeof fileName === 'string' ? fileName.slice(0, 400) : '',
      plots,
      importedAt: clock.now(),
      text: text as string,
    })
    return true
  }

  async #takePart(of: string, key: unknown, value: unknown): Promise<void> {
    const { kv, newId } = this.#deps
    const shape = Array.isArray(key) ? (key as unknown[]) : []
    const [prefix, id, ...rest] = shape
    const kind = KINDS.find((one): one is Computed => 'records' in one && one.parts.includes(String(prefix)))
    const isKey =
      kind &&
      id === of &&
      rest.length <= 3 &&
      rest.every((one) => Number.isSafeInteger(one) && Number(one) >= 0)
    if (!isKey || typeof value !== 'string' || of.length > 100)
      throw notOurs('a part of an item is not as it should be')
    if (this.#parts?.of !== of) await this.dropParts()
    const known = await this.#known(kind.kind, of)
    if (known && (await this.#isOwnRecord(kind, known))) return
    if (await this.#isOwnRecord(kind, of)) return
    const made = known ?? newId(kind.prefix)
    if (!known) await this.#remember(kind.kind, of, made)
    const parts = (this.#parts ??= { of, keys: [], bytes: 0 })
    parts.bytes += value.length
    if (parts.bytes > PARTS_MAX) throw notOurs('an item is larger than any that Chartroom makes')
    if (!/^backtest-beginning$|-trades$/.test(String(prefix)) && rest.length === 0) checkJson(value)
    const target: Key = [String(prefix), made, ...(rest as KeyPart[])]
    encodeKey(target)
    await kv.commit({ sets: [{ key: target, value }] })
    parts.keys.push(target)
  }

  /** Of an item that does not follow. */
  async dropParts(): Promise<void> {
    const keys = this.#parts?.keys ?? []
    this.#parts = null
    for (let at = 0; at < keys.length; at += 100)
      await this.#deps.kv.commit({ deletes: keys.slice(at, at + 100) })
  }

  async #takeComputed(of: Computed, id: string, item: Item, length: number): Promise<boolean> {
    const { kv, newId, clock, userId, runs } = this.#deps
    if (this.#parts?.of !== id) await this.dropParts()
    if (await this.#isThere(of.kind, id, (one) => this.#isOwnRecord(of, one))) return false
    try {
      if (length > RECORD_MAX)
        throw invalidField('', 'too_long', 'The record is larger than any that Chartroom makes.')
      const made = (await this.#known(of.kind, id)) ?? newId(of.prefix)
      const settled = of.settled(item, this.#ids, clock.now())
      if (settled['state'] === 'queued' || settled['state'] === 'running')
        throw invalidField('/state', 'invalid', 'What is under way cannot be taken in.')
      checkBody(of.schema, of.wire({ ...settled, id: made }), [])
      const records = of.records(kv)
      if (
        of.kind === 'backtest' &&
        runs.keptMax > 0 &&
        (await records.count('user', [userId])) >= runs.keptMax
      )
        throw new Problem(422, 'quota_exceeded', `You keep ${runs.keptMax} backtests, the most there may be.`)
      const owned = withSeriesOwner(settled, (was) => (was === OWN ? userId : ''))
      const record = { ...owned, id: made, userId }
      await this.#remember(of.kind, id, made)
      await transact(kv, () => records.insert(record))
      this.#parts = null
      return true
    } catch (error) {
      await this.dropParts()
      throw error
    }
  }

  async #isOwnRecord(of: Computed, id: string): Promise<boolean> {
    return (await of.records(this.#deps.kv).get(id))?.['userId'] === this.#deps.userId
  }

  /** Whether it is the user's already, as what it was or as what was made of it before. */
  async #isThere(kind: string, id: string, isOwn: (id: string) => Promise<boolean>): Promise<boolean> {
    const known = await this.#known(kind, id)
    for (const one of known === null ? [id] : [known, id])
      if (await isOwn(one)) {
        this.#ids.set(id, one)
        return true
      }
    return false
  }

  #takenKey(kind: string, id: string): Key {
    return ['taken', this.#deps.userId, kind, id]
  }

  async #known(kind: string, id: string): Promise<string | null> {
    const entry = await this.#deps.kv.get(this.#takenKey(kind, id))
    return entry && (JSON.parse(entry.value) as string)
  }

  async #remember(kind: string, id: string, made: string): Promise<void> {
    this.#ids.set(id, made)
    await this.#deps.kv.commit({ sets: [{ key: this.#takenKey(kind, id), value: JSON.stringify(made) }] })
  }

  async #asked(ask: Ask): Promise<Item> {
    const { status, json } = await this.#deps.ask(ask)
    if (status < 300) return json
    const { code, message } = isItem(json['error']) ? json['error'] : {}
    throw new Problem(
      status,
      typeof code === 'string' && Object.hasOwn(PROBLEM_CODES, code)
        ? (code as ProblemCode)
        : 'validation_failed',
      typeof message === 'string' ? message : 'It was refused.',
    )
  }
}

function checkHead(head: Item): void {
  if (head['format'] !== FORMAT) throw notOurs('it does not say that it is an export of Chartroom')
  if (head['version'] !== FORMAT_VERSION)
    throw notOurs(
      `it is of version ${String(head['version']).slice(0, 20)}, and this Chartroom reads ${FORMAT_VERSION}`,
    )
}

const notOurs = (why: string) =>
  invalidField(
    '',
    'invalid',
    `The file cannot be taken: ${why}. Expected what GET /api/platform/export answers.`,
  )

function parsed(line: string): Item {
  const value = checkJson(line)
  if (!isItem(value)) throw notOurs('a line is no object of JSON')
  return value
}

function checkJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notOurs('a line is not JSON')
  }
}

/** Of a file that is compressed with gzip, or not. */
async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  const { value: first = new Uint8Array() } = await source.next()
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield first
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  }
  if (first[0] === 0x1f && first[1] === 0x8b) yield* gunzipped(whole())
  else yield* whole()
}

async function* gunzipped(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const input = Readable.from(packed)
  const gunzip = createGunzip()
  // Otherwise the end of a body that broke off would never come.
  input.on('error', (error) => gunzip.destroy(error))
  try {
    for await (const chunk of input.pipe(gunzip)) yield chunk as Uint8Array
  } catch (error) {
    if (error instanceof Problem) throw error
    throw notOurs('it is not compressed as gzip, or breaks off')
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held: string[] = []
  let [length, all] = [0, 0]
  for await (const chunk of bytes) {
    all += chunk.length
    if (all > BYTES_MAX) throw notOurs('it is larger than 16 GB')
    const lines = decoder.decode(chunk, { stream: true }).split('\n')
    for (const [i, piece] of lines.entries()) {
      if (i > 0) {
        yield held.join('')
        held = []
        length = 0
      }
      held.push(piece)
      length += piece.length
      if (length > LINE_MAX) throw notOurs('a line is longer than any that Chartroom writes')
    }
  }
  if (length > 0) yield held.join('')
}
