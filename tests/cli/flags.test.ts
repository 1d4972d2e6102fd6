// The flags of less travelled commands: what each changes, and that a bad value is named.

import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { tokens, users } from '../../src/people/accounts/accounts.ts'
import { runs, type Run } from '../../src/work/runs/records.ts'
import { transact } from '../../src/store/transaction.ts'
import { chartroom, openKept, type Outcome, temporaryFolder, withHttp, withInput } from './run.ts'

const MINUTE = 60_000
const START = Date.UTC(2024, 2, 5, 10)

/** Bars of one price, a step apart. */
function csv(closes: readonly number[], step = MINUTE): string {
  const rows = closes.map((close, i) => `${START + i * step},${close},${close},${close},${close},5`)
  return ['time,open,high,low,close,volume', ...rows, ''].join('\n')
}

function file(name: string, text: string): string {
  const path = `${temporaryFolder()}/${name}`
  writeFileSync(path, text)
  return path
}

interface Answer {
  readonly report: { readonly logs: readonly { readonly message: string }[] }
}

/** `backtest` of a script from standard input, its answer as JSON. */
async function reportOf(source: string, ...args: string[]) {
  const outcome = await withInput(source, temporaryFolder(), 'backtest', '-', '--json', ...args)
  if (outcome.code !== 0) throw new Error(outcome.err)
  return (JSON.parse(outcome.out) as Answer).report
}

