import { describe, expect, test } from 'bun:test'
import { existsSync, statSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { users } from '../../src/people/accounts/accounts.ts'
import { importedChart } from '../../src/people/charts/imported-charts.ts'
import { ToldFeeds } from '../../src/people/feeds/told-feeds.ts'
import { runs, type Run } from '../../src/work/runs/records.ts'
import { libraryFor } from '../../src/people/scripts/scripts.ts'
import { transact } from '../../src/store/transaction.ts'
import { settleKey } from '../../src/store/instance-key.ts'
import { WantedLibraries } from '../../src/people/scripts/wanted-libraries.ts'
import { inFolder } from '../store/own-database.ts'
import { chartroom, openKept, temporaryFolder, withHttp, withInput } from './run.ts'

const CSV = 'time,open,high,low,close,volume\n1709632800000,10,12,9,11,5\n1709632860000,11,13,10,12.5,6\n'
const SERIES = ['--symbol', 'BINANCE:BTCUSDT', '--interval', '1']

function csvFile(text = CSV): string {
  const path = `${temporaryFolder()}/bars.csv`
  writeFileSync(path, text)
  return path
}

describe('bars', () => {
  test('what is imported is listed, and exported bit for bit', async () => {
    const data = temporaryFolder()
    const imported = await chartroom(data, 'bars', 'import', csvFile(), ...SERIES)
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(imported.out.split('\n')).toContain('BINANCE:BTCUSDT 1m: 2 bars added, 0 replaced.')
    expect(
      (await chartroom(data, 'bars', 'list')).out.split('\n').map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ['SYMBOL', 'INTERVAL', 'BARS', 'FIRST (UTC)', 'LAST (UTC)'],
      ['BINANCE:BTCUSDT', '1m', '2', '2024-03-05 10:00', '2024-03-05 10:01'],
      ['NASDAQ:AAPL', '1d', '1,260', '2013-05-13 13:30', '2018-05-11 13:30'],
      ['SP:SPX', '1d', '5,105', '2000-01-03 14:30', '2020-04-17 13:30'],
    ])
    expect((await chartroom(data, 'bars', 'export', ...SERIES)).out).toBe(CSV.trimEnd())
    const output = `${temporaryFolder()}/out.csv`
    await chartroom(data, 'bars', 'export', ...SERIES, '--last', '1', '-o', output)
    expect(readFileSync(output, 'utf8')).toBe(CSV.split('\n').toSpliced(1, 1).join('\n'))
  })

  test('the session of an exchange nobody knows is asked for, and stated at import', async () => {
    const data = temporaryFolder()
    const rows = [0, 1, 2].flatMap((day) =>
      Array.from({ length: 26 }, (_, i) => `${1709562600000 + day * 864e5 + i * 9e5},10,12,9,11,5`),
    )
    const file = csvFile(`time,open,high,low,close,volume\n${rows.join('\n')}\n`)
    const series = ['--symbol', 'ZZZ:Q', '--interval', '15m']
    const silent = await chartroom(data, 'bars', 'import', file, ...series)
    expect(silent.out).toContain('session 24x7')
    expect(silent.err).toContain(
      'ZZZ:Q is taken to trade around the clock, but its bars keep to 7 hours of the day.',
    )
    const hours = ['--session', '0930-1600', '--timezone', 'America/New_York']
    const stated = await chartroom(data, 'bars', 'import', file, ...series, ...hours)
    expect(stated).toMatchObject({ code: 0, err: '' })
    expect(stated.out).toContain('session 0930-1600 America/New_York')
    expect((await chartroom(data, 'bars', 'import', file, ...series)).out).toContain('session 0930-1600')
    const bad = await chartroom(data, 'bars', 'import', file, ...series, '--session', 'noon')
    expect(bad).toMatchObject({ code: 1, out: '' })
    expect(bad.err).toContain('session must be a session such as 0930-1600')
  })

  test('a bad file names its rows, and leaves nothing', async () => {
    const data = temporaryFolder()
    const path = csvFile(`${CSV}1709632920000,10,8,9,10,5\n`)
    expect(await chartroom(data, 'bars', 'import', path, ...SERIES)).toEqual({
      code: 1,
      out: '',
      err: 'Nothing was imported: row 4: high is below low.',
    })
    expect((await chartroom(data, 'bars', 'export', ...SERIES)).code).toBe(1)
  })

  test('fetching stores what the provider has, or says why not', async () => {
    const data = temporaryFolder()
    const kline = [1709632800000, '10', '12', '9', '11', '5', 1709632859999]
    const fetched = await withHttp(() => Promise.resolve(Response.json([kline])), data, [
      'bars',
      'fetch',
      ...SERIES,
    ])
    expect(fetched).toEqual({ code: 0, out: 'BINANCE:BTCUSDT 1m: 0 bars added, 0 replaced.', err: '' })
    const since = ['bars', 'fetch', ...SERIES, '--from', '2024-03-05']
    const again = await withHttp(() => Promise.resolve(Response.json([kline])), data, since)
    expect(again).toEqual({ code: 0, out: 'BINANCE:BTCUSDT 1m: 1 bar added, 0 replaced.', err: '' })
    const down = await withHttp(() => Promise.resolve(new Response('', { status: 418 })), data, since)
    expect(down).toEqual({ code: 1, out: '', err: 'Binance answered 418: it has shut us out for a while.' })
  })

  test('what a server keeps fresh is listed with how it goes', async () => {
    const data = temporaryFolder()
    expect((await chartroom(data, 'bars', 'feeds')).out).toBe(
      'No series is kept fresh. Follow one with POST /api/platform/feeds.',
    )
    const kv = await openKept(data)
    const key = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' }
    const since = Date.UTC(2026, 10, 20)
    await new ToldFeeds({ kv, clock: { now: () => since, sleep: () => Promise.resolve() } }).tell({
      key,
      state: 'live',
      provider: 'Binance',
      lastSuccessAt: since,
      lastError: null,
      failures: 0,
      nextAt: null,
      stream: { liveSince: since, heardAt: since, cuts: 0, lastCut: null, mended: 3 },
    })
    await kv.close()
    await chartroom(data, 'bars', 'import', csvFile(), ...SERIES)
    const { out } = await chartroom(data, 'bars', 'feeds')
    expect(out).toContain('BINANCE:BTCUSDT 1m  live   2024-03-05 10:01')
    expect(out).toContain('A stream of Binance since 2026-11-20 00:00 UTC. 3 bars mended by a request.')
  })

  test('plots of a chart are kept with its bars, and go with them', async () => {
    const data = temporaryFolder()
    const chart = CSV.replaceAll('volume', 'Скользящая')
    const { out } = await chartroom(data, 'bars', 'import', csvFile(chart), ...SERIES)
    expect(out).toEndWith('Its plots are kept with them: Скользящая.')
    const series = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' }
    const kept = async () => {
      const kv = await openKept(data)
      const found = await importedChart(kv, [series], true)
      await kv.close()
      return found
    }
    expect(await kept()).toMatchObject({ fileName: 'bars.csv', plots: ['Скользящая'], text: chart })
    expect((await chartroom(data, 'bars', 'remove', ...SERIES)).out).toBe('BINANCE:BTCUSDT 1m is removed.')
    expect(await kept()).toBe(null)
    expect((await chartroom(data, 'bars', 'remove', ...SERIES)).code).toBe(1)
  })
})

