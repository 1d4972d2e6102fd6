import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import {
  formatBytes,
  formatNumber,
  formatPercent,
  progressBar,
  right,
  tableLines,
} from '../../src/cli/table.ts'
import { runs, type Run } from '../../src/work/runs/records.ts'
import { Scripts } from '../../src/people/scripts/scripts.ts'
import { barsCsv } from '../work/sweeps/sweep-server.ts'
import { splitCsvLine } from '../../src/lib/csv-rows.ts'
import type { Report } from '../../src/wire/report.ts'
import { xlsxOf } from '../broker/xlsx.ts'
import { chartroom, openKept, temporaryFolder, withInput } from './run.ts'

const SERIES = ['--symbol', 'SP:SPX', '--interval', '1d']
const CROSS = `//@version=6
strategy("Cross", overlay = true, default_qty_type = strategy.fixed, default_qty_value = 1)
length = input.int(20, "Length", minval = 1)
average = ta.sma(close, length)
plot(average, "Average")
if ta.crossover(close, average)
    strategy.entry("Long", strategy.long, comment = "up, and away")
if ta.crossunder(close, average)
    strategy.close("Long")
`

/** Cells of a CSV without line breaks in them; numbers as numbers. */
function parsed(csv: string): (string | number)[][] {
  const cell = (text: string) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : text)
  return csv
    .trim()
    .split('\n')
    .map((line) => splitCsvLine(line, ',').map(cell))
}

function scripts(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(`${folder}/${name}`.replace(/\/[^/]*$/, ''), { recursive: true })
    writeFileSync(`${folder}/${name}`, source)
  }
  return folder
}

