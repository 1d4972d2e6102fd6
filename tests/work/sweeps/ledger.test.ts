// The ledger of trials: what counts, when, and what stands beside every result because of it.

import { expect, test } from 'bun:test'
import { scriptNames } from '../../../src/broker/trial-name.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { deviationByLuck } from '../../../src/broker/statistics/deflated-sharpe.ts'
import { leastTrackRecord, probabilisticSharpe } from '../../../src/broker/statistics/probabilistic-sharpe.ts'
import { momentsOf, momentsOfEquity } from '../../../src/broker/statistics/moments.ts'
import { leastBacktestLength } from '../../../src/broker/statistics/backtest-length.ts'
import { format } from '../../../src/language/format.ts'
import { scriptTokens } from '../../../src/language/same-script.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { Ledger } from '../../../src/work/sweeps/ledger.ts'
import { CROSS, SWEEP, sweepServer } from './sweep-server.ts'
import { testKv } from '../../store/test-store.ts'

const OF = { userId: 'u', script: 's', market: 'X:ABC 1h' }
const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(9)) : value
const ledgerOn = (kv: Kv = testKv()) => new Ledger({ kv, log: silentLog })

const nameOf = (source: string) => scriptNames(source).script

test('a script is the same with other defaults, comments and ends, and another with other code', () => {
  const script = '//@version=6\nstrategy("S")\nlength = input.int(5, "Length") // bars\n'
  const name = nameOf(script)
  // Ledgers hold these names, the latter those of 0.2.0.
  expect(scriptNames(script)).toEqual({ script: 'db44c50361770a33405d', formerly: '99c99f3cdacef782616f' })
  const same = [
    script.trimEnd(),
    `${script}\n\n`,
    script.replaceAll('\n', '\r\n'),
    script.replace('(5', '(9'),
    script.replace('(5', '(-9'),
    script.replace(' // bars', ''),
  ]
  expect(same.map(nameOf)).toEqual(same.map(() => name))
  expect(nameOf(script.replace('input.int', 'input.float'))).not.toBe(name)
  expect(nameOf(script.replace('(5', '(5 * 2'))).not.toBe(name)
  const named = (value: string) =>
    nameOf(script.replace('5, "Length"', `title = "Length", defval = ${value}`))
  expect(['9', '-1.5e3', 'true', '"a, b"', '#ff0000'].map(named)).toEqual(Array(5).fill(named('5')))
  expect(named('close')).not.toBe(named('open'))
})

test('a script is the same in any layout, and another where a line moves into a block', () => {
  const script = `//@version=6
strategy("S", overlay = true)
rises(x) =>
    y = x[1]
    x > y
if rises(close) and
     rises(high)
    strategy.entry("L", strategy.long)
    alert("up")
plot(close)`
  const others = [
    script.replaceAll(' = ', '=').replaceAll(', ', ' , '),
    script.replaceAll('    ', '\t').replace('\t rises', ' rises'),
    script.replace('and\n     rises', 'and rises'),
    script.replace('strategy("S", overlay', 'strategy(\n  "S",\n        overlay'),
    script.replaceAll('"', "'"),
    script.replaceAll('\n', '\n\n'),
    script.replace('    y = x[1]\n    x >', '  y = x[1]\n  x >'),
    format(script),
  ]
  expect(others.map(scriptTokens)).toEqual(others.map(() => scriptTokens(script)))
  expect(scriptTokens(script.replace('    alert', 'alert'))).not.toBe(scriptTokens(script))
  expect(scriptTokens(script.replace('"L"', '"l"'))).not.toBe(scriptTokens(script))
  expect(scriptTokens('a = 1\nb = 2')).not.toBe(scriptTokens('a = 1, b = 2'))
})

test('what was counted under the former name is joined, also after a sudden end, and stored results still find it', async () => {
  const kv = testKv()
  const before = { ...OF, script: 'before' }
  const now = { ...OF, script: 'now', formerly: 'before' }
  const sharpes = Array.from({ length: 1203 }, (_, i) => Math.sin(i))
  const old = ledgerOn(kv)
  await old.add(sharpes.map((sharpe, i) => ({ ...before, trial: `t${i}`, sharpe })))
  // Some of them were tried again in the meantime, and one more.
  await old.add(
    [1200, 1201, 5000].map((i) => ({ ...now, formerly: '', trial: `t${i}`, sharpe: Math.sin(i) })),
  )
  // It ends suddenly after the first commit.
  let left = 1
  const cut: Kv = Object.create(kv, {
    commit: {
      value: (changes: Parameters<Kv['commit']>[0]) =>
        left-- > 0 ? kv.commit(changes) : Promise.reject(new Error('it ended')),
    },
  })
  expect(ledgerOn(cut).rename(now)).rejects.toThrow('it ended')
  const ledger = ledgerOn(kv)
  ledger.note({ ...now, trial: 't7' })
  await ledger.settled()
  expect(await ledger.counts([now, before, { ...OF, script: 'another' }])).toEqual([1204, 1204, 0])
  const deviation = momentsOf([...sharpes, Math.sin(5000)]).deviation
  for (const of of [now, before]) {
    const counted = await ledger.counted(of)
    expect(counted.count).toBe(1204)
    expect(counted.deviation).toBeCloseTo(deviation, 9)
  }
  expect(await kv.list({ prefix: ['trial', 'u', 'before'] }, { limit: 10 })).toEqual([])
})

