// Data as a program of layout 1 left it (`store/layout-2.ts`, `store/layout-3.ts`), made of today's: what a server finds that
// is started in the place of an old one, and carries over.

import type { Mark } from '../notify/alerts/mark.ts'
import type { Alert } from '../notify/alerts/alert.ts'
import type { Key, Kv } from '../store/kv.ts'
import { VERSION_KEY } from '../store/migrate.ts'

/** Alerts were found by these since. */
const NEWER_INDEXES = ['watching', 'scripts', 'fresh', 'levels', 'ceilings', 'expiring']

export async function toLayout1(kv: Kv): Promise<void> {
  const below = (...prefix: string[]) => kv.list({ prefix }, { limit: 10_000 })
  const sets: { key: Key; value: string }[] = [{ key: VERSION_KEY, value: '1' }]
  const deletes: Key[] = []
  for (const name of ['deliveries', 'letters'])
    for (const { key, value } of await below(name, 'by', 'turn')) {
      deletes.push(key)
      sets.push({ key: [name, 'by', 'due', ...key.slice(-2)], value })
    }
  for (const gone of [
    ['backtests', 'by', 'unpinned'],
    ['alerts', 'mark'],
    ['alerts', 'joined'],
    ...NEWER_INDEXES.map((index) => ['alerts', 'by', index]),
  ])
    deletes.push(...(await below(...gone)).map(({ key }) => key))
  const marks = new Map(
    (await below('alerts', 'mark')).map(({ key, value }) => [
      JSON.stringify(key.slice(2)),
      JSON.parse(value) as Mark,
    ]),
  )
  for (const { key, value } of await below('alerts', 'id')) {
    const { fresh, seriesOwner, firedBar, judgedAt: _, ...alert } = JSON.parse(value) as Alert
    const { id, exchange, symbol, interval, state } = alert
    const seen = marks.get(JSON.stringify([seriesOwner, exchange, symbol, interval]))?.time ?? null
    const old = { ...alert, seenBar: fresh ? alert.seenBar : seen }
    sets.push({ key, value: JSON.stringify(old) })
    if (firedBar !== null) sets.push({ key: ['alerts', 'fired', id, firedBar], value: 'null' })
    if (state === 'active')
      sets.push({ key: ['alerts', 'by', 'armed', exchange, symbol, interval, id], value: 'null' })
  }
  await kv.commit({ sets, deletes })
}
