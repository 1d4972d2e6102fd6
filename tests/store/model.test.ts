// LMDB against memory: the same random commits and pages on both, and every answer the same.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Commit, Entry, Key, Kv, Sum } from '../../src/store/kv.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { memoryKv } from '../../src/store/memory.ts'

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

test(`lmdb does what memory does (SEED=${seed})`, async () => {
  const random = randomNumbers(seed)
  const folder = mkdtempSync(`${tmpdir()}/chartroom-model-`)
  const stores: readonly [Kv, Kv] = [memoryKv(), lmdbKv({ path: folder })]
  const aKey = (): Key =>
    ['a', 'b', 1, 2, -1, ''].slice(0, 1 + random(3)).map((_, i, all) => all[random(all.length)] ?? i)
  const shown = (entries: readonly Entry[]) => entries.map(({ key, value }) => ({ key, value }))

  for (let step = 0; step < 400; step++) {
    const sets = Array.from({ length: random(4) }, () => ({ key: aKey(), value: String(random(1000)) }))
    const written = new Set(sets.map(({ key }) => JSON.stringify(key)))
    const deletes = Array.from({ length: random(3) }, aKey).filter((key) => !written.has(JSON.stringify(key)))
    const checked = random(2) === 0 ? [aKey()] : []
    const stale = random(4) === 0
    const counter = (): Sum => ({ key: ['sum', random(3)], step: random(7) - 3, max: 2 + random(6) })
    const sums = random(2) === 0 ? [counter()] : []
    // Versions are each store's own; what must agree is whether the check holds.
    const commitOn = async (kv: Kv): Promise<Commit> => {
      const entries = await kv.getMany(checked)
      const checks = checked.map((key, i) => ({
        key,
        version: stale ? 'stale' : (entries[i]?.version ?? null),
      }))
      return { checks, sets, deletes, sums }
    }
    const results = await Promise.all(
      stores.map(async (kv) => kv.commit(await commitOn(kv)).catch((error: unknown) => String(error))),
    )
    expect(results[0]).toBe(results[1] ?? false)

    const prefix = random(2) === 0 ? [] : aKey().slice(0, 1)
    const options = {
      limit: 1 + random(10),
      reverse: random(2) === 0,
      ...(random(2) === 0 && { after: [...prefix, ...aKey()] }),
    }
    const [ends] = [[aKey(), aKey()] as const]
    for (const selector of [{ prefix }, { start: ends[0], end: ends[1] }]) {
      const pages = await Promise.all(stores.map((kv) => kv.list(selector, options)))
      const [memory, lmdb] = pages.map(shown)
      expect(lmdb).toEqual(memory ?? [])
    }
  }
  await stores[1].close()
  rmSync(folder, { recursive: true })
})