describe('backtest', () => {
  test('runs a stored script with the properties that are kept with it; --set goes before them', async () => {
    const data = temporaryFolder()
    const kv = await openKept(data)
    const store = new Scripts({
      kv,
      clock: { now: () => 0, sleep: () => Promise.resolve() },
      newId: (kind) => `${kind}_0123456789abcdef01234567`,
      examine: () => Promise.resolve({ kind: 'strategy', pineVersion: 6, diagnostics: '[]' }),
    })
    const overrides = { initial_capital: 5000, slippage: 3 }
    const asOf = '2026-09-01'
    const { script } = await store.create('usr_1', 'Ann', { name: 'Cross', source: CROSS, overrides, asOf })
    await kv.close()
    const declared = async (...more: string[]) => {
      const ran = await chartroom(data, 'backtest', script.id, ...SERIES, '--last', '300', '--json', ...more)
      const { report } = JSON.parse(ran.out) as {
        report: { asOf: string; script: { declaration: { initial_capital: number; slippage: number } } }
      }
      const { initial_capital: capital, slippage } = report.script.declaration
      return [report.asOf, capital, slippage]
    }
    expect(await declared()).toEqual([asOf, 5000, 3])
    expect(await declared('--set', '{"slippage": 0}')).toEqual([asOf, 5000, 0])
    expect(await declared('--as-of', '2026-10-01')).toEqual(['2026-09-24', 5000, 3])
    const gone = await chartroom(data, 'backtest', 'scr_gone', ...SERIES)
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('There is no script scr_gone.')])
  })
  test("holds the run against TradingView's list of trades", async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const base = ['backtest', `${folder}/cross.pine`, ...SERIES, '--last', '1000']
    await chartroom(temporaryFolder(), ...base, '--trades', `${folder}/trades.csv`)
    // Ours is written like TradingView's.
    const same = await chartroom(temporaryFolder(), ...base, '--compare', `${folder}/trades.csv`)
    expect(same.out).toMatch(/(\d+) of \1 trades of the export agree; the run has \1\./)
    expect(same.code).toBe(0)
    const text = readFileSync(`${folder}/trades.csv`, 'utf8')
    writeFileSync(`${folder}/other.csv`, text.replace(/^(3,Entry long,[^"]*"[^"]*",)/m, '$11'))
    const other = await chartroom(temporaryFolder(), ...base, '--compare', `${folder}/other.csv`)
    expect(other.out).toContain('First divergence: trade 3,')
    expect(other.out).toMatch(/entryPrice: 12179.45 in the export, 2179.45 here$/m)
    expect(other.out).toContain('Why: Trade 3 of the export contradicts itself: from 12179.45 to')
    expect(other.code).toBe(1)
    const slipped = await chartroom(
      temporaryFolder(),
      ...base,
      '--set',
      '{"slippage":3}',
      '--compare',
      `${folder}/trades.csv`,
    )
    expect(slipped.out).toContain('Why: All')
    // It is said once.
    expect(slipped.out.match(/Slippage 0 ticks/g)).toHaveLength(1)
    expect(slipped.out).toMatch(/\n {2}from bar \d+ on, 20/)
    expect(slipped.out).toContain(`--set '{"slippage":0}'`)
  })
  test("holds its plots against those of TradingView's chart, of days by their dates", async () => {
    const folder = scripts({
      'mean.pine':
        '//@version=6\nstrategy("Mean")\nplot(ta.sma(close, 3), "Mean")\nplot(close + 1, "Next")\n',
    })
    const closes = [10, 11, 12, 13]
    const chart = (next: number, at: (day: number) => string) =>
      `time,open,high,low,close,Mean,Next,Other\n${closes
        .map(
          (close, i) =>
            `${at(i + 1)},${close},${close},${close},${close},${i < 2 ? 'NaN' : close - 1},${close + next},5`,
        )
        .join('\n')}\n`
    const date = (day: number) => `2024-01-0${day}`
    const held = async (text: string) => {
      writeFileSync(`${folder}/chart.csv`, text)
      const args = ['backtest', `${folder}/mean.pine`, '--bars', `${folder}/chart.csv`]
      return chartroom(temporaryFolder(), ...args, '--compare', `${folder}/chart.csv`)
    }
    for (const at of [date, (day: number) => String(Date.UTC(2024, 0, day) / 1000)]) {
      const same = await held(chart(1, at))
      expect([same.code, same.out]).toEqual([
        0,
        expect.stringContaining('2 of 2 figures of the export agree.'),
      ])
      expect(same.out).toContain('No plot of this run is called "Other"')
    }
    const other = await held(chart(2, date))
    expect([other.code, other.out]).toEqual([
      1,
      expect.stringContaining('Next: 4 of 4 bars differ, first 2024-01-01'),
    ])
  })
  test("sets the run by TradingView's XLSX, and holds its figures against it", async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const data = temporaryFolder()
    const set = ['--inputs', '{"Length": 10}', '--set', '{"initial_capital": 70000, "slippage": 2}']
    const ran = await chartroom(
      data,
      'backtest',
      `${folder}/cross.pine`,
      ...SERIES,
      ...set,
      '--last',
      '1000',
      '--trades',
      `${folder}/trades.csv`,
      '--json',
    )
    const { report } = JSON.parse(ran.out) as { report: Report }
    const list = parsed(readFileSync(`${folder}/trades.csv`, 'utf8'))
    const wall = (time: number | null) => new Date(time ?? 0).toISOString().slice(0, 10)
    const book = (profit: number) =>
      xlsxOf([
        {
          name: 'Performance',
          rows: [
            ['', 'All USD'],
            ['Net profit', profit],
            ['Gross loss', report.all.grossLoss],
          ],
        },
        { name: 'List of trades', rows: list },
        {
          name: 'Properties',
          rows: [
            ['name', 'value'],
            ['Trading range', `${wall(report.range.from)} — ${wall(report.range.to)}`],
            ['Symbol', 'SP:SPX'],
            ['Timeframe', '1 day'],
            ['Length', 10],
            ['Width', 5],
            ['Initial capital', 70_000],
            ['Slippage', '2 ticks'],
          ],
        },
      ])
    writeFileSync(`${folder}/same.xlsx`, book(report.all.netProfit))
    const same = await chartroom(data, 'backtest', `${folder}/cross.pine`, '--compare', `${folder}/same.xlsx`)
    expect(same.err).toBe('')
    expect(same.out).toMatch(
      /^Set from the export: SP:SPX 1d · \S+ \S+ to \S+ \S+ · Length 10 · initial_capital 70000 · slippage 2$/m,
    )
    expect(same.out).toMatch(/(\d+) of \1 trades of the export agree; the run has \1\./)
    expect(same.out).toContain('2 of 2 figures of the export agree.')
    expect(same.out).toContain(
      'Left aside: "Width: 5": neither a property that is known nor an input of the script.',
    )
    expect(same.code).toBe(0)
    // What a flag says goes before the file.
    writeFileSync(`${folder}/other.xlsx`, book(report.all.netProfit + 1))
    const flagged = ['--compare', `${folder}/other.xlsx`, '--set', '{"slippage": 5}', '--last', '900']
    const other = await chartroom(data, 'backtest', `${folder}/cross.pine`, ...flagged)
    expect(other.out).toContain('SP:SPX 1d · 900 bars, ')
    expect(other.out).toMatch(/^ {2}Net profit: \S+ in the export, \S+ here$/m)
    expect(other.code).toBe(1)
    writeFileSync(`${folder}/none.xlsx`, 'Trade #,Type')
    const none = await chartroom(data, 'backtest', `${folder}/cross.pine`, '--compare', `${folder}/none.xlsx`)
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('--compare: The export is no XLSX')])
    const gone = await chartroom(data, 'backtest', `${folder}/cross.pine`, '--compare', `${folder}/gone.xlsx`)
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('--compare: there is no file')])
  })
  test('counts what it tried on cached bars, with what a sweep there tried, and says what luck leaves', async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const data = temporaryFolder()
    const path = `${folder}/cross.pine`
    const run = async (...more: string[]) =>
      (await chartroom(data, 'backtest', path, ...SERIES, '--last', '1000', ...more)).out
    expect(await run()).toMatch(
      /^The only combination of this script tried on SP:SPX 1d. Chance that luck alone did this: \d+%. Buying and holding would have made more.\n(No number of bars|It takes [\d,]+ bars)/m,
    )
    await run('--inputs', '{"Length": 30}')
    const space = ['--set', 'Length=10..30/10', '--workers', '1', '--last', '300']
    const { out } = await chartroom(data, 'sweep', path, ...SERIES, ...space)
    expect(out).toStartWith('Best of 3 tried.')
    expect(await run('--inputs', '{"Length": 40}')).toContain(
      'Tried 4 combinations of this script on SP:SPX 1d.',
    )
    expect(JSON.parse(await run('--json'))).toMatchObject({ trials: { counted: 4 } })
    // Scans and portfolios over cached bars count as well; the script may be laid out otherwise by then.
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(' = ', '='))
    const scanned = ['--interval', '1d', '--symbols', 'SP:SPX', '--inputs', '{"Length": 50}']
    expect((await chartroom(data, 'scan', path, ...scanned, '--workers', '1')).code).toBe(0)
    const part = [`${path}@SP:SPX:1d`, '--inputs', '{"Length": 60}']
    expect((await chartroom(data, 'portfolio', ...part)).code).toBe(0)
    expect(JSON.parse(await run('--json'))).toMatchObject({ trials: { counted: 6 } })
    const bars = `${folder}/bars.csv`
    writeFileSync(bars, barsCsv(300))
    const { out: ofFile } = await chartroom(data, 'backtest', path, '--bars', bars)
    expect(ofFile).toContain(
      'Tries on the bars of a file are not counted. If this was the only one: Chance that luck alone did this:',
    )
  })
  test('shows a report, and writes trades and plots', async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const outcome = await chartroom(
      temporaryFolder(),
      'backtest',
      `${folder}/cross.pine`,
      ...SERIES,
      '--last',
      '1000',
      '--inputs',
      '{"Length": 10}',
      '--trades',
      `${folder}/trades.csv`,
      '--plots',
      `${folder}/plots.csv`,
    )
    expect(outcome).toMatchObject({ code: 0, err: '' })
    const lines = outcome.out.split('\n')
    expect(lines[0]).toBe('Cross · strategy · Pine v6 · as of 2026-09-24')
    expect(lines[1]).toContain('SP:SPX 1d · 1,000 bars, ')
    expect(lines[2]).toBe('Length 10')
    const trades = readFileSync(`${folder}/trades.csv`, 'utf8').trim().split('\n')
    expect(trades[0]).toStartWith('Trade number,Type,Date and time,Signal,Price USD,Size (qty),')
    expect(trades.length).toBeGreaterThan(10)
    expect(trades[2]).toMatch(/^1,Entry long,\d{4}-\d\d-\d\d \d\d:\d\d,"up, and away",\d+\.\d+,1,/)
    const plots = readFileSync(`${folder}/plots.csv`, 'utf8').trim().split('\n')
    expect(plots.length).toBe(1001)
    expect(plots[0]).toBe('time,Average')
    expect(plots[9]).toMatch(/^\d{13},na$/)
    expect(plots[10]).toMatch(/^\d{13},\d+\.\d+$/)
  })

  test('the same from a file of bars, read from standard input, as JSON', async () => {
    const data = temporaryFolder()
    const csv = `${temporaryFolder()}/spx.csv`
    await chartroom(data, 'bars', 'export', ...SERIES, '-o', csv)
    const fromFile = await withInput(
      CROSS,
      data,
      'backtest',
      '-',
      '--bars',
      csv,
      '--symbol',
      'SP:SPX',
      '--json',
    )
    const cached = await withInput(CROSS, data, 'backtest', '-', ...SERIES, '--json')
    const reportOf = (text: string) =>
      (JSON.parse(text) as { report: { hash: string; trades: unknown[] } }).report
    expect(reportOf(fromFile.out).trades.length).toBeGreaterThan(100)
    expect(reportOf(fromFile.out).trades).toEqual(reportOf(cached.out).trades)
  })

  test('a script with mistakes shows where, and ends with 1', async () => {
    const folder = scripts({
      'bad.pine': '//@version=6\nindicator("Bad")\nplot(clsoe)\nplot(ta.sma(close))\n',
    })
    const outcome = await chartroom(temporaryFolder(), 'backtest', `${folder}/bad.pine`, ...SERIES)
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('bad.pine:3:6: error: ')
    expect(outcome.err).toContain(' 3 | plot(clsoe)\n   |      ^^^^^')
    expect(outcome.err).toContain('bad.pine:4:')
  })

  test('bars that are not cached are named', async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const outcome = await chartroom(
      temporaryFolder(),
      'backtest',
      `${folder}/cross.pine`,
      '--symbol',
      'SP:NDX',
      '--interval',
      'D',
    )
    expect(outcome).toEqual({
      code: 1,
      out: '',
      err: 'No bars of SP:NDX 1d are cached. There are: NASDAQ:AAPL 1d, SP:SPX 1d.',
    })
  })

  test('an input out of range is named', async () => {
    const outcome = await withInput(
      CROSS,
      temporaryFolder(),
      'backtest',
      '-',
      ...SERIES,
      '--inputs',
      '{"Length":0}',
    )
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain('Length')
  })
})

