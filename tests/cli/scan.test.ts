// `chartroom scan`: what it takes, what it says and what it writes.

import { describe, expect, test } from 'bun:test'
import { closesCsv, HOLDS, MARKETS, SCREEN } from '../work/scans/scan-server.ts'
import { chartroom, temporaryFolder } from './run.ts'

async function folderOf() {
  const folder = temporaryFolder()
  await Bun.write(`${folder}/screen.pine`, SCREEN)
  await Bun.write(`${folder}/hold.pine`, HOLDS)
  const files: string[] = []
  for (const [name, closes] of Object.entries(MARKETS)) {
    const file = `${folder}/${name.replace(':', '_')}.csv`
    await Bun.write(file, closesCsv(closes))
    files.push('--bars', file)
  }
  const scan = (...args: string[]) => chartroom(folder, 'scan', '--workers', '1', ...args)
  return { folder, files, scan }
}

describe('over files', () => {
  test('says of each market what the plots are and what holds, in the order that was asked for', async () => {
    const { folder, files, scan } = await folderOf()
    const csv = ['--csv', `${folder}/rows.csv`]
    const chosen = ['--where', 'Above or "Average 3" < 60', '--sort', 'close', '--limit', '2']
    const { code, out, err } = await scan(
      `${folder}/screen.pine`,
      '--interval',
      'D',
      ...files,
      ...chosen,
      ...csv,
    )
    expect([code, err]).toEqual([0, ''])
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^Market +Bar +Close +Change +Average 3 +move +never now +Holds$/),
      expect.stringMatching(/^БИРЖА_СБЕР +2024-01-06 00:00 +230.0000 +27.78% .* – +Above, alert\(\), Up$/),
      expect.stringMatching(/^X_RISES .* Above, alert\(\), Up$/),
      '… and 2 more: --limit 4',
      '',
      '4 of 5 markets.',
      'Above: holds on 3.',
      'Never: holds on 0.',
      'alert(): holds on 2.',
      'Up: holds on 3.',
    ])
    const rows = (await Bun.file(`${folder}/rows.csv`).text()).trim().split('\n')
    expect(rows).toHaveLength(5)
  })

  test('answers JSON, of a strategy with its figures', async () => {
    const { folder, files, scan } = await folderOf()
    const { code, out } = await scan(
      `${folder}/hold.pine`,
      '--interval',
      '1d',
      ...files,
      '--json',
      '--sort',
      'netProfit',
    )
    expect(code).toBe(0)
    const answer = JSON.parse(out)
    expect(answer.scan).toMatchObject({ kind: 'strategy', markets: 5, failed: 0 })
    expect(answer.rows[0]).toMatchObject({ symbol: 'БИРЖА_СБЕР', position: 1, summary: { trades: 1 } })
  })
})

test('over the data directory, its symbols and its watchlists', async () => {
  const { folder, scan } = await folderOf()
  for (const [name, closes] of Object.entries(MARKETS)) {
    const file = `${folder}/bars.csv`
    await Bun.write(file, closesCsv(closes))
    await chartroom(folder, 'bars', 'import', file, '--symbol', name, '--interval', '1d')
  }
  const markets = async (...args: string[]) => {
    const { out } = await scan(`${folder}/screen.pine`, '--interval', '1d', '--json', ...args)
    return (JSON.parse(out).rows as { exchange: string; symbol: string }[]).map(
      ({ exchange, symbol }) => `${exchange}:${symbol}`,
    )
  }
  expect(await markets()).toEqual(expect.arrayContaining([...Object.keys(MARKETS), 'SP:SPX']))
  expect(await markets('--symbols', 'rises, x:falls')).toEqual(['X:RISES', 'Y:RISES', 'X:FALLS'])
  const gone = await scan(`${folder}/screen.pine`, '--interval', '1d', '--watchlist', 'mine')
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('There is no watchlist "mine".')])
})

test.each([
  [[], 'Name the interval'],
  [['--interval', '1x'], '"1x" is no interval'],
  [['--interval', '1d', '--symbols', 'A', '--bars', 'x.csv'], 'Take one of'],
  [['--interval', '1d', '--order', 'up'], '--order takes asc or desc'],
  [['--interval', '1d', '--last', '0'], '--last takes a whole number'],
  [['--interval', '1d', '--limit', 'all'], '--limit takes a whole number'],
  [['--interval', '1d', '--inputs', '[1]'], '--inputs is not a JSON object'],
  [['--interval', '1d', '--bars', 'nowhere.csv'], 'There is no file nowhere.csv'],
])('%j is refused in words', async (args, words) => {
  const { folder, scan } = await folderOf()
  const { code, err } = await scan(`${folder}/screen.pine`, ...args)
  expect([code, err]).toEqual([2, expect.stringContaining(words)])
})

test('a condition about what the script does not have, and a script that does not compile, fail with the reason', async () => {
  const { folder, files, scan } = await folderOf()
  const unknown = await scan(`${folder}/screen.pine`, '--interval', '1d', ...files, '--where', 'RSI < 30')
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('"Average 3"')])
  await Bun.write(`${folder}/broken.pine`, '//@version=6\nindicator("x")\nfoo(')
  const broken = await scan(`${folder}/broken.pine`, '--interval', '1d', ...files)
  expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('broken.pine:3')])
})
