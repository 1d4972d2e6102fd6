// Parts of a batch of trials that were run one by one, put together again as if they had been run in one go.

import type { WindowWinner } from '../../broker/measured.ts'
import type { TrialsOutput } from '../workers/job.ts'

/** Joins parts that follow each other. */
export function joined(parts: readonly TrialsOutput[]): TrialsOutput {
  const [first] = parts
  if (!first)
    return {
      rows: new Float64Array(),
      failures: [],
      names: [],
      winners: [],
      script: '',
      formerly: '',
      tookMs: 0,
    }
  if (parts.length === 1) return first
  const rows = new Float64Array(parts.reduce((sum, part) => sum + part.rows.length, 0))
  const failures: TrialsOutput['failures'][number][] = []
  const winners: (WindowWinner | null)[] = first.winners.map(() => null)
  let [row, trial] = [0, 0]
  for (const part of parts) {
    rows.set(part.rows, row)
    for (const failure of part.failures) failures.push({ ...failure, trial: failure.trial + trial })
    for (const [window, winner] of part.winners.entries()) {
      const best = winners[window]
      // Of equal trials the first wins, whichever part it was in.
      if (winner && (!best || winner.score > best.score))
        winners[window] = { ...winner, trial: winner.trial + trial }
    }
    row += part.rows.length
    trial += part.names.length
  }
  return {
    rows,
    failures,
    names: parts.flatMap(({ names }) => names),
    winners,
    script: first.script,
    formerly: first.formerly,
    tookMs: parts.reduce((sum, { tookMs }) => sum + tookMs, 0),
  }
}
