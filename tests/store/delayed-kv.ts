// A store that answers late and in another order than it was asked, as one across a network does; the same each time
// for the same seed. Nothing waits on a clock: an answer lets so many other promises go first.

import type { Kv } from '../../src/store/kv.ts'

/** Promises that go first, at most, on the way there and back. */
const TURNS = 24

export type Late = <T>(ask: () => Promise<T>) => Promise<T>

export function lateness(seed: number): Late {
  let state = seed
  /** mulberry32 */
  function random(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return async (ask) => {
    for (let turns = Math.floor(random() * TURNS); turns > 0; turns--) await Promise.resolve()
    const answer = await ask()
    for (let turns = Math.floor(random() * TURNS); turns > 0; turns--) await Promise.resolve()
    return answer
  }
}

export function delayedKv(kv: Kv, seed: number): Kv {
  const late = lateness(seed)
  return {
    get: (key) => late(() => kv.get(key)),
    getMany: (keys) => late(() => kv.getMany(keys)),
    versions: (keys) => late(() => kv.versions(keys)),
    list: (selector, options) => late(() => kv.list(selector, options)),
    commit: (commit) => late(() => kv.commit(commit)),
    close: () => kv.close(),
  }
}
