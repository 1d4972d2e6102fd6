// Sweeps through the API, with the real engine.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { SweepBody } from '../../../src/wire/sweep.ts'
import { barsCsv, CROSS, SWEEP, sweepServer } from './sweep-server.ts'
import { testKv } from '../../store/test-store.ts'

const PATH = '/api/platform/sweeps'
const PREVIEW = '/api/platform/backtests/preview'
const { source, symbol, exchange, interval } = SWEEP
const SINGLE = { name: 'one', source, symbol, exchange, interval }

interface WindowRow {
  readonly trial: number
  readonly outside: { readonly from: number; readonly to: number }
  readonly outProfit: number
}

describe('a sweep', () => {
  test('tries every choice that its conditions allow, and each equals the single run with those inputs', async () => {
    const { sweep, trials, call, pool } = await sweepServer()
    const { sweep: done, verdict } = await sweep()
    expect(done).toMatchObject({
      state: 'done',
      sampler: 'grid',
      tried: 21,
      failed: 0,
      counted: 21,
      error: null,
    })
    const rows = await trials(done.id)
    expect(rows).toHaveLength(21)
    expect(rows.every(({ choices: [fast, slow] }: { choices: number[] }) => fast! < slow!)).toBe(true)
    for (const { choices, figures, score } of rows) {
      const inputs = { Fast: choices[0], Slow: choices[1] }
      const single = await call('POST', PREVIEW, { ...SINGLE, bars: SWEEP.bars, inputs })
      expect(figures).toEqual(single.json.result.report.summary)
      expect(score).toBe(figures.netProfit)
    }
    const best = rows.toSorted((a: { score: number }, b: { score: number }) => b.score - a.score)[0]
    expect(verdict.best).toEqual({ trial: best.trial, score: best.score })
    expect(done.best).toEqual(verdict.best)
    expect(done.sentence).toBe(verdict.sentence)
    expect(verdict.sentence).toMatch(
      /^Best of 21 tried\. Chance that luck alone did this: (under )?\d+%\. Buying and holding would have made more\. The probability of overfitting is /,
    )
    expect(verdict.overfitting.splits).toBe(12_870)
    expect(verdict.monteCarlo.rounds).toBe(1000)
    expect(verdict.scored).toBe(rows.filter(({ score }: { score: number | null }) => score !== null).length)
    const { sharpe, length } = verdict
    expect(sharpe.sharpe).toBe(best.sharpe)
    expect(sharpe.independent).toBeCloseTo(sharpe.correlation + (1 - sharpe.correlation) * 21, 9)
    // Fewer tries are less luck.
    expect(sharpe.deflatedIndependent).toBeGreaterThan(sharpe.deflated)
    expect(sharpe.probabilistic).toBeGreaterThan(sharpe.deflatedIndependent)
    // It is below what luck shows: no number of bars is enough.
    expect([sharpe.sharpe < sharpe.benchmark, sharpe.leastBars]).toEqual([true, null])
    expect(length.annualSharpe).toBeCloseTo(sharpe.sharpe * Math.sqrt(600 / length.have), 9)
    // The previews were the same trials: nothing new was tried.
    expect((await call('GET', `/api/platform/trials?of=${done.id}`)).json.counted).toBe(21)
    pool.close()
  })

  test('is listed, answers its trials in pages and as CSV, and can be removed', async () => {
    const { sweep, call, pool } = await sweepServer()
    const { sweep: done } = await sweep()
    const list = await call('GET', PATH)
    expect(list.json.sweeps).toHaveLength(1)
    expect(list.json.sweeps[0]).toMatchObject({ id: done.id, name: 'crosses' })
    expect(list.json.sweeps[0].source).toBeUndefined()
    expect((await call('GET', `${PATH}/${done.id}`)).json.sweep.source).toBe(CROSS)
    const first = await call('GET', `${PATH}/${done.id}/results?limit=12`)
    const second = await call('GET', `${PATH}/${done.id}/results?limit=12&cursor=${first.json.nextCursor}`)
    expect([first.json.trials.length, second.json.trials.length, second.json.nextCursor]).toEqual([
      12,
      9,
      null,
    ])
    expect(second.json.trials[0].trial).toBe(12)
    const csv = await call('GET', `${PATH}/${done.id}/results.csv`)
    const lines = csv.text.trim().split('\n')
    expect(lines).toHaveLength(22)
    expect(lines[0]).toStartWith('trial,Fast,slow,score,sharpe a bar,trades,netProfit')
    expect((await call('DELETE', `${PATH}/${done.id}`)).json.deleted).toBe(true)
    expect((await call('GET', `${PATH}/${done.id}`)).status).toBe(404)
    expect((await call('GET', `${PATH}/${done.id}/results`)).json.error.code).toBe('sweep_not_found')
    pool.close()
  })

  test('leaves no less luck where it goes over the best of an earlier one again', async () => {
    const { sweep, trials, pool } = await sweepServer()
    const { sweep: wide, verdict } = await sweep()
    const [fast, slow] = (await trials(wide.id))[verdict.best.trial].choices
    const again = (slows: readonly number[]) =>
      sweep({
        space: [
          { input: 'Fast', values: [fast] },
          { input: 'slow', values: slows },
        ],
      })
    const { verdict: alone } = await again([slow])
    expect(alone.counted).toBe(21)
    expect(alone.sharpe.deflated).toBeCloseTo(verdict.sharpe.deflated, 9)
    const { verdict: near } = await again([slow, slow + 1])
    expect(near.counted).toBe(22)
    expect(near.sharpe.deviation).toBeGreaterThan(0.9 * verdict.sharpe.deviation)
    pool.close()
  })

  test('varies properties, lists and ranges on a logarithmic scale, and keeps to its constraints', async () => {
    const { sweep, trials, pool } = await sweepServer()
    const { sweep: done } = await sweep({
      space: [
        { input: 'Kind', values: ['both', 'long'] },
        { property: 'initial_capital', min: 1000, max: 100_000, step: 1000, log: true },
      ],
      where: [],
      sampler: 'sobol',
      trials: 12,
      objective: 'netProfitPct / max(maxDrawdownPct, .01)',
      constraints: ['trades >= 20', 'all.marginCalls == 0'],
    })
    expect(done).toMatchObject({ state: 'done', tried: 12 })
    const rows = await trials(done.id)
    for (const { score, figures } of rows)
      expect(score === null).toBe(!(figures.trades >= 20 && figures['all.marginCalls'] === 0))
    pool.close()
  })

  test('says so where no choice meets the conditions', async () => {
    const { sweep, pool } = await sweepServer()
    const { sweep: done } = await sweep({ where: ['Fast > slow + 1000'] })
    expect(done).toMatchObject({
      state: 'done',
      tried: 0,
      sentence: 'Nothing was tried: no choice of values meets the conditions.',
    })
    pool.close()
  })

  describe('with one worker and with three', () => {
    let servers: Awaited<ReturnType<typeof sweepServer>>[]
    beforeAll(async () => {
      servers = await Promise.all([1, 4].map((workers) => sweepServer({ workers })))
    })
    afterAll(() => servers.forEach(({ pool }) => pool.close()))
    const onBoth = (change: Partial<SweepBody>) =>
      Promise.all(
        servers.map(async ({ sweep, trials }) => {
          const { sweep: done, verdict } = await sweep(change)
          return { done, verdict, found: await trials(done.id) }
        }),
      )

    test.each(['random', 'sobol', 'tpe', 'cmaes'] as const)('%s tries the same', async (sampler) => {
      const [one, three] = await onBoth({
        sampler,
        trials: 30,
        seed: 5,
        space: [
          { input: 'Fast', min: 2, max: 40, step: 1 },
          { input: 'Slow', min: 5, max: 90, step: 1 },
        ],
        where: [],
      })
      expect(one!.verdict).toEqual(three!.verdict)
      expect(one!.found).toEqual(three!.found)
      expect(one!.found).toHaveLength(30)
    })

    test('the same is sorted out', async () => {
      const [one, three] = await onBoth({
        space: [
          { input: 'Fast', min: 2, max: 40, step: 1 },
          { input: 'Slow', min: 5, max: 90, step: 1 },
        ],
        where: [],
        sampler: 'sobol',
        trials: 150,
        halving: { keep: 0.2 },
      })
      expect([one!.done.tried, one!.done.filtered]).toEqual([30, 120])
      expect([three!.done.tried, three!.done.filtered]).toEqual([30, 120])
      expect(one!.found).toEqual(three!.found)
    })
  })

  test('sorts out by the first bars, keeps the trials of whole runs, and counts both', async () => {
    const space = [
      { input: 'Fast', min: 2, max: 40, step: 1 },
      { input: 'Slow', min: 5, max: 90, step: 1 },
    ]
    const change = { space, where: [], sampler: 'random' as const, trials: 210, seed: 3 }
    const { sweep, trials, pool } = await sweepServer()
    const { sweep: whole } = await sweep(change)
    const all = await trials(whole.id)
    const { sweep: done, verdict } = await sweep({ ...change, halving: { keep: 0.3, rungs: 2 } })
    // Of 200: 60, then 18; of 10: 3, then 1.
    expect(done).toMatchObject({ state: 'done', tried: 19, filtered: 191, halving: { keep: 0.3, rungs: 2 } })
    const kept = await trials(done.id)
    expect(kept).toHaveLength(19)
    const known = new Map(all.map((one: { choices: number[] }) => [one.choices.join(), one]))
    for (const one of kept)
      expect(one).toEqual({ ...(known.get(one.choices.join()) as object), trial: one.trial })
    expect(verdict.counted).toBe(whole.counted)
    pool.close()
  })

  test('goes on where a server ended that was killed, and ends with the same', async () => {
    const space = [
      { input: 'Fast', min: 2, max: 40, step: 1 },
      { input: 'Slow', min: 5, max: 90, step: 1 },
    ]
    const change = {
      space,
      where: [],
      sampler: 'tpe' as const,
      trials: 40,
      windows: { kind: 'rolling' as const, runs: 4 },
    }
    const whole = await sweepServer()
    const { sweep: done, verdict } = await whole.sweep(change)
    const expected = { verdict, trials: await whole.trials(done.id) }
    whole.pool.close()

    // A store that the server loses hold of in the middle: nothing it writes afterwards arrives.
    const kv = testKv()
    const dead = { is: false }
    const lost = Object.assign(Object.create(kv) as typeof kv, {
      commit: (commit: Parameters<typeof kv.commit>[0]) =>
        dead.is ? new Promise<boolean>(() => {}) : kv.commit(commit),
    })
    const first = await sweepServer({ kv: lost })
    const made = await first.call('POST', PATH, { ...SWEEP, ...change })
    const { id } = made.json
    while (!(await kv.get(['sweep-batch', id, 3]))) await Bun.sleep(5)
    dead.is = true
    first.pool.close()

    const { services } = first
    const second = await sweepServer({ kv, bars: services.bars, seed: 2, signedUp: first.cookie })
    await second.services.features.sweeps.recover()
    const found = await second.ended(id)
    expect(found.sweep).toMatchObject({ state: 'done', tried: 40 })
    expect(found.verdict).toEqual(expected.verdict)
    expect(await second.trials(id)).toEqual(expected.trials)
    second.pool.close()
  })

  test('does not go on behind trials that it would not have chosen: another version began it', async () => {
    const kv = testKv()
    const { call, ended, pool } = await sweepServer({ kv })
    const space = [{ input: 'Fast', min: 2, max: 200, step: 1 }]
    const { id } = (await call('POST', PATH, { ...SWEEP, sampler: 'cmaes', trials: 100, space, where: [] }))
      .json
    const key = ['sweep-batch', id, 0]
    while (!(await kv.get(key))) await Bun.sleep(5)
    await call('POST', `${PATH}/${id}/cancel`)
    const batch = JSON.parse((await kv.get(key))!.value)
    batch.choices[0] = [201]
    await kv.commit({ sets: [{ key, value: JSON.stringify(batch) }] })
    await call('POST', `${PATH}/${id}/resume`)
    const { sweep } = await ended(id)
    expect([sweep.state, sweep.error.code]).toEqual(['failed', 'conflict'])
    expect(sweep.error.message).toStartWith('This sweep was begun by a version of Chartroom that chose')
    expect((await call('GET', `${PATH}/${id}/results`)).json.trials.length).toBe(sweep.tried)
    pool.close()
  })

  test('stops when it is cancelled and goes on when it is asked to', async () => {
    const { call, ended, pool } = await sweepServer()
    const made = await call('POST', PATH, {
      ...SWEEP,
      sampler: 'tpe',
      trials: 60,
      space: [{ input: 'Fast', min: 2, max: 200, step: 1 }],
      where: [],
    })
    const { id } = made.json
    const stopped = await call('POST', `${PATH}/${id}/cancel`)
    expect(stopped.json.sweep.state).toBe('cancelled')
    expect((await call('GET', `${PATH}/${id}`)).json).toMatchObject({
      sweep: { state: 'cancelled' },
      verdict: null,
    })
    const again = await call('POST', `${PATH}/${id}/resume`)
    expect(again.json.sweep.state).toBe('queued')
    expect((await ended(id)).sweep).toMatchObject({ state: 'done', tried: 60 })
    expect((await call('POST', `${PATH}/${id}/resume`)).json.error.code).toBe('conflict')
    pool.close()
  })

  test('waits for its turn like a new one when it is resumed: the twenty-first is refused', async () => {
    const { call, pool } = await sweepServer()
    // Whatever runs never ends by itself; one that is cancelled gives its place back at once.
    const begun = Promise.withResolvers<void>()
    const run = (kind: string) => {
      if (kind === 'checkAsked') return null
      begun.resolve()
      return new Promise<never>(() => {})
    }
    Object.assign(pool, { do: run })
    const { id } = (await call('POST', PATH, SWEEP)).json
    await begun.promise
    await call('POST', `${PATH}/${id}/cancel`)
    const made = await Promise.all(Array.from({ length: 20 }, () => call('POST', PATH, SWEEP)))
    expect(made.map(({ status }) => status)).toEqual(Array<number>(20).fill(200))
    const resumed = await call('POST', `${PATH}/${id}/resume`)
    expect([resumed.status, resumed.json.error?.code]).toEqual([429, 'concurrency_limited'])
    expect((await call('GET', `${PATH}/${id}`)).json.sweep.state).toBe('cancelled')
    pool.close()
  })
})

