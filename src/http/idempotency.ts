// `Idempotency-Key`: a client that does not know whether its request arrived may send it again, and gets the answer of the
// first one. Answers are kept for 24 hours by caller and path.
//
// A request claims its key before it runs. What it creates is created once, since the answer is written in the commit that
// creates it (`once` in access.ts). So a crash leaves either an unused claim, which the next run of the server releases, or
// the created object with its answer. A POST that creates nothing, or the same thing however often it is sent (a cursor, a
// followed series), may safely run again: its answer is written afterwards.
//
// An answer that contains a secret is stored encrypted under the key itself, of which only a hash is stored. So the
// database alone reveals no secret, and the client that sent the request can still ask again.

import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createLoop, type Loop } from '../lib/loop.ts'
import { Problem } from '../lib/problem.ts'
import type { Random } from '../lib/random.ts'
import { decide, transact, type Changes, type Tx } from '../store/transaction.ts'
import type { Entry, Key, Kv } from '../store/kv.ts'

interface KeptRequest {
  readonly state: 'running' | 'done'
  /** A hash of the request: its body, and its query as it came. */
  readonly bodyHash: string
  /** Names the run of the server. A request that is still running in an earlier run never finished. */
  readonly boot: string
  readonly at: number
  readonly status?: number
  readonly answer?: string
  readonly sealed?: boolean
}

export interface IdempotencyDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The servers on the store; null or absent: this one is alone. */
  readonly fleet?: { readonly node: string; aliveNodes(): Promise<ReadonlySet<string>> } | null
}

/** A request that has claimed its key and must finish or abandon it. */
export interface Claim {
  readonly key: Key
  readonly secret: string
  readonly bodyHash: string
  readonly at: number
}

interface Answered {
  readonly answer: string
  readonly status: number
  /** The answer contains a secret. */
  readonly sealed: boolean
}

const KEPT_MS = 24 * 3600_000
/** How often is tried to give back what could not be given back. */
const GIVE_BACK_MS = 1000
const NOTHING_OWED_MS = 3600_000
/** For so long a claim may still come to be stored after its commit was given up, by a database that was away. */
const LATE_MS = 60_000

export class Idempotency {
  readonly #deps: IdempotencyDeps
  readonly #boot: string
  /**
   * Claims of requests that are over, which may be in the store: the database was away when they were made or given back.
   * Nobody else can know that they are over. The value says until when they may yet turn up.
   */
  readonly #owed = new Map<Claim, number>()
  readonly #givingBack: Loop

