// A whole store copied into an empty one of either kind, and compared with it at the end.
//
// The copy is marked as half done until both have been read once more and are the same, so that no server takes it for
// data. A copy that was cut short is continued, unless its source has been written to since: then it begins again.
// Documents go in the order of their keys, and each step says in its own commit how far it got. A series is copied whole
// or not at all.

import type { SeriesInfo } from '../market/bar-store.ts'
import { chunkLength } from './bar-chunks.ts'
import type { Archive } from './archive.ts'
import { DataRefused } from './data-refused.ts'
import { readInstance } from './instance-key.ts'
import { encodeKey } from './key.ts'
import type { Entry, Key, Kv } from './kv.ts'
import { VERSION_KEY } from './migrate.ts'

/** A store that has this key is a copy that is not whole yet. */
export const COPY_KEY: Key = ['meta', 'copy']

/** What source and copy must have in common at the end. */
export interface Contents {
  readonly documents: number
  readonly series: number
  readonly bars: number
  readonly symbols: number
  /** Series whose new bars alerts have still to look at. */
  readonly notes: number
  /** SHA-256 over every key, value and chunk, in order. */
  readonly digest: string
}

interface Progress {
  readonly source: string
  readonly mark: string
  /** The last document that was copied; null: none yet. */
  readonly after: Key | null
}

export interface CopyOptions {
  readonly source: Archive
  readonly target: Archive
  /** Told in words, for people, what is being copied. */
  readonly progress: (what: string) => void
}

/** Documents in a step. Long texts are kept in pieces (`large-text.ts`), so a step is a few megabytes at most. */
const PAGE = 128

/** Answers what was copied. If it cannot finish it throws `DataRefused`, and leaves a copy that can be continued. */
export async function copyStore({ source, target, progress }: CopyOptions): Promise<Contents> {
  const begun = await begin(source, target)
  await copyDocuments(source, target, begun, progress)
  await copyBars(source, target, progress)
  const [before, after] = await compared(source, target, progress)
  if (await source.changedSince(begun.mark))
    throw new DataRefused(
      'The source was written to while it was copied, so that the copy is not whole. Stop what writes to it and give the command again: it starts from the beginning.',
    )
  if (before.digest !== after.digest) {
    await target.kv.commit(progressCommit({ ...begun, mark: '' }))
    throw new DataRefused(
      'The copy is not the same as its source. Was something else writing to it? Give the command again: it starts from the beginning.',
    )
  }
  await target.kv.commit({ deletes: [COPY_KEY] })
  return before
}

/** Throws `DataRefused` for a copy that is not whole. */
export async function assertNoHalfCopy(kv: Pick<Kv, 'get'>): Promise<void> {
  if (await kv.get(COPY_KEY))
    throw new DataRefused(
      'This is a copy that did not come to its end. Nothing was changed. Give `chartroom copy` again, which goes on with it.',
    )
}

async function begin(source: Archive, target: Archive): Promise<Progress> {
  await assertNoHalfCopy(source.kv)
  const entry = await target.kv.get(COPY_KEY)
  const half = entry && (JSON.parse(entry.value) as Progress)
  const id = (await readInstance(source.kv))?.id ?? ''
  if (half) {
    if (half.source !== id)
      throw new DataRefused(
        'The target holds a copy of another source that did not come to its end. Nothing was changed. Name an empty one with --to.',
      )
    if (half.mark !== '' && !(await source.changedSince(half.mark))) return half
    await target.clear()
  } else if (!(await isEmpty(target)))
    throw new DataRefused('The target is not empty. Nothing was changed. Name an empty one with --to.')
  const progress = { source: id, mark: await source.mark(), after: null }
  await target.kv.commit(progressCommit(progress))
  return progress
}

async function isEmpty(target: Archive): Promise<boolean> {
  const documents = await target.kv.list({ prefix: [] }, { limit: 10 })
  const [series, symbols] = [await target.series(), await target.symbols()]
  return series.length + symbols.length === 0 && documents.every(({ key }) => same(key, VERSION_KEY))
}