describe('windows', () => {
  test('the end that is held out is judged and not chosen on', async () => {
    const { sweep, trials, pool } = await sweepServer()
    const { sweep: done, verdict } = await sweep({ windows: { kind: 'holdout', share: 0.25 } })
    const rows = await trials(done.id)
    const best = rows[verdict.best.trial]
    expect(best.score).toBe(best.figures.netProfit)
    expect(verdict.heldOut).toMatchObject({ bars: 150, netProfit: best.outside.netProfit })
    expect(verdict.sentence).toContain('The bars held out')
    pool.close()
  })
  test('walking forward chooses again in each window, and the matrix has thirty cells', async () => {
    const { sweep, trials, call, pool } = await sweepServer({}, 3000)
    const { sweep: done, verdict } = await sweep({
      bars: 3000,
      windows: { kind: 'rolling', runs: 5, share: 0.2 },
    })
    const [cell] = verdict.walkForward.cells
    expect(cell.windows).toHaveLength(5)
    expect(cell.windows.at(-1).outside.to).toBe(3000)
    for (const [i, { inside, outside }] of cell.windows.entries()) {
      expect(inside.to).toBe(outside.from)
      if (i > 0) expect(outside.from).toBe(cell.windows[i - 1].outside.to)
    }
    const won = cell.windows.filter(({ outProfit }: { outProfit: number }) => outProfit > 0)
    expect(cell.profitableRuns).toBe(won.length)
    expect(await trials(done.id)).toHaveLength(21)
    const path = (id: string, rest: string) => `${PATH}/${id}/walk-forward${rest}`
    const { stitched } = (await call('GET', path(done.id, ''))).json
    const profit = cell.windows.reduce((sum: number, { outProfit }: WindowRow) => sum + outProfit, 0)
    expect(stitched.netProfit).toBeCloseTo(profit, 6)
    expect(stitched.equity.at(-1)).toBeCloseTo(10_000 + profit, 6)
    expect(stitched.capital).toBe(10_000)
    // It is as it would be put together of the runs themselves.
    const rows = await trials(done.id)
    const byTime = new Map<number, number>()
    let [now, peak, deepest, deepestPct] = [10_000, 10_000, 0, 0]
    for (const { trial, outside } of cell.windows as WindowRow[]) {
      const [Fast, Slow] = rows[trial].choices
      const body = { ...SINGLE, bars: 3000, inputs: { Fast, Slow } }
      const { tracks } = (await call('POST', PREVIEW, body)).json.result
      const column = (kind: string) => tracks.find((track: { kind: string }) => track.kind === kind).data
      const [time, equity] = [column('time'), column('equity')]
      const before = now - equity[outside.from - 1]
      for (let bar = outside.from; bar < outside.to; bar++) {
        now = before + equity[bar]
        peak = Math.max(peak, now)
        deepest = Math.max(deepest, peak - now)
        deepestPct = Math.max(deepestPct, (peak - now) / peak)
        byTime.set(time[bar], now)
      }
    }
    expect(stitched.maxDrawdown).toBeCloseTo(deepest, 6)
    expect(stitched.maxDrawdownPct).toBeCloseTo(deepestPct, 9)
    for (const [i, at] of (stitched.time as number[]).entries())
      expect(stitched.equity[i]).toBeCloseTo(byTime.get(at)!, 6)
    const csv = (await call('GET', `${PATH}/${done.id}/walk-forward.csv`)).text.trim().split('\n')
    expect([csv.length, csv[0]]).toEqual([stitched.time.length + 1, 'time,equity,window,trial'])
    expect(csv.at(-1)).toBe(
      `${new Date(stitched.time.at(-1)).toISOString()},${Number(stitched.equity.at(-1).toPrecision(15))},5,${cell.windows[4].trial}`,
    )
    const other = await call('GET', path(done.id, '?cell=1'))
    expect([other.status, other.json]).toEqual([200, { ok: true, stitched: null }])
    expect((await call('GET', path(done.id, '.csv?cell=1'))).status).toBe(404)
    expect((await call('GET', path(done.id, '?cell=30'))).status).toBe(422)
    const { sweep: made, verdict: matrix } = await sweep({ bars: 3000, windows: { kind: 'matrix' } })
    const last = (await call('GET', path(made.id, '?cell=29'))).json.stitched
    expect(last.netProfit).toBeCloseTo(matrix.walkForward.cells[29].profit, 6)
    await call('DELETE', `${PATH}/${made.id}`)
    expect((await call('GET', path(made.id, ''))).status).toBe(404)
    expect(matrix.walkForward.cells).toHaveLength(30)
    expect(matrix.sentence).toMatch(/Walk-forward passes in \d+ of 30 cells/)
    pool.close()
  })
})