describe('backtest --repaint', () => {
  const SEES = `//@version=6
strategy("sees", default_qty_type = strategy.fixed, default_qty_value = 1)
end = request.security("", "W", close, lookahead = barmerge.lookahead_on)
if end > close
    strategy.entry("L", strategy.long)
`
  const repaint = (source: string, ...more: string[]) =>
    withInput(source, temporaryFolder(), 'backtest', '-', ...SERIES, '--last', '300', '--repaint', ...more)

  test('an honest script exits with 0, one that looks ahead with 1 and its line', async () => {
    expect(await repaint(CROSS)).toMatchObject({ code: 0, err: '' })
    const found = await repaint(SEES)
    expect(found.code).toBe(1)
    expect(found.out).toContain(':3:52 lookahead_on: With lookahead_on the past sees')
    expect(found.out).toContain('Differs: orders; on ')
  })

  test('answers JSON, and what does not compile is told as in a run', async () => {
    const { out } = await repaint(SEES, '--json')
    expect(JSON.parse(out)).toMatchObject({ clean: false, findings: [{ cause: 'lookahead_on', line: 3 }] })
    expect(await repaint('plot(')).toMatchObject({ code: 1, out: '' })
  })
})

describe('backtest --verify', () => {
  /** What the server would have stored of this script on the last 500 days of the S&P 500. */
  async function storedRun(change: (report: { trades: { profit: number }[] }) => void = () => undefined) {
    const data = temporaryFolder()
    const { out } = await withInput(CROSS, data, 'backtest', '-', ...SERIES, '--last', '500', '--json')
    const { report } = JSON.parse(out) as {
      report: { asOf: string; range: object; trades: { profit: number }[] }
    }
    change(report)
    const run = { id: 'bt_1', userId: 'usr_1', state: 'done', exchange: 'SP', symbol: 'SPX', interval: '1d' }
    const kv = await openKept(data)
    await kv.commit({
      sets: [
        ...(runs(kv).insert({ ...run, range: report.range } as unknown as Run).sets ?? []),
        {
          key: ['backtest-script', 'bt_1'],
          value: JSON.stringify({ source: CROSS, inputs: {}, overrides: {}, asOf: report.asOf }),
        },
        { key: ['backtest-report', 'bt_1'], value: JSON.stringify(report) },
      ],
    })
    await kv.close()
    return data
  }

  test('an honest report is reproduced to the byte', async () => {
    const outcome = await chartroom(await storedRun(), 'backtest', '--verify', 'bt_1')
    expect(outcome).toMatchObject({ code: 0, err: '' })
    expect(outcome.out).toMatch(/^bt_1 is reproduced to the byte: [0-9a-f]{64}$/)
  })

  test('one changed number is found', async () => {
    const data = await storedRun((report) => {
      for (const trade of report.trades.slice(2, 3)) trade.profit += 1
    })
    expect(await chartroom(data, 'backtest', '--verify', 'bt_1')).toEqual({
      code: 1,
      out: '',
      err: 'bt_1 comes out otherwise today; the first difference is at /trades/2/profit.',
    })
    expect((await chartroom(data, 'backtest', '--verify', 'bt_2')).err).toBe('There is no backtest bt_2.')
  })
})

