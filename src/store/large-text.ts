// Texts that are too large for one write: a report and tracks of millions of bars are a hundred megabytes.
//
// One write of that much holds up everything else on the thread, and so does one read. So a large text is kept in parts,
// which are written one after the other before the commit that makes them count: only that one writes the head, under
// the text's own key, and until then the parts are a draft, which the next start takes away. A text of ordinary size
// is its own head, as it always was.

import { cutText } from '../lib/text-cut.ts'
import { transact, type Changes } from './transaction.ts'
import type { Key, Kv, Reader } from './kv.ts'

/** Characters, or bytes; a part is written and read within a millisecond or two. */
const PART = 1024 * 1024
/** Up to here the text is written as one: a write more costs three milliseconds, as much as so many characters. */
const WHOLE = 3 * PART
/** A head of parts begins with this, and no text of ours does. */
const HEAD = '{"$parts":'

interface Head {
  readonly $parts: number
  readonly length: number
}

export interface LargeText {
  /** Characters. */
  readonly length: number
  /** Each is read when it is asked for. */
  readonly parts: AsyncIterable<string>
}

/**
 * Writes what is too large for the commit, and answers what the commit has to add. The text is UTF-8, in pieces that are
 * whole characters each.
 */
export async function stageText(kv: Kv, key: Key, text: readonly Uint8Array[]): Promise<Changes> {
  const bytes = text.reduce((sum, { length }) => sum + length, 0)
  if (bytes <= WHOLE) return { sets: [{ key, value: text.map((piece) => utf8.decode(piece)).join('') }] }
  // A piece that is cut may have a part that is a character short, so that there is perhaps one more.
  const most = text.reduce((sum, { length }) => sum + Math.ceil(length / (PART - 1)), 0)
  await transact(kv, () => ({ sets: [{ key: draftKey(key), value: String(most) }] }))
  let [count, length] = [0, 0]
  for (const piece of text)
    for (const value of cutText(utf8.decode(piece), PART)) {
      const part = count++
      length += value.length
      await transact(kv, () => ({ sets: [{ key: partKey(key, part), value }] }))
    }
  const head: Head = { $parts: count, length }
  return { sets: [{ key, value: JSON.stringify(head) }], deletes: [draftKey(key)] }
}
/** A piece may begin with what stands for a byte order mark at the beginning of a text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** null = there is none. */
export async function largeText(kv: Reader, key: Key): Promise<LargeText | null> {
  const value = (await kv.get(key))?.value
  if (value === undefined) return null
  const head = headOf(value)
  if (!head) return { length: value.length, parts: wholeOf(value) }
  return { length: head.length, parts: partsOf(kv, key, head.$parts) }
}

/** What to delete with the text. */
export async function textKeys(kv: Reader, key: Key): Promise<Key[]> {
  const head = headOf((await kv.get(key))?.value ?? '')
  return [key, ...Array.from({ length: head?.$parts ?? 0 }, (_, part) => partKey(key, part))]
}

/** Takes away a draft that came to nothing. */
export async function dropText(kv: Kv, key: Key): Promise<void> {
  const count = Number((await kv.get(draftKey(key)))?.value ?? 0)
  for (let part = 0; part < count; part++) await transact(kv, () => ({ deletes: [partKey(key, part)] }))
  if (count > 0) await transact(kv, () => ({ deletes: [draftKey(key)] }))
}

/** At start: takes away the drafts of a server that stopped meanwhile. */
export async function dropDrafts(kv: Kv): Promise<void> {
  for (;;) {
    const drafts = await kv.list({ prefix: ['text-draft'] }, { limit: 100 })
    for (const { key } of drafts) await dropText(kv, key.slice(1))
    if (drafts.length < 100) return
  }
}

const draftKey = (key: Key): Key => ['text-draft', ...key]
const partKey = (key: Key, part: number): Key => [...key, part]

function headOf(value: string): Head | null {
  return value.startsWith(HEAD) ? (JSON.parse(value) as Head) : null
}

async function* wholeOf(value: string): AsyncGenerator<string> {
  yield value
}

async function* partsOf(kv: Reader, key: Key, count: number): AsyncGenerator<string> {
  for (let part = 0; part < count; part++) {
    const value = (await kv.get(partKey(key, part)))?.value
    if (value === undefined) throw new Error(`a part of a text is missing: ${part} of ${count}`)
    yield value
  }
}
