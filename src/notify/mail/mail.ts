// Mail: an outbox whose entries are committed with what they report, and a loop that hands them to SMTP.
//
// Without SMTP settings the entries stay in the outbox, where the dashboard shows them: nothing is lost, and they go out
// once a server is named.
//
// Users take turns: the oldest letter of each, then the next of each. An attempt is committed before it is
// made, with the time of the one after it, so that a store that cannot take the outcome does not make the same letter go
// out over and over.

import { cutText } from '../../lib/text.ts'
import { Backoff, untilDone } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import type { Changes } from '../../store/transaction.ts'

const LETTER_STATES = ['waiting', 'sent', 'failed'] as const

export interface Letter {
  readonly id: string
  readonly ownerId: string
  readonly to: string
  readonly subject: string
  readonly text: string
  /** What its picture is made of when it is sent; missing = it has none. Whoever makes pictures knows the form. */
  readonly picture?: object
  readonly state: (typeof LETTER_STATES)[number]
  readonly attempts: number
  readonly nextAt: number | null
  /** The mail server's refusal. */
  readonly problem: string | null
  readonly createdAt: number
  readonly sentAt: number | null
}

/** Hands one letter over, with a PNG if there is one. Rejects if it is not accepted: with LetterRefused if only this letter is the reason. */
export type Transport = (letter: Letter, picture: Uint8Array | null) => Promise<void>

/** The mail server works, but refuses this letter. */
export class LetterRefused extends Error {}

export interface MailDeps extends RecordDeps {
  /** null = no SMTP settings. */
  readonly transport: Transport | null
  /** Makes the PNG of a letter; null = it goes without. Never rejects, and takes seconds at most. Missing = nobody does. */
  readonly pictureOf?: (picture: object) => Promise<Uint8Array | null>
  readonly log: Log
  /** The users whose letters this server sends. */
  readonly shards?: Shards
}

const MINUTE = 60_000
const RETRIES = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE]
const LAST_RETRY = 480 * MINUTE
/** A mail server that needs longer for one letter counts as hanging. */
const HANDING_MS = MINUTE
/** When the server stops, the letter under way may take this long. */
const STOP_MS = 2000
const NAP_MS = MINUTE
/** A correction of the clock up to this does not count as setting it. */
const SLEWED_MS = 1000
/** A mail server may break at a picture without refusing the letter: later tries go without. */
const TRIES_WITH_PICTURE = 2
const KEPT_MS = 30 * 24 * 60 * MINUTE

export class Mail {
  /** Whether letters are sent at all. */
  readonly configured: boolean
  readonly #deps: MailDeps
  readonly #shards: Shards
  readonly #letters: Collection<Letter>
  readonly #store: Backoff
  readonly #loop
  /** The letter that is being sent. */
  #underWay: { readonly ownerId: string; readonly work: Promise<void> } | null = null