describe('what cannot be swept is refused by its field', () => {
  test.each([
    [{ space: [] }, '/space'],
    [{ space: [{ input: 'Fast', min: 5, max: 2, step: 1 }] }, '/space/0/max'],
    [{ space: [{ input: 'Fast', min: 1, max: 9, step: 0 }] }, '/space/0/step'],
    [{ space: [{ min: 1, max: 9, step: 1 }] }, '/space/0'],
    [{ space: [{ input: 'Fast', min: 0, max: 9, step: 1, log: true }] }, '/space/0/min'],
    [{ space: [{ property: 'use_bar_magnifier', values: [true, false] }] }, '/space/0/property'],
    [{ space: [{ input: 'Fast', min: 1, max: 9 }], sampler: 'grid' as const, where: [] }, '/sampler'],
    [{ where: ['Fast <'] }, '/where/0'],
    [{ where: ['quick < slow'] }, '/where/0'],
    [{ objective: 'netProfits' }, '/objective'],
    [{ constraints: ['trades >= 5', 'all.months > 1'] }, '/constraints/1'],
    [{ objective: 'all.trades', windows: { kind: 'rolling' as const } }, '/objective'],
    [{ windows: { kind: 'matrix' as const }, bars: 100 }, '/windows'],
    [{ space: [{ input: 'Fast', min: 1, max: 30_000, step: 1 }], where: [] }, '/trials'],
    [{ halving: { rungs: 3, keep: 0.1 } }, '/halving'],
    [{ halving: {}, sampler: 'tpe' as const }, '/halving'],
    [{ halving: {}, windows: { kind: 'rolling' as const } }, '/halving'],
  ])('%j at %s', async (change, path) => {
    const { call, pool } = await sweepServer({ engine: 'stand-in' })
    const { status, json } = await call('POST', PATH, { ...SWEEP, ...change })
    expect([status, json.error.code]).toEqual([422, 'validation_failed'])
    expect(json.error.fields[0].path).toBe(path)
    pool.close()
  })
  test.each([
    [
      'an input of the space',
      { space: [...SWEEP.space, { input: 'Quick', values: [1, 2] }] },
      '/space/2/input',
    ],
    ['an input that is the same for all trials', { inputs: { slow: 30, Quick: 1 } }, '/inputs/Quick'],
  ])('%s that the script does not have, with those that it has', async (_name, change, path) => {
    const { call, pool } = await sweepServer()
    const { status, json } = await call('POST', PATH, { ...SWEEP, ...change })
    expect([status, json.error.code]).toEqual([422, 'validation_failed'])
    expect(json.error.fields).toMatchObject([
      {
        path,
        message: 'This script has no input named "Quick". It has "Fast", "Slow", "Kind".',
      },
    ])
    expect((await call('GET', PATH)).json.sweeps).toEqual([])
    pool.close()
  })
  test('a commission of more than the trade, in the words of a new run', async () => {
    const { call, pool } = await sweepServer()
    const paid = (text: string) => CROSS.replace('initial_capital=10000', text)
    const money = paid('commission_type=strategy.commission.cash_per_order, commission_value=250')
    const vary = (...added: SweepBody['space']) => ({ space: [...SWEEP.space, ...added] })
    const types = { property: 'commission_type', values: ['percent', 'cash_per_order'] }
    const refused: readonly (readonly [object, string])[] = [
      [{ overrides: { commission_value: 101 } }, '/overrides/commission_value'],
      [{ source: money, overrides: { commission_type: 'percent' } }, '/overrides/commission_value'],
      [vary({ property: 'commission_value', values: [0.1, 250] }), '/space/2'],
      [vary({ property: 'commission_value', min: 0, max: 101, step: 1 }), '/space/2'],
      [{ source: money, ...vary(types) }, '/overrides/commission_value'],
    ]
    for (const [change, path] of refused) {
      const { status, json } = await call('POST', PATH, { ...SWEEP, ...change })
      expect([status, json.error.fields[0].path]).toEqual([422, path])
      expect(json.error.message).toContain('Give 100 or less')
    }
    // What a script itself says is taken as TradingView takes it.
    for (const change of [
      { source: paid('commission_value=250') },
      { overrides: { commission_value: 100 } },
      { source: money, ...vary({ property: 'commission_value', values: [1, 250] }) },
    ])
      expect((await call('POST', PATH, { ...SWEEP, ...change, trials: 1 })).status).toBe(200)
    pool.close()
  })
  test('an indicator fails the sweep', async () => {
    const { sweep, pool } = await sweepServer()
    const plain = '//@version=6\nindicator("x")\nfast = input.int(3, "Fast")\nplot(fast)\n'
    const space = [{ input: 'Fast', values: [1, 2] }]
    const { sweep: indicator } = await sweep({ source: plain, space, where: [] })
    expect([indicator.state, indicator.error.message]).toEqual([
      'failed',
      expect.stringContaining('strategy'),
    ])
    pool.close()
  })
  test('a script that does not compile fails the sweep with its diagnostics', async () => {
    const { sweep, pool } = await sweepServer()
    const { sweep: done } = await sweep({ source: '//@version=6\nstrategy("x")\nfoo(' })
    expect(done).toMatchObject({ state: 'failed', error: { code: 'script_invalid' } })
    expect(done.error.diagnostics.length).toBeGreaterThan(0)
    pool.close()
  })
  test('another user finds none of it', async () => {
    const { sweep, call, signUp, pool } = await sweepServer()
    const { sweep: done } = await sweep()
    const other = await signUp('other@example.com')
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/results'],
      ['GET', '/results.csv'],
      ['GET', '/events'],
      ['POST', '/cancel'],
      ['POST', '/resume'],
      ['DELETE', ''],
    ] as const)
      expect((await call(method, `${PATH}/${done.id}${path}`, undefined, other)).status).toBe(404)
    pool.close()
  })
})

