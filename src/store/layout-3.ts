// Layout 3 stores once a series how far its alerts have looked; layout 2 stored it with each alert.
//
// So all existing alerts become fresh: each goes on by itself from the bar it saw last, and joins the others after the next
// look. That also covers bars that layout 2 never looked at.

import { assert } from '../lib/assert.ts'
import type { Commit, Key, Kv } from './kv.ts'

interface OldAlert {
  readonly id: string
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  readonly kind: string
  readonly frequency: string
  readonly state: string
  readonly seenBar: number | null
  readonly lastFiredAt: number | null
  /** The field that this step adds. */
  readonly fresh?: boolean
}

const AT_ONCE = 200
const SCRIPT_KINDS = ['indicator', 'script', 'strategy']

export async function toLayout3(kv: Kv): Promise<void> {
  let after: { after?: Key } = {}
  for (;;) {
    const page = await kv.list({ prefix: ['alerts', 'id'] }, { limit: AT_ONCE, ...after })
    const all = await Promise.all(
      page.map(({ key, value }) => carried(kv, key, JSON.parse(value) as OldAlert)),
    )
    const sets = all.flat()
    if (sets.length > 0) await take(kv, { sets })
    const last = page.at(-1)
    if (!last || page.length < AT_ONCE) break
    after = { after: last.key }
  }
  // Firings no longer have a unique key of their own, and armed alerts are listed by the owner of the series they watch.
  for (const prefix of [
    ['alerts', 'fired'],
    ['alerts', 'by', 'armed'],
  ])
    await takeAway(kv, prefix)
}

async function carried(kv: Kv, key: Key, alert: OldAlert) {
  if (alert.fresh !== undefined) return []
  const { exchange, symbol, interval, seenBar, lastFiredAt } = alert
  const [fired] = await kv.list({ prefix: ['alerts', 'fired', alert.id] }, { limit: 1, reverse: true })
  const isPlain = !SCRIPT_KINDS.includes(alert.kind)
  const record = {
    ...alert,
    seriesOwner: '',
    fresh: true,
    firedBar: fired ? Number(fired.key.at(-1)) : null,
    judgedAt: lastFiredAt,
  }
  const series: Key = ['', exchange, symbol, interval]
  const closes = alert.frequency === 'once_per_bar_close'
  const keys: Key[] =
    alert.state === 'active'
      ? [
          ['watching', ...series],
          isPlain
            ? ['fresh', ...series, closes, seenBar ?? Number.NEGATIVE_INFINITY]
            : ['scripts', ...series],
        ]
      : []
  return [
    { key, value: JSON.stringify(record) },
    ...keys.map((rest) => ({ key: ['alerts', 'by', ...rest, alert.id], value: 'null' })),
  ]
}

async function takeAway(kv: Kv, prefix: Key): Promise<void> {
  for (;;) {
    const page = await kv.list({ prefix }, { limit: 1000 })
    if (page.length === 0) return
    await take(kv, { deletes: page.map(({ key }) => key) })
  }
}

async function take(kv: Kv, commit: Commit): Promise<void> {
  assert(await kv.commit(commit), 'a commit without checks is taken')
}