test('counts what waits and what is written the same, and a trial once however it comes', async () => {
  const ledger = ledgerOn()
  const seed = Math.floor(Math.random() * 1e9)
  const random = seededRandom(seed)
  const sharpes = new Map<string, number>()
  for (let i = 0; i < 300; i++) {
    const trial = String(Math.floor(random.uniform() * 120))
    const sharpe = sharpes.get(trial) ?? random.normal()
    sharpes.set(trial, sharpe)
    if (random.uniform() < 0.8) ledger.note({ ...OF, trial, sharpe })
    else await ledger.add([{ ...OF, trial, sharpe }])
    const { count, deviation } = await ledger.counted(OF)
    expect([seed, i, count]).toEqual([seed, i, sharpes.size])
    expect(await ledger.count(OF)).toBe(count)
    if (count > 1) expect(deviation).toBeCloseTo(momentsOf([...sharpes.values()]).deviation, 12)
  }
  await ledger.settled()
  expect((await ledger.counted(OF)).count).toBe(sharpes.size)
  expect(await ledger.counts([{ ...OF, market: 'X:ABC 1d' }, OF])).toEqual([0, sharpes.size])
})

test('a ratio that becomes known later counts among the ratios, and not as another trial', async () => {
  const ledger = ledgerOn()
  await ledger.add([
    { ...OF, trial: 'a' },
    { ...OF, trial: 'b', sharpe: 1 },
  ])
  expect(await ledger.counted(OF)).toEqual({ count: 2, deviation: null })
  await ledger.add([{ ...OF, trial: 'a', sharpe: 3 }])
  expect(await ledger.counted(OF)).toEqual({ count: 2, deviation: Math.SQRT2 })
})

test('a ledger from before the spread of its ratios was kept is read once', async () => {
  const kv = testKv()
  const old = [1, 2, 4].map((sharpe) => ({
    key: ['trial', 'u', 's', OF.market, `t${sharpe}`],
    value: String(sharpe),
  }))
  await kv.commit({ sets: old, sums: [{ key: ['trial-count', 'u', 's', OF.market], step: 3 }] })
  const ledger = ledgerOn(kv)
  expect((await ledger.counted(OF)).deviation).toBeCloseTo(momentsOf([1, 2, 4]).deviation, 12)
  await ledger.add([{ ...OF, trial: 'new', sharpe: 9 }])
  const { count, deviation } = await ledger.counted(OF)
  expect(count).toBe(4)
  expect(deviation).toBeCloseTo(momentsOf([1, 2, 4, 9]).deviation, 12)
})

test('a store that refuses does not keep trials waiting for ever', async () => {
  const kv = testKv()
  const said: string[] = []
  const commit = () => Promise.reject(new Error('full'))
  const ledger = new Ledger({ kv: { ...kv, commit }, log: (_, message) => said.push(message) })
  for (let i = 0; i < 120; i++) ledger.note({ ...OF, trial: String(i) })
  expect(await ledger.count(OF)).toBe(120)
  await ledger.settled()
  expect(await ledger.count(OF)).toBe(0)
  expect(said).toEqual(Array.from({ length: 3 }, () => 'trials could not be counted'))
})

