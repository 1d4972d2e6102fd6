// Why a run no longer exists, kept for a while, so that opening it or its replay can say what became of it.

import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { collectionIn } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'

interface GoneRun {
  readonly id: string
  readonly userId: string
  readonly at: number
  /** Whether it was deleted on request, or because newer runs needed its place. */
  readonly why: WhyGone
}
export type WhyGone = 'asked' | 'room'

/** A user at the limit of stored runs who runs a thousand scripts an hour must not fill the store with removed ones. */
const KEPT_MAX = 10_000
const KEPT_MS = 90 * 86_400_000

export const goneRuns = collectionIn<GoneRun>('gone-backtests', {
  indexes: { age: ({ at }) => [at] },
  counts: { kept: { of: () => [] } },
})

/** Why the user's run does not exist, as far as is known. */
export async function whyGone(kv: Kv, userId: string, id: string): Promise<Problem> {
  const gone = await goneRuns(kv).get(id)
  if (gone?.userId !== userId) return notFound('There is no such backtest.')
  const day = new Date(gone.at).toISOString().slice(0, 10)
  return notFound(
    gone.why === 'asked'
      ? `This backtest was deleted on ${day}, with its trades and its replay. Run it again.`
      : `This backtest made room for newer ones on ${day}, with its trades and its replay. Run it again, and pin it to keep it.`,
  )
}

/** Forgets the oldest of a user that has too many. */
export async function purgeGone({ kv, clock }: { readonly kv: Kv; readonly clock: Clock }): Promise<void> {
  let excess = (await goneRuns(kv).count('kept', [])) - KEPT_MAX
  for await (const { id, at } of goneRuns(kv).each('age')) {
    if (excess <= 0 && at > clock.now() - KEPT_MS) break
    await goneRuns(kv).delete(id)
    excess--
  }
}

const notFound = (message: string) => new Problem(404, 'backtest_not_found', message)
