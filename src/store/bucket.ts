// An S3-compatible bucket, by Bun's own client: whole objects by name, and nothing else.

import { S3Client } from 'bun'
import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'
import { parseBucket } from './bucket-address.ts'
import { DataRefused } from './data-refused.ts'

export interface Bucket {
  /** Where it is, without the key to it. */
  readonly address: string
  put(name: string, bytes: Uint8Array): Promise<void>
  /** null: there is no such object. */
  get(name: string): Promise<Uint8Array | null>
  /** An object that is not there is no mistake. */
  delete(name: string): Promise<void>
  /** All names that begin so, in order. */
  list(prefix: string): Promise<string[]>
  /** What went wrong last, though it may have worked when it was tried again; null: nothing yet. */
  lastFailure(): BucketFailure | null
}

interface BucketFailure {
  readonly at: number
  readonly error: unknown
}

/** An answer that takes longer is taken to be lost; a large object may take what a line of 64 kB a second needs. */
const SILENCE_MS = 15_000
const BYTES_PER_MS = 64
const TRIES = 3
/** Whoever has nobody waiting, and much to lose, tries for half a minute. */
export const PATIENT_TRIES = 8
const PAUSE_MS = 200
const RETRY_AFTER_SECONDS = 5

export function s3Bucket(text: string, clock: Clock, tries = TRIES): Bucket {
  const { prefix, endpoint, region, ...rest } = parseBucket(text)
  const client = new S3Client({
    ...rest,
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
  })

  let lastFailure: BucketFailure | null = null

  async function patiently<T>(ask: () => Promise<T>, bytes = 0): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await unlessSilent(clock, SILENCE_MS + bytes / BYTES_PER_MS, ask())
      } catch (error) {
        lastFailure = { at: clock.now(), error }
        if (isRefusal(error)) throw error
        if (tried === tries) throw away(error)
        await clock.sleep(PAUSE_MS * 2 ** (tried - 1))
      }
    }
  }

  return {
    address: `s3://${rest.bucket}/${prefix}${endpoint === null ? '' : ` at ${endpoint}`}`,
    put: (name, bytes) =>
      patiently(async () => {
        await client.write(prefix + name, bytes, { type: 'application/octet-stream' })
      }, bytes.length),
    async get(name) {
      try {
        return await patiently(() => client.file(prefix + name).bytes())
      } catch (error) {
        if (codeOf(error) === 'NoSuchKey') return null
        throw error
      }
    },
    delete: (name) => patiently(() => client.delete(prefix + name)),
    async list(below) {
      const names: string[] = []
      for (let token: string | undefined; ;) {
        const page = await patiently(() =>
          client.list({ prefix: prefix + below, ...(token !== undefined && { continuationToken: token }) }),
        )
        for (const { key } of page.contents ?? []) names.push(key.slice(prefix.length))
        token = page.nextContinuationToken
        if (!page.isTruncated || token === undefined) return names.sort()
      }
    },
    lastFailure: () => lastFailure,
  }
}

/** Writes, reads and deletes an object. Throws `DataRefused`, with what can be done, if the bucket does not take it. */
export async function assertUsable(bucket: Bucket, name: string): Promise<void> {
  try {
    const bytes = new TextEncoder().encode(name)
    await bucket.put(name, bytes)
    const read = await bucket.get(name)
    await bucket.delete(name)
    if (!read || Buffer.compare(read, bytes) !== 0) throw new Error('what was written is not what is read')
  } catch (error) {
    throw new DataRefused(
      `BARS: the bucket ${bucket.address} cannot be used (${saidByBucket(error)}). Check bucket, endpoint, region and key, which must be allowed to put, get and delete objects.`,
    )
  }
}

/** What an error of a bucket says, as a person may read it. */
export function saidByBucket(error: unknown): string {
  const cause = error instanceof Problem ? (error.cause ?? error) : error
  const code = codeOf(cause)
  if (code === null) return cause instanceof Error ? cause.message : String(cause)
  const words = WORDS[code]
  return words === undefined ? code : `${code}: ${words}`
}

const WORDS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket',
  AccessDenied: 'the key is not allowed to do this',
  InvalidAccessKeyId: 'the key is not known there',
  SignatureDoesNotMatch: 'the secret of the key is wrong',
  InvalidToken:
    'the session token is wrong: AWS_SESSION_TOKEN of the environment, unless the address has one',
  ExpiredToken: 'the session token has expired',
  PermanentRedirect: 'the bucket is in another region, or under another endpoint',
  AuthorizationHeaderMalformed: 'the region is wrong',
  ConnectionRefused: 'nothing listens at the endpoint',
  ConnectionClosed: 'the connection was cut',
  RequestTimeTooSkewed:
    'the clocks of this machine and of the store differ by more than a quarter of an hour',
  SlowDown: 'the store has too much to do',
  ServiceUnavailable: 'the store is not available',
  ENOSPC: 'the disk is full',
  EACCES: 'the folder may not be written',
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error ? String(error.code) : null

/** The bucket has answered, and would answer the same again. */
const isRefusal = (error: unknown) =>
  /^(?:NoSuchKey|NoSuchBucket|AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|AuthorizationHeaderMalformed|RequestTimeTooSkewed|InvalidToken|ExpiredToken|PermanentRedirect|ERR_S3_(?!CONNECTION))/.test(
    codeOf(error) ?? '',
  )

async function unlessSilent<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const answered = new AbortController()
  const silence = clock.sleep(ms, answered.signal).then(() => {
    if (!answered.signal.aborted) throw new Error('the bucket does not answer')
    return new Promise<never>(() => {})
  })
  try {
    return await Promise.race([work, silence])
  } finally {
    answered.abort()
  }
}

function away(cause: unknown): Problem {
  const problem = new Problem(
    503,
    'store_unavailable',
    'The bucket of the bars does not answer. Nothing that was answered before is lost. Try again.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )
  problem.cause = cause
  return problem
}
