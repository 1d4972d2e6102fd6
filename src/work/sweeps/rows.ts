// All trials of a sweep that were made, for its verdict.

import { rowLayout, type RowLayout, type WindowWinner } from '../../broker/measured.ts'
import { turn } from '../../lib/turn.ts'
import type { Kv } from '../../store/kv.ts'
import { batchesOf, decodeRows, type Batch, type Sweep } from './records.ts'
import type { Choice } from './space.ts'

/** All trials of a sweep, as its judge reads them. The rows are in shared memory, which a worker reads without a copy. */
export class Rows {
  readonly choices: (readonly Choice[])[] = []
  readonly rows: Float64Array
  readonly winners: (WindowWinner | null)[]

  constructor({ measured, tried }: Pick<Sweep, 'measured' | 'tried'>) {
    this.rows = new Float64Array(new SharedArrayBuffer(8 * tried * rowLayout(measured).width))
    this.winners = measured.windows.map(() => null)
  }

  add({ choices, rows, winners }: Batch, { width }: RowLayout): void {
    this.rows.set(decodeRows(rows), this.choices.length * width)
    this.choices.push(...choices)
    for (const [window, winner] of winners.entries()) {
      const before = this.winners[window]
      // Of equal trials the first wins, whatever batches they were tried in.
      if (winner && (!before || winner.score > before.score)) this.winners[window] = winner
    }
  }
}

/** Read from the store at the end: kept until then they would be ten megabytes for ten thousand trials. */
export async function allOf(kv: Kv, sweep: Sweep): Promise<Rows> {
  const all = new Rows(sweep)
  const layout = rowLayout(sweep.measured)
  for await (const stored of batchesOf(kv, sweep)) {
    all.add(stored, layout)
    await turn()
  }
  return all
}
