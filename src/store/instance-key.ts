// The key file: 32 bytes that secrets are sealed with, beside the database, so that a copied database gives none away.
// All servers on one database have the same.
//
// The database keeps the key's fingerprint. We refuse to start if the key is lost or belongs to another database: a new key
// would silently make every secret unreadable.

import { existsSync, readFileSync, renameSync } from 'node:fs'
import type { Random } from '../lib/random.ts'
import { sha256 } from '../lib/sha256.ts'
import { DataRefused } from './data-refused.ts'
import { isNoFile, NO_FILE, writeNew, writeWhole } from './files.ts'
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

/**
 * Writes nothing. Throws `DataRefused` if the key in the file is not the database's, unless a new one was requested and no
 * others serve, which would go on sealing with the old one.
 */
export async function judgeKey(
  kv: Pick<Kv, 'get'>,
  path: string,
  opens: Opens,
  { newKey, others = [] }: { readonly newKey: boolean; readonly others?: readonly string[] },
): Promise<KeyVerdict> {
  if (isNoFile(path)) throw new DataRefused(`${path} ${NO_FILE}. Nothing was changed. Take it away.`)
  const instance = await readInstance(kv)
  const found = existsSync(path) ? contentOf(path) : null
  const key = found?.length === KEY_BYTES ? found : null
  if (instance && key && fingerprintOf(key) === instance.keyFingerprint) return { kind: 'right', key }
  if (!instance) {
    // Version 0.1.0 kept no fingerprint, and a fresh database has none yet.
    const fits = await opens(key ?? Buffer.alloc(KEY_BYTES))
    if (key && fits !== false) return { kind: 'first', key }
    if (found === null && fits === null) return { kind: 'missing' }
  }
  const what = found ? 'is not the key of this database' : 'is missing'
  if (newKey && others.length > 0)
    throw new DataRefused(
      `${path} ${what}, and other servers on the database have the right one: ${others.join(', ')}. A new key would split them. Nothing was changed. Bring the file over from one of them. If it is lost there too, stop them all before --new-key; one that was killed counts until its lease is over (LEASE_SECONDS).`,
    )
  if (newKey) return { kind: 'lost' }
  throw new DataRefused(
    `${path} ${what}; the secrets of webhooks and channels and the keys of providers are sealed with it. Nothing was changed. Put the right one back from a backup, name it with KEY_FILE, or start once with --new-key: each of them has to be given again then.`,
  )
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unusable('read', path, error)
  }
}

function unusable(what: string, path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  return new DataRefused(
    `The key file ${path} cannot be ${what} (${error.message}). Give the user who starts Chartroom the right to it, or name another with KEY_FILE.`,
  )
}

/**
 * Carries out the verdict and answers the key. Of servers that start at once on an empty database one is first, and those with
 * the same key go on with it; a key file that they share is made by one of them.
 */
export async function settleKey(
  kv: Kv,
  path: string,
  verdict: KeyVerdict,
  random: Random,
): Promise<Uint8Array> {
  if (verdict.kind === 'right') return verdict.key
  const made = verdict.kind === 'first' ? verdict.key : random.bytes(KEY_BYTES)
  const key = written(path, made, verdict.kind) ? made : contentOf(path)
  // Only a key that is lost has a successor: what is there otherwise came after the verdict, and stays.
  const before = verdict.kind === 'lost' ? await kv.get(INSTANCE_KEY) : null
  const id = before
    ? (JSON.parse(before.value) as Instance).id
    : Buffer.from(random.bytes(16)).toString('hex')
  const instance: Instance = { id, keyFingerprint: fingerprintOf(key) }
  const done = await kv.commit({
    checks: [{ key: INSTANCE_KEY, version: before?.version ?? null }],
    sets: [{ key: INSTANCE_KEY, value: JSON.stringify(instance) }],
  })
  if (!done && (await readInstance(kv))?.keyFingerprint !== instance.keyFingerprint) throw elsewhere(path)
  return key
}

/** Answers false if another process was faster. */
function written(path: string, key: Uint8Array, kind: KeyVerdict['kind']): boolean {
  try {
    if (kind === 'missing') return writeNew(path, key)
    if (kind !== 'lost') return true
    if (existsSync(path)) renameSync(path, `${path}.replaced`)
    writeWhole(path, key)
    return true
  } catch (error) {
    throw unusable('written', path, error)
  }
}

function elsewhere(path: string): DataRefused {
  return new DataRefused(
    `Another server has just settled another key for the database than the one in ${path}. Bring the file over from that server.`,
  )
}

export async function readInstance(kv: Pick<Kv, 'get'>): Promise<Instance | null> {
  const entry = await kv.get(INSTANCE_KEY)
  return entry && (JSON.parse(entry.value) as Instance)
}

/** Distinguishes keys without revealing anything about them. */
export function fingerprintOf(key: Uint8Array): string {
  return sha256(Buffer.concat([Buffer.from('chartroom instance key '), key])).slice(0, 32)
}
