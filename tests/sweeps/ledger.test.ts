// The ledger of trials: what counts, when, and what stands beside every result because of it.

import { expect, test } from 'bun:test'
import { scriptName } from '../../src/backtest/trial-name.ts'
import { silentLog } from '../../src/lib/log.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { deviationByLuck } from '../../src/statistics/deflated-sharpe.ts'
import { leastTrackRecord, probabilisticSharpe } from '../../src/statistics/probabilistic-sharpe.ts'
import { momentsOf, momentsOfEquity } from '../../src/statistics/moments.ts'
import { leastBacktestLength } from '../../src/statistics/backtest-length.ts'
import type { Kv } from '../../src/store/kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { Ledger } from '../../src/sweeps/ledger.ts'
import { CROSS, SWEEP, sweepServer } from './sweep-server.ts'

const OF = { userId: 'u', script: 's', market: 'X:ABC 1h' }
const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(9)) : value
const ledgerOn = (kv: Kv = memoryKv()) => new Ledger({ kv, log: silentLog })

test('a script is the same with other defaults, comments and ends, and another with other code', () => {
  const script = '//@version=6\nstrategy("S")\nlength = input.int(5, "Length") // bars\n'
  const name = scriptName(script)
  // Ledgers of 0.2.0 hold this name.
  expect(name).toBe('99c99f3cdacef782616f')
  const same = [
    script.trimEnd(),
    `${script}\n\n`,
    script.replaceAll('\n', '\r\n'),
    script.replace('(5', '(9'),
    script.replace(' // bars', ''),
  ]
  expect(same.map(scriptName)).toEqual(same.map(() => name))
  expect(scriptName(script.replace('input.int', 'input.float'))).not.toBe(name)
  const named = (value: string) =>
    scriptName(script.replace('5, "Length"', `title = "Length", defval = ${value}`))
  expect(['9', '-1.5e3', 'true', '"a, b"'].map(named)).toEqual(Array(4).fill(named('5')))
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
  const kv = memoryKv()
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
  const kv = memoryKv()
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
