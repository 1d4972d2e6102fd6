// Errors of browsers and integrations, kept in groups: a loop that fails a thousand times is one line with a count.
//
// A group is known by a fingerprint of the message and the first stack line, without numbers. The newest 10,000 groups are
// kept.

import { cutText } from '../../lib/text.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import { decide, type Also } from '../../store/transaction.ts'
import { withoutSecrets } from './without-secrets.ts'

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

export class ClientErrors {
  readonly #deps: RecordDeps
  readonly #groups: Collection<ClientErrorGroup>

  constructor(deps: RecordDeps) {
    this.#deps = deps
    this.#groups = collection<ClientErrorGroup>(deps.kv, 'errors', {
      indexes: { all: () => [], age: (group) => [group.lastAt] },
      unique: { fingerprint: (group) => [group.fingerprint] },
      counts: { all: { of: () => [] } },
    })
  }

  /** Takes any JSON object, and answers the group that now counts it. */
  async report(
    body: Readonly<Record<string, unknown>>,
    also?: Also<ClientErrorGroup>,
  ): Promise<ClientErrorGroup> {
    const { kv, clock, newId } = this.#deps
    const groups = this.#groups
    const sample = trimmed(body)
    const message = String(sample['message'] ?? 'no message')
    const fingerprint = fingerprintOf(message, String(sample['stack'] ?? ''))
    const now = clock.now()
    const group = await decide(kv, async (tx) => {
      const stored = await groups.at(tx).findStored('fingerprint', [fingerprint])
      if (stored) {
        const again = { ...stored.record, message, sample, count: stored.record.count + 1, lastAt: now }
        return [again, [groups.replace(stored, again), also?.(again, tx)]]
      }
      const first = { id: newId('err'), fingerprint, message, count: 1, firstAt: now, lastAt: now, sample }
      return [first, [groups.insert(first), also?.(first, tx)]]
    })
    if ((await groups.count('all', [])) > GROUPS_MAX)
      for await (const oldest of groups.each('age')) {
        await groups.delete(oldest.id)
        break
      }
    return group
  }

  /** Newest group first. */
  list(options: PageOptions): Promise<Page<ClientErrorGroup>> {
    return this.#groups.list('age', [], options)
  }
}

function trimmed(body: Readonly<Record<string, unknown>>): Record<string, string | number> {
  const kept: Record<string, string | number> = {}
  for (const [field, longest] of Object.entries(KNOWN_FIELDS)) {
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    // A secret is found whole before it is cut in two.
    if (typeof value === 'string') kept[field] = cutText(withoutSecrets(value), longest).toWellFormed()
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
