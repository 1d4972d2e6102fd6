// Counts what a command tried, and says what the count leaves of its result.

import type { BacktestResult } from '../broker/backtest.ts'
import { lagsHolding } from '../broker/statistics/luck-text.ts'
import { scriptNames, trialName } from '../broker/trial-name.ts'
import { silentLog } from '../lib/log.ts'
import { memoryKv } from '../store/memory.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { resultTried } from '../work/sweeps/tries.ts'
import type { Trials } from '../wire/trials.ts'
import type { ScriptBars } from './script-bars.ts'
import { formatNumber } from './table.ts'

/** Counts a run. Runs on the bars of a file are not counted: each is judged as if it were the only one. */
export async function triedHere(
  { ledger: place, key }: Pick<ScriptBars, 'ledger' | 'key'>,
  source: string,
  { report, moments }: BacktestResult,
): Promise<Trials> {
  const { kv, userId } = place ?? { kv: memoryKv(), userId: '' }
  const ledger = new Ledger({ kv, log: silentLog })
  const { inputs, script, range, equity } = report
  const { from, to, bars } = range
  const found = await resultTried(
    ledger,
    { ...key, userId, range: { from: from ?? 0, to: to ?? 0, bars } },
    {
      ...scriptNames(source),
      trial: trialName(inputs, script.declaration),
      moments: moments(),
      lags: lagsHolding(equity),
    },
  )
  await ledger.settled()
  return found
}

export function triesLines(
  { sentence, sharpe, length }: Trials,
  { isCounted }: { readonly isCounted: boolean },
): string[] {
  const said = isCounted
    ? sentence
    : `Tries on the bars of a file are not counted. If this was the only one: ${sentence.slice(sentence.indexOf('. ') + 2)}`
  if (!sharpe) return isCounted ? [sentence] : []
  const { leastBars, bars } = sharpe
  return [
    said,
    leastBars === null
      ? `No number of bars would be enough to be 95% sure of it; there are ${formatNumber(bars, 0)}.`
      : `It takes ${formatNumber(Math.ceil(leastBars), 0)} bars to be 95% sure of it; there are ${formatNumber(bars, 0)}.`,
    ...(length && length.years >= 0.05
      ? [
          `So many tries need ${formatNumber(length.years, 1)} years of bars; there are ${formatNumber(length.have, 1)}.`,
        ]
      : []),
  ]
}
