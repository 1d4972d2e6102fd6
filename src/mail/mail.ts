// Mail: an outbox whose entries are committed with what they report, and a loop that hands them to SMTP.
//
// Without SMTP settings the entries stay in the outbox, where the dashboard shows them: nothing is lost, and they go out
// once a server is named.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import { collection, transact, type Changes, type Page, type PageOptions } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'

export const LETTER_STATES = ['waiting', 'sent', 'failed'] as const

export interface Letter {
  readonly id: string
  readonly ownerId: string
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly state: (typeof LETTER_STATES)[number]
  readonly attempts: number
  readonly nextAt: number | null
  /** What the mail server said when it did not take it. */
  readonly problem: string | null
  readonly createdAt: number
  readonly sentAt: number | null
}

/** Hands one letter over. Rejects when the server does not take it. */
export type Transport = (letter: Letter) => Promise<void>

export interface MailDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  /** null = no SMTP settings. */
  readonly transport: Transport | null
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void
}

const MINUTE = 60_000
const RETRIES = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE]
const NAP_MS = MINUTE
const KEPT_MS = 30 * 24 * 60 * MINUTE

export type Mail = ReturnType<typeof createMail>

export function createMail({ kv, clock, newId, transport, log }: MailDeps) {
  const letters = collection<Letter>(kv, 'letters', {
    indexes: {
      due: (letter) => (letter.nextAt === null ? null : [letter.nextAt]),
      owner: (letter) => [letter.ownerId],
    },
  })
  let woken = new AbortController()

  async function hand(letter: Letter, send: Transport): Promise<void> {
    let problem: string | null = null
    try {
      await send(letter)
    } catch (error) {
      problem = error instanceof Error ? error.message.slice(0, 300) : 'unknown'
    }
    const now = clock.now()
    const wait = RETRIES[letter.attempts]
    await letters.update(letter.id, (before) => ({
      ...before,
      attempts: before.attempts + 1,
      problem,
      ...(problem === null
        ? { state: 'sent' as const, sentAt: now, nextAt: null }
        : {
            state: wait === undefined ? ('failed' as const) : ('waiting' as const),
            nextAt: wait === undefined ? null : now + wait,
          }),
    }))
    log(problem === null ? 'mail sent' : 'mail not taken', { letter: letter.id, problem })
  }

  return {
    /** Whether letters leave this machine. */
    configured: transport !== null,
    wake: () => woken.abort(),
    /** What to commit so that the letter goes out. Part of a `transact` plan. */
    enqueue(letter: Pick<Letter, 'ownerId' | 'to' | 'subject' | 'text'>): Changes {
      const now = clock.now()
      // A line break in a header would begin another header.
      const subject = letter.subject.replace(/[\r\n]+/g, ' ').slice(0, 200)
      return letters.insert({
        ...letter,
        subject,
        id: newId('mail'),
        state: 'waiting',
        attempts: 0,
        nextAt: now,
        problem: null,
        createdAt: now,
        sentAt: null,
      })
    },
    list: (ownerId: string, options: PageOptions): Page<Letter> => letters.list('owner', [ownerId], options),
    /** Runs until `signal` aborts. Without a transport there is nothing to do. */
    async run(signal: AbortSignal): Promise<void> {
      if (!transport) return
      const stop = () => woken.abort()
      signal.addEventListener('abort', stop, { once: true })
      while (!signal.aborted) {
        woken = new AbortController()
        for (const letter of letters.list('due', [], { limit: 50, reverse: false }).items)
          if ((letter.nextAt ?? 0) <= clock.now() && !signal.aborted) await hand(letter, transport)
        if (signal.aborted) break
        await clock.sleep(NAP_MS, woken.signal)
      }
      signal.removeEventListener('abort', stop)
    },
    async purge(): Promise<number> {
      let forgotten = 0
      for (const letter of letters.each()) {
        if (letter.createdAt > clock.now() - KEPT_MS) break
        await transact(kv, () => {
          const stored = letters.stored(letter.id)
          return stored ? letters.remove(stored) : []
        })
        forgotten++
      }
      return forgotten
    },
  }
}