test('a sweep that is over is told of by its own events too', async () => {
  const { app, sweep, cookie, pool } = await sweepServer()
  const { sweep: done } = await sweep()
  const events = await app.handle(
    new Request(`http://localhost${PATH}/${done.id}/events`, { headers: cookie }),
  )
  const told = (await events.text()).trim().split('\n\n')
  const last = told.at(-1) ?? ''
  expect(last).toContain('event: end')
  const { id, state, tried, best } = done
  expect(JSON.parse(/^data: (.*)$/m.exec(last)?.[1] ?? '')).toMatchObject({
    sweep: { id, state, tried, best },
  })
  pool.close()
})

test('trials that have run are told of before the others of their batch have', async () => {
  const { call, services, ended, pool } = await sweepServer()
  const { id } = (await call('POST', PATH, SWEEP)).json
  const { sweeps } = services.features
  const { userId } = (await services.kv.list({ prefix: ['sweeps', 'id'] }, { limit: 1 })).map(
    ({ value }) => JSON.parse(value) as { userId: string },
  )[0]!
  const told: number[] = []
  await sweeps.watch(userId, id, new AbortController().signal, ({ tried, trying }) => {
    if (tried === 0) told.push(trying)
  })
  expect(told.some((trying) => trying > 0)).toBe(true)
  expect(told).toEqual(told.toSorted((a, b) => a - b))
  const { sweep } = await ended(id)
  expect([sweep.trying, sweep.tried]).toEqual([0, 21])
  pool.close()
})