describe('script add-library', () => {
  const LIBRARY =
    '// This source code is subject to the terms of the Mozilla Public License 2.0.\n//@version=6\nlibrary("zz")\nexport twice(float x) => x * 2\n'

  test('is what scripts of that user import by its path', async () => {
    const data = temporaryFolder()
    await withInput('a long enough password\n', data, 'user', 'add', 'ann@example.com', '--password-stdin')
    const add = (source: string, ...as: string[]) =>
      withInput(source, data, 'script', 'add-library', '-', '--user', 'ann@example.com', ...as)
    const path = ['--as', 'Somebody/zz/3']
    expect(await add(LIBRARY, ...path)).toMatchObject({
      code: 0,
      out: 'Scripts of ann@example.com import Somebody/zz/3 from now on.',
    })
    expect((await add(LIBRARY.replace('x * 2', 'x * 3'), ...path)).code).toBe(0)
    expect((await add('//@version=6\nindicator("x")\nplot(close)\n', ...path)).err).toContain('no library')
    expect((await add('//@version=6\nlibrary("x")\nexport f(float x) => y\n', ...path)).err).toContain(
      'undeclared-name',
    )
    expect((await add(LIBRARY)).code).toBe(2)
    expect((await add(LIBRARY, '--as', 'zz')).code).toBe(2)
    const kv = await openKept(data)
    const [{ id } = { id: '' }] = await Array.fromAsync(users(kv).each())
    const library = libraryFor(kv, id)
    expect([
      await library('somebody', 'ZZ', 3),
      await library('Somebody', 'zz', 2),
      await libraryFor(kv, 'usr_other')('Somebody', 'zz', 3),
    ]).toEqual([LIBRARY.replace('x * 2', 'x * 3'), null, null])
    await kv.close()
  })

  test('what scripts miss is listed, and nothing where they miss nothing', async () => {
    const data = temporaryFolder()
    const listed = () => chartroom(data, 'script', 'wanted-libraries')
    expect((await listed()).out).toBe('No script has asked for a library that is not here.')
    const kv = await openKept(data)
    const clock = { now: () => 1e12, sleep: () => Promise.resolve() }
    let id = 0
    const wanted = new WantedLibraries({ kv, clock, newId: (prefix) => `${prefix}_${++id}`, log: () => {} })
    for (const [user, path] of [
      ['usr_1', 'A/one/1'],
      ['usr_2', 'a/One/1'],
      ['usr_2', 'B/two/2'],
    ] as const)
      wanted.note(user, path)
    while ((await wanted.list()).length < 2) await Bun.sleep(0)
    await kv.close()
    expect((await listed()).out.split('\n').map((line) => line.trim().split(/\s{2,}/))).toEqual([
      ['library', 'users', 'times asked'],
      ['A/one/1', '2', '2'],
      ['B/two/2', '1', '1'],
    ])
  })
})

