import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { barCsv } from '../bar-csv.ts'
import { chartroom, temporaryFolder } from './run.ts'

const MARKET = ['--exchange', 'E', '--symbol', 'S', '--interval', '1h']
const SOURCE =
  '//@version=6\nstrategy("mine")\nn = input.int(3, "N")\nif bar_index % n == 0\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")'

describe('forward', () => {
  test('a strategy is followed, listed, compared and stopped', async () => {
    const data = temporaryFolder()
    const [csv, script] = [`${data}/bars.csv`, `${data}/mine.pine`]
    writeFileSync(csv, barCsv(60))
    writeFileSync(script, SOURCE)
    expect((await chartroom(data, 'bars', 'import', csv, ...MARKET)).code).toBe(0)
    expect((await chartroom(data, 'forward', 'list')).out).toBe('No strategy is followed.')
    const begin = ['forward', 'start', script, ...MARKET, '--name', 'kept', '--warmup', '40', '--provisional']
    const started = await chartroom(
      data,
      ...begin,
      '--inputs',
      '{"N": 4}',
      '--properties',
      '{"pyramiding": 2}',
    )
    expect(started).toMatchObject({ code: 0, err: '' })
    expect(started.out).toContain('follows E:S 1h from now on, as of 2026-09-24.\n40 bars before it')
    const id = /fwd_\w+/.exec(started.out)![0]
    expect((await chartroom(data, 'forward', 'list')).out).toContain(`${id}  kept  E:S 1h  running`)
    expect((await chartroom(data, 'forward', 'orders', id)).out).toBe(
      'Nothing has been ordered since it began.',
    )
    expect(await chartroom(data, 'forward', 'compare', id)).toMatchObject({
      code: 0,
      out: expect.stringContaining('A backtest of the stored bars is the same') as string,
    })
    expect((await chartroom(data, 'forward', 'stop', id)).out).toBe(`${id} is stopped after 0 bars.`)
    expect((await chartroom(data, 'forward', 'list')).out).toContain('stopped')
  })

  test('what is missing or wrong is said', async () => {
    const data = temporaryFolder()
    const script = `${data}/mine.pine`
    writeFileSync(script, SOURCE)
    expect((await chartroom(data, 'forward', 'start', script)).err).toContain(
      '--exchange, --symbol and --interval',
    )
    expect((await chartroom(data, 'forward', 'start', script, ...MARKET)).err).toContain('no bars')
    expect((await chartroom(data, 'forward', 'stop', 'fwd_none')).err).toContain('no such forward run')
    expect((await chartroom(data, 'forward', 'start', script, ...MARKET, '--warmup', '0')).code).toBe(2)
  })
})
