// Errors of browsers and integrations, kept in groups: a loop that fails a thousand times is one line with a count.
//
// A group is known by a fingerprint of the message and the first stack line, without numbers. The newest 10,000 groups are
// kept.

import { cutText } from '../../lib/text.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { collection, type Page, type PageOptions } from '../../store/collection.ts'
import { transact, type Also } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'

export interface ClientErrorGroup {
  readonly id: string
  readonly fingerprint: string
  readonly message: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** The newest report's known fields, trimmed. */
  readonly sample: Readonly<Record<string, string | number>>
}

/** The fields of a report that are kept, with the longest text of each. Everything else is dropped. */
const KNOWN_FIELDS: Readonly<Record<string, number>> = {
  message: 1000,
  stack: 8000,
  url: 1000,
  userAgent: 400,
  kind: 60,
  source: 400,
  line: 20,
  column: 20,
  release: 100,
  component: 200,
}
const GROUPS_MAX = 10_000

export type ClientErrors = ReturnType<typeof createClientErrors>

export function createClientErrors({
  kv,
  clock,
  newId,
}: {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
}) {
  const groups = collection<ClientErrorGroup>(kv, 'errors', {
    indexes: { all: () => [], age: (group) => [group.lastAt] },
    unique: { fingerprint: (group) => [group.fingerprint] },
    counts: { all: { of: () => [] } },
  })
  return {
    /** Takes any JSON object, and answers the group that now counts it. */
    async report(
      body: Readonly<Record<string, unknown>>,
      also?: Also<ClientErrorGroup>,
    ): Promise<ClientErrorGroup> {
      const sample = trimmed(body)
      const message = String(sample['message'] ?? 'no message')
      const fingerprint = fingerprintOf(message, String(sample['stack'] ?? ''))
      const now = clock.now()
      let result: ClientErrorGroup | null = null
      await transact(kv, async (tx) => {
        const known = await groups.at(tx).find('fingerprint', [fingerprint])
        const stored = known && (await groups.at(tx).stored(known.id))
        if (stored) {
          result = { ...stored.record, message, sample, count: stored.record.count + 1, lastAt: now }
          return [groups.replace(stored, result), also?.(result, tx)]
        }
        result = { id: newId('err'), fingerprint, message, count: 1, firstAt: now, lastAt: now, sample }
        return [groups.insert(result), also?.(result, tx)]
      })
      if ((await groups.count('all', [])) > GROUPS_MAX) await forgetOldest()
      return result as unknown as ClientErrorGroup
    },
    /** Newest group first. */
    list: (options: PageOptions): Promise<Page<ClientErrorGroup>> => groups.list('age', [], options),
  }

  async function forgetOldest(): Promise<void> {
    for await (const group of groups.each('age')) {
      await groups.delete(group.id)
      return
    }
  }
}

function trimmed(body: Readonly<Record<string, unknown>>): Record<string, string | number> {
  const kept: Record<string, string | number> = {}
  for (const [field, longest] of Object.entries(KNOWN_FIELDS)) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (typeof value === 'string') kept[field] = cutText(value, longest).toWellFormed()
    else if (typeof value === 'number' && Number.isFinite(value)) kept[field] = value
  }
  return kept
}

/** Removes numbers and quoted parts, which differ between occurrences; the rest tells one error from another. */
function fingerprintOf(message: string, stack: string): string {
  const frame = stack.split('\n').find((line) => /\bat |@/.test(line)) ?? ''
  const text = `${message}|${frame}`.replace(/\d+/g, '#').replace(/(["'`]).*?\1/g, '""')
  return Bun.hash(text).toString(36)
}
