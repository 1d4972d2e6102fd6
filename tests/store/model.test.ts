// LMDB and PostgreSQL against memory: the same random commits and pages on both, and every answer the same.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Commit, Entry, Key, Kv, Sum } from '../../src/store/kv.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { postgresStores } from './postgres-stores.ts'

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))

/** mulberry32 */
function randomNumbers(state: number) {
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const folder = mkdtempSync(`${tmpdir()}/chartroom-model-`)
const postgres = await postgresStores()
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await postgres.stop()
})

test.each([
  ['lmdb', 400, async () => lmdbKv({ path: folder })],
  ['postgres', 120, async () => postgresKv(await postgres.share())],
] as const)(`%s does in %i steps what memory does (SEED=${seed})`, async (_name, steps, open) => {
  const random = randomNumbers(seed)
  const stores: readonly [Kv, Kv] = [memoryKv(), await open()]
  const aKey = (): Key =>
    ['a', 'b', 1, 2, -1, ''].slice(0, 1 + random(3)).map((_, i, all) => all[random(all.length)] ?? i)
  const shown = (entries: readonly Entry[]) => entries.map(({ key, value }) => ({ key, value }))

  for (let step = 0; step < steps; step++) {
    // Those that are asked for at a time are done in their order.
    const asked = Array.from({ length: 1 + random(5) }, () => {
      // At least one: what only looks is not in the row with what writes.
      const sets = Array.from({ length: 1 + random(3) }, () => ({ key: aKey(), value: String(random(1000)) }))
      // A key stands in a commit once.
      const fresh = new Map(sets.map((one) => [JSON.stringify(one.key), one]))
      const deletes = Array.from({ length: random(3) }, aKey).filter((key) => !fresh.has(JSON.stringify(key)))
      const counter = (): Sum => ({ key: ['sum', random(3)], step: random(7) - 3, max: 2 + random(6) })
      return {
        sets: [...fresh.values()],
        deletes: [...new Map(deletes.map((key) => [JSON.stringify(key), key])).values()],
        checked: random(2) === 0 ? [aKey()] : [],
        isStale: random(4) === 0,
        sums: random(2) === 0 ? [counter()] : [],
      }
    })
    // Versions are each store's own; what must agree is whether the check holds.
    const commitsOn = (kv: Kv): Promise<Commit[]> =>
      Promise.all(
        asked.map(async ({ checked, isStale, ...rest }) => {
          const entries = await kv.getMany(checked)
          const version = (i: number) => (isStale ? 'stale' : (entries[i]?.version ?? null))
          return { ...rest, checks: checked.map((key, i) => ({ key, version: version(i) })) }
        }),
      )
    const results = await Promise.all(
      stores.map(async (kv) => {
        const commits = await commitsOn(kv)
        return Promise.all(
          commits.map((commit) => kv.commit(commit).catch((error: unknown) => String(error))),
        )
      }),
    )
    expect(results[1]).toEqual(results[0] ?? [])

    const prefix = random(2) === 0 ? [] : aKey().slice(0, 1)
    const options = {
      limit: 1 + random(10),
      reverse: random(2) === 0,
      ...(random(2) === 0 && { after: [...prefix, ...aKey()] }),
    }
    const [ends] = [[aKey(), aKey()] as const]
    for (const selector of [{ prefix }, { start: ends[0], end: ends[1] }]) {
      const pages = await Promise.all(stores.map((kv) => kv.list(selector, options)))
      const [expected, found] = pages.map(shown)
      expect(found).toEqual(expected ?? [])
    }
  }
  await stores[1].close()
})
