// Encodes keys as bytes that sort as the keys do, after FoundationDB's tuple layer.
//
// A part is a tag and its content. Tags put the kinds in order (false < true < numbers < strings). A number is its IEEE 754
// bits with the sign flipped, or all bits flipped when negative, which makes their byte order numeric. A string is UTF-8
// and ends with 00, and a 00 inside it is written 00 FF. As no tag is FF, a string still sorts before its extensions.

import { assert } from '../lib/assert.ts'
import type { Key, KeyPart } from './kv.ts'

const FALSE = 0x05
const TRUE = 0x06
const NUMBER = 0x10
const STRING = 0x20
/** Above every tag: `prefix` plus this byte is the end of all keys that start with `prefix`. */
const END = 0xff
const NUMBER_BYTES = 9

/** LMDB's own limit for pages of 4 KiB. */
const KEY_BYTES_MAX = 1978

export function encodeKey(key: Key): Buffer {
  const bytes = encodeParts(key)
  assert(bytes.length > 0 && bytes.length <= KEY_BYTES_MAX, `a key of ${bytes.length} bytes`)
  return bytes
}

/** The half-open byte range of all keys below `prefix`, without the prefix itself. */
export function prefixRange(prefix: Key): { readonly start: Buffer; readonly end: Buffer } {
  const bytes = encodeParts(prefix)
  return { start: Buffer.concat([bytes, Buffer.of(0)]), end: Buffer.concat([bytes, Buffer.of(END)]) }
}

/** `prefix` is what the first `at` bytes are known to say: all keys of a list begin alike. */
export function decodeKey(bytes: Uint8Array, prefix: Key = [], at = 0): Key {
  // LMDB hands out a Buffer for each key. A view of its memory would take as long as all the rest.
  const view = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const key = prefix.slice()
  while (at < view.length) {
    const tag = view[at++]
    if (tag === FALSE || tag === TRUE) key.push(tag === TRUE)
    else if (tag === NUMBER) {
      key.push(decodeNumber(view.subarray(at, at + 8)))
      at += 8
    } else {
      assert(tag === STRING, `key tag ${tag}`)
      const end = asciiEnd(view, at)
      if (end < 0) {
        const last = stringEnd(view, at)
        key.push(view.toString('utf8', at, last).replaceAll('\0\uFFFD', '\0'))
        at = last + 1
      } else {
        key.push(view.toString('latin1', at, end))
        at = end + 1
      }
    }
  }
  return key
}

/** The tag, a name, and the zero byte behind it. */
const PLAIN_NAME = /^ [^\0\x80-\xff]*\0$/

/** The same for a key that was read as a text with a letter for each byte: nearly all end in one plain name, which is cut out. */
export function decodeLetters(letters: string, prefix: Key, at: number): Key {
  const rest = letters.slice(at)
  if (PLAIN_NAME.test(rest)) return [...prefix, rest.slice(1, -1)]
  return decodeKey(Buffer.from(letters, 'latin1'), prefix, at)
}

/** Where the text that begins at `from` ends, if it is plain ASCII; -1 for any other. Reads most keys in a quarter of the time. */
function asciiEnd(view: Buffer, from: number): number {
  for (let at = from; at < view.length; at++) {
    const byte = view[at]!
    if (byte > 0x7f) return -1
    if (byte === 0) return view[at + 1] === 0xff ? -1 : at
  }
  return -1
}

/**
 * Every read and write encodes keys, mostly with parts of plain ASCII. These are written straight into place, which takes a
 * third of the time of a buffer for each part.
 */
function encodeParts(key: Key): Buffer {
  let room = 0
  for (const part of key) room += typeof part === 'string' ? part.length + 2 : NUMBER_BYTES
  const bytes = Buffer.allocUnsafe(room)
  let at = 0
  for (const part of key) {
    if (typeof part !== 'string') at += encodePart(part).copy(bytes, at)
    else {
      bytes[at++] = STRING
      for (let i = 0; i < part.length; i++) {
        const code = part.charCodeAt(i)
        if (code === 0 || code > 0x7f) return Buffer.concat(key.map(encodePart))
        bytes[at++] = code
      }
      bytes[at++] = 0
    }
  }
  // Making a view of the whole buffer takes as long as writing it.
  return at === room ? bytes : bytes.subarray(0, at)
}

function encodePart(part: KeyPart): Buffer {
  if (typeof part === 'boolean') return Buffer.of(part ? TRUE : FALSE)
  if (typeof part === 'number') return encodeNumber(part)
  assert(part.isWellFormed(), 'a key string with half a surrogate pair')
  const text = Buffer.from(part, 'utf8')
  if (!text.includes(0)) return Buffer.concat([Buffer.of(STRING), text, Buffer.of(0)])
  const escaped = [...text].flatMap((byte) => (byte === 0 ? [0, 0xff] : [byte]))
  return Buffer.from([STRING, ...escaped, 0])
}

function encodeNumber(value: number): Buffer {
  assert(!Number.isNaN(value), 'NaN in a key')
  const bytes = Buffer.alloc(NUMBER_BYTES)
  bytes[0] = NUMBER
  // -0 and 0 are the same key.
  bytes.writeDoubleBE(value === 0 ? 0 : value, 1)
  flipSign(bytes.subarray(1), value < 0)
  return bytes
}

function decodeNumber(encoded: Uint8Array): number {
  const bytes = Buffer.from(encoded)
  flipSign(bytes, bytes[0]! < 0x80)
  return bytes.readDoubleBE(0)
}

function flipSign(bytes: Uint8Array, negative: boolean): void {
  if (negative) for (let i = 0; i < 8; i++) bytes[i] = ~bytes[i]!
  else bytes[0] = bytes[0]! ^ 0x80
}

/** Index of the 00 that ends a string: the first one without FF behind it. */
function stringEnd(view: Buffer, from: number): number {
  let at = from
  for (;;) {
    at = view.indexOf(0, at)
    assert(at >= 0, 'a key string without an end')
    if (view[at + 1] !== 0xff) return at
    at += 2
  }
}