describe('user and token', () => {
  test('an account with a password of its own, a token, and its end', async () => {
    const data = temporaryFolder()
    const added = await withInput(
      'correct horse\n',
      data,
      'user',
      'add',
      'Ann@Example.com',
      '--password-stdin',
    )
    expect(added).toEqual({ code: 0, out: 'Ann@Example.com can sign in now (owner).', err: '' })
    expect((await chartroom(data, 'user', 'list')).out).toContain('Ann@Example.com  Ann')
    const token = await chartroom(
      data,
      'token',
      'create',
      '--user',
      'ann@example.com',
      '--scope',
      'bars:read,search:read',
    )
    expect(token.out).toMatch(/^crm_pat_\w{36}$/)
    const id = /tok_\w+/.exec(token.err)?.[0] ?? ''
    expect(token.err).toBe(`${id} (API token): bars:read search:read`)
    expect((await chartroom(data, 'token', 'list', '--user', 'ann@example.com')).out).toContain('active')
    expect((await chartroom(data, 'token', 'revoke', id, '--user', 'ann@example.com')).code).toBe(0)
    expect((await chartroom(data, 'token', 'list', '--user', 'ann@example.com')).out).toContain('revoked')
    const reset = await chartroom(data, 'user', 'reset-password', 'ann@example.com')
    expect(reset.out).toMatch(/\nPassword: \S{20}$/)
  })

  test('an admin is made, and unmade; the owner stays', async () => {
    const data = temporaryFolder()
    await chartroom(data, 'user', 'add', 'ann@example.com')
    await chartroom(data, 'user', 'add', 'bob@example.com')
    const role = (...args: string[]) => chartroom(data, 'user', 'role', ...args)
    expect((await role('bob@example.com', 'admin')).out).toBe('bob@example.com is an admin now.')
    expect((await chartroom(data, 'user', 'list')).out).toMatch(/bob@example.com +bob +admin/)
    expect((await role('bob@example.com', 'member')).out).toBe('bob@example.com is a member now.')
    expect((await role('ann@example.com', 'member')).err).toContain('The owner stays the owner')
    expect((await role('bob@example.com', 'king')).err).toContain('admin or member')
  })

  test('a password that everybody tries first is refused', async () => {
    const add = ['user', 'add', 'ann@example.com', '--password-stdin']
    const { code, err } = await withInput('password123', temporaryFolder(), ...add)
    expect([code, err]).toEqual([1, expect.stringContaining('10,000 most used')])
  })

  test('a password that is too short is refused', async () => {
    const outcome = await withInput(
      'short',
      temporaryFolder(),
      'user',
      'add',
      'ann@example.com',
      '--password-stdin',
    )
    expect(outcome).toEqual({ code: 1, out: '', err: 'A password has at least 8 characters.' })
  })
})

