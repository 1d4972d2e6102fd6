// What search knows of things that the server did not write itself: other processes, and earlier versions.

import { expect, test } from 'bun:test'
import { beginningOf, keepBeginnings } from '../../src/work/runs/records.ts'
import { Scripts } from '../../src/people/scripts/scripts.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

test('a script that a command adds beside the server is found without a restart, by who may', async () => {
  const { call, signUp, services } = testServer()
  const owner = await signUp('owner@example.com')
  const other = await signUp('other@example.com')
  const find = async (headers: Record<string, string>) => {
    const { results } = (await call('GET', '/api/search?q=zebra', { headers })).json
    return results.map(({ title }: { title: string }) => title)
  }
  expect([await find(owner), await find(other)]).toEqual([[], []])
  const { id, name } = (await call('GET', '/api/auth/session', { headers: owner })).json.user
  const scripts = new Scripts({
    ...services,
    examine: () => Promise.resolve({ kind: 'library', pineVersion: 6, diagnostics: '[]' }),
  })
  const { script } = await scripts.addLibrary(id, name, 'Ann/zebra/1', '// stripes')
  await scripts.noteAdded(script)
  expect([await find(other), await find(owner), await find(owner)]).toEqual([
    [],
    ['Ann/zebra/1'],
    ['Ann/zebra/1'],
  ])
  expect(await scripts.takeAdded()).toEqual([])
})

test('backtests of earlier versions get the beginning of their source, once', async () => {
  const { call, signUp, services } = testServer()
  const { kv } = services
  const headers = await signUp()
  await call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(50),
  })
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) {
    const source = `//@version=6\nstrategy("${name}")\n${'// zebra\n'.repeat(200)}`
    const body = { name, symbol: 'S', exchange: 'E', interval: '1h', bars: 50, source }
    ids.push((await call('POST', '/api/platform/backtests', { headers, body })).json.id)
  }
  const keys = ids.map((id) => ['backtest-beginning', id])
  await kv.commit({ deletes: keys })
  expect(await beginningOf(kv, ids[0] ?? '')).toHaveLength(500)
  const lengths = async () => (await kv.getMany(keys)).map((entry) => entry?.value.length)
  expect(await lengths()).toEqual([500, undefined, undefined])
  expect(await Array.fromAsync(keepBeginnings(kv))).toHaveLength(2)
  expect(await lengths()).toEqual([500, 500, 500])
  expect(await beginningOf(kv, 'bt_gone')).toBeNull()
  await kv.commit({ deletes: keys })
  expect(await Array.fromAsync(keepBeginnings(kv))).toEqual([])
})
