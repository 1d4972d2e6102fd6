// Texts that are too large for one write: a report with its tracks over millions of bars takes a hundred megabytes.
//
// Writing or reading that much at once holds up everything else on the thread. So a large text is stored in parts, which
// are written one after the other before the commit that makes them count: only that commit writes the head, under the
// text's own key. Until then the parts are a draft, which the next start removes. A text of ordinary size is its own head.

import { cutText } from '../lib/text-cut.ts'
import { transact, type Changes } from './transaction.ts'
import type { Key, Kv, Reader } from './kv.ts'

/** Characters or bytes; a part is written and read within a millisecond or two. */
const PART = 1024 * 1024
/**
 * Up to this size a text is written as one. One more write costs three milliseconds, as much as writing this many
 * characters.
 */
const WHOLE = 3 * PART
/** The head of a text in parts begins with this, and none of our texts does. */
const HEAD = '{"$parts":'

interface Head {
  readonly $parts: number
  readonly length: number
}

export interface LargeText {
  /** Length in characters. */
  readonly length: number
  /** Each part is read when it is asked for. */
  readonly parts: AsyncIterable<string>
}

/**
 * Writes what is too large for the commit, and answers the changes to add to it. The text is UTF-8, and no piece of it ends
 * within a character.
 */
export async function stageText(kv: Kv, key: Key, text: readonly Uint8Array[]): Promise<Changes> {
  const bytes = text.reduce((sum, { length }) => sum + length, 0)
  const [only] = text
  if (bytes <= WHOLE)
    return { sets: [{ key, value: text.length === 1 && only ? only : Buffer.concat(text) }] }
  // Cutting a piece may leave a part one character short, so there may be one more part.
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
/** A piece may begin with the character that would be a byte order mark at the start of a text. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** null if there is none. */
export async function largeText(kv: Reader, key: Key): Promise<LargeText | null> {
  const value = (await kv.get(key))?.value
  if (value === undefined) return null
  const head = headOf(value)
  if (!head) return { length: value.length, parts: wholeOf(value) }
  return { length: head.length, parts: partsOf(kv, key, head.$parts) }
}

/** The keys to delete together with the text. */
export async function textKeys(kv: Reader, key: Key): Promise<Key[]> {
  const head = headOf((await kv.get(key))?.value ?? '')
  return [key, ...Array.from({ length: head?.$parts ?? 0 }, (_, part) => partKey(key, part))]
}

/** Removes a draft that will not be committed. */
export async function dropText(kv: Kv, key: Key): Promise<void> {
  const count = Number((await kv.get(draftKey(key)))?.value ?? 0)
  for (let part = 0; part < count; part++) await transact(kv, () => ({ deletes: [partKey(key, part)] }))
  if (count > 0) await transact(kv, () => ({ deletes: [draftKey(key)] }))
}

/** Removes, at the start, the drafts of a server that was stopped. */
export async function dropDrafts(kv: Kv): Promise<void> {
  for (;;) {
    const drafts = await kv.list({ prefix: [DRAFT] }, { limit: 100 })
    for (const { key } of drafts) await dropText(kv, key.slice(1))
    if (drafts.length < 100) return
  }
}

/** The key of the text in parts that this document is the head or the draft of; null if it is neither. */
export function textInParts(key: Key, value: string): Key | null {
  if (key[0] === DRAFT) return key.slice(1)
  return value.startsWith(HEAD) ? key : null
}

const DRAFT = 'text-draft'
const draftKey = (key: Key): Key => [DRAFT, ...key]
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
