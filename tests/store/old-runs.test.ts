// Backtests that earlier versions stored have no day: run again they are what they were, to the byte, but for the ratios that
// count what is open to the last month since 0.3.0 (J4).

import { expect, spyOn, test } from 'bun:test'
import { rmSync } from 'node:fs'
import type { Report } from '../../src/wire/report.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { reportKey, reportOf, runs, scriptOf, type Run } from '../../src/work/runs/records.ts'
import type { Jobs } from '../../src/work/workers/job.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { openStore } from '../../src/store/open-store.ts'
import { stageText } from '../../src/store/large-text.ts'
import { transact } from '../../src/store/transaction.ts'
import { testServer } from '../http/server.ts'
import { OLD_VERSIONS, oldDataFolder } from './old-data.ts'

test.each(OLD_VERSIONS)('of version %s', async (version) => {
  const directory = oldDataFolder(undefined, version)
  const kv = await openStore({ directory })
  const bars = new BarCache(lmdbBars(kv))
  const { services, pool } = testServer(undefined, { engine: 'real', kv, bars })
  const done: Run[] = []
  for await (const run of runs(kv).each()) if (run.state === 'done') done.push(run)
  const { signal } = new AbortController()
  let unsized = 0
  for (const { id, userId } of done) {
    const { source = '' } = (await scriptOf(kv, id)) ?? {}
    if (/@version=6\nstrategy\((?!.*(default_qty|initial_capital))/.test(source)) unsized++
    const report = JSON.parse((await Array.fromAsync((await reportOf(kv, id))!.parts)).join('')) as Report
    expect('asOf' in report).toBe(false)
    const asked = spyOn(pool, 'do')
    await services.runs.looks.verify(userId, id, signal)
    const [, job, options] = asked.mock.calls.find(([kind]) => kind === 'verify')!
    asked.mockRestore()
    const again = await pool.do('run', job as Jobs['run']['job'], options)
    const ratios = JSON.parse(Buffer.concat(again.report).toString()) as Report
    const text = JSON.stringify(withRatiosOf(ratios, report))
    const staged = await stageText(kv, reportKey(id), [new TextEncoder().encode(text)])
    await transact(kv, async () => [staged])
    expect(await services.runs.looks.verify(userId, id, signal)).toMatchObject({ equal: true })
  }
  // Of a strategy whose defaults have changed since.
  expect(unsized).toBeGreaterThan(0)
  pool.close()
  await kv.close()
  rmSync(directory, { recursive: true, force: true })
})

function withRatiosOf({ equity, summary }: Report, report: Report): Report {
  const { sharpe, sharpeAnnualized, sortino } = equity
  return {
    ...report,
    equity: { ...report.equity, sharpe, sharpeAnnualized, sortino },
    summary: { ...report.summary, sharpe: summary.sharpe },
  }
}
