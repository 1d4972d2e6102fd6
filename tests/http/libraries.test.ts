// Libraries of others: added once under the path they are imported by, and counted where a script misses one.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const LIBRARY = `// This Pine Script® code is subject to the terms of the Mozilla Public License 2.0
//@version=6
library("tools")
export twice(float x) => x * 2
`
const USER = `//@version=6
indicator("uses")
import Somebody/tools/3 as t
plot(t.twice(close))
`

async function world() {
  const server = testServer(undefined, { engine: 'real' })
  const owner = await server.signUp()
  const as = (headers: Record<string, string>) => (method: string, path: string, body?: unknown) =>
    server.call(method, `/api/platform${path}`, { headers, ...(body !== undefined && { body }) })
  return { ...server, owner, as, me: as(owner) }
}

test('a library is added with its licence line, and the script that missed it compiles', async () => {
  const { me, pool } = await world()
  const check = async () => (await me('POST', '/scripts/check', { source: USER })).json.diagnostics
  expect(await check()).toMatchObject([{ code: 'library-not-found', line: 3 }])
  const path = 'Somebody/tools/3'
  const added = await me('POST', '/scripts/libraries', { path, source: LIBRARY })
  expect(added.json).toMatchObject({
    script: { name: path, kind: 'library', source: LIBRARY, visibility: 'private' },
    diagnostics: [],
  })
  expect(await check()).toEqual([])
  const again = await me('POST', '/scripts/libraries', { path, source: LIBRARY.replace('2\n', '3\n') })
  expect(again.json).toMatchObject({ id: added.json.id, script: { revision: 2 } })
  pool.close()
})

test.each([
  [{ path: 'tools', source: LIBRARY }, 'validation_failed', '/path'],
  [{ path: 'a/b/0', source: LIBRARY }, 'validation_failed', '/path'],
  [{ path: 'a/b/1', source: '' }, 'validation_failed', '/source'],
])('%j is refused', async (body, code, path) => {
  const { me, pool } = await world()
  const { status, json } = await me('POST', '/scripts/libraries', body)
  expect([status, json.error.code, json.error.fields[0].path]).toEqual([422, code, path])
  pool.close()
})

test('what is no library is refused, with what is wrong with it', async () => {
  const { me, pool } = await world()
  const add = async (source: string) =>
    (await me('POST', '/scripts/libraries', { path: 'a/b/1', source })).json.error
  expect(await add('//@version=6\nindicator("x")\nplot(close)\n')).toMatchObject({
    code: 'script_invalid',
    message: 'This is an indicator, no library. A library begins with library("Name").',
  })
  expect(await add(LIBRARY.replace('x * 2', 'y * 2'))).toMatchObject({
    code: 'script_invalid',
    diagnostics: [{ code: 'undeclared-name', line: 4 }],
  })
  expect((await me('GET', '/scripts')).json.scripts).toEqual([])
  pool.close()
})

test('libraries that runs and saved scripts miss are counted for those who run the server, once a user and hour', async () => {
  const { me, as, signUp, clock, pool } = await world()
  const other = as(await signUp('b@example.com'))
  const wanted = async () => (await me('GET', '/scripts/libraries/wanted')).json.libraries
  const body = { name: 'n', source: USER }
  await me('POST', '/scripts/check', { source: USER })
  expect(await wanted()).toEqual([])
  await me('POST', '/scripts', body)
  await me('POST', '/scripts', body)
  await other('POST', '/scripts', { ...body, source: USER.replace('Somebody', 'somebody') })
  await other('POST', '/backtests/preview', {
    ...body,
    source: USER.replace('Somebody/tools/3', 'X/rare/1'),
    symbol: 'SPX',
    exchange: 'SP',
    interval: '1d',
    bars: 10,
    inputs: {},
  })
  expect(await wanted()).toMatchObject([{ users: 2, asked: 2 }])
  clock.advance(3_600_001)
  await me('POST', '/scripts', body)
  expect(await wanted()).toMatchObject([{ users: 2, asked: 3, lastAt: clock.now() }])
  expect((await other('GET', '/scripts/libraries/wanted')).status).toBe(404)
  // Who has it by now wants it no more.
  await me('POST', '/scripts/libraries', { path: 'Somebody/tools/3', source: LIBRARY })
  expect(await wanted()).toMatchObject([{ users: 1, asked: 1 }])
  pool.close()
})
