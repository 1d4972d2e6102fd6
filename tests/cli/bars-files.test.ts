// Files and folders of bars on the command line.

import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { zip } from '../market/archives.ts'
import { chartroom, temporaryFolder } from './run.ts'

const day = (of: number) =>
  Array.from({ length: 3 }, (_, i) => {
    const time = (Date.UTC(2024, 2, of) + i * 3_600_000) * 1000
    return `${time},10,12,9,11,5,${time + 3_599_999_999},55,3,2,22,0`
  }).join('\n')
const archive = (of: number) => zip([{ name: `BTCUSDT-1h-2024-03-0${of}.csv`, text: day(of) }])

test('a dry run says how a file would be read, and stores nothing', async () => {
  const data = temporaryFolder()
  const file = `${temporaryFolder()}/BTCUSDT-1h-2024-03-05.zip`
  writeFileSync(file, archive(5))
  const { code, out, err } = await chartroom(data, 'bars', 'import', file, '--dry-run')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out.split('\n')).toEqual([
    'Read CSV as Binance writes it, packed as zip: columns separated by commas; decimal points; no line with names; times in microseconds since 1970, UTC; time in column 1, open in column 2, high in column 3, low in column 4, close in column 5, volume in column 6, bought in column 10.',
    'TIME (UTC)        OPEN  HIGH  LOW  CLOSE  VOLUME',
    '2024-03-05 00:00    10    12    9     11       5',
    '2024-03-05 01:00    10    12    9     11       5',
    '2024-03-05 02:00    10    12    9     11       5',
    '3 bars from 2024-03-05 00:00 to 2024-03-05 02:00 UTC. Nothing was stored.',
  ])
  expect((await chartroom(data, 'bars', 'list')).out).not.toContain('BTCUSDT')
})

test('a folder is one series, which the names tell, and a check sum beside a file has to agree', async () => {
  const data = temporaryFolder()
  const folder = `${temporaryFolder()}/Мои данные`
  mkdirSync(`${folder}/2024`, { recursive: true })
  for (const of of [5, 6]) {
    const path = `${folder}/2024/BTCUSDT-1h-2024-03-0${of}.zip`
    writeFileSync(path, archive(of))
    const sum = new Bun.CryptoHasher('sha256').update(archive(of)).digest('hex')
    writeFileSync(`${path}.CHECKSUM`, `${sum}  BTCUSDT-1h-2024-03-0${of}.zip\n`)
  }
  const { code, out } = await chartroom(data, 'bars', 'import', folder)
  expect(code).toBe(0)
  expect(out).toContain('Read BTCUSDT-1h-2024-03-06.csv: CSV as Binance writes it')
  expect(out).toContain(
    '- 21 bars missing inside of sessions, in one place; nothing was filled in (2024-03-05 03:00: 21 bars).',
  )
  expect(out).toContain('BINANCE:BTCUSDT 1h: 6 bars added, 0 replaced.')
  writeFileSync(`${folder}/2024/BTCUSDT-1h-2024-03-05.zip.CHECKSUM`, `${'0'.repeat(64)}  x\n`)
  expect(await chartroom(data, 'bars', 'import', folder)).toEqual({
    code: 1,
    out: '',
    err: 'Nothing was imported: a file does not agree with its CHECKSUM; download it again.',
  })
})

test('what the flags say of a file counts more than what was found', async () => {
  const data = temporaryFolder()
  const file = `${temporaryFolder()}/x.csv.gz`
  writeFileSync(file, gzipSync('04/03/2024|10:00|1,5|2|1|2\n04/03/2024|10:00|1,5|2|1|1\n'))
  const series = ['--symbol', 'X:S', '--interval', '1h']
  const said = [
    '--times-in',
    'America/New_York',
    '--dates',
    'dmy',
    '--delimiter',
    'pipe',
    '--decimal',
    'comma',
  ]
  const stored = await chartroom(data, 'bars', 'import', file, ...series, ...said, '--duplicates', 'first')
  expect(stored.out).toContain(
    '- one row of a time that was there already; the first of each time is kept (2024-03-04 15:00).',
  )
  expect((await chartroom(data, 'bars', 'export', ...series)).out.split('\n')[1]).toBe(
    '1709564400000,1.5,2,1,2,0',
  )
  const seconds = `${temporaryFolder()}/s.csv`
  writeFileSync(seconds, '1709632800,1,1,1,1,1\n')
  const inMs = await chartroom(data, 'bars', 'import', seconds, ...series, '--unit', 'ms', '--dry-run')
  expect(inMs.out).toContain('1970-01-20')
})

test.each([
  [['--duplicates', 'all'], '--duplicates is one of refuse, first, last.'],
  [['--format', 'xml'], '--format is csv or json.'],
])('%j is no way to read a file', async (flags, message) => {
  const file = `${temporaryFolder()}/x.csv`
  writeFileSync(file, 'x')
  const { code, err } = await chartroom(
    temporaryFolder(),
    'bars',
    'import',
    file,
    '--symbol',
    'X:S',
    '--interval',
    '1h',
    ...flags,
  )
  expect(code).toBe(2)
  expect(err).toContain(message)
})

test('an empty folder has nothing to import', async () => {
  const { code, err } = await chartroom(
    temporaryFolder(),
    'bars',
    'import',
    temporaryFolder(),
    '--symbol',
    'X:S',
    '--interval',
    '1h',
  )
  expect(code).toBe(2)
  expect(err).toContain('There are no files in ')
})

test('bars are exported as Parquet by the name of the file, and come back as they were', async () => {
  const data = temporaryFolder()
  const folder = temporaryFolder()
  writeFileSync(`${folder}/x.zip`, archive(5))
  const series = ['--symbol', 'BINANCE:BTCUSDT', '--interval', '1h']
  await chartroom(data, 'bars', 'import', `${folder}/x.zip`, ...series)
  const out = `${folder}/цены.parquet`
  expect((await chartroom(data, 'bars', 'export', ...series, '-o', out)).out).toBe(
    `3 bars of BINANCE:BTCUSDT 1h in ${out}`,
  )
  const other = ['--symbol', 'BINANCE:COPY', '--interval', '1h']
  const back = await chartroom(data, 'bars', 'import', out, ...other)
  expect(back.out).toContain('Read Parquet: times as year, month, day and clock')
  const csv = async (of: readonly string[]) => (await chartroom(data, 'bars', 'export', ...of)).out
  expect(await csv(other)).toBe(await csv(series))
  expect((await chartroom(data, 'bars', 'export', ...series, '--format', 'parquet')).err).toContain(
    'Parquet needs --output FILE.',
  )
})

test('trades become bars of volume with a flag', async () => {
  const data = temporaryFolder()
  const file = `${temporaryFolder()}/trades.csv`
  writeFileSync(file, '1709632800,10,3\n1709632801,11,3\n1709632802,12,4\n')
  const series = ['--symbol', 'KRAKEN:XBTUSD.V5', '--interval', '1s']
  const imported = await chartroom(data, 'bars', 'import', file, ...series, '--volume-per-bar', '5')
  expect(imported.out).toContain('KRAKEN:XBTUSD.V5 1s: 2 bars added')
  const refused = await chartroom(data, 'bars', 'import', file, ...series, '--volume-per-bar', 'x')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('must be a number greater than 0')])
})
