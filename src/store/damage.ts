// Checksums of what is stored, so that a bit that has flipped is refused, and never believed.
//
// The number that LMDB keeps beside each document, its version, has room for one: 36 bits say which transaction wrote it, and
// 16 are a checksum of the text with that. To a program from before, it is a number that does not repeat, as any other. Its own
// are below 2^36, and documents with one cannot be checked; what lies between is neither, so the number itself is damaged.
// One flip in 65,536 goes unnoticed. Chunks of bars have checksums of their own (`bar-chunks.ts`).

import { type SeriesKey, seriesName } from '../market/bar-store.ts'
import { DamagedChunk } from './bar-chunks.ts'
import type { Log } from '../lib/log.ts'
import type { Entry, Key, Reader } from './kv.ts'

const CHECKED = 2 ** 52
const TRANSACTIONS = 2 ** 36
const CHECKS = 2 ** 16

/** Says which record is damaged, in the log; whoever has asked for it is only told that something went wrong. */
export class Damage extends Error {
  constructor(what: string) {
    super(
      `${what} is damaged on the disk, and is not used: \`chartroom doctor\` says what else is, and a backup has it as it was.`,
    )
    this.name = 'Damage'
  }
}

/**
 * Does work of which others' need not wait: where it needs what is damaged, the log says so, and it is answered `instead`.
 * Whoever asks for something is refused instead; what is done for everybody goes on with the rest.
 */
export async function besideDamage<T>(log: Log, work: () => Promise<T>, instead: T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Damage)) throw error
    log('error', 'what is damaged is left out', { error: error.message })
    return instead
  }
}

/** As `getMany`, with null in the place of what is damaged. */
export function wholeOnes(log: Log, reader: Reader, keys: readonly Key[]): Promise<(Entry | null)[]> {
  return reader.getMany(keys).catch(async (error: unknown) => {
    if (!(error instanceof Damage)) throw error
    const found: (Entry | null)[] = []
    for (const key of keys) found.push(await besideDamage(log, () => reader.get(key), null))
    return found
  })
}

/** The version of a text that a transaction writes, which may come as its bytes. */
export function versionOf(transaction: number, text: string | Uint8Array): number {
  const of = transaction % TRANSACTIONS
  return CHECKED + of * CHECKS + checkOf(of, text)
}

/** Whether the text is the one that was written with the version, as far as anybody can know. */
export function isWhole(version: number, text: string): boolean {
  if (version < TRANSACTIONS) return Number.isInteger(version) && version >= 0
  if (!(version >= CHECKED && version < 2 * CHECKED)) return false
  const said = version - CHECKED
  return checkOf(Math.floor(said / CHECKS), text) === said % CHECKS
}

function checkOf(transaction: number, text: string | Uint8Array): number {
  const sum = Bun.hash.crc32(text, transaction % 2 ** 32) ^ Math.floor(transaction / 2 ** 32)
  return (sum ^ (sum >>> 16)) & (CHECKS - 1)
}

/** What a document is called where people read it: without what somebody may have written, as a mail address. */
export const documentName = ([collection, kind, ...rest]: Key) =>
  `The document ${[collection, kind, kind === 'id' ? rest[0] : '…'].filter((part) => part !== undefined).join('/')}`

/** Says of damaged bars whose they are. */
export async function ofSeries<T>(key: SeriesKey, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof DamagedChunk ? new Damage(`A part of the bars of ${seriesName(key)}`) : error
  }
}