  constructor(deps: MailDeps) {
    this.#deps = deps
    this.configured = deps.transport !== null
    this.#letters = collection<Letter>(deps.kv, 'letters', {
      indexes: {
        turn: ({ ownerId, nextAt }) => (nextAt === null ? null : [ownerId, nextAt]),
        owner: (letter) => [letter.ownerId],
      },
    })
    this.#store = new Backoff(deps, 'writing down letters')
    this.#loop = createLoop(deps, 'sending mail', (signal) => this.#sendDue(signal))
    const shards = (this.#shards = deps.shards ?? ALL_SHARDS)
    shards.onGained(() => this.wake())
    shards.beforeGiving(
      async () => {
        if (this.#underWay && !shards.holds(this.#underWay.ownerId)) await this.#underWay.work.catch(() => {})
      },
      () => (this.#underWay ? [this.#underWay.ownerId] : []),
    )
  }

  wake(): void {
    this.#loop.wake()
  }

  /** What to commit so that the letter goes out. Part of a `transact` plan. */
  enqueue(letter: Pick<Letter, 'ownerId' | 'to' | 'subject' | 'text' | 'picture'>): Changes {
    const now = this.#deps.clock.now()
    // A line break in a header would begin another header.
    const subject = cutText(letter.subject.replace(/[\r\n]+/g, ' '), 200)
    return this.#letters.insert({
      ...letter,
      subject,
      id: this.#deps.newId('mail'),
      state: 'waiting',
      attempts: 0,
      nextAt: now,
      problem: null,
      createdAt: now,
      sentAt: null,
    })
  }

  list(ownerId: string, options: PageOptions): Promise<Page<Letter>> {
    return this.#letters.list('owner', [ownerId], options)
  }

  /** Runs until `signal` aborts. Without a transport there is nothing to do. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.configured) await this.#loop.run(signal)
  }

  async purge(): Promise<number> {
    let forgotten = 0
    for await (const letter of this.#letters.each()) {
      if (letter.createdAt > this.#deps.clock.now() - KEPT_MS) break
      await this.#letters.delete(letter.id)
      forgotten++
    }
    return forgotten
  }

  /** Sends the first letter of every user, if it is due. Throws when the mail server accepts none at all. */
  async #sendDue(signal: AbortSignal): Promise<number> {
    const { clock } = this.#deps
    let next = clock.now() + NAP_MS
    let tried = false
    for await (const [owner, at, id] of this.#letters.firsts('turn', [], 1)) {
      if (signal.aborted) break
      const ownerId = String(owner)
      if (!this.#shards.holds(ownerId)) continue
      if (Number(at) <= clock.now()) {
        tried = true
        this.#underWay = { ownerId, work: this.#attempt(String(id), signal) }
        await this.#underWay.work.finally(() => (this.#underWay = null))
      } else if (await this.#replan(String(id))) tried = true
      else next = Math.min(next, Number(at))
    }
    return tried ? 0 : Math.max(0, next - clock.now())
  }

  /** The clock was set back: a letter whose wait is now longer than any wait may be is rescheduled by the new time. */
  async #replan(id: string): Promise<boolean> {
    const { clock } = this.#deps
    const dueAt = ({ attempts }: Letter) =>
      clock.now() + (attempts === 0 ? 0 : (RETRIES[attempts - 1] ?? LAST_RETRY))
    const isLate = (letter: Letter) => letter.nextAt !== null && letter.nextAt > dueAt(letter) + SLEWED_MS
    const letter = await this.#letters.get(id)
    if (!letter || !isLate(letter)) return false
    await this.#letters.update(id, (before) => (isLate(before) ? { ...before, nextAt: dueAt(before) } : null))
    return true
  }

  async #attempt(id: string, signal: AbortSignal): Promise<void> {
    const { clock, transport, log } = this.#deps
    const letter = await this.#letters.update(id, (before) => ({
      ...before,
      attempts: before.attempts + 1,
      nextAt: clock.now() + (RETRIES[before.attempts] ?? LAST_RETRY),
    }))
    if (!letter || !transport) return
    const outcome = await handed(clock, this.#hand(letter, transport), signal)
    if (outcome === 'cut') return
    await untilDone(clock, this.#store, signal, async () => {
      await this.#letters.update(id, (before) => settled(before, outcome, clock.now()))
    })
    log('debug', 'mail', { letter: id, problem: outcome?.message })
    if (outcome !== null && !(outcome instanceof LetterRefused)) throw outcome
  }

  /** A letter that is refused with its picture may be taken without. */
  async #hand(letter: Letter, send: Transport): Promise<void> {
    const isWanted = letter.picture && letter.attempts <= TRIES_WITH_PICTURE
    const picture = isWanted ? ((await this.#deps.pictureOf?.(letter.picture)) ?? null) : null
    if (picture === null) return send(letter, null)
    await send(letter, picture).catch((error: unknown) => {
      if (!(error instanceof LetterRefused)) throw error
      return send(letter, null)
    })
  }
}

/** null = accepted; `cut` = our server is stopping and did not wait for the answer. */
async function handed(
  clock: Clock,
  handing: Promise<void>,
  signal: AbortSignal,
): Promise<Error | 'cut' | null> {
  const over = new AbortController()
  const sending = handing.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error('unknown')),
  )
  const late = clock
    .sleep(HANDING_MS, over.signal)
    .then(() => new Error('The mail server did not answer within a minute.'))
  const cut = clock
    .sleep(HANDING_MS, AbortSignal.any([signal, over.signal]))
    .then(() => clock.sleep(STOP_MS, over.signal))
    .then(() => 'cut' as const)
  try {
    return await Promise.race([sending, late, cut])
  } finally {
    over.abort()
  }
}

/** The letter after an attempt, which was counted when it began. */
function settled(letter: Letter, failure: Error | null, now: number): Letter {
  if (failure === null) return { ...letter, problem: null, state: 'sent', sentAt: now, nextAt: null }
  const wait = RETRIES[letter.attempts - 1]
  return {
    ...letter,
    problem: failure.message.slice(0, 300),
    state: wait === undefined ? 'failed' : 'waiting',
    nextAt: wait === undefined ? null : now + wait,
  }
}