  constructor(deps: IdempotencyDeps) {
    this.#deps = deps
    this.#boot = deps.fleet?.node ?? Buffer.from(deps.random.bytes(9)).toString('base64url')
    this.#givingBack = createLoop(deps, 'giving idempotency keys back', () => this.#giveBack(), {
      mostMs: GIVE_BACK_MS,
    })
  }

  /** Gives back what could not be given back at once, as long as the server runs. */
  run(signal: AbortSignal): Promise<void> {
    return this.#givingBack.run(signal)
  }

  /** The answer given before, or a claim for this request. */
  async begin(
    header: string,
    { client, path, bodyHash }: { readonly client: string; readonly path: string; readonly bodyHash: string },
  ): Promise<{ readonly answer: string; readonly status: number } | Claim> {
    if (header.length < 1 || header.length > 255)
      throw new Problem(422, 'validation_failed', 'Idempotency-Key: expected 1 to 255 characters.', {
        fields: [
          { in: 'header', path: '/idempotency-key', code: 'length', message: 'expected 1 to 255 characters' },
        ],
      })
    const { kv, clock } = this.#deps
    const secret = JSON.stringify([client, path, header])
    const key: Key = ['idempotency', digest(`name ${secret}`).toString('hex')]
    for (;;) {
      const entry = await kv.get(key)
      const kept = entry && keptIn(entry)
      if (kept && clock.now() - kept.at < KEPT_MS) {
        if (kept.bodyHash !== bodyHash)
          throw new Problem(
            422,
            'idempotency_key_reused',
            'This Idempotency-Key was used with another body or query.',
          )
        if (kept.state === 'done') return { answer: this.#open(kept, secret), status: kept.status ?? 200 }
        if (await this.#isRunning(kept)) throw inProgress()
      }
      const at = clock.now()
      const running: KeptRequest = { state: 'running', bodyHash, boot: this.#boot, at }
      const checks = [{ key, version: entry?.version ?? null }]
      const claim = { key, secret, bodyHash, at }
      try {
        const sets = [{ key, value: JSON.stringify(running) }, expiry(at, key)]
        if (await kv.commit({ checks, sets })) return claim
      } catch (error) {
        this.#owe(claim, at + LATE_MS)
        throw error
      }
    }
  }

  /** What to commit to answer the claim, together with what the request created or after it. Throws if the claim was lost. */
  async answered(tx: Tx, claim: Claim, { answer, status, sealed }: Answered): Promise<Changes> {
    const { key, secret, bodyHash, at } = claim
    const entry = await tx.get(key)
    if (!this.#isOf(claim, entry)) throw inProgress()
    const text = sealed ? this.#seal(answer, secret) : answer
    const done: KeptRequest = { state: 'done', bodyHash, boot: this.#boot, at, status, answer: text, sealed }
    return { sets: [{ key, value: JSON.stringify(done) }] }
  }

  async finish(claim: Claim, answered: Answered): Promise<void> {
    await transact(this.#deps.kv, (tx) => this.answered(tx, claim, answered))
  }

  /** The request failed: releases the key for another try, unless something was created. */
  async abandon(claim: Claim): Promise<void> {
    try {
      await this.#release(claim)
    } catch (error) {
      this.#owe(claim, 0)
      throw error
    }
  }

  /** false if the claim is not there, or its request was answered. */
  #release(claim: Claim): Promise<boolean> {
    const { key, at } = claim
    return decide(this.#deps.kv, async (tx) => {
      const entry = await tx.get(key)
      const isThere = entry !== null && this.#isOf(claim, entry) && keptIn(entry).state === 'running'
      return [isThere, isThere ? { deletes: [key, expiry(at, key).key] } : {}]
    })
  }

  #owe(claim: Claim, until: number): void {
    this.#owed.set(claim, until)
    this.#givingBack.wake()
  }

  async #giveBack(): Promise<number> {
    const { clock } = this.#deps
    for (const [claim, until] of this.#owed)
      if ((await this.#release(claim)) || clock.now() >= until) this.#owed.delete(claim)
    return this.#owed.size > 0 ? GIVE_BACK_MS : NOTHING_OWED_MS
  }

  async #isRunning({ boot }: KeptRequest): Promise<boolean> {
    if (boot === this.#boot) return true
    const alive = await this.#deps.fleet?.aliveNodes()
    return alive?.has(boot) ?? false
  }

  /** false if another server took the key over because it believed that this one had crashed. */
  #isOf({ at }: Claim, entry: Entry | null): boolean {
    if (entry === null) return true
    const kept = keptIn(entry)
    return kept.boot === this.#boot && kept.at === at
  }

  /** A periodic job that deletes what is older than a day. */
  async sweep(): Promise<void> {
    const { kv, clock } = this.#deps
    for (;;) {
      const end: Key = ['idempotency-at', clock.now() - KEPT_MS]
      const old = await kv.list({ start: ['idempotency-at'], end }, { limit: 500 })
      const deletes = old.flatMap((entry): Key[] => [entry.key, ['idempotency', String(entry.key.at(-1))]])
      if (deletes.length > 0) await kv.commit({ deletes })
      if (old.length < 500) return
    }
  }

  #seal(text: string, secret: string): string {
    const nonce = this.#deps.random.bytes(12)
    const cipher = createCipheriv('aes-256-gcm', digest(`seal ${secret}`), nonce)
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return sealed.toString('base64')
  }

  #open({ answer = '{}', sealed }: KeptRequest, secret: string): string {
    if (!sealed) return answer
    const bytes = Buffer.from(answer, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', digest(`seal ${secret}`), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(-16))
    return decipher.update(bytes.subarray(12, -16)).toString('utf8') + decipher.final('utf8')
  }
}

const keptIn = ({ value }: Entry) => JSON.parse(value) as KeptRequest

const inProgress = () =>
  new Problem(409, 'idempotency_in_progress', 'The first request with this Idempotency-Key is still running.')

const digest = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest()

const expiry = (at: number, key: Key) => ({ key: ['idempotency-at', at, ...key.slice(-1)], value: 'null' })