describe('backtest', () => {
  const LOGS = '//@version=6\nstrategy("S")\nif barstate.islast\n    log.info('
  const said = async (expression: string, ...args: string[]) =>
    (await reportOf(`${LOGS}${expression})\n`, ...args)).logs.map(({ message }) => message)
  const bars = () => file('bars.csv', csv([10, 11, 12]))

  test('--set stands for what the declaration says', async () => {
    const capital = async (...args: string[]) =>
      said('str.tostring(strategy.initial_capital)', '--bars', bars(), ...args)
    expect(await capital('--set', '{"initial_capital": 50000}')).toEqual(['50000'])
    expect(await capital()).toEqual(['100000'])
    const bad = await withInput(LOGS, temporaryFolder(), 'backtest', '-', '--bars', bars(), '--set', '[1]')
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('--set')])
  })

  test('a name of TradingView tells the market, and prices the tick of a coin', async () => {
    const tick = 'syminfo.tickerid + " " + str.tostring(syminfo.mintick)'
    const cheap = csv([0.0011, 0.0012, 0.0013])
    const named = file('BINANCE_PEPEUSDT, 15.csv', cheap)
    expect(await said(tick, '--bars', named)).toEqual(['BINANCE:PEPEUSDT 0.0001'])
    const asked = ['--bars', file('b.csv', cheap), '--symbol', 'BINANCE:PEPEUSDT']
    expect(await said(tick, ...asked)).toEqual(['BINANCE:PEPEUSDT 0.0001'])
    const { out } = await withInput(LOGS + '"x")', temporaryFolder(), 'backtest', '-', '--bars', bars())
    expect(out.split('\n')[1]).toStartWith('BARS 1m · 3 bars')
  })

  test('--syminfo tells the facts of the symbol', async () => {
    const facts = file('facts.json', '{"mintick": 0.25, "pointvalue": 50, "timezone": "America/Chicago"}')
    const expression = 'str.format("{0} {1} {2}", syminfo.mintick, syminfo.pointvalue, syminfo.timezone)'
    expect(await said(expression, '--bars', bars(), '--syminfo', facts)).toEqual(['0.25 50 America/Chicago'])
    const missing = ['backtest', '-', '--bars', bars(), '--syminfo', '/nowhere.json']
    expect(await withInput(LOGS, temporaryFolder(), ...missing)).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no file /nowhere.json.') as string,
    })
  })

  test('--finer is what request.security_lower_tf() reads', async () => {
    const coarse = file('coarse.csv', csv([14, 24], 5 * MINUTE))
    const fine = file('fine.csv', csv([10, 11, 12, 13, 14, 20, 21, 22, 23, 24]))
    const expression = 'str.tostring(request.security_lower_tf(syminfo.tickerid, "1", close))'
    const source = `//@version=6\nindicator("S")\nlog.info(${expression})\n`
    const report = await reportOf(source, '--bars', coarse, '--symbol', 'X:Y', '--finer', `${fine}:1m`)
    expect(report.logs.map(({ message }) => message)).toEqual([
      '[10, 11, 12, 13, 14]',
      '[20, 21, 22, 23, 24]',
    ])
    const bad = ['backtest', '-', '--bars', coarse, '--finer', fine]
    expect((await withInput(source, temporaryFolder(), ...bad)).err).toContain('--finer is FILE:INTERVAL')
  })

  test('--libraries says where imported ones are', async () => {
    const folder = temporaryFolder()
    await Bun.write(
      `${folder}/Ann/double.pine`,
      '//@version=6\nlibrary("double")\nexport twice(float x) =>\n    x * 2\n',
    )
    const source =
      '//@version=6\nindicator("S")\nimport Ann/double/1 as d\nif barstate.islast\n    log.info(str.tostring(d.twice(close)))\n'
    const report = await reportOf(source, '--bars', bars(), '--libraries', folder)
    expect(report.logs).toMatchObject([{ message: '24' }])
    const without = await withInput(source, temporaryFolder(), 'backtest', '-', '--bars', bars())
    expect([without.code, without.err]).toEqual([1, expect.stringContaining('Ann/double')])
  })

  test('--as-of takes TradingView as it was on that day, and refuses days of which nothing is known', async () => {
    const ran = (...args: string[]) =>
      withInput(
        `${LOGS}str.tostring(strategy.initial_capital))\n`,
        temporaryFolder(),
        'backtest',
        '-',
        '--json',
        '--bars',
        bars(),
        ...args,
      )
    const before = JSON.parse((await ran('--as-of', '2026-09-01')).out).report
    expect(before).toMatchObject({ asOf: '2026-09-01', initialCapital: 1_000_000 })
    expect(before.script.declaration).toMatchObject({ default_qty_type: 'fixed', default_qty_value: 1 })
    expect(JSON.parse((await ran()).out).report).toMatchObject({
      asOf: '2026-09-24',
      initialCapital: 100_000,
    })
    for (const [day, words] of [
      ['2020-01-01', 'Take 2024-12-10 or a later day.'],
      ['2027-01-01', 'Take a day up to today'],
      ['24.9.2026', 'It takes a day such as 2026-09-24.'],
    ] as const)
      expect(await ran('--as-of', day)).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(new RegExp(`^--as-of: .*${words}`)),
      })
  })

  test('--timezone is that of the times in the export', async () => {
    // Bought at 10:01 UTC for 11, sold at 10:03 for 13: 11:01 and 11:03 in Berlin.
    const source =
      '//@version=6\nstrategy("S", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index == 0\n    strategy.entry("L", strategy.long)\nif bar_index == 2\n    strategy.close("L")\n'
    const prices = file('bars.csv', csv([10, 11, 12, 13, 14]))
    const exported = file(
      'list.csv',
      'Trade #,Type,Date/Time,Signal,Price USD,Contracts,Profit USD\n' +
        '1,Exit long,2024-03-05 11:03,Close entry(s) order L,13,1,2\n1,Entry long,2024-03-05 11:01,L,11,1,2\n',
    )
    const compared = (zone: string) =>
      withInput(
        source,
        temporaryFolder(),
        'backtest',
        '-',
        '--bars',
        prices,
        '--compare',
        exported,
        '--timezone',
        zone,
      )
    const berlin = await compared('Europe/Berlin')
    expect(berlin.out).toContain('Times of the export: Europe/Berlin.')
    expect(berlin.out).toContain('1 of 1 trades of the export agree')
    expect(berlin.code).toBe(0)
    expect((await compared('UTC')).code).toBe(1)
  })
})

describe('check', () => {
  test('--time-ms ends a script that runs longer', async () => {
    const script = file(
      'slow.pine',
      '//@version=6\nindicator("Slow")\nn = 0\nfor i = 0 to 1000000000\n    n += i % 3\nplot(n)\n',
    )
    const args = ['check', script, '--symbol', 'SP:SPX', '--interval', '1d']
    const slow = await chartroom(temporaryFolder(), ...args, '--time-ms', '1')
    expect([slow.code, slow.out]).toEqual([1, expect.stringContaining('0 of 1 run.')])
    const bad = await chartroom(temporaryFolder(), ...args, '--time-ms', 'soon')
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('--time-ms is a number')])
  })
})

