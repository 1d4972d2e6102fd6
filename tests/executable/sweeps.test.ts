// A sweep over a server that is killed again and again (kill -9, nothing is flushed) ends with the same bytes as one that
// was left alone. As one could not guess it, where it is killed is drawn, and said: in each of as many parts of the sweep.
// KILLS=20 SEED=… for more of them.

import { afterAll, describe, expect, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { isLong } from '../long.ts'
import { CROSS, SWEEP, barsCsv } from '../work/sweeps/sweep-server.ts'
import { Place, type Server, BUILT } from './server.ts'

const KILLS = Number(Bun.env['KILLS'] ?? (isLong ? 4 : 2))
const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const PATH = '/api/platform/sweeps'
const BODY = {
  ...SWEEP,
  source: CROSS,
  bars: 1500,
  sampler: 'tpe',
  trials: isLong ? 240 : 120,
  windows: { kind: 'rolling', runs: 5 },
  where: [],
  space: [
    { input: 'Fast', min: 2, max: 60, step: 1 },
    { input: 'Slow', min: 5, max: 190, step: 1 },
  ],
}

const places: Place[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

interface Begun {
  readonly server: Server
  readonly id: string
}

async function begun(place: Place): Promise<Begun> {
  const server = await place.serve('--rate-user', '0')
  await server.signUp()
  await server.importCsv('symbol=ABC&exchange=X&interval=1h', barsCsv(1500))
  const made = await server.call('POST', PATH, BODY)
  expect(made.status).toBe(200)
  return { server, id: made.json.id }
}

/** Looks until so many trials are stored, or it is over. */
async function until({ server, id }: Begun, tried: number) {
  for (;;) {
    const { sweep } = (await server.call('GET', `${PATH}/${id}`)).json
    if (sweep.tried >= tried || !['queued', 'running'].includes(sweep.state)) return sweep
    await Bun.sleep(50)
  }
}

async function outcome(one: Begun) {
  const { state, counted } = await until(one, Infinity)
  const csv = (await one.server.call('GET', `${PATH}/${one.id}/results.csv`)).text
  const { verdict } = (await one.server.call('GET', `${PATH}/${one.id}`)).json
  return { state, counted, csv, verdict: JSON.stringify(verdict) }
}

describe(`killed ${KILLS} times (SEED=${seed})`, () => {
  // A sweep of hundreds of trials takes seconds: as people start it is enough.
  test.each(BUILT)(
    '%s: a sweep goes on where it was',
    async (mode) => {
      const [alone, killed] = [new Place(mode), new Place(mode)]
      places.push(alone, killed)
      const whole = await begun(alone)
      const expected = await outcome(whole)
      expect(expected.state).toBe('done')
      await whole.server.stop()

      const random = seededRandom(seed)
      let one: Begun = await begun(killed)
      for (let kill = 1; kill <= KILLS; kill++) {
        const part = (kill - random.uniform()) / (KILLS + 1)
        const before = await until(one, Math.floor(part * BODY.trials))
        if (Bun.env['KILLS']) console.log(`killed at ${before.tried}, ${before.state}`)
        await one.server.kill()
        const { headers } = one.server
        one = { ...one, server: Object.assign(await killed.serve('--rate-user', '0'), { headers }) }
        const after = await until(one, 0)
        // What was answered is not lost.
        expect(after.tried).toBeGreaterThanOrEqual(before.tried)
      }
      expect(await outcome(one)).toEqual(expected)
      await one.server.stop()
    },
    900_000,
  )
})
