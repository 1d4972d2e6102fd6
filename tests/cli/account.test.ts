// `chartroom account`: what somebody owns, out of a server as one file and into another account.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { SCOPES } from '../../src/wire/scopes.ts'
import { testServer, unlimited } from '../http/server.ts'
import { chartroom, temporaryFolder } from './run.ts'

const server = testServer(unlimited)
let listening: ReturnType<typeof Bun.serve>
beforeAll(() => {
  listening = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => server.app.handle(request) })
})
afterAll(() => listening.stop(true))

async function tokenOf(email: string): Promise<string> {
  const cookie = await server.signUp(email)
  const { authorization } = await server.token(cookie, SCOPES)
  await server.call('POST', '/api/platform/watchlists/import', {
    headers: cookie,
    body: { name: `of ${email}`, items: [] },
  })
  return authorization.slice('Bearer '.length)
}

test('what is exported with --bars by one user is imported by another, and refusals are named', async () => {
  const url = `http://127.0.0.1:${listening.port}`
  const file = `${temporaryFolder()}/mine.jsonl.gz`
  const run = (what: string, token: string, ...more: string[]) =>
    chartroom(temporaryFolder(), 'account', what, file, '--server', url, '--token', token, ...more)
  const [one, other] = [await tokenOf('one@example.com'), await tokenOf('other@example.com')]
  const out = await run('export', one, '--bars')
  expect(out).toMatchObject({ code: 0, err: '' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect((await run('export', one)).err).toContain('is there already')
  expect(await run('import', other)).toMatchObject({ code: 0, out: 'Imported: 1 watchlist.', err: '' })
  expect((await run('import', other)).out).toBe('Imported: nothing.\nThere already: 1 watchlist.')
  writeFileSync(file, readFileSync(file).subarray(0, 60))
  expect(await run('import', other)).toMatchObject({ code: 1, err: expect.stringContaining('breaks off') })
  const keyless = await chartroom(temporaryFolder(), 'account', 'import', file, '--server', url)
  expect(keyless).toMatchObject({ code: 2, err: expect.stringContaining('Give a token with --token') })
})

test('a folder of what TradingView exports moves in, and what cannot says why', async () => {
  const url = `http://127.0.0.1:${listening.port}`
  const folder = temporaryFolder()
  const put = (name: string, text: string) => writeFileSync(`${folder}/${name}`, text)
  put('Список.txt', '###Chips,NASDAQ:NVDA,NYSE:JPM')
  put('NASDAQ_NVDA, 60.csv', 'time,open,high,low,close,RSI\n1767225600,1,2,1,2,50\n1767229200,2,3,2,3,51\n')
  put(
    'log.csv',
    'Alert ID,Ticker,Name,Description,Time\n1,NASDAQ:NVDA,Level,NVDA Crossing 5,2026-01-01\n2,NASDAQ:NVDA,Bot,go,2026-01-01',
  )
  put('s.pine', '//@version=6\nindicator("Мой")\nplot(close)')
  const token = await tokenOf('mover@example.com')
  const run = () =>
    chartroom(temporaryFolder(), 'account', 'move-in', folder, '--server', url, '--token', token)
  const first = await run()
  expect(first.out.split('\n')).toEqual([
    'NASDAQ_NVDA, 60.csv: bars: 2 of NASDAQ:NVDA 1h',
    'log.csv: alert, made paused: Level',
    's.pine: script: Мой',
    'Список.txt: watchlist: Список',
  ])
  expect([first.code, first.err]).toEqual([
    1,
    expect.stringContaining('Row 3, “Bot”: its text names no price'),
  ])
  // Given again it makes nothing twice.
  expect((await run()).out).toContain('s.pine: script: Мой')
  const { json } = await server.call('GET', '/api/platform/scripts', {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(json.scripts.map(({ name }: { name: string }) => name)).toEqual(['Мой'])
})
