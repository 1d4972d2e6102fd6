// Median regret of the samplers over 50 seeds, on functions whose minimum is known.
//
//     SEED=1000 bun run bench samplers
//
// Optuna 5 (seeds 17, 41, 73, 109, 149): Branin TPE .0042, CMA-ES .0013; Hartmann 3 .00226, .0019; Rosenbrock 6 5.30, 4.36.

import { cmaEsSampler } from '../../../src/work/sweeps/samplers/cma-es.ts'
import { randomSampler } from '../../../src/work/sweeps/samplers/random.ts'
import { sobolSampler } from '../../../src/work/sweeps/samplers/sobol.ts'
import { tpeSampler } from '../../../src/work/sweeps/samplers/tpe.ts'
import { median } from '../../../src/broker/statistics/moments.ts'
import { regretOf, TEST_FUNCTIONS } from './test-functions.ts'

const SEEDS = 50
const FIRST = Number(Bun.env['SEED'] ?? 1000)
const SAMPLERS = { random: randomSampler, Sobol: sobolSampler, TPE: tpeSampler, 'CMA-ES': cmaEsSampler }

for (const found of TEST_FUNCTIONS)
  for (const [name, sampler] of Object.entries(SAMPLERS)) {
    const started = performance.now()
    const regrets = Array.from({ length: SEEDS }, (_, seed) =>
      regretOf(found, (axes) => sampler(axes, FIRST + seed)),
    )
    const each = (performance.now() - started) / SEEDS
    const what = `${found.name}, ${found.trials} trials`.padEnd(26)
    console.log(`${what} ${name.padEnd(8)} ${median(regrets).toPrecision(3).padEnd(9)} ${each.toFixed(0)} ms`)
  }
