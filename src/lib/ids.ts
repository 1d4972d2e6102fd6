// An id says what it names and sorts by the time it was made: `bt_06b2c…` is a UUIDv7 in base32 behind its noun.
//
// The alphabet is Crockford's base32 in lower case: no letter can be mistaken for a digit, and texts sort as their
// bits do. Two ids of one millisecond still sort in the order they were made: the 12 bits behind the time are a
// counter (RFC 9562, 6.2).

import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Makes the next id: `newId('al')` is `al_` and 26 characters. */
export type NewId = (prefix: string) => string

export function idSource({ clock, random }: { readonly clock: Clock; readonly random: Random }): NewId {
  let last = 0
  let counter = 0
  return (prefix) => {
    const now = clock.now()
    if (now > last) {
      last = now
      counter = (random.bytes(1)[0] ?? 0) << 2
    } else if (++counter > 0xfff) {
      // The counter overflowed within one millisecond, or the clock was set back: borrow a millisecond from the
      // future.
      last += 1
      counter = 0
    }
    return `${prefix}_${base32(uuidv7(last, counter, random.bytes(8)))}`
  }
}

/** When an id was made, in UTC ms; null if the text is no id. */
export function timeOfId(id: string): number | null {
  // The first ten characters hold 50 bits: the 48 of the time, and two more.
  const head = /_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)?.[1]
  if (head === undefined) return null
  let bits = 0
  for (const character of head) bits = bits * 32 + ALPHABET.indexOf(character)
  return Math.floor(bits / 4)
}

/** Byte by byte: a DataView of fresh bytes takes as long as all the rest of an id together. */
function uuidv7(timeMs: number, counter: number, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16)
  const high = Math.floor(timeMs / 0x1_0000_0000)
  bytes[0] = high >>> 8
  bytes[1] = high
  bytes[2] = timeMs >>> 24
  bytes[3] = timeMs >>> 16
  bytes[4] = timeMs >>> 8
  bytes[5] = timeMs
  bytes[6] = 0x70 | (counter >>> 8)
  bytes[7] = counter
  for (let i = 0; i < 8; i++) bytes[8 + i] = tail[i] ?? 0
  bytes[8] = 0x80 | ((tail[0] ?? 0) & 0x3f)
  return bytes
}

/**
 * All pairs of characters. Every request has an id of 26 characters, and writing them in pairs takes a third of the
 * time.
 */
const PAIRS = Array.from(ALPHABET).flatMap((first, _, all) => all.map((second) => first + second))

/** Writes the most significant bit first, so that texts sort as the bytes do. */
export function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (let i = 0; i < bytes.length; i++) {
    held = (held << 8) | (bytes[i] ?? 0)
    bits += 8
    if (bits < 10) continue
    bits -= 10
    text += PAIRS[held >>> bits]
    held &= (1 << bits) - 1
  }
  if (bits >= 5) {
    bits -= 5
    text += ALPHABET[held >>> bits]
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[held << (5 - bits)] : text
}