describe('bars', () => {
  const SERIES = ['--symbol', 'BINANCE:BTCUSDT', '--interval', '1']

  test('--format says what a file is whose name does not', async () => {
    const data = temporaryFolder()
    const rows = [{ time: START, open: 10, high: 12, low: 9, close: 11, volume: 5 }]
    const path = file('bars.txt', JSON.stringify(rows))
    const imported = await chartroom(data, 'bars', 'import', path, ...SERIES, '--format', 'json')
    expect(imported.out.split('\n').slice(0, 2)).toEqual([
      'Read JSON.',
      'BINANCE:BTCUSDT 1m: 1 bar added, 0 replaced.',
    ])
    const bad = await chartroom(data, 'bars', 'import', path, ...SERIES, '--format', 'xml')
    expect(bad).toMatchObject({ code: 2, err: expect.stringContaining('--format is csv or json.') as string })
  })

  test('--from and --to (which is not in it) cut an export, --output writes it to a file', async () => {
    const data = temporaryFolder()
    await chartroom(data, 'bars', 'import', file('bars.csv', csv([10, 11, 12, 13])), ...SERIES)
    const output = `${temporaryFolder()}/out.csv`
    const cut = ['--from', '2024-03-05T10:01Z', '--to', '2024-03-05T10:03Z']
    const written = await chartroom(data, 'bars', 'export', ...SERIES, ...cut, '--output', output)
    expect(written.out).toBe(`2 bars of BINANCE:BTCUSDT 1m in ${output}`)
    const times = readFileSync(output, 'utf8').trim().split('\n').slice(1)
    expect(times.map((row) => row.split(',')[4])).toEqual(['11', '12'])
    const bad = await chartroom(data, 'bars', 'export', ...SERIES, '--to', 'tomorrow')
    expect([bad.code, bad.err]).toEqual([2, expect.stringContaining('--to')])
  })

  test('--to ends what is fetched', async () => {
    const asked: string[] = []
    const http = (url: string): Promise<Response> => {
      asked.push(url)
      return Promise.resolve(Response.json([]))
    }
    const args = ['bars', 'fetch', ...SERIES, '--from', '2024-03-05', '--to', '2024-03-06']
    await withHttp(http, temporaryFolder(), args)
    const ends = asked.map((url) => Number(new URL(url).searchParams.get('endTime')))
    expect(ends.length).toBeGreaterThan(0)
    expect(Math.max(...ends)).toBeLessThanOrEqual(Date.UTC(2024, 2, 6))
  })
})

describe('accounts', () => {
  test('--name is shown in the list, of users and of tokens, and --expires-in-days ends a token', async () => {
    const data = temporaryFolder()
    await chartroom(data, 'user', 'add', 'ann@example.com', '--name', 'Анна')
    expect((await chartroom(data, 'user', 'list')).out).toContain('ann@example.com  Анна')
    const token = (...args: string[]): Promise<Outcome> =>
      chartroom(data, 'token', 'create', '--user', 'ann@example.com', '--scope', 'bars:read', ...args)
    expect((await token('--name', 'робот', '--expires-in-days', '2')).err).toMatch(
      /^tok_\w+ \(робот\): bars:read$/,
    )
    expect((await token('--expires-in-days', 'two')).err).toContain('--expires-in-days is a number')
    const kv = await openKept(data)
    const stored = await Array.fromAsync(tokens(kv).each())
    await kv.close()
    // The clock of these tests stands at 20 November 2026.
    expect(stored.find(({ name }) => name === 'робот')?.expiresAt).toBe(Date.UTC(2026, 10, 22))
  })

  test('--limit shortens the list of backtests', async () => {
    const data = temporaryFolder()
    await chartroom(data, 'user', 'add', 'ann@example.com')
    const kv = await openKept(data)
    const [ann] = await Array.fromAsync(users(kv).each())
    for (const id of ['bt_1', 'bt_2', 'bt_3']) {
      const run = {
        id,
        userId: ann?.id,
        name: id,
        exchange: 'SP',
        symbol: 'SPX',
        interval: '1d',
        state: 'done',
        createdAt: 0,
      }
      await transact(kv, () => runs(kv).insert(run as unknown as Run))
    }
    await kv.close()
    const list = (limit: string) =>
      chartroom(data, 'backtests', 'list', '--user', 'ann@example.com', '--limit', limit)
    expect((await list('2')).out.split('\n').map((line) => line.split(/ +/)[0])).toEqual([
      'ID',
      'bt_3',
      'bt_2',
    ])
    for (const bad of ['0', '1.5', '10000', 'all'])
      expect(await list(bad)).toMatchObject({
        code: 2,
        err: expect.stringContaining('--limit is a number from 1 to 9999.') as string,
      })
  })
})