const progressCommit = (progress: Progress) => ({
  sets: [{ key: COPY_KEY, value: JSON.stringify(progress) }],
})

async function copyDocuments(
  source: Archive,
  target: Archive,
  begun: Progress,
  progress: (what: string) => void,
): Promise<void> {
  const all = await source.countDocuments()
  let done = 0
  for await (const page of pages(source.kv, begun.after)) {
    const after = page.at(-1)?.key ?? null
    const sets = page.filter(isCopied).map(({ key, value }) => ({ key, value }))
    const { sets: told } = progressCommit({ ...begun, after })
    await target.kv.commit({ sets: [...sets, ...told] })
    done += page.length
    progress(begun.after === null ? `documents: ${done} of ${all}` : `documents: ${done} more`)
  }
}

async function copyBars(source: Archive, target: Archive, progress: (what: string) => void): Promise<void> {
  const there = new Set((await target.series()).map(nameOf))
  const all = await source.series()
  for (const [i, info] of all.entries()) {
    progress(`series: ${i + 1} of ${all.length}`)
    if (!there.has(nameOf(info))) await target.putSeries(info, source.chunks(info))
  }
  await target.putSymbols(await source.symbols())
  await target.putNotes(await source.notes())
}

const nameOf = ({ owner = '', exchange, symbol, interval, change }: SeriesInfo) =>
  JSON.stringify([owner, exchange, symbol, interval, change])

/** Both are read at the same time: one of them is another process, which we would only wait for. */
async function compared(
  source: Archive,
  target: Archive,
  progress: (what: string) => void,
): Promise<readonly [Contents, Contents]> {
  const series = await source.series()
  const all = (await source.countDocuments()) + (await target.countDocuments()) + 2 * series.length
  let done = 0
  const told = (count: number) => progress(`comparing: ${(done += count)} of ${all}`)
  return Promise.all([contentsOf(source, told), contentsOf(target, told)])
}

/** `told` is told how many documents or series were read. */
async function contentsOf(archive: Archive, told: (count: number) => void): Promise<Contents> {
  const hash = new Bun.CryptoHasher('sha256')
  const add = (...parts: (string | Uint8Array)[]) => {
    for (const part of parts) {
      hash.update(`${part.length} `)
      hash.update(part)
    }
  }
  let documents = 0
  for await (const page of pages(archive.kv, null)) {
    for (const { key, value } of page.filter(isCopied)) {
      documents++
      add(encodeKey(key), value)
    }
    told(page.length)
  }
  let bars = 0
  const series = await archive.series()
  for (const info of series) {
    add(nameOf(info), JSON.stringify([info.count, info.first, info.last, info.begun ?? null]))
    for await (const page of archive.chunks(info))
      for (const { first, bytes } of page) {
        bars += chunkLength(bytes)
        add(String(first), bytes)
      }
    told(1)
  }
  const symbols = await archive.symbols()
  add(...symbols.map((symbol) => JSON.stringify(symbol)))
  const notes = (await archive.notes()).map(({ key, from, to, change }) =>
    JSON.stringify([key.owner ?? '', key.exchange, key.symbol, key.interval, from, to, change]),
  )
  add(...notes.sort())
  return {
    documents,
    series: series.length,
    bars,
    symbols: symbols.length,
    notes: notes.length,
    digest: hash.digest('hex'),
  }
}

async function* pages(kv: Kv, begin: Key | null): AsyncGenerator<readonly Entry[]> {
  for (let after = begin; ;) {
    const page = await kv.list({ prefix: [] }, { limit: PAGE, ...(after && { after }) })
    const last = page.at(-1)
    if (!last) return
    yield page
    after = last.key
  }
}

/** Leases belong to their database, and the mark of how far the copy got to the copy: neither is copied. */
function isCopied({ key }: Entry): boolean {
  return key[0] !== 'lease' && !same(key, COPY_KEY) && !same(key, VERSION_KEY)
}

const same = (a: Key, b: Key) => a.length === b.length && a.every((part, i) => part === b[i])
