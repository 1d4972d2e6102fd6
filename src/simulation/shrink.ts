// Makes a run that found something smaller, as long as it still breaks the same promise: shorter, fewer users, fewer
// kinds of faults. What is left is what to look at.

import type { Check } from './history.ts'
import { EPOCH } from './timeline.ts'
import { simulate, type Outcome, type SimulationOptions } from './simulation.ts'

const HOUR = 3_600_000

/** `told` hears of each smaller run that still finds it. `run` makes one. */
export async function shrink(
  options: SimulationOptions,
  outcome: Outcome,
  told: (options: SimulationOptions) => void,
  run: typeof simulate = simulate,
): Promise<{ readonly options: SimulationOptions; readonly outcome: Outcome }> {
  let best = { options, outcome }
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const candidate of smaller(best.options, best.outcome)) {
      const found = await run(candidate)
      if (!finds(found, checkOf(outcome))) continue
      best = { options: candidate, outcome: found }
      told(candidate)
      isSmaller = true
      break
    }
  }
  return best
}

const checkOf = ({ findings }: Outcome): Check | undefined => findings[0]?.check
const finds = ({ findings }: Outcome, check: Check | undefined) => findings.some((one) => one.check === check)

/** The boldest steps first. */
function* smaller(options: SimulationOptions, { findings }: Outcome): Generator<SimulationOptions> {
  const { hours, users, faults } = options
  const until = Math.ceil(((findings[0]?.at ?? EPOCH) - EPOCH) / HOUR)
  if (until > 0 && until < hours) yield { ...options, hours: until }
  if (hours > 1) yield { ...options, hours: Math.floor(hours / 2) }
  if (faults.length > 1) {
    const half = faults.length >> 1
    yield { ...options, faults: faults.slice(0, half) }
    yield { ...options, faults: faults.slice(half) }
  }
  for (const fault of faults) yield { ...options, faults: faults.filter((one) => one !== fault) }
  if (users > 1) yield { ...options, users: users - 1 }
}
