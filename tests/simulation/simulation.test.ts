// The server in simulated worlds, two by the commit's seed, and in a long run for five minutes. What a world finds is shown
// by `chartroom simulate --seed N --hours H`, with its trace and made smaller.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { shrink } from '../../src/simulation/shrink.ts'
import { ALL_FAULTS, simulate, type SimulationOptions } from '../../src/simulation/simulation.ts'
import { EPOCH, Timeline } from '../../src/simulation/timeline.ts'
import { isLong } from '../long.ts'

setDefaultTimeout(1_800_000)
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const OPTIONS: SimulationOptions = { seed: SEED, hours: 2, users: 2, servers: 1, faults: ALL_FAULTS }

test('what is left to do happens in the order of its times, and cancelled it does not', async () => {
  const timeline = new Timeline(1)
  const seen: number[] = []
  for (const ms of [30, 10, 20, 40]) timeline.after(ms, () => seen.push(ms))
  timeline.after(25, () => seen.push(25))()
  await timeline.run(timeline.now + 35)
  expect(seen).toEqual([10, 20, 30])
})

test.each([1, 3])(
  `nothing is found with %d servers, and a run is the same again (seed ${SEED})`,
  async (servers) => {
    const until = performance.now() + (isLong ? 150_000 : 0)
    let seed = SEED
    do {
      const options = { ...OPTIONS, seed, servers, hours: isLong ? 6 : 0.5 / servers }
      const outcome = await simulate(options)
      expect({ seed, findings: outcome.findings }).toEqual({ seed, findings: [] })
      expect((await simulate(options)).digest).toBe(outcome.digest)
      expect(outcome.counts.calls).toBeGreaterThan(0)
      expect(outcome.trace.length).toBeLessThanOrEqual(200)
      seed++
    } while (performance.now() < until)
  },
)

test('a finding is made smaller, as long as the same promise is broken', async () => {
  const broken = { ...(await simulate({ ...OPTIONS, hours: 1, users: 1, faults: [] })) }
  const outcome = { ...broken, findings: [{ check: 'once', at: EPOCH + 90 * 60_000, says: '' }] } as const
  const other = { ...broken, findings: [{ check: 'durable', at: EPOCH, says: '' }] } as const
  const told: SimulationOptions[] = []
  const least = await shrink(
    { ...OPTIONS, hours: 24 },
    outcome,
    (smaller) => told.push(smaller),
    async ({ hours, users, faults }) =>
      hours >= 2 && users >= 2 && faults.includes('kill') ? outcome : other,
  )
  expect(least.options).toEqual({ ...OPTIONS, hours: 2, users: 2, faults: ['kill'] })
  expect(told.at(-1)).toEqual(least.options)
})
