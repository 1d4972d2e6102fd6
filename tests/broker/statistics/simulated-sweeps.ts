// Sweeps whose truth is known: returns that are noise, and returns of which one trial has an edge.

import type { SeededRandom } from '../../../src/lib/seeded-random.ts'
import { deflatedSharpe } from '../../../src/broker/statistics/deflated-sharpe.ts'
import { momentsOf } from '../../../src/broker/statistics/moments.ts'
import { probabilisticSharpe } from '../../../src/broker/statistics/probabilistic-sharpe.ts'

/** The best of so many trials by its Sharpe ratio, and what two tests say of it. `edge`: the first trial's ratio a bar. */
export function simulatedSweep(random: SeededRandom, trials: number, bars: number, edge = 0) {
  const returns = new Float64Array(bars)
  const sharpes: number[] = []
  let best = { trial: -1, ...momentsOf([]), sharpe: -Infinity }
  for (let trial = 0; trial < trials; trial++) {
    for (let t = 0; t < bars; t++) returns[t] = random.normal() + (trial === 0 ? edge : 0)
    const moments = momentsOf(returns)
    sharpes.push(moments.sharpe)
    if (moments.sharpe > best.sharpe) best = { trial, ...moments }
  }
  const { deviation } = momentsOf(sharpes)
  return {
    best: best.trial,
    probabilistic: probabilisticSharpe(best) ?? 0,
    deflated: deflatedSharpe(best, trials, deviation).probability ?? 0,
  }
}
