// The key file of a data directory: 32 bytes that secrets are sealed with, beside the database, so that a copied
// database gives none away.
//
// The database keeps the key's fingerprint. We refuse to start if the key is lost or belongs to another database: a new key
// would silently make every secret unreadable.

import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../lib/random.ts'
import { sha256 } from '../lib/sha256.ts'
import { DataRefused } from './data-refused.ts'
import { isNoFile, NO_FILE, writeWhole } from './files.ts'
import type { Key, Kv } from './kv.ts'

export const KEY_FILE = 'instance.key'
const KEY_BYTES = 32
export const INSTANCE_KEY: Key = ['meta', 'instance']

/** Kept in the database. */
export interface Instance {
  /** Names the database, and stays the same if its key changes. */
  readonly id: string
  readonly keyFingerprint: string
}

/** Whether this key opens what was sealed before fingerprints were kept; null if nothing is sealed. */
export type Opens = (key: Uint8Array) => Promise<boolean | null>

/** What to do with the key file. */
export type KeyVerdict =
  { readonly kind: 'right' | 'first'; readonly key: Uint8Array } | { readonly kind: 'missing' | 'lost' }

/** Writes nothing. Throws `DataRefused` if the key is not the database's, unless a new one was requested. */
export async function judgeKey(
  kv: Pick<Kv, 'get'>,
  directory: string,
  opens: Opens,
  { newKey }: { readonly newKey: boolean },
): Promise<KeyVerdict> {
  const path = join(directory, KEY_FILE)
  if (isNoFile(path)) throw new DataRefused(`${path} ${NO_FILE}. Nothing was changed. Take it away.`)
  const instance = await readInstance(kv)
  const found = existsSync(path) ? readFileSync(path) : null
  const key = found?.length === KEY_BYTES ? found : null
  if (instance && key && fingerprintOf(key) === instance.keyFingerprint) return { kind: 'right', key }
  if (!instance) {
    // Version 0.1.0 kept no fingerprint, and a fresh database has none yet.
    const fits = await opens(key ?? Buffer.alloc(KEY_BYTES))
    if (key && fits !== false) return { kind: 'first', key }
    if (found === null && fits === null) return { kind: 'missing' }
  }
  if (newKey) return { kind: 'lost' }
  const what = found ? 'is not the key of this database' : 'is missing'
  throw new DataRefused(
    `${path} ${what}; webhook secrets are sealed with it. Nothing was changed. Put the right one back from a backup, or start once with --new-key: each webhook needs a new secret then.`,
  )
}

/** Carries out the verdict and answers the key. */
export async function settleKey(
  kv: Kv,
  directory: string,
  verdict: KeyVerdict,
  random: Random,
): Promise<Uint8Array> {
  if (verdict.kind === 'right') return verdict.key
  const path = join(directory, KEY_FILE)
  const key = verdict.kind === 'first' ? verdict.key : random.bytes(KEY_BYTES)
  if (verdict.kind !== 'first') {
    if (existsSync(path)) renameSync(path, `${path}.replaced`)
    writeWhole(path, key)
  }
  const id = (await readInstance(kv))?.id ?? Buffer.from(random.bytes(16)).toString('hex')
  const instance: Instance = { id, keyFingerprint: fingerprintOf(key) }
  await kv.commit({ sets: [{ key: INSTANCE_KEY, value: JSON.stringify(instance) }] })
  return key
}

export async function readInstance(kv: Pick<Kv, 'get'>): Promise<Instance | null> {
  const entry = await kv.get(INSTANCE_KEY)
  return entry && (JSON.parse(entry.value) as Instance)
}

/** Distinguishes keys without revealing anything about them. */
export function fingerprintOf(key: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from('chartroom instance key '), key])).slice(0, 32)
}