test('every answer with a result says how often its script was tried, by whatever means', async () => {
  const { call, sweep, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const body = (inputs = {}) => ({ name: 'one', source: CROSS, bars, symbol, exchange, interval, inputs })
  const preview = async (inputs = {}) =>
    (await call('POST', '/api/platform/backtests/preview?tracks=none', body(inputs))).json
  const first = await preview()
  expect(first.trials.counted).toBe(1)
  expect(first.trials.sentence).toStartWith(
    'The only combination of this script tried on X:ABC 1h. Chance that luck alone did this: ',
  )
  // The same choice again, kept this time.
  const { id, trials } = (await call('POST', '/api/platform/backtests', body())).json
  expect(trials).toEqual(first.trials)
  expect((await preview({ Fast: 7 })).trials.counted).toBe(2)
  await sweep()
  const again = (await call('GET', `/api/platform/backtests/${id}`)).json
  expect(again.trials.counted).toBe(23)
  expect(again.trials.sentence).toStartWith('Tried 23 combinations of this script on X:ABC 1h. ')
  const listed = (await call('GET', '/api/platform/backtests')).json.backtests
  expect(listed.map(({ counted }: { readonly counted: number }) => counted)).toEqual([23])
  // The numbers are those of the whole verdict.
  const { verdict } = (await call('GET', `/api/platform/backtests/${id}/verdict`)).json
  const digits = (values: object) => JSON.parse(JSON.stringify(values, rounded))
  expect(digits(verdict.sharpe)).toMatchObject(digits(again.trials.sharpe))
  expect(digits({ length: verdict.length })).toEqual(digits({ length: again.trials.length }))
  pool.close()
})

test('what holding beats says so, when it runs, when it is read again, and in its verdict', async () => {
  const { call, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const body = { name: 'one', source: CROSS, bars, symbol, exchange, interval }
  const sentences = async (overrides: object) => {
    const { id, trials, result } = (await call('POST', '/api/platform/backtests', { ...body, overrides }))
      .json
    const { netProfit, openProfit, buyHold } = result.report.equity
    const of = (path: string) => call('GET', `/api/platform/backtests/${id}${path}`)
    const [again, { verdict }] = [(await of('')).json, (await of('/verdict')).json]
    const said: string[] = [trials.sentence, again.trials.sentence, verdict.sentence]
    return [
      netProfit + openProfit < buyHold,
      ...said.map((one) => one.includes('%. Buying and holding would have made more.')),
    ]
  }
  expect(await sentences({})).toEqual(Array(4).fill(false))
  const dear = { commission_type: 'percent', commission_value: 10 }
  expect(await sentences(dear)).toEqual(Array(4).fill(true))
  pool.close()
})

test('a single result is judged by its returns a bar, as the papers do', async () => {
  const { call, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const run = { name: 'one', source: CROSS, bars, symbol, exchange, interval }
  const { trials, result } = (await call('POST', '/api/platform/backtests/preview', run)).json
  const { data } = result.tracks.find(({ kind }: { readonly kind: string }) => kind === 'equity')
  const moments = momentsOfEquity(data, 10_000)
  const returns = data.map((now: number, i: number) => now / (i === 0 ? 10_000 : data[i - 1]) - 1)
  const plain = momentsOf(returns)
  for (const name of ['sharpe', 'skewness', 'kurtosis', 'deviation', 'mean'] as const)
    expect(moments[name]).toBeCloseTo(plain[name], 9)
  expect(trials.sharpe).toMatchObject({ bars: 600, benchmark: 0, deviation: deviationByLuck(600) })
  expect(trials.sharpe.probabilistic).toBeCloseTo(probabilisticSharpe(plain)!, 9)
  expect(trials.sharpe.deflated).toBe(trials.sharpe.probabilistic)
  expect(trials.sharpe.leastBars).toEqual(leastTrackRecord(moments))
  const { length } = trials
  if (length) expect(length.years).toBe(leastBacktestLength(1, length.annualSharpe).years)
  // What never traded says how often, and nothing of luck.
  const idle = { ...run, source: '//@version=6\nstrategy("idle")' }
  expect((await call('POST', '/api/platform/backtests/preview', idle)).json.trials).toEqual({
    counted: 1,
    sentence: 'The only combination of this script tried on X:ABC 1h.',
    sharpe: null,
    length: null,
  })
  pool.close()
})

test('laid out anew, with other defaults and comments, a script goes on counting', async () => {
  const { call, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const counted = async (source: string, inputs = {}) =>
    (
      await call('POST', '/api/platform/backtests/preview?tracks=none', {
        name: 'one',
        source,
        bars,
        symbol,
        exchange,
        interval,
        inputs,
      })
    ).json.trials.counted
  expect(await counted(CROSS)).toBe(1)
  expect(
    await counted(CROSS.replaceAll(', ', ',  ').replace('input.int(5', 'input.int( // fast\n    5')),
  ).toBe(1)
  expect(await counted(CROSS.replaceAll(' = ', '='), { Fast: 6 })).toBe(2)
  expect(await counted(CROSS.replace('input.int(5', 'input.int(6'))).toBe(2)
  pool.close()
})
