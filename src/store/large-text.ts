// Texts that are too large for one write: a report and tracks of millions of bars are a hundred megabytes.
//
// One write of that much holds up everything else on the thread, and so does one read. So a large text is kept in parts,
// which are written one after the other before the commit that makes them count: only that one writes the head, under
// the text's own key, and until then the parts are a draft, which the next start takes away. A text of ordinary size
// is its own head, as it always was.

import { cutText } from '../lib/text-cut.ts'
import { transact, type Changes } from './transaction.ts'
import type { Key, Kv, Reader } from './kv.ts'

/** Characters; a part is written and read within a millisecond or two. */
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

/** Writes what is too large for the commit, and answers what the commit has to add. */
export async function stageText(kv: Kv, key: Key, text: string): Promise<Changes> {
  if (text.length <= WHOLE) return { sets: [{ key, value: text }] }
  // A part may be a character short, so that there is perhaps one more.
  const most = Math.ceil(text.length / (PART - 1))
  await transact(kv, () => ({ sets: [{ key: draftKey(key), value: String(most) }] }))
  let count = 0
  for (const value of cutText(text, PART)) {
    const part = count++
    await transact(kv, () => ({ sets: [{ key: partKey(key, part), value }] }))
  }
  const head: Head = { $parts: count, length: text.length }
  return { sets: [{ key, value: JSON.stringify(head) }], deletes: [draftKey(key)] }
}

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