/** Without a server the pieces of a stream are text already. */
const textOf = (piece: unknown) =>
  typeof piece === 'string' ? piece : new TextDecoder().decode(piece as Uint8Array)

test('the stream says when a sweep is over, to whom it belongs', async () => {
  const { app, sweep, call, cookie, signUp, pool } = await sweepServer()
  const other = await signUp('other@example.com')
  const follow = async (headers: { readonly cookie: string }) => {
    const request = new Request('http://localhost/api/platform/stream', { headers })
    const reader = (await app.handle(request)).body!.getReader()
    const { value } = await reader.read()
    expect(textOf(value)).toContain('hello')
    return reader
  }
  /** The next news; a slow machine says in between that the stream is alive. */
  const news = async (reader: Awaited<ReturnType<typeof follow>>): Promise<string> => {
    const text = textOf((await reader.read()).value)
    return text.includes('event: alive') ? news(reader) : text
  }
  const [mine, theirs] = [await follow(cookie), await follow(other)]
  const { sweep: done } = await sweep()
  const text = await news(mine)
  expect(text).toContain('event: sweep')
  expect(text).toContain(JSON.stringify(done.sentence))
  // The next that they hear of is their own.
  const asCsv = { ...other, 'content-type': 'text/csv' }
  await call('POST', '/api/platform/bars/import?symbol=OWN&exchange=X&interval=1h', barsCsv(3), asCsv)
  const heard = await news(theirs)
  expect([heard.includes('event: bars'), heard.includes('event: sweep')]).toEqual([true, false])
  await Promise.all([mine.cancel(), theirs.cancel()])
  pool.close()
})

