// What servers load only when it is first needed, which takes time that no seed knows: here it is there from the start.

import '../broker/statistics/deflated-sharpe.ts'
import '../broker/statistics/edge.ts'
import '../broker/statistics/judged-sharpe.ts'
import '../broker/statistics/luck-text.ts'
import '../market/files/fitted-bars.ts'
import '../market/files/stage-files.ts'
import '../store/postgres/postgres-bars.ts'
import '../work/sweeps/plan.ts'
import { BarCache } from '../market/bar-cache.ts'
import { memoryBars } from '../market/bar-store.ts'
import { loadSamples } from '../market/sample.ts'
import { isCommonPassword } from '../people/accounts/common-passwords.ts'

/** The rest of it. */
export async function loadAll(): Promise<void> {
  await isCommonPassword('')
  await loadSamples(new BarCache(memoryBars()))
}
