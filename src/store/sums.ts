// Turns counter steps into plain writes, for stores that apply the steps themselves.

import { AboveMax, type Commit, type Key } from './kv.ts'

/** The same commit without sums. `valueOf` reads the stored value, and nothing may be written between that and the commit. */
export function withoutSums(commit: Commit, valueOf: (key: Key) => string | undefined): Commit {
  const { sums = [], sets = [], deletes = [], ...rest } = commit
  if (sums.length === 0) return commit
  const values = sums.map((sum) => {
    const value = Number(valueOf(sum.key) ?? 0) + sum.step
    if (sum.step > 0 && sum.max !== undefined && value > sum.max) throw new AboveMax(sum)
    return { key: sum.key, value }
  })
  const kept = values.filter(({ value }) => value > 0)
  const gone = values.filter(({ value }) => value <= 0)
  return {
    ...rest,
    sets: [...sets, ...kept.map(({ key, value }) => ({ key, value: String(value) }))],
    deletes: [...deletes, ...gone.map(({ key }) => key)],
  }
}