describe('check', () => {
  test('a line of JSON a script, in order, and 1 if one does not compile', async () => {
    const folder = scripts({
      'a/cross.pine': CROSS,
      'b.pine': '//@version=5\nindicator("B")\nplot(nonsense)\n',
      'c.pine': '//@version=6\nindicator("C")\nplot(close)\n',
      'notes.txt': 'not a script',
    })
    const outcome = await chartroom(temporaryFolder(), 'check', folder, ...SERIES, '--jsonl')
    expect(outcome.code).toBe(1)
    const results = outcome.out.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(
      results.map(({ file, version, kind, compiled, ran, bars }) => [
        String(file).slice(folder.length + 1),
        version,
        kind,
        compiled,
        ran,
        bars,
      ]),
    ).toEqual([
      ['a/cross.pine', 6, 'strategy', true, true, 5105],
      ['b.pine', 5, null, false, null, null],
      ['c.pine', 6, 'indicator', true, true, 5105],
    ])
    expect(results[0]?.['trades']).toBeGreaterThan(100)
    expect(results[1]?.['diagnostics']).toMatchObject([{ severity: 'error', line: 3, column: 6 }])
  })

  test('for people, and 0 when all is well', async () => {
    const folder = scripts({ 'cross.pine': CROSS })
    const outcome = await chartroom(temporaryFolder(), 'check', folder)
    expect(outcome).toEqual({
      code: 0,
      out: `ok  ${folder}/cross.pine  strategy v6\n1 of 1 scripts compile.`,
      err: '',
    })
  })

  test('a run that fails says why', async () => {
    const folder = scripts({
      'stop.pine': '//@version=6\nindicator("Stop")\nruntime.error("enough")\nplot(close)\n',
    })
    const outcome = await chartroom(temporaryFolder(), 'check', folder, ...SERIES)
    expect(outcome.code).toBe(1)
    expect(outcome.out).toContain('enough')
    expect(outcome.out).toContain('1 of 1 scripts compile, 0 of 1 run.')
  })

  test('--libraries without a folder lists the libraries that scripts need', async () => {
    const folder = scripts({
      'a.pine':
        '//@version=6\nindicator("A")\nimport me/Own/1\nimport TradingView/ta/7 as tv\nimport other/ta/2\nplot(Own.f(tv.dema(close, 9)) + ta.sma(close, 3))\n',
      'b.pine': '//@version=6\nindicator("B")\nimport me/Gone/3\nplot(Gone.f(close))\n',
      'me/Own.pine':
        '//@version=6\nlibrary("Own")\nimport TradingView/ValueAtTime/1 as at\nexport f(float x) => at.getArrayFromString("").size() + x\n',
    })
    const files = [`${folder}/a.pine`, `${folder}/b.pine`]
    const outcome = await chartroom(temporaryFolder(), 'check', ...files, '--libraries')
    expect(outcome.code).toBe(1)
    expect(outcome.out.split('\n')).toEqual([
      files[0]!,
      '  me/Own/1 is in the folder',
      '  TradingView/ValueAtTime/1 comes with this program',
      '  TradingView/ta/7 comes with this program',
      '  TradingView/RelativeValue/3 comes with this program',
      '  other/ta/2 is not needed: only built-in names of its alias are used',
      files[1]!,
      '  me/Gone/3 is missing',
      expect.stringContaining('1 missing: put each below --libraries FOLDER as USER/LIBRARY.pine'),
    ])
    const lines = await chartroom(temporaryFolder(), 'check', '--libraries', files[1]!, '--jsonl')
    expect(JSON.parse(lines.out)).toEqual({
      file: files[1],
      libraries: [{ path: 'me/Gone/3', state: 'missing' }],
    })
    // With a folder it still says where they are.
    const elsewhere = scripts({ 'me/Gone.pine': '//@version=6\nlibrary("Gone")\nexport f(float x) => x\n' })
    const found = await chartroom(
      temporaryFolder(),
      'check',
      '--libraries',
      elsewhere,
      files[1]!,
      '--libraries',
    )
    expect(found).toMatchObject({
      code: 0,
      out: `${files[1]}\n  me/Gone/3 is in the folder\nNo library is missing.`,
    })
  })

  test('--builtins lists names', async () => {
    const names = (await chartroom(temporaryFolder(), 'check', '--builtins')).out.split('\n')
    expect(names).toContain('function ta.sma')
    expect(names).toContain('variable close')
  })
  test('--builtins --json says of each name what it is and whether there is data for it', async () => {
    const { out } = await chartroom(temporaryFolder(), 'check', '--builtins', '--json')
    const found = JSON.parse(out) as {
      asOf: string
      builtins: { name: string; kind?: string; state?: string; type?: string }[]
    }
    expect(found.asOf).toMatch(/^[A-Z][a-z]+ 20\d\d$/)
    const named = (name: string) => found.builtins.filter((one) => one.name === name)
    expect(named('close')).toEqual([
      { name: 'close', kind: 'variable', state: 'works', type: 'series float' },
    ])
    expect(named('bid')).toMatchObject([{ state: 'no data source' }])
    expect(named('color.red')).toMatchObject([{ kind: 'constant', type: 'const color' }])
    // One name may be a variable and a function.
    expect(named('na').map(({ kind }) => kind)).toContain('function')
    const names = found.builtins.map(({ name }) => name)
    expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
    const plain = (await chartroom(temporaryFolder(), 'check', '--builtins')).out.split('\n')
    expect(names.toSorted()).toEqual(plain.map((line) => line.split(' ')[1] ?? '').toSorted())
    expect((await chartroom(temporaryFolder(), 'check', '.', '--json')).code).toBe(2)
  })
  test('--version says how far the language goes', async () => {
    const { out } = await chartroom(temporaryFolder(), '--version')
    expect(out.split('\n')).toEqual([
      'chartroom 0.0.0',
      expect.stringMatching(/^Pine Script up to TradingView's release notes of [A-Z][a-z]+ 20\d\d/) as string,
    ])
  })
})

describe('usage', () => {
  test.each([
    [['backtest']],
    [['backtest', 'missing.pine', ...SERIES]],
    [['check']],
    [['check', '/nowhere']],
    [['parity']],
    [['parity', '/nowhere']],
    [['nonsense']],
  ])('%j ends with 2', async (args) => {
    expect((await chartroom(temporaryFolder(), ...args)).code).toBe(2)
  })

  test('--help lists every command', async () => {
    const { code, out } = await chartroom(temporaryFolder(), '--help')
    expect(code).toBe(0)
    for (const name of [
      'serve',
      'backtest',
      'check',
      'parity',
      'bars',
      'script',
      'user',
      'token',
      'backup',
      'restore',
    ])
      expect(out).toContain(`\n  ${name} `)
  })
})

test('tables align, and numbers are grouped', () => {
  expect(
    tableLines(
      ['A', right('B')],
      [
        ['x', '1,000'],
        ['longer', '5'],
      ],
    ),
  ).toEqual(['A           B', 'x       1,000', 'longer      5'])
  expect([
    formatNumber(1234567.891),
    formatNumber(-0.001),
    formatNumber(null),
    formatNumber(-1234.5, 0),
  ]).toEqual(['1,234,567.89', '0.00', '–', '-1,235'])
  expect(formatPercent(0.12345)).toBe('12.35%')
  expect(formatBytes(1_500_000)).toBe('1.5 MB')
  expect(progressBar(0.5, 10)).toBe('[====>     ]  50%')
})

test('a script that asks what traded at each price is told, of bars of seconds', async () => {
  const data = temporaryFolder()
  const files = scripts({
    'trades.csv':
      'time,price,amount,side\n1709632800000,100,3,buy\n1709632801000,101,4,sell\n1709633100000,101,2,buy\n1709633105000,102,1,sell\n',
    'rows/rows.pine':
      '//@version=6\nindicator("rows")\np = request.footprint(int(1 / syminfo.mintick)).poc()\nlog.info(str.tostring(p.down_price()) + " " + str.tostring(p.delta()))\n',
  })
  const series = ['--exchange', 'X', '--symbol', 'COIN']
  const ran = async () => {
    const answer = await chartroom(
      data,
      'backtest',
      `${files}/rows/rows.pine`,
      ...series,
      '--interval',
      '5m',
      '--json',
    )
    const { report } = JSON.parse(answer.out) as {
      report: { logs: { message: string }[]; warnings: { code: string }[] }
    }
    return [report.logs.map(({ message }) => message), report.warnings.map(({ code }) => code)]
  }
  const bring = (interval: string) =>
    chartroom(data, 'bars', 'import', `${files}/trades.csv`, ...series, '--interval', interval)
  expect(await bring('5m')).toMatchObject({ code: 0, err: '' })
  expect(await ran()).toEqual([['NaN NaN', 'NaN NaN'], ['no-sided-bars']])
  expect(await bring('1s')).toMatchObject({ code: 0, err: '' })
  expect(await ran()).toEqual([['101 -4', '101 2'], []])
  const checked = await chartroom(data, 'check', `${files}/rows`, ...series, '--interval', '5m', '--jsonl')
  expect(JSON.parse(checked.out)).toMatchObject({ compiled: true, ran: true, bars: 2 })
})
