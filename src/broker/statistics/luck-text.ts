// Says in words how much of a result may be luck.

/** `deflated` is a deflated Sharpe ratio; null if there are too few bars for one. */
export function luckSentence(deflated: number | null): string {
  return deflated === null
    ? 'There are too few bars to tell skill from luck.'
    : `Chance that luck alone did this: ${percentText(1 - deflated)}.`
}

export function percentText(share: number): string {
  if (share > 0 && share < 0.01) return 'under 1%'
  return share > 0.99 && share < 1 ? 'over 99%' : `${Math.round(share * 100)}%`
}
