// How fast a server is ready, and how fast it answers while a script runs into its limit. `bun run build` before.

import { Agent, get } from 'node:http'
import { backtestOf, isMissing, MODES, Place } from './server.ts'

const SLOW = '//@version=6\nstrategy("x")\nn = 0.0\nfor i = 0 to 4000000\n    n += math.sin(i)\nplot(n)'
const ROUNDS = 10

const at = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN

for (const mode of MODES) {
  if (isMissing(mode)) continue
  const place = new Place(mode)
  const starts: number[] = []
  // The first start makes the database and loads the sample bars; those behind it are what a restart takes.
  let first = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const before = performance.now()
    const server = await place.serve()
    const took = performance.now() - before
    if (round === 0) first = took
    else starts.push(took)
    await server.stop()
  }
  starts.sort((a, b) => a - b)
  console.log(
    `${mode}: first start ${first.toFixed(0)} ms, then median ${at(starts, 0.5).toFixed(0)} ms of ${ROUNDS}` +
      ` (${at(starts, 0).toFixed(0)} to ${at(starts, 0.999).toFixed(0)})`,
  )

  const server = await place.serve('--script-time-ms', '3000', '--rate-user', '0')
  await server.signUp()
  const agent = new Agent({ keepAlive: true })
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const before = performance.now()
      get(`${server.base}/api/platform/symbols/SP/SPX`, { agent, headers: server.headers }, (response) => {
        response.resume()
        response.on('end', () => resolve(performance.now() - before))
      }).on('error', reject)
    })
  for (const [what, busy] of [
    ['idle', () => Bun.sleep(3000)],
    [
      'a script running into its limit',
      () => server.call('POST', '/api/platform/backtests', backtestOf(SLOW)),
    ],
  ] as const) {
    const answers: number[] = []
    const done = Promise.resolve(busy()).then(() => null)
    for (let took = await ask(); ; took = await ask()) {
      answers.push(took)
      if ((await Promise.race([done, Promise.resolve(took)])) === null) break
    }
    answers.sort((a, b) => a - b)
    console.log(
      `${mode}, ${what}: ${answers.length} answers, median ${at(answers, 0.5).toFixed(2)} ms, ` +
        `p99 ${at(answers, 0.99).toFixed(2)} ms, worst ${at(answers, 0.9999).toFixed(1)} ms`,
    )
  }
  agent.destroy()
  await server.stop()
  place.remove()
}
