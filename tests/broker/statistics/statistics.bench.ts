// How often the usual significance and the deflated Sharpe ratio say "significant", over 400 simulated sweeps whose truth is
// known: of noise neither should, of one true edge both.
//
//     SEED=2026 bun run bench statistics

import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { simulatedSweep } from './simulated-sweeps.ts'

const SWEEPS = 400
for (const [name, trials, bars, edge] of [
  ['noise, 480 bars, 50 trials', 50, 480, 0],
  ['noise, 480 bars, 500 trials', 500, 480, 0],
  ['edge of .15 a bar, 1,000 bars, 500 trials', 500, 1000, 0.15],
  ['edge of .20 a bar, 1,000 bars, 500 trials', 500, 1000, 0.2],
] as const) {
  const random = seededRandom(Number(Bun.env['SEED'] ?? 2026))
  const found = Array.from({ length: SWEEPS }, () => simulatedSweep(random, trials, bars, edge))
  const share = (holds: (one: (typeof found)[number]) => boolean) =>
    `${((100 * found.filter(holds).length) / SWEEPS).toFixed(2)} %`
  console.log(
    `${name.padEnd(44)} PSR > .95: ${share((one) => one.probabilistic > 0.95).padStart(8)}  DSR > .95: ${share((one) => one.deflated > 0.95).padStart(8)}`,
  )
}
