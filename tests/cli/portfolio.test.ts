// `chartroom portfolio`: what it takes and what it says.

import { expect, test } from 'bun:test'
import { closesCsv, HOLDS, MARKETS } from '../work/scans/scan-server.ts'
import { chartroom, temporaryFolder } from './run.ts'

async function folderOf() {
  const folder = temporaryFolder()
  await Bun.write(`${folder}/hold.pine`, HOLDS)
  await Bun.write(`${folder}/broken.pine`, '//@version=6\nstrategy("x")\nplot(nothing)\n')
  for (const name of ['X:RISES', 'X:FALLS'])
    await Bun.write(`${folder}/${name.replace(':', '_')}.csv`, closesCsv(MARKETS[name]!))
  const run = (...args: string[]) => chartroom(folder, 'portfolio', ...args)
  return {
    run,
    rises: `${folder}/hold.pine@${folder}/X_RISES.csv`,
    falls: `${folder}/hold.pine@${folder}/X_FALLS.csv`,
    folder,
  }
}

test('says what the money became, and what each part did for it', async () => {
  const { run, rises, falls } = await folderOf()
  const { code, out, err } = await run(rises, falls, '--capital', '5000')
  expect([code, err]).toEqual([0, ''])
  const lines = out.split('\n')
  // Bought at 101 and 99, sold at 106 and 94; what was bought again at 110 and 90 is open: both took as much as they gave.
  expect(lines[0]).toBe('5,000.00 USD became 5,000.00: 0.00% net profit, 0.00% deepest drawdown.')
  expect(lines.filter((line) => /hold\.pine|^All/.test(line))).toEqual([
    expect.stringMatching(/^1 .*hold\.pine +X_RISES 1d +1 +/),
    expect.stringMatching(/^2 .*hold\.pine +X_FALLS 1d +1 +/),
    expect.stringMatching(/^All +2 +/),
  ])
  expect(out).toContain('Correlation from bar to bar:')
})

test('answers JSON, and takes inputs and properties by part', async () => {
  const { run, rises, falls } = await folderOf()
  const properties = ['--properties', '{"default_qty_value": 2}', '--properties', '{"default_qty_value": 3}']
  const { code, out } = await run(rises, falls, '--json', ...properties)
  expect(code).toBe(0)
  const { portfolio, result } = JSON.parse(out)
  expect(portfolio).toMatchObject({ capital: 1000, currency: 'USD' })
  const inEuros = JSON.parse((await run(rises, '--json', '--currency', 'eur')).out)
  expect(inEuros.portfolio.currency).toBe('EUR')
  expect(result.parts.map(({ netProfit }: { netProfit: number }) => netProfit)).toEqual(
    [2 * 5, 3 * -5].map((one) => expect.closeTo(one, 6)),
  )
})

test('writes trades, equity and parts as CSV', async () => {
  const { run, rises, falls, folder } = await folderOf()
  const files = ['trades', 'equity', 'csv'].flatMap((name) => [`--${name}`, `${folder}/${name}.out`])
  expect((await run(rises, falls, ...files)).code).toBe(0)
  const heads = ['trades', 'equity', 'csv'].map(async (name) => {
    const lines = (await Bun.file(`${folder}/${name}.out`).text()).trim().split('\n')
    return [lines[0]?.split(',').slice(0, 2).join(), lines.length > 2]
  })
  expect(await Promise.all(heads)).toEqual([
    ['part,exchange', true],
    ['time,equity', true],
    ['part,name', true],
  ])
})

test('names what is wrong with a part', async () => {
  const { run, rises, folder } = await folderOf()
  expect((await run()).err).toContain('Name at least one SCRIPT.pine@MARKET.')
  expect((await run('x.pine')).err).toContain('"x.pine" is no part.')
  expect((await run(`${folder}/hold.pine@X:Y`)).err).toContain('"X:Y" is no market.')
  expect((await run(rises, `${folder}/hold.pine@X:Y:1d`)).err).toContain(
    'of all parts from files, or of none',
  )
  expect((await run(rises, '--capital', '0')).err).toContain('--capital takes an amount above 0.')
  const broken = await run(rises, `${folder}/broken.pine@${folder}/X_FALLS.csv`)
  expect(broken.code).toBe(1)
  expect(broken.err).toContain('broken.pine:3:6: error')
  expect(broken.err).toContain('Part 2: ')
})
