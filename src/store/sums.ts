// Turns counter steps into plain writes, for stores that apply the steps themselves.

import { AboveMax, type Commit, type Key } from './kv.ts'

/** The same commit without sums. `valueOf` reads the stored value, and nothing may be written between that and the commit. */
export function withoutSums(commit: Commit, valueOf: (key: Key) => string | undefined): Commit {
  const { sums = [], ...rest } = commit
  if (sums.length === 0) return commit
  const sets = [...(rest.sets ?? [])]
  const deletes = [...(rest.deletes ?? [])]
  for (const sum of sums) {
    const value = Number(valueOf(sum.key) ?? 0) + sum.step
    if (sum.step > 0 && sum.max !== undefined && value > sum.max) throw new AboveMax(sum)
    if (value > 0) sets.push({ key: sum.key, value: String(value) })
    else deletes.push(sum.key)
  }
  return { ...rest, sets, deletes }
}