test('a run is the trial of a sweep that made the same choice, with the same script, day and other inputs', async () => {
  const { sweep, trials, services, pool } = await sweepServer()
  const rows = await trials((await sweep()).sweep.id)
  const { sweeps } = services.features
  const [record] = await services.kv.list({ prefix: ['sweeps', 'id'] }, { limit: 1 })
  const made = JSON.parse(record!.value) as Parameters<typeof sweeps.trialOf>[0]
  const script = await sweeps.script(made.userId, made.id)
  const chosen = (values: readonly unknown[]) =>
    Object.fromEntries(made.space.map(({ input = '' }, i) => [input, values[i]])) as typeof script.inputs
  const trialOf = (change: Partial<typeof script>) => sweeps.trialOf(made, { ...script, ...change })
  for (const { trial, choices } of rows) expect(await trialOf({ inputs: chosen(choices) })).toBe(trial)
  const inputs = chosen(rows[0].choices)
  for (const other of [
    { source: `${script.source}\n` },
    { asOf: '2026-09-23' },
    { inputs: { ...inputs, Kind: 'long' } },
    { inputs: chosen([3, 20]) },
  ])
    expect(await trialOf({ inputs, ...other })).toBeNull()
  pool.close()
})

test('a single backtest is judged as one of all that were tried', async () => {
  const { call, sweep, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const run = () =>
    call('POST', '/api/platform/backtests', { name: 'one', source: CROSS, bars, symbol, exchange, interval })
  const { id } = (await run()).json
  const judged = async () => (await call('GET', `/api/platform/backtests/${id}/verdict`)).json.verdict
  const alone = await judged()
  expect(alone.sentence).toStartWith('The only try of this script here. Chance that luck alone did this')
  expect(alone.sharpe.deflated).toBe(alone.sharpe.probabilistic)
  await sweep()
  const among = await judged()
  // Its own choice of values was not among the sweep's.
  expect(among.sentence).toStartWith('One of 22 tried.')
  expect(among.sharpe.sharpe).toBe(alone.sharpe.sharpe)
  expect(among.sharpe.benchmark).toBeGreaterThan(0)
  expect(among.sharpe.deflated).toBeLessThan(alone.sharpe.deflated)
  expect(among).toMatchObject({ overfitting: null, walkForward: null, counted: 22 })
  expect(among.monteCarlo.rounds).toBe(1000)
  expect((await call('GET', '/api/platform/backtests/bt_nothing/verdict')).status).toBe(404)
  pool.close()
})

test('what is tried by hand is counted once, with other defaults typed in as well', async () => {
  const { call, pool } = await sweepServer()
  const { bars, symbol, exchange, interval } = SWEEP
  const run = (source: string, inputs = {}) =>
    call('POST', '/api/platform/backtests', { name: 'one', source, bars, symbol, exchange, interval, inputs })
  const { id } = (await run(CROSS)).json
  const counted = async () => (await call('GET', `/api/platform/trials?of=${id}`)).json.counted
  expect(await counted()).toBe(1)
  await run(CROSS, { Fast: 5 })
  await run(`${CROSS}\n// a remark`)
  expect(await counted()).toBe(1)
  await run(CROSS.replace('input.int(5,', 'input.int(7,'))
  await run(CROSS, { Fast: 7 })
  expect(await counted()).toBe(2)
  await run(CROSS.replace('ta.sma(close, fast)', 'ta.ema(close, fast)'))
  expect(await counted()).toBe(2)
  pool.close()
})

test('a script that runs on its last bars only says how many to take', async () => {
  const { sweep, pool } = await sweepServer()
  const source = CROSS.replace('initial_capital=10000', 'initial_capital=10000, calc_bars_count=200')
  const { sweep: refused } = await sweep({ source })
  expect(refused).toMatchObject({ state: 'failed' })
  expect(refused.error.message).toContain('last 200 bars only')
  expect((await sweep({ source, bars: 200 })).sweep).toMatchObject({ state: 'done', failed: 0 })
  pool.close()
})

test('an input that is varied by its title and by its variable too is refused, since it would count as two', async () => {
  const { sweep, call, ended, pool } = await sweepServer()
  const made = (await call('POST', '/api/platform/sweeps', SWEEP)).json
  // What it is called in the ledger is known once a trial was made.
  expect(made.sweep.counted).toBeNull()
  expect((await ended(made.id)).sweep.counted).toBe(21)
  const one = { min: 2, max: 4, step: 1 }
  const { sweep: failed } = await sweep({
    where: [],
    space: [
      { input: 'Fast', ...one },
      { input: 'fast', ...one },
    ],
  })
  expect(failed).toMatchObject({ state: 'failed', counted: 21 })
  expect(failed.error.message).toContain(
    '"Fast" and "fast" are the same input of the script. Vary it under one of its names.',
  )
  // A value that is set for all trials under the other name is overruled. With the slow average as it is declared, 2 and 4
  // were tried before.
  const { sweep: done } = await sweep({ inputs: { fast: 9 }, where: [], space: [{ input: 'Fast', ...one }] })
  expect(done).toMatchObject({ state: 'done', tried: 3, counted: 22 })
  expect(done.sentence).toStartWith('Best of 3 tried (22 with those before')
  pool.close()
})

test('workers share what takes longest of a verdict, and one or three end with the same bytes', async () => {
  const judgedBy = async (workers: number) => {
    const { sweep, pool, services } = await sweepServer({ workers })
    const kinds: string[] = []
    const real = pool.do.bind(pool)
    Object.assign(pool, {
      do(...asked: Parameters<typeof real>) {
        kinds.push(asked[0])
        return real(...asked)
      },
    })
    const space = [
      { input: 'Fast', min: 2, max: 21, step: 1 },
      { input: 'slow', min: 30, max: 49, step: 1 },
    ]
    const { sweep: done } = await sweep({ space, where: [] })
    const stored = await services.kv.get(['sweep-verdict', done.id])
    pool.close()
    return { text: stored!.value, parts: kinds.filter((kind) => kind === 'luck').length }
  }
  const alone = await judgedBy(1)
  expect(alone.parts).toBe(0)
  const shared = await judgedBy(3)
  expect(shared.parts).toBeGreaterThan(1)
  expect(shared.text).toBe(alone.text)
})

test('the sentence says when even the best loses', async () => {
  const { sweep, pool } = await sweepServer()
  const losing = CROSS.replace('initial_capital=10000', 'initial_capital=10000, commission_value=5')
  const { verdict } = await sweep({ source: losing, windows: { kind: 'holdout' } })
  expect(verdict.sentence).toMatch(
    /^Best of 2\d tried, and it loses money\. Chance that luck alone did this: .*: not robust\.$/,
  )
  // Neither does the trial with the best neighbours make money.
  expect(verdict.robust).toBeNull()
  pool.close()
})
