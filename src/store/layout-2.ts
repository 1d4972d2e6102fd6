// Layout 2 lists waiting deliveries and letters by user instead of by time alone, and lists the backtests that are not
// pinned.
//
// Before, everybody's deliveries were in one list, so reading one user's meant reading past the others'. No backtest could
// be pinned.

import { assert } from '../lib/assert.ts'
import type { Key, Kv } from './kv.ts'

interface OldOutboxItem {
  readonly ownerId: string
  /** Only deliveries have one; letters do not. */
  readonly receiverId?: string
  readonly nextAt: number
}

const AT_ONCE = 500

export async function toLayout2(kv: Kv): Promise<void> {
  await listDueByUser(kv)
  await listUnpinned(kv)
}

async function listDueByUser(kv: Kv): Promise<void> {
  for (const name of ['deliveries', 'letters']) {
    const prefix: Key = [name, 'by', 'due']
    // Moving an entry removes it from the list, so the first page is always the next one.
    for (;;) {
      const due = await kv.list({ prefix }, { limit: AT_ONCE })
      if (due.length === 0) break
      const sets = await Promise.all(due.map(({ key }) => turnOf(kv, name, String(key.at(-1)))))
      const moved = await kv.commit({ sets: sets.flat(), deletes: due.map(({ key }) => key) })
      assert(moved, 'a commit without checks is taken')
    }
  }
}

async function listUnpinned(kv: Kv): Promise<void> {
  const prefix: Key = ['backtests', 'by', 'user']
  let after: { after?: Key } = {}
  for (;;) {
    const listed = await kv.list({ prefix }, { limit: AT_ONCE, ...after })
    const last = listed.at(-1)
    if (!last) break
    await kv.commit({
      sets: listed.map(({ key }) => ({
        key: ['backtests', 'by', 'unpinned', ...key.slice(3)],
        value: 'null',
      })),
    })
    after = { after: last.key }
  }
}

async function turnOf(kv: Kv, name: string, id: string) {
  const entry = await kv.get([name, 'id', id])
  if (!entry) return []
  const { ownerId, receiverId, nextAt } = JSON.parse(entry.value) as OldOutboxItem
  const parts: Key = receiverId === undefined ? [ownerId, nextAt] : [ownerId, receiverId, nextAt]
  return [{ key: [name, 'by', 'turn', ...parts, id], value: 'null' }]
}