test('a backup is a data directory, and comes back', async () => {
  const data = inFolder(temporaryFolder())
  await chartroom(data, 'bars', 'import', csvFile(), ...SERIES)
  const key = 'k'.repeat(32)
  writeFileSync(`${data}/instance.key`, key)
  const backup = inFolder(`${temporaryFolder()}/backup`)
  expect((await chartroom(data, 'backup', backup)).code).toBe(0)
  // It holds password hashes, and others may use the machine.
  const modes = ['', '/db', '/db/data.mdb'].map((path) => statSync(backup + path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o700, 0o600])
  expect((await chartroom(backup, 'bars', 'export', ...SERIES)).out).toBe(CSV.trimEnd())
  const restored = inFolder(`${temporaryFolder()}/restored`)
  expect((await chartroom(restored, 'restore', backup)).code).toBe(0)
  expect((await chartroom(restored, 'bars', 'export', ...SERIES)).out).toBe(CSV.trimEnd())
  expect(readFileSync(`${restored}/instance.key`, 'utf8')).toBe(key)
  expect((await chartroom(restored, 'restore', backup)).code).toBe(2)
  expect((await chartroom(data, 'backup', backup)).code).toBe(2)
  expect(existsSync(`${backup}.partial`)).toBe(false)
})

test('a backup without the key of its database comes back with a warning, and what cannot be read', async () => {
  const data = inFolder(temporaryFolder())
  await chartroom(data, 'bars', 'import', csvFile(), ...SERIES)
  const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }
  const kv = await openKept(data)
  const key = await settleKey(kv, `${data}/instance.key`, { kind: 'missing' }, random)
  const sealed = JSON.stringify({ sealed: 'sealed', setAt: 1 })
  await kv.commit({ sets: [{ key: ['provider-keys', 'Tiingo'], value: sealed }] })
  await kv.close()
  const backup = inFolder(`${temporaryFolder()}/backup`)
  await chartroom(data, 'backup', backup)
  const restore = async () => {
    const restored = inFolder(`${temporaryFolder()}/restored`)
    return { restored, ...(await chartroom(restored, 'restore', backup)) }
  }
  expect((await restore()).code).toBe(0)
  writeFileSync(
    `${backup}/instance.key`,
    key.map((byte) => byte ^ 1),
  )
  expect(await restore()).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not the key of its database'),
  })
  rmSync(`${backup}/instance.key`)
  const { code, err, restored } = await restore()
  expect(code).toBe(1)
  expect(err).toStartWith(`Restored to ${restored}, but not whole: instance.key is missing`)
  expect(err).toContain('so that the key of 1 provider cannot be read')
  expect((await chartroom(restored, 'bars', 'export', ...SERIES)).out).toBe(CSV.trimEnd())
})

