// Twenty tasks of agents, done by the official client: the right answer of each, and how much room all of it takes.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { SCOPES } from '../../src/wire/scopes.ts'
import { clientOf } from './agent-client.ts'
import { MARKETS, TASKS, type Told } from './agent-tasks.ts'
import { testServer, unlimited } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

/** With the 54 tools of before, which took 177,493 characters before the first task: `src/http/AGENTS.md`. */
const CHARS = 30_000

test('an agent does twenty tasks, in as much room as the page says', async () => {
  const server = testServer(unlimited, { engine: 'real' })
  const cookie = await server.signUp()
  const { client, use } = await clientOf(server, await server.token(cookie, SCOPES))
  for (const [symbol, csv] of Object.entries(MARKETS))
    await server.call('POST', `/api/platform/bars/import?exchange=E&symbol=${symbol}&interval=1h`, {
      headers: { ...cookie, 'content-type': 'text/csv' },
      body: csv,
    })
  const list = JSON.stringify(await client.listTools()).length
  let all = list
  const kept: Record<string, string> = {}
  const rows: string[] = []
  for (const { task, steps, isRight, keep } of TASKS) {
    const told: Told[] = []
    let chars = 0
    for (const { tool, args } of steps) {
      const given = args?.(told, kept) ?? {}
      const { failed, answer, size } = await use(tool, given)
      expect([task, tool, failed, failed && answer]).toEqual([task, tool, false, false])
      told.push(answer)
      chars += JSON.stringify(given).length + size
    }
    expect([task, isRight(told.at(-1)!, told), told.at(-1)]).toEqual([task, true, told.at(-1)])
    Object.assign(kept, keep?.(told.at(-1)!))
    rows.push(`| ${task} | ${steps.length} | ${Math.round(chars / 4)} |`)
    all += chars
  }
  if (process.env['SHOW'] !== undefined)
    console.log(`${rows.join('\n')}\ntools ${list} characters, all ${all} characters`)
  expect([all, all <= CHARS]).toEqual([all, true])
  server.pool.close()
})
