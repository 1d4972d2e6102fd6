// Whether a result shows an edge, after everything that was tried on its market and on bars that nobody chose it by.
//
// Two tests have to be passed, and each of them alone is wrong at most once in twenty if there is nothing to find:
//
// - on the bars before those held out, the Sharpe ratio beats what the best of so many worthless tries reaches by luck
//   (`deflated-sharpe.ts`). How far worthless ratios lie apart is taken from the number of bars (Lo 2002) and not from the
//   tries, since a hundred copies of one lucky script would lie close together;
// - on the bars held out it is above zero. Whoever looks there again and again finds something, too, so the k-th look at
//   them must be surer: it has a share of 1/(k·(k+1)) of the level, and all shares together are 1.
//
// The probability of a Sharpe ratio trusts a few equal wins too much, since their returns are skewed to the right. So the
// normal approximation without skewness counts where it is less sure, and fewer than ten trades prove nothing.

import { deviationByLuck } from './deflated-sharpe.ts'
import { expectedMaximum } from './expected-maximum.ts'
import { probabilisticSharpe, type SharpeRecord } from './probabilistic-sharpe.ts'

const LEVEL = 0.05
export const EDGE_TRADES = 10

export interface EdgeFound {
  readonly edge: boolean
  /** Chance that luck alone did as well before the bars held out; null if there are too few bars to tell. */
  readonly luck: number | null
  /** The same on the bars held out, where only this one result was looked at. */
  readonly luckHeldOut: number | null
  /** What `luckHeldOut` must not exceed, at this look. */
  readonly allowed: number
}

interface Stretch {
  readonly record: SharpeRecord
  readonly trades: number
}

/** `tried` is how many choices were tried on the market, `look` the how-manieth look at the bars held out this is. */
export function edgeOf(
  before: Stretch,
  heldOut: Stretch,
  { tried, look }: { readonly tried: number; readonly look: number },
): EdgeFound {
  const benchmark = deviationByLuck(before.record.count) * expectedMaximum(tried)
  const luck = chanceOfLuck(before.record, benchmark)
  const luckHeldOut = chanceOfLuck(heldOut.record, 0)
  const allowed = LEVEL / (look * (look + 1))
  const hasTrades = before.trades >= EDGE_TRADES && heldOut.trades >= EDGE_TRADES
  return {
    edge: hasTrades && luck !== null && luck <= LEVEL && luckHeldOut !== null && luckHeldOut <= allowed,
    luck,
    luckHeldOut,
    allowed,
  }
}

function chanceOfLuck(record: SharpeRecord, benchmark: number): number | null {
  const skewed = probabilisticSharpe(record, benchmark)
  const plain = probabilisticSharpe({ ...record, skewness: 0, kurtosis: 3 }, benchmark)
  return skewed === null || plain === null ? null : 1 - Math.min(skewed, plain)
}