describe('what is no command line we know ends with 2 and the usage', () => {
  test.each([
    [['bars']],
    [['bars', 'eat']],
    [['bars', 'import']],
    [['bars', 'import', 'missing.csv', ...SERIES]],
    [['bars', 'export', '--symbol', 'AAPL', '--interval', '1d']],
    [['bars', 'export', '--symbol', 'NASDAQ:AAPL', '--interval', 'often']],
    [['bars', 'export', '--symbol', `NASDAQ:${'A'.repeat(65)}`, '--interval', '1d']],
    [['bars', 'list', '--colour']],
    [['user', 'add']],
    [['token', 'list']],
    [['token', 'create', '--user', 'nobody@example.com']],
    [['backup']],
    [['restore', '/nowhere']],
  ])('%j', async (args) => {
    const outcome = await chartroom(temporaryFolder(), ...args)
    expect(outcome.code).toBe(2)
    expect(outcome.err).toContain('Usage: chartroom ')
  })

  test.each(['bars', 'script', 'user', 'token', 'backup', 'restore'])('%s --help', async (name) => {
    const outcome = await chartroom(temporaryFolder(), name, '--help')
    expect(outcome.code).toBe(0)
    expect(outcome.out).toContain('--data-dir')
  })
})

test('stored backtests are listed, pinned and deleted, each only for its owner', async () => {
  const data = temporaryFolder()
  for (const email of ['ann@example.com', 'ben@example.com'])
    await withInput('correct horse\n', data, 'user', 'add', email, '--password-stdin')
  const kv = await openKept(data)
  const [ann] = (await Array.fromAsync(users(kv).each())).filter(({ email }) => email.startsWith('ann'))
  const market = { exchange: 'SP', symbol: 'SPX', interval: '1d' }
  for (const id of ['bt_1', 'bt_2', 'bt_3']) {
    const run = { id, userId: ann?.id, name: `Имя ${id}`, ...market, state: 'done', createdAt: 0 }
    await transact(kv, () => runs(kv).insert(run as unknown as Run))
  }
  await kv.close()
  const backtests = (...args: string[]) => chartroom(data, 'backtests', ...args, '--user', 'ann@example.com')
  expect((await backtests('pin', 'bt_1')).out).toBe('1 backtest pinned.')
  expect((await backtests('list')).out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ID', 'NAME', 'MARKET', 'STATE', 'PINNED', 'MADE'],
    ['bt_3', 'Имя bt_3', 'SP:SPX 1d', 'done', '1970-01-01 00:00'],
    ['bt_2', 'Имя bt_2', 'SP:SPX 1d', 'done', '1970-01-01 00:00'],
    ['bt_1', 'Имя bt_1', 'SP:SPX 1d', 'done', 'pinned', '1970-01-01 00:00'],
  ])
  expect(await chartroom(data, 'backtests', 'delete', 'bt_1', '--user', 'ben@example.com')).toEqual({
    code: 1,
    out: '0 backtests deleted.',
    err: '1 backtest of those named is not this user’s.',
  })
  expect(await backtests('delete', 'bt_2', 'bt_3')).toEqual({
    code: 0,
    out: '2 backtests deleted.',
    err: '',
  })
  expect((await backtests('list')).out.split('\n')).toHaveLength(2)
  expect((await backtests('delete')).code).toBe(2)
})

test('healthcheck says that the server is ready, and what its backup lacks', async () => {
  let backup: unknown = { state: 'ok', lagSeconds: 0, lastAt: 1, since: null }
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ backup }) })
  const check = () => chartroom(temporaryFolder(), 'healthcheck', '--port', String(server.port))
  try {
    expect(await check()).toMatchObject({ code: 0, out: 'ready', err: '' })
    backup = { state: 'late', lagSeconds: 5.5, lastAt: 1, since: Date.UTC(2026, 10, 22, 12) }
    expect(await check()).toMatchObject({
      code: 0,
      out: 'ready',
      err: 'the backup is late since 2026-11-22T12:00:00.000Z, 5.5 s behind: see Settings, Data',
    })
    backup = undefined
    expect(await check()).toMatchObject({ code: 0, err: '' })
  } finally {
    await server.stop(true)
  }
  expect(await check()).toMatchObject({ code: 1, err: expect.stringContaining('no answer from http') })
})
