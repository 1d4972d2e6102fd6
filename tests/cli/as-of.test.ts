// `--as-of` where a script runs for more than one report: what is run has the defaults of that day, and says the day.

import { describe, expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { chartroom, temporaryFolder } from './run.ts'

const SOURCE = `//@version=6
strategy("S")
n = input.int(2, "N")
if bar_index % n == 0
    strategy.entry("L", strategy.long)
else
    strategy.close("L")
`
const MARKET = ['--exchange', 'E', '--symbol', 'S', '--interval', '1h']

async function folderOf() {
  const data = temporaryFolder()
  await Bun.write(`${data}/bars.csv`, barCsv(60))
  await Bun.write(`${data}/s.pine`, SOURCE)
  await chartroom(data, 'bars', 'import', `${data}/bars.csv`, ...MARKET)
  const run = async (...args: string[]) => {
    const { code, out, err } = await chartroom(data, ...args)
    expect([code, err]).toEqual([0, ''])
    return out
  }
  return { data, script: `${data}/s.pine`, run }
}

describe('one contract before 24 September 2026, all of the equity since', () => {
  const BEFORE = ['--as-of', '2026-09-01']

  test('in a sweep', async () => {
    const { script, run } = await folderOf()
    const sweep = ['sweep', script, ...MARKET, '--set', 'N=2..4/1', '--workers', '1']
    const of = async (...more: string[]) => {
      const { asOf, trials } = JSON.parse(await run(...sweep, '--json', ...more))
      return [asOf, Math.abs(trials[0].figures.netProfit) > 1000]
    }
    expect(await of()).toEqual(['2026-09-24', true])
    expect(await of(...BEFORE)).toEqual(['2026-09-01', false])
    expect(await run(...sweep, ...BEFORE)).toEndWith('As of 2026-09-01.')
  })

  test('in a scan', async () => {
    const { script, run } = await folderOf()
    const of = async (...more: string[]) => {
      const { scan, rows } = JSON.parse(
        await run('scan', script, '--interval', '1h', '--symbols', 'E:S', '--json', ...more),
      )
      return [scan.asOf, Math.abs(rows[0].summary.netProfit) > 1000]
    }
    expect(await of()).toEqual(['2026-09-24', true])
    expect(await of(...BEFORE)).toEqual(['2026-09-01', false])
  })

  test('in a portfolio', async () => {
    const { script, run } = await folderOf()
    const of = async (...more: string[]) => {
      const { portfolio } = JSON.parse(await run('portfolio', `${script}@E:S:1h`, '--json', ...more))
      return [portfolio.asOf, portfolio.capital]
    }
    expect(await of()).toEqual(['2026-09-24', 100_000])
    expect(await of(...BEFORE)).toEqual(['2026-09-01', 1_000_000])
  })

  test('in a forward run', async () => {
    const { script, run } = await folderOf()
    await run('forward', 'start', script, ...MARKET, '--warmup', '40', '--name', 'since')
    const started = await run('forward', 'start', script, ...MARKET, '--warmup', '40', ...BEFORE)
    expect(started).toContain('as of 2026-09-01.')
    const equities = [...(await run('forward', 'list')).matchAll(/([\d,.]+) USD/g)].map(([, equity = '']) =>
      Math.round(Number(equity.replaceAll(',', '')) / 500_000),
    )
    expect(equities.toSorted((a, b) => a - b)).toEqual([0, 2])
  })

  test('and a bad day ends each with a usage error', async () => {
    const { script, data } = await folderOf()
    for (const command of [
      ['sweep', script, ...MARKET, '--set', 'N=2..4/1'],
      ['scan', script, '--interval', '1h'],
      ['portfolio', `${script}@E:S:1h`],
      ['forward', 'start', script, ...MARKET],
    ])
      expect(await chartroom(data, ...command, '--as-of', '2030-01-01')).toMatchObject({
        code: 2,
        err: expect.stringContaining('--as-of: What TradingView will change is not known yet.'),
      })
  })
})
