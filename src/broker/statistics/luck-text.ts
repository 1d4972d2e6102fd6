// Says in words how much of a result may be luck.

import type { ReportEquity } from '../../wire/report.ts'

/**
 * `deflated` is a deflated Sharpe ratio; null if there are too few bars for one. It is against making nothing, so a result that
 * `lags` behind holding is told apart: in a market that rose, that is no luck and no merit either.
 */
export function luckSentence(deflated: number | null, lags: boolean): string {
  const luck =
    deflated === null
      ? 'There are too few bars to tell skill from luck.'
      : `Chance that luck alone did this: ${percentText(1 - deflated)}.`
  return lags ? `${luck} Buying and holding would have made more.` : luck
}

/** Whether holding from the first trade on would have made more, also than with the trades that are open at the end. */
export const lagsHolding = ({
  netProfit,
  openProfit,
  buyHold,
}: Pick<ReportEquity, 'netProfit' | 'openProfit' | 'buyHold'>): boolean =>
  buyHold !== null && netProfit + openProfit < buyHold

export function percentText(share: number): string {
  if (share > 0 && share < 0.01) return 'under 1%'
  return share > 0.99 && share < 1 ? 'over 99%' : `${Math.round(share * 100)}%`
}
