// Files of bars as programs write them: made here to the shapes that are documented, never fetched.

import { DUPLICATES } from '../../src/market/bar-stage.ts'
import { describe, expect, test } from 'bun:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { Problem } from '../../src/lib/problem.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { BarStage } from '../../src/market/bar-stage.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { marketOfFile, marketTold } from '../../src/market/files/file-market.ts'
import { readingText } from '../../src/market/files/reading-text.ts'
import {
  importBars,
  inspectBars,
  type ReadBarsOptions,
  stageBars,
  stageNamed,
} from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { type ZipEntry, zip } from './archives.ts'
import { rows } from './bar-store.conformance.ts'
import { testBars } from '../store/test-store.ts'

const COIN = defaultSymbol('BINANCE', 'BTCUSDT')
const STOCK = defaultSymbol('NASDAQ', 'AAPL')

interface Told {
  readonly says: string
  readonly bars: readonly string[]
  readonly findings: readonly string[]
}

/** What is said of a file, its bars, and what is odd about them. */
async function read(content: string | Uint8Array, options: Partial<ReadBarsOptions> = {}): Promise<Told> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const { bars, read: found } = await stageBars([bytes], { symbol: COIN, ...options }, null)
  return {
    says: found.files.map((file) => readingText(file)).join(' '),
    bars: rows(bars).map(([time = 0, ...rest]) =>
      [new Date(time).toISOString().replace('.000Z', ''), ...rest].join(' '),
    ),
    findings: found.findings.map(({ count, message, done }) => `${count}: ${message}; ${done}`),
  }
}

async function refusal(
  content: string | Uint8Array,
  options: Partial<ReadBarsOptions> = {},
): Promise<string> {
  try {
    await read(content, options)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return ''
}

const UTC = ['2024-03-05T10:00:00 10 12 9 11 5', '2024-03-05T10:01:00 11 13 10 12 6']
/** The same clock in New York's winter time. */
const EASTERN = UTC.map((line) => line.replace('T10', 'T15'))

describe('a file says by itself what wrote it', () => {
  test.each([
    [
      'TradingView',
      'time,open,high,low,close,Volume,MA\n1709632800,10,12,9,11,5,\n1709632860,11,13,10,12,6,10.5\n',
      'CSV: columns separated by commas; decimal points; names in line 1; times in seconds since 1970, UTC',
      UTC,
    ],
    [
      'Binance in microseconds',
      '1709632800000000,10.00,12,9,11,5,1709632859999999,55,3,2,22,0\n1709632860000000,11,13,10,12,6,1709632919999999,66,3,2,22,0\n',
      'CSV as Binance writes it: columns separated by commas; decimal points; no line with names; times in microseconds since 1970, UTC; time in column 1',
      UTC,
    ],
    [
      'Kraken',
      '1709632800,10,12,9,11,5,42\n1709632860,11,13,10,12,6,43\n',
      'CSV as Kraken writes it: columns separated by commas; decimal points; no line with names; times in seconds',
      UTC,
    ],
    [
      'HistData',
      '20240305 100000;10;12;9;11;0\n20240305 100100;11;13;10;12;0\n',
      'CSV as HistData writes it: columns separated by semicolons; decimal points; no line with names; times as year, month, day and clock in UTC-5, as HistData writes them',
      EASTERN.map((line) => line.replace(/\d$/, '0')),
    ],
    [
      'Dukascopy',
      'Gmt time,Open,High,Low,Close,Volume\n05.03.2024 10:00:00.000,10,12,9,11,5\n05.03.2024 10:01:00.000,11,13,10,12,6\n',
      'CSV as Dukascopy writes it: columns separated by commas; decimal points; names in line 1; times as day, month, year and clock in UTC, as Dukascopy writes them',
      UTC,
    ],
    [
      'Dukascopy in local time',
      'Local time,Open,High,Low,Close,Volume\n05.03.2024 12:00:00.000 GMT+0200,10,12,9,11,5\n05.03.2024 12:01:00.000 GMT+0200,11,13,10,12,6\n',
      'and clock, with the zone',
      UTC,
    ],
    [
      "Dukascopy in eastern Europe's time",
      'Time (EET),Open,High,Low,Close,Volume\n2024.03.05 12:00:00,10,12,9,11,5\n2024.03.05 12:01:00,11,13,10,12,6\n',
      'in EET, as the file says',
      UTC,
    ],
    [
      'MetaTrader 4',
      '2024.03.05,10:00,10,12,9,11,5\n2024.03.05,10:01,11,13,10,12,6\n',
      'CSV as MetaTrader 4 writes it: columns separated by commas; decimal points; no line with names; times as year, month, day and clock in UTC, which the file does not say',
      UTC,
    ],
    [
      'MetaTrader 5, whose volume of deals is 0',
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n2024.03.05\t10:00:00\t10\t12\t9\t11\t5\t0\t2\n2024.03.05\t10:01:00\t11\t13\t10\t12\t6\t0\t2\n',
      'CSV as MetaTrader 5 writes it: columns separated by tabs',
      UTC,
    ],
    [
      'Stooq',
      '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nX,1,20240305,110000,10,12,9,11,5,0\nX,1,20240305,110100,11,13,10,12,6,0\n',
      'in Europe/Warsaw, as Stooq writes them',
      UTC,
    ],
    [
      'Investing.com, with signs and letters',
      '"Date","Price","Open","High","Low","Vol."\n"03/05/2024 10:00","11","10","12","9","5"\n"03/05/2024 10:01","12","11","13","10","0.006K"\n',
      'close from Price',
      UTC,
    ],
    [
      'a German file of Investing.com',
      '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"\n"05.03.2024 10:00","11,0","10,0","12,0","9,0","0,005K","1,00%"\n"05.03.2024 10:01","12,0","11,0","13,0","10,0","0,006K","-1,00%"\n',
      'decimal commas',
      UTC,
    ],
    [
      'a Portuguese one, whose points are of thousands as a volume tells',
      '"Data","Último","Abertura","Máxima","Mínima","Vol.","Var%"\n"16.08.2023","115.592","116.171","117.338","115.534","18,86M","-0,50%"\n"17.08.2023","115.000","116.171","117.338","114.534","-","-0,51%"\n',
      'decimal commas',
      [
        '2023-08-16T00:00:00 116171 117338 115534 115592 18860000',
        '2023-08-17T00:00:00 116171 117338 114534 115000 0',
      ],
    ],
    [
      'a Spanish one',
      '"Fecha","Último","Apertura","Máximo","Mínimo","Vol.","% var."\n"22.07.2019","10,074","10,060","10,148","9,987","10,36M","-0,08%"\n',
      'decimal commas',
      ['2019-07-22T00:00:00 10.06 10.148 9.987 10.074 10360000'],
    ],
    [
      'an Italian one',
      '"Data","Ultimo","Apertura","Massimo","Minimo","Vol.","Var. %"\n"22.07.2019","10,074","10,060","10,148","9,987","1,5K","-0,08%"\n',
      'decimal commas',
      ['2019-07-22T00:00:00 10.06 10.148 9.987 10.074 1500'],
    ],
    [
      'a French one',
      '"Date","Dernier","Ouv."," Plus Haut","Plus Bas","Vol.","Variation %"\n"22/07/2019","1.010,5","1.000,5","1.020,0","999,5","","-0,08%"\n',
      'decimal commas',
      ['2019-07-22T00:00:00 1000.5 1020 999.5 1010.5 0'],
    ],
    [
      'pandas, whose index has no name',
      ',open,high,low,close,volume\n2024-03-05 10:00:00+00:00,10.0,12.0,9.0,11.0,5\n2024-03-05 10:01:00+00:00,11.0,13.0,10.0,12.0,6\n',
      'time in column 1',
      UTC,
    ],
    [
      'pandas that wrote what it had read, whose index was written twice',
      ',Unnamed: 0,open,high,low,close\n0,2024-03-05 10:00:00,10.0,12.0,9.0,11.0\n1,2024-03-05 10:01:00,11.0,13.0,10.0,12.0\n',
      'time from Unnamed: 0',
      UTC.map((line) => line.replace(/\d$/, '0')),
    ],
    [
      'a program in Russian',
      'Дата;Время;Открытие;Максимум;Минимум;Закрытие;Объем\n05.03.2024;10:00;10,0;12;9;11;5\n05.03.2024;10:01;11;13,0;10;12;6\n',
      'columns separated by semicolons; decimal commas',
      UTC,
    ],
  ])('%s', async (name, text, says, bars) => {
    const hints = name.startsWith('Investing') ? { hints: { dates: 'mdy' } } : {}
    const told = await read(text, hints)
    expect(told.says).toContain(says)
    expect(told.bars).toEqual([...bars])
  })

  test('a column without a name is that of times only if it holds them', async () => {
    const missing = 'the header has no column time: say which they are, such as columns=time=… (--columns)'
    expect(await refusal(',open,high,low,close\n0,10,12,9,11\n1,11,13,10,12\n')).toContain(missing)
    expect(await refusal('Unnamed: 0,open,high,low,close\n')).toContain(missing)
    expect((await read(',date,open,high,low,close\n0,2024-03-05,10,12,9,11\n')).bars).toHaveLength(1)
  })

  test('days of Stooq and of Yahoo Finance are sessions, and rows without a price are left out', async () => {
    const stooq =
      '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nX,D,20240305,000000,10,12,9,11,5,0\n'
    const yahoo =
      'Date,Open,High,Low,Close,Adj Close,Volume\n2024-03-04,null,null,null,null,null,null\n2024-03-05,10,12,9,11,3,5\n'
    const day = ['2024-03-05T14:30:00 10 12 9 11 5']
    expect((await read(stooq, { symbol: STOCK, interval: '1d' })).bars).toEqual(day)
    const told = await read(yahoo, { symbol: STOCK, interval: '1d' })
    expect(told.bars).toEqual(day)
    expect(told.says).toContain('as Yahoo Finance writes it')
    expect(told.findings).toEqual(['1: one row without a price; left out'])
  })

  test("days at midnight in the exchange's zone are the sessions that dates alone name", async () => {
    const days = 'Date,Open,High,Low,Close,Volume\n2024-01-02,10,12,9,11,5\n2024-07-02,10,12,9,11,5\n'
    const midnights = days.replace('01-02', '01-02 00:00:00-05:00').replace('07-02', '07-02 00:00:00-04:00')
    const clocks = days.replaceAll('-02,', '-02 00:00:00,')
    const json = `[${['2024-01-02T00:00:00-05:00', '2024-07-02T00:00:00-04:00'].map((time) => `["${time}",10,12,9,11,5]`).join()}]`
    const opens = ['2024-01-02T14:30:00 10 12 9 11 5', '2024-07-02T13:30:00 10 12 9 11 5']
    const daily = { symbol: STOCK, interval: '1d' }
    for (const text of [days, midnights, json]) expect((await read(text, daily)).bars).toEqual(opens)
    const eastern = { ...daily, hints: { timesIn: 'America/New_York' } }
    expect((await read(clocks, eastern)).bars).toEqual(opens)
    const key = seriesKey('NASDAQ', 'AAPL', '1d')
    const cache = new BarCache(testBars())
    await importBars(cache, key, [Buffer.from(days)])
    expect(await importBars(cache, key, [Buffer.from(midnights)])).toMatchObject({
      inserted: 0,
      series: { count: 2 },
    })
    const week = await read(midnights, { symbol: STOCK, interval: '1w' })
    expect(week.bars).toEqual(opens)
    // Of hours, a bar at midnight is one at midnight.
    const hours = await read(midnights, { symbol: STOCK, interval: '1h' })
    expect(hours.bars[0]).toBe('2024-01-02T05:00:00 10 12 9 11 5')
  })

  test('days of markets that open at midnight, and midnights of other zones, stay where they are', async () => {
    const text =
      'time,open,high,low,close\n2024-01-02T00:00:00Z,10,12,9,11\n2024-07-02T00:00:00Z,10,12,9,11\n'
    const days = ['2024-01-02T00:00:00 10 12 9 11 0', '2024-07-02T00:00:00 10 12 9 11 0']
    for (const symbol of [COIN, STOCK, { ...STOCK, timezone: 'UTC', session: '0000-2000' }])
      expect((await read(text, { symbol, interval: '1d' })).bars).toEqual(days)
    const berlin = { ...STOCK, timezone: 'Europe/Berlin', session: '0000-0000:23456' }
    const local = text.replaceAll('00:00:00Z', '00:00:00')
    const told = await read(local, { symbol: berlin, interval: '1d', hints: { timesIn: 'Europe/Berlin' } })
    expect(told.bars).toEqual(['2024-01-01T23:00:00 10 12 9 11 0', '2024-07-01T22:00:00 10 12 9 11 0'])
  })

  test('two bars of one session are told of days', async () => {
    const text = (times: readonly string[]) =>
      `time,open,high,low,close,volume\n${times.map((time) => `${time},10,12,9,11,5\n`).join('')}`
    const twice = text(['2024-01-02T14:30:00Z', '2024-01-02T15:00:00Z', '2024-01-03T14:30:00Z'])
    expect((await read(twice, { symbol: STOCK, interval: '1d' })).findings).toEqual([
      '1: 1 bar in a session that has one already; stored as it is',
    ])
    expect((await read(twice, { symbol: STOCK, interval: '30m' })).findings.join()).not.toContain('already')
    // Midnight UTC is the date's session, and not the evening before in New York.
    const once = text(['2024-01-02T14:30:00Z', '2024-01-03T00:00:00Z'])
    expect((await read(once, { symbol: STOCK, interval: '1d' })).findings).toEqual([])
  })

  test('three lines of names of yfinance, and the Polish names of Stooq', async () => {
    const day = ['2024-03-05T14:30:00 10 12 9 11 5']
    const head = 'Price,Close,High,Low,Open,Volume\nTicker,AAPL,AAPL,AAPL,AAPL,AAPL\nDate,,,,,\n'
    const daily = { symbol: STOCK, interval: '1d' }
    const told = await read(`${head}2024-03-05,11,12,9,10,5\n`, daily)
    expect(told.bars).toEqual(day)
    expect(told.says).toContain('names in line 3')
    const minutes = head.replace('Date', 'Datetime')
    expect((await read(`${minutes}2024-03-05 14:30:00+00:00,11,12,9,10,5\n`, daily)).bars).toEqual(day)
    expect(await refusal(`${head.replace('AAPL,AAPL', 'AAPL,MSFT')}2024-03-05,11,12,9,10,5\n`, daily)).toBe(
      'Nothing was imported: row 2: there are several symbols; write a file for each.',
    )
    expect(await refusal(`${head}2024-03-05,11,8,9,10,5\n`, daily)).toContain('row 4:')
    for (const names of [
      'Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie,Wolumen',
      'Data,Otwarcie,Najwyższy,Najniższy,Zamknięcie,Wolumen',
    ]) {
      const polish = await read(`${names}\n2024-03-05,10,12,9,11,5\n`, daily)
      expect(polish.bars).toEqual(day)
      expect(polish.says).toContain('as Stooq writes it')
    }
  })

  test("MetaTrader's zone, which nobody stated, is told in a line of its own", async () => {
    const four = '2024.03.05,10:00,10,12,9,11,5\n2024.03.05,10:01,11,13,10,12,6\n'
    const five =
      '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n2024.03.05\t10:00:00\t10\t12\t9\t11\t5\t0\t2\n2024.03.05\t10:01:00\t11\t13\t10\t12\t6\t0\t2\n'
    const line =
      "2: MetaTrader writes the clock of the broker's server, and the file does not say its zone; taken as UTC; say the zone of its times if that is wrong, such as EET"
    for (const text of [four, five]) {
      expect((await read(text)).findings).toEqual([line])
      expect((await read(text, { hints: { timesIn: 'EET' } })).findings).toEqual([])
    }
    expect((await read(four, { fileName: 'DAT_MT_EURUSD_M1_2024.csv' })).findings).toEqual([])
    const days =
      '<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n2024.03.05\t10\t12\t9\t11\t5\t0\t2\n'
    expect((await read(days, { interval: '1d' })).findings).toEqual([])
  })

  test('HistData and MetaTrader 4 write the same rows, so the name of the file tells the zone', async () => {
    const text = '2024.03.05,10:00,10,12,9,11,5\n2024.03.05,10:01,11,13,10,12,6\n'
    const told = await read(text, { fileName: 'DAT_MT_EURUSD_M1_2024.csv' })
    expect(told.bars).toEqual(EASTERN)
    expect(told.says).toContain('as HistData writes it')
  })

  test('UTF-16, a byte order mark, and times in nanoseconds', async () => {
    const text = 'time,open,high,low,close,volume\n1709632800000000000,10,12,9,11,5\n'
    const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
    expect(await read(wide)).toMatchObject({
      bars: UTC.slice(0, 1),
      says: expect.stringContaining('CSV, in the letters of UTF-16: '),
    })
    expect((await read(`\uFEFF${text}`)).says).toContain('nanoseconds')
  })

  test.each(['Umsatz', 'Stücke', 'Stuecke', 'Stück'])(
    'German in the letters of Windows, with %s',
    async (volume) => {
      const text = `Datum;Eröffnung;Hoch;Tief;Schluss;${volume}\n05.03.2024 10:00;10,0;12,0;9,0;11,0;5\n`
      const plain = await read(text)
      expect(plain.bars).toEqual(UTC.slice(0, 1))
      expect(await read(Buffer.from(text, 'latin1'))).toEqual(
        /[^\0-\x7f]/.test(text)
          ? { ...plain, says: plain.says.replace('CSV', 'CSV, in the letters of Windows-1252') }
          : plain,
      )
    },
  )

  test.each([
    ['Datum;Zeit;Anfangskurs;Höchstkurs;Tiefstkurs;Schlusskurs;Stk.', '05.03.2024;10:00'],
    ['Fecha;Hora;Apertura;Máx.;Mín.;Cierre;Cantidad', '05/03/2024;10:00'],
    ['Date;Heure;Ouverture;Plus haut;Plus bas;Fermeture;Quantité', '05/03/2024;10:00'],
    ['Дата;Время;Открытие;Макс.;Мин.;Закрытие;Кол-во', '05.03.2024;10:00'],
  ])('columns in other languages: %s', async (names, time) => {
    const { bars } = await read(`${names}\n${time};10,0;12,0;9,0;11,0;5\n`, { hints: { dates: 'dmy' } })
    expect(bars).toEqual(UTC.slice(0, 1))
  })

  test('columns that nothing is read from are named', async () => {
    const { says } = await read('time,open,high,low,close,Shares,,note\n1709632800,10,12,9,11,5,,x\n')
    expect(says).toEndWith('time, open, high, low, close; not used: Shares, note.')
    const many = Array.from({ length: 14 }, (_, i) => `n${i}`).join(',')
    const wide = await read(`time,open,high,low,close,${many}\n1709632800,10,12,9,11${',1'.repeat(14)}\n`)
    expect(wide.says).toEndWith('n10, n11 and 2 more.')
  })

  test('UTF-8 whose first bytes end within a letter is UTF-8', async () => {
    const row = (i: number) => `${1_709_632_800 + i * 60},10,12,9,11,ö\n`
    const bytes = Buffer.from(
      `time,open,high,low,close,note\n${Array.from({ length: 300 }, (_, i) => row(i)).join('')}`,
    )
    const cut = bytes.indexOf('ö', 5000) + 1
    const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
    const { read: found } = await stageBars(pieces, { symbol: COIN }, null)
    expect([found.count, found.files[0]?.encoding]).toEqual([300, undefined])
  })

  test('wrong rows are named, the first five of them with their reasons', async () => {
    const wrong = (count: number) =>
      read.bind(null, `time,open,high,low,close\n${'1709632800,10,8,9,11\n'.repeat(count)}`)
    const said = async (count: number) => await wrong(count)().catch((error: Error) => error.message)
    const row = (n: number) => `row ${n}: high is below low`
    expect(await said(2)).toBe(`Nothing was imported: ${row(2)}; ${row(3)}.`)
    const five = [2, 3, 4, 5, 6].map(row).join('; ')
    expect(await said(6)).toBe(`Nothing was imported: ${five} (and 1 other row).`)
    expect(await said(30)).toBe(`Nothing was imported: ${five} (and 15 or more other rows).`)
  })

  test('thousands are not decimals', async () => {
    const text = 'time;open;high;low;close;volume\n1709632800;1.010,5;1.012,0;1.009,0;1.011,0;5.000\n'
    expect((await read(text)).bars).toEqual(['2024-03-05T10:00:00 1010.5 1012 1009 1011 5000'])
  })
})

describe('what a file does not say', () => {
  const slashes = (days: readonly string[]) =>
    `date,open,high,low,close\n${days.map((day) => `${day},1,1,1,1`).join('\n')}\n`

  test('the user says: zone, unit, delimiter, decimal sign', async () => {
    const text = '2024.03.05,10:00,10,12,9,11,5\n2024.03.05,10:01,11,13,10,12,6\n'
    const told = await read(text, { hints: { timesIn: 'America/New_York' } })
    expect(told.bars).toEqual(EASTERN)
    expect(told.says).toContain('in America/New_York, as you say')
    expect((await read('1709632800,1,1,1,1,1\n', { hints: { unit: 'ms' } })).bars[0]).toStartWith(
      '1970-01-20',
    )
    expect(
      (await read('1709632800|1,5|2|1|2\n', { hints: { delimiter: 'pipe', decimal: 'comma' } })).bars,
    ).toEqual(['2024-03-05T10:00:00 1.5 2 1 2 0'])
  })

  test('the order of day and month is seen in the days, or asked for', async () => {
    const inMarch = ['01/03/2024', '04/03/2024', '05/03/2024']
    expect((await read(slashes(inMarch))).bars[0]).toStartWith('2024-03-01')
    expect((await read(slashes(['03/01/2024', '03/04/2024', '03/05/2024']))).bars[2]).toStartWith(
      '2024-03-05',
    )
    expect((await read(slashes(['02/29/2024']))).bars[0]).toStartWith('2024-02-29')
    expect(await refusal(slashes(['03/04/2024']))).toContain('Say which: dates=dmy or dates=mdy')
    expect((await read(slashes(['03/04/2024']), { hints: { dates: 'dmy' } })).bars[0]).toStartWith(
      '2024-04-03',
    )
  })

  test('Excel’s day numbers are dates, or a clock with a fraction', async () => {
    const rows = (times: readonly string[], delimiter = ',') =>
      ['time,open,high,low,close'.replaceAll(',', delimiter)]
        .concat(times.map((time) => [time, 1, 1, 1, 1].join(delimiter)))
        .join('\n')
    const whole = await read(rows(['45658', '45659']), { symbol: STOCK })
    expect(whole.bars.map((bar) => bar.slice(0, 16))).toEqual(['2025-01-01T14:30', '2025-01-02T14:30'])
    expect(whole.says).toContain('CSV as Excel writes it')
    expect(whole.says).toContain('times as day numbers, each a session of the symbol')
    // Midnight has no fraction.
    const clock = await read(rows(['45658', '45658.0416666667', '45658.5']), {
      symbol: STOCK,
      hints: { timesIn: 'America/New_York' },
    })
    expect(clock.bars.map((bar) => bar.slice(0, 16))).toEqual([
      '2025-01-01T05:00',
      '2025-01-01T06:00',
      '2025-01-01T17:00',
    ])
    expect(clock.says).toContain('times as day numbers in America/New_York, as you say')
    const comma = await read(rows(['45658,0416666667'], ';'))
    expect(comma.bars[0]).toStartWith('2025-01-01T01:00:00 ')
    expect((await read(rows(['45658']), { hints: { unit: 's' } })).bars[0]).toStartWith('1970-01-01T12:40:58')
  })

  test('a date without a clock among times is midnight, not the open of a session', async () => {
    const text = 'time,open,high,low,close\n2025-01-02,1,1,1,1\n2025-01-02 00:01,1,1,1,1\n'
    expect((await read(text, { symbol: STOCK })).bars.map((bar) => bar.slice(0, 16))).toEqual([
      '2025-01-02T00:00',
      '2025-01-02T00:01',
    ])
  })

  test.each([
    [{ timesIn: 'Mars' }, 'timesIn must be a time zone'],
    [{ unit: 'h' }, 'unit must be one of s, ms, us, ns'],
    [{ dates: 'ydm' }, 'dates must be one of ymd, dmy, mdy'],
    [{ delimiter: 'x' }, 'delimiter must be one of comma, semicolon, tab, pipe'],
    [{ decimal: 'x' }, 'decimal must be point or comma'],
    [{ volumePerBar: '0' }, 'volumePerBar must be a number greater than 0'],
    [{ volumePerBar: '1e3' }, 'volumePerBar must be a number greater than 0'],
    [{ volumePerBar: '5' }, 'volumePerBar needs a file of trades'],
  ])('%j is refused with what would be right', async (hints, message) => {
    expect(await refusal('1709632800,1,1,1,1,1\n', { hints })).toContain(message)
  })

  test('a date that may mean two days is refused among those that begin with the year', async () => {
    const text = (date: string) => `time,open,high,low,close\n2024-03-04 10:00:00,1,1,1,1\n${date},1,1,1,1\n`
    expect(await refusal(Buffer.from(text('05/03/2024 10:05')))).toContain('row 3: time is not a date')
    const { bars } = await read(Buffer.from(text('05.03.2024 10:05')))
    expect(bars[1]).toStartWith('2024-03-05')
  })

  test('a clock that is turned back or forward means what the zone says', async () => {
    const text = '2024.03.10,01:59,1,1,1,1,1\n2024.03.10,03:00,1,1,1,1,1\n'
    const { bars } = await read(text, { hints: { timesIn: 'America/New_York' } })
    expect(bars.map((line) => line.slice(0, 16))).toEqual(['2024-03-10T06:59', '2024-03-10T07:00'])
  })
})

describe('trades become bars', () => {
  const BARS = ['2024-03-05T10:00:00 10 12 9 11 10', '2024-03-05T10:01:00 11 11 11 11 6']
  const trades = [
    [1_709_632_800_100, 10, 5],
    [1_709_632_810_000, 12, 1],
    [1_709_632_815_000, 9, 2],
    [1_709_632_859_999, 11, 2],
    [1_709_632_860_000, 11, 6],
  ] as const

  test.each([
    [
      'Binance',
      trades.map(([time, price, qty], i) => `${i},${price},${qty},50,${time * 1000},True,True`),
      'CSV of trades as Binance writes it',
    ],
    [
      'Binance, aggregated',
      trades.map(([time, price, qty], i) => `${i},${price},${qty},${i},${i},${time},True,True`),
      'CSV of trades as Binance writes it',
    ],
    [
      'Binance futures, with names',
      [
        'id,price,qty,quote_qty,time,is_buyer_maker',
        ...trades.map(([time, price, qty], i) => `${i},${price},${qty},50,${time},true`),
      ],
      'CSV of trades as Binance writes it',
    ],
    [
      'Kraken',
      trades.map(([time, price, qty]) => `${time / 1000},${price},${qty}`),
      'CSV of trades as Kraken writes it',
    ],
    [
      'newest first',
      ['time,price,amount', ...trades.map(([time, price, qty]) => `${time},${price},${qty}`).toReversed()],
      'CSV of trades',
    ],
  ])('%s', async (_name, lines, says) => {
    const told = await read(`${lines.join('\n')}\n`, { interval: '1m' })
    expect(told.bars).toEqual(BARS)
    expect(told.says).toContain(says)
  })

  test('of seconds', async () => {
    const lines = trades.map(([time, price, qty]) => `${time / 1000},${price},${qty}`)
    const { bars } = await read(lines.join('\n'), { interval: '15s' })
    expect(bars).toEqual([
      '2024-03-05T10:00:00 10 12 10 12 6',
      '2024-03-05T10:00:15 9 9 9 9 2',
      '2024-03-05T10:00:45 11 11 11 11 2',
      '2024-03-05T10:01:00 11 11 11 11 6',
    ])
  })

  test('sum up to the volume that one gets on paper', async () => {
    const random = seededRandom(7)
    const units = Array.from({ length: 20_000 }, () => Math.floor(random.uniform() * 1e8))
    const text = (places: number) =>
      units
        .map((one, i) => `${1_709_632_800 + i / 1000},10,${(one / 10 ** places).toFixed(places)}`)
        .join('\n')
    const sum = units.reduce((all, one) => all + one, 0)
    for (const places of [0, 1, 5, 8]) {
      const { bars } = await read(text(places), { interval: '1h' })
      expect(bars).toEqual([`2024-03-05T10:00:00 10 10 10 10 ${sum / 10 ** places}`])
      const { bars: ofVolume } = await read(text(places), {
        interval: '1s',
        hints: { volumePerBar: '9000000000000000' },
      })
      expect(ofVolume).toEqual([`2024-03-05T10:00:00 10 10 10 10 ${sum / 10 ** places}`])
    }
  })

  test.each([
    ['two', ['0.1', '0.2'], 0.3],
    [
      'a large one and many small',
      ['80000000', ...Array.from({ length: 20_000 }, () => '0.0000001')],
      80_000_000.002,
    ],
  ])('%s sum up without noise', async (_name, amounts, volume) => {
    const text = amounts.map((one, i) => `${1_709_632_800 + i / 1000},10,${one}`).join('\n')
    expect((await read(text, { interval: '1h' })).bars).toEqual([`2024-03-05T10:00:00 10 10 10 10 ${volume}`])
  })

  test('of so much volume each, which a trade fills up without being cut in two', async () => {
    const lines = trades.map(([time, price, qty]) => `${time / 1000},${price},${qty}`)
    const { bars } = await read(lines.join('\n'), { interval: '1s', hints: { volumePerBar: '6' } })
    expect(bars).toEqual(['2024-03-05T10:00:00.100Z 10 12 10 12 6', '2024-03-05T10:00:15 9 11 9 11 10'])
    // The last one is not full.
    const more = await read([...lines, '1709632861,10,1'].join('\n'), {
      interval: '1s',
      hints: { volumePerBar: '8' },
    })
    expect(more.bars.map((bar) => bar.split(' ').at(-1))).toEqual(['8', '8', '1'])
    const reversed = ['time,price,amount', ...lines.toReversed()].join('\n')
    expect(await refusal(reversed, { interval: '1s', hints: { volumePerBar: '6' } })).toContain(
      'trades have to be sorted, oldest first',
    )
  })

  test('of volume: however far apart they open, none is missing between them', async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `${1_709_632_800 + i * 60},10,5`).join('\n')
    const ofVolume = { interval: '1s', hints: { volumePerBar: '5' } }
    expect((await read(lines, ofVolume)).findings).toEqual([])
    expect((await read(lines, { interval: '1s' })).findings).toHaveLength(1)
  })

  test('bars of volume that begin with trades of one instant open one after the other', async () => {
    const { bars } = await read('1709632800,1,5\n1709632800,2,5\n1709632800,3,5\n1709632801,4,0.1\n', {
      interval: '1s',
      hints: { volumePerBar: '5' },
    })
    expect(bars).toEqual([
      '2024-03-05T10:00:00 1 1 1 1 5',
      '2024-03-05T10:00:00.001Z 2 2 2 2 5',
      '2024-03-05T10:00:00.002Z 3 3 3 3 5',
      '2024-03-05T10:00:01 4 4 4 4 0.1',
    ])
  })

  test('quotes become bars of the bid, whose volume is their number', async () => {
    const quotes = '20240305 100000123,1.5,1.6,0\n20240305 100001123,1.7,1.8,0\n'
    const told = await read(quotes, { interval: '1m' })
    expect(told.bars).toEqual(['2024-03-05T15:00:00 1.5 1.7 1.5 1.7 2'])
    expect(told.says).toContain('CSV of quotes as HistData writes it')
  })

  test('trades out of order, and a negative quantity, are refused with their rows', async () => {
    expect(await refusal('1709632800,1,1\n1709632900,1,1\n1709632800,1,1\n')).toContain(
      'row 3: is not in the order of time',
    )
    expect(await refusal('1709632800,1,-1\n1709632900,1,1\n')).toContain('row 1: quantity is negative')
  })

  describe('whose times say which opens and closes a bar', () => {
    const hourBars = async (times: readonly (readonly [number, number])[]) =>
      (await read(times.map(([time, price]) => `${time},${price},1\n`).join(''), { interval: '1h' })).bars

    test('also where the first two are out of order', async () => {
      expect(
        await hourBars([
          [1_709_632_801, 100],
          [1_709_632_800, 101],
          [1_709_632_802, 99],
          [1_709_632_803, 120],
        ]),
      ).toEqual(['2024-03-05T10:00:00 101 120 99 120 4'])
    })

    const ONE_INSTANT = [
      [1_709_632_803, 103],
      [1_709_632_803, 102],
      [1_709_632_803, 101],
    ] as const

    test('also where the newest come first and the first of them have one time', async () => {
      expect(await hourBars([...ONE_INSTANT, [1_709_632_802, 100]])).toEqual([
        '2024-03-05T10:00:00 100 103 100 103 4',
      ])
      expect(await hourBars([...ONE_INSTANT, [1_709_629_200, 90]])).toEqual([
        '2024-03-05T09:00:00 90 90 90 90 1',
        '2024-03-05T10:00:00 101 103 101 103 3',
      ])
    })
  })

  test('before and behind a session are of its first and last bar', async () => {
    // A quarter past eight, the opening, the closing auction and later: in New York, of two days.
    const day = (midnight: number) =>
      [8.25, 9.5, 15.9, 16, 16.01, 16.2].map((hour, i) => `${midnight + hour * 3600},${100 + i},1\n`).join('')
    const lines = day(1_709_701_200) + day(1_709_787_600)
    const newestFirst = lines.trimEnd().split('\n').toReversed().join('\n')
    const days = ['2024-03-06T14:30:00 100 105 100 105 6', '2024-03-07T14:30:00 100 105 100 105 6']
    const hours = ['2024-03-06', '2024-03-07'].flatMap((date) => [
      `${date}T12:30:00 100 100 100 100 1`,
      `${date}T14:30:00 101 101 101 101 1`,
      `${date}T20:30:00 102 105 102 105 4`,
    ])
    for (const text of [lines, newestFirst]) {
      expect((await read(text, { interval: '1d', symbol: STOCK })).bars).toEqual(days)
      expect((await read(text, { interval: '1h', symbol: STOCK })).bars).toEqual(hours)
    }
  })

  test('of times that no market had are refused', async () => {
    expect(await refusal('time,price,size\n1709632800,1,1\n17096328000000000000,1,1\n')).toContain(
      'row 3: time is out of range',
    )
  })

  test('name the file that a bar of volume begins in, which goes on in the next one', async () => {
    const file = (name: string, text: string) => ({ name, bytes: [Buffer.from(text)], packing: [] })
    const hints = { volumePerBar: '2' }
    const files = [
      file('a.csv', '1709632700,1,2\n1709632800,1e308,1\n'),
      file('b.csv', '1709632801,-1e308,1\n1709632900,1,1\n'),
    ]
    expect(stageNamed(files as never, { symbol: COIN, interval: '1m', hints }, null)).rejects.toThrow(
      'row 2 of a.csv: its numbers are too large for a bar',
    )
  })

  describe('of several files', () => {
    const FIRST = '1709632800,10,1\n1709632830,12,2\n'
    const SECOND = '1709632830,11,4\n1709632859,9,8\n1709632860,20,16\n'
    const made = async (...texts: string[]) => {
      const { bars, read: found } = await stageNamed(
        texts.map((text, i) => ({ name: `${i}.csv`, bytes: chunks(text), packing: [] })),
        { symbol: COIN, interval: '1m' },
        null,
      )
      return { bars: rows(bars).map(([, ...rest]) => rest), rows: found.files.map((file) => file.rows) }
    }
    async function* chunks(text: string) {
      yield Buffer.from(text)
    }

    test('go on with the bar that the end of a file cuts', async () => {
      expect(await made(FIRST, SECOND)).toEqual({
        bars: [
          [10, 12, 9, 9, 15],
          [20, 20, 20, 20, 16],
        ],
        rows: [2, 3],
      })
    })

    test('are refused where they say something twice', async () => {
      const among = 'row 1 of 1.csv: is among the trades of another file'
      expect(made(FIRST, '1709632815,11,4\n')).rejects.toThrow(among)
      expect(made(`${FIRST}1709632860,1,1\n`, FIRST)).rejects.toThrow(among)
      expect(made('1709632800,10,1\n', '1709632800,10,1\n')).rejects.toThrow(among)
      // Of bars in the middle of both files each has a row.
      const long = `${FIRST}1709632860,1,1\n1709632920,1,1\n`
      const around = '1709632700,1,1\n1709632865,1,1\n1709633000,1,1\n'
      expect(made(long, around)).rejects.toThrow('row 2 of 1.csv: has the same time as row 3 of 0.csv')
    })

    /** Three hours, a trade every seven seconds. */
    const TRADES = Array.from({ length: 1500 }, (_, i) => [
      1_709_632_800_000 + 7000 * i,
      100 + ((i * 37) % 11),
      1 + (i % 3),
    ])
    const textOf = (trades: number[][]) => trades.map((one) => `${one.join(',')}\n`).join('')

    test.each([
      ['a file that reaches into the one before', [TRADES.slice(0, 700), TRADES.slice(500)]],
      ['a file within another', [TRADES, TRADES.slice(500, 900)]],
      ['a file around another', [TRADES.slice(500, 900), TRADES]],
      // The first bar of the last file is added already, so that the one in its middle comes right behind its other piece.
      [
        'a file that goes on behind the pieces of others',
        [TRADES.slice(0, 2), TRADES.slice(9, 20), [...TRADES.slice(2, 4), ...TRADES.slice(20, 40)]],
      ],
    ])('are refused where pieces of a bar would take each other’s place: %s', async (_name, pieces) => {
      for (const duplicates of DUPLICATES) {
        const files = pieces.map((one, i) => ({ name: `${i}.csv`, bytes: chunks(textOf(one)), packing: [] }))
        const staged = stageNamed(files, { symbol: COIN, interval: '1m', hints: { duplicates } }, null)
        expect(staged).rejects.toThrow(
          /row \d+ of [12].csv: (has the same time as row|is among the trades of)/,
        )
        await staged.catch(() => {})
      }
    })

    test('fill what another file lacks', async () => {
      const whole = await made(textOf(TRADES))
      const around = textOf([...TRADES.slice(0, 540), ...TRADES.slice(960)])
      expect((await made(around, textOf(TRADES.slice(540, 960)))).bars).toEqual(whole.bars)
      expect(made(around, textOf(TRADES.slice(540, 961)))).rejects.toThrow(
        'row 421 of 1.csv: has the same time as row 541 of 0.csv',
      )
    })

    describe('make the same bars in any order of the files, and whichever way each runs', () => {
      type Trade = readonly [time: number, price: number, quantity: number, side: 'buy' | 'sell']
      type Random = ReturnType<typeof seededRandom>

      /** Trades, of which several may be of one instant. */
      const tradesOf = (random: Random, length: number, apartMs: number): Trade[] => {
        let time = 1_709_632_800_000 + Math.floor(random.uniform() * 86_400_000)
        return Array.from({ length }, () => {
          if (random.uniform() < 0.6) time += Math.ceil(random.uniform() * apartMs)
          const price = Math.round(random.uniform() * 1e4) / 100
          const quantity = (1 + Math.floor(random.uniform() * 1e5)) / 1e4
          return [time, price, quantity, random.uniform() < 0.5 ? 'buy' : 'sell']
        })
      }

      /** Whole ten-thousandths have no rounding. */
      const sumOf = (some: readonly Trade[]) =>
        some.reduce((sum, [, , quantity]) => sum + Math.round(quantity * 1e4), 0) / 1e4

      const barsOf = (all: readonly Trade[], ms: number) =>
        [...Map.groupBy(all, ([time]) => Math.floor(time / ms) * ms)].map(([start, some]) => {
          const prices = some.map(([, price]) => price)
          const bought = sumOf(some.filter(([, , , side]) => side === 'buy'))
          const [high, low] = [Math.max(...prices), Math.min(...prices)]
          return [start, prices[0]!, high, low, prices.at(-1)!, sumOf(some), bought]
        })

      const sidedRows = (bars: Parameters<typeof rows>[0]) =>
        rows(bars).map((row, i) => [...row, bars.bought?.[i] ?? Number.NaN])

      /** An instant is cut once at most, and not into two files of nothing else: nobody knows which of these is earlier. */
      const cutAnywhere = (all: readonly Trade[], random: Random, count: number) => {
        const cuts = new Map<number, number>()
        for (let i = 0; i < count; i++) {
          const at = 1 + Math.floor(random.uniform() * (all.length - 1))
          cuts.set(all[at]![0], at)
        }
        const ats = [0, ...[...cuts.values()].sort((a, b) => a - b), all.length]
        const files = ats.slice(1).map((to, i) => all.slice(ats[i], to))
        return files.reduce<Trade[][]>((done, file) => {
          const before = done.at(-1)
          if (before?.[0]![0] === file.at(-1)![0]) before.push(...file)
          else done.push([...file])
          return done
        }, [])
      }

      const shuffled = <T>(list: readonly T[], random: Random) =>
        list
          .map((one) => [random.uniform(), one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one)

      /** A file of one instant does not tell which way it runs. */
      const backwards = (some: readonly Trade[]) =>
        some[0]![0] === some.at(-1)![0] ? some : some.toReversed()

      const named = (files: readonly (readonly Trade[])[]) =>
        files.map((some, i) => {
          const text = `timestamp,price,amount,side\n${some.map((trade) => trade.join(',')).join('\n')}\n`
          return { name: `${i}.csv`, bytes: chunks(text), packing: [] }
        })

      test.each([
        ['1s', 1000],
        ['1m', 60_000],
        ['1h', 3_600_000],
        ['1d', 86_400_000],
      ] as const)('as a slower way makes of all of them: %s', async (interval, ms) => {
        const seed = Math.floor(Math.random() * 2 ** 32)
        const random = seededRandom(seed)
        for (let round = 0; round < 60; round++) {
          const all = tradesOf(random, 2 + Math.floor(random.uniform() * 120), ms * 2 * random.uniform() ** 3)
          const files = cutAnywhere(all, random, Math.floor(random.uniform() * 8))
          const way = round % 4
          const ordered = [files, files.toReversed(), shuffled(files, random)][round % 3]!.map((some) =>
            way === 0 || (way === 1 && random.uniform() < 0.5) ? some : backwards(some),
          )
          const hints = { duplicates: DUPLICATES[Math.floor(random.uniform() * DUPLICATES.length)]! }
          const { bars } = await stageNamed(named(ordered), { symbol: COIN, interval, hints }, null)
          expect({ seed, round, bars: sidedRows(bars) }).toEqual({ seed, round, bars: barsOf(all, ms) })
        }
      })

      test.each([
        ['each from its newest trade', false, (files: Trade[][]) => files.map((some) => some.toReversed())],
        ['the newest first', false, (files: Trade[][]) => files.toReversed()],
        ['one after the other', true, (files: Trade[][]) => files],
        // The other bars come in order, so that nothing but the first one has to be written anew.
        ['the second one last', false, ([one, other, ...rest]: Trade[][]) => [one!, ...rest, other!]],
      ])('also where there are more bars than stay in memory: %s', async (_name, isInOrder, order) => {
        const random = seededRandom(3)
        const some = tradesOf(random, 160_000, 2000)
        const second = Math.floor(some[0]![0] / 1000) * 1000 - 1000
        const two: Trade[] = [
          [second, 3, 1, 'buy'],
          [second + 500, 5, 2, 'sell'],
        ]
        const all = [...two, ...some]
        const files = [...two.map((trade) => [trade]), ...cutAnywhere(some, random, 5)]
        const cache = new BarCache(testBars())
        const key = seriesKey('X', 'S', '1s')
        let drafts = 0
        const imported = (uploaded: readonly (readonly Trade[])[]) =>
          importBars(cache, key, [], {
            stage: (_, reading, open) => stageNamed(named(uploaded), reading, () => (drafts++, open!())),
          })
        const { inserted } = await imported(order(files))
        // Files that follow each other are written once.
        expect(drafts === 1).toBe(isInOrder)
        const expected = barsOf(all, 1000)
        expect(inserted).toBe(expected.length)
        expect(inserted).toBeGreaterThan(70_000)
        expect(sidedRows(await cache.read(key))).toEqual(expected)
        // What lacks the first trade of a bar leaves it as it is.
        const isSecond = ([time]: Trade, i: number) =>
          i > 0 && Math.floor(time / 1000) === Math.floor(some[i - 1]![0] / 1000)
        await imported([some.slice(some.findIndex(isSecond))])
        expect(sidedRows(await cache.read(key))).toEqual(expected)
      })

      test('also in uploads that overlap, whichever comes first', async () => {
        const seed = Math.floor(Math.random() * 2 ** 32)
        const random = seededRandom(seed)
        const key = seriesKey('X', 'S', '1m')
        for (let round = 0; round < 20; round++) {
          const all = tradesOf(random, 300, 20_000)
          const starts = [0, 70, 140, 200].map((from) =>
            Math.max(0, from - Math.floor(random.uniform() * 20)),
          )
          const uploads = shuffled(
            starts.map((from) => all.slice(from, from + 120)),
            random,
          )
          const cache = new BarCache(testBars())
          for (const some of [...uploads, ...uploads]) {
            await importBars(cache, key, [], {
              stage: (_, reading, open) => stageNamed(named([some]), reading, open),
            })
            await cache.read(key)
          }
          expect({ seed, round, bars: sidedRows(await cache.read(key)) }).toEqual({
            seed,
            round,
            bars: barsOf(all, 60_000),
          })
        }
      })
    })

    test('are told when bars are stored already', async () => {
      const cache = new BarCache(testBars())
      const key = seriesKey('X', 'S', '1m')
      const warned = async (text: string) =>
        (await importBars(cache, key, [Buffer.from(text)])).warnings.map(({ message }) => message)
      expect(await warned(FIRST)).toEqual([])
      expect(await warned(SECOND)).toEqual([
        'One bar that was stored already is now made of these trades alone. A bar that a file begins or ends within stays as it is if it has more. If the trades of a bar lie in several files, import those together, as a folder or an archive.',
      ])
      const barsNow = async () => rows(await cache.read(key)).map(([, ...rest]) => rest)
      const after = [
        [11, 11, 9, 9, 12],
        [20, 20, 20, 20, 16],
      ]
      expect(await barsNow()).toEqual(after)
      await warned(SECOND)
      await warned('1709632859,9,8\n')
      expect(await barsNow()).toEqual(after)
      expect(await warned('time,open,high,low,close,volume\n1709632800,10,12,9,11,5\n')).toEqual([])
    })
  })

  test('are the bars that a slower way makes of them, whatever the order within a bar', async () => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = seededRandom(seed)
    let time = 1_709_632_800
    const made = Array.from({ length: 3000 }, () => {
      time += Math.floor(random.uniform() * 40)
      return [time, Math.round(random.uniform() * 1e4) / 100, Math.round(random.uniform() * 100)] as const
    })
    const groups = Map.groupBy(made, ([at]) => Math.floor(at / 300))
    const expected = [...groups].map(([start, some]) => {
      const prices = some.map(([, price]) => price)
      return [
        start * 300_000,
        prices[0],
        Math.max(...prices),
        Math.min(...prices),
        prices.at(-1),
        some.reduce((sum, [, , quantity]) => sum + quantity, 0),
      ]
    })
    const text = made.map((row) => row.join(',')).join('\n')
    const { bars } = await stageBars([Buffer.from(text)], { symbol: COIN, interval: '5m' }, null)
    expect({ seed, bars: rows(bars) }).toEqual({ seed, bars: expected as number[][] })
  })
})

describe('packed files', () => {
  const CSV = 'time,open,high,low,close,volume\n1709632800,10,12,9,11,5\n1709632860,11,13,10,12,6\n'
  const entry = (more: Partial<ZipEntry> = {}): ZipEntry => ({
    name: 'BTCUSDT-1m-2024-03.csv',
    text: CSV,
    ...more,
  })

  test.each([
    ['zip, deflated', zip([entry()]), 'packed as zip'],
    ['zip, stored', zip([entry({ how: 'stored' })]), 'packed as zip'],
    ['zip, written as a stream', zip([entry({ how: 'open-ended' })]), 'packed as zip'],
    ['gzip', gzipSync(CSV), 'packed as gzip'],
    [
      'gzip in two members',
      Buffer.concat([gzipSync(CSV.slice(0, 60)), gzipSync(CSV.slice(60))]),
      'packed as gzip',
    ],
    ['zstd', zstdCompressSync(CSV), 'packed as zstd'],
    ['gzip in a zip', zip([entry({ name: 'a.csv.gz', text: gzipSync(CSV) })]), 'packed as zip in gzip'],
    [
      'JSON in a zip',
      zip([entry({ name: 'a.json', text: '[[1709632800,10,12,9,11,5],[1709632860,11,13,10,12,6]]' })]),
      'JSON, packed as zip',
    ],
  ])('%s', async (_name, bytes, says) => {
    const told = await read(bytes)
    expect(told.bars).toEqual(UTC)
    expect(told.says).toContain(says)
  })

  test('are the same however they are cut into pieces', async () => {
    const random = seededRandom(7)
    const noise = Array.from({ length: 3000 }, (_, i) => {
      const price = 100 + Math.floor(random.uniform() * 1e6) / 1e4
      return `${1_709_632_800 + i * 60},${price},${price + 1},${price - 1},${price},${i}`
    })
    const [head, tail] = [noise.slice(0, 1500), noise.slice(1500)].map((some) => some.join('\n'))
    const bytes = zip([
      entry({ name: 'один.csv', text: head ?? '', how: 'open-ended' }),
      entry({ name: '二/two.csv', text: tail ?? '', how: 'open-ended' }),
    ])
    const whole = await stageBars([bytes], { symbol: COIN }, null)
    expect([whole.bars.length, whole.read.fileCount, whole.read.files[0]?.name]).toEqual([
      3000,
      2,
      'один.csv',
    ])
    for (const size of [1, 7, 100, 4096, 65_537]) {
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const { bars } = await stageBars(pieces, { symbol: COIN }, null)
      expect({ size, same: Bun.deepEquals(rows(bars), rows(whole.bars)) }).toEqual({ size, same: true })
    }
  })

  test('paths in an archive lead nowhere, and what is no data is passed over', async () => {
    const bytes = zip([
      entry({ name: '../../../etc/passwd', text: CSV }),
      entry({ name: '__MACOSX/._x.csv', text: '\0\0\0' }),
      entry({ name: 'folder/', text: '' }),
      entry({ name: 'README.txt', text: 'hello' }),
      entry({ name: 'x.csv.CHECKSUM', text: 'abc' }),
    ])
    expect((await read(bytes)).bars).toEqual(UTC)
  })

  test('HistData’s report of gaps is passed over on either side of its rows', async () => {
    const data = entry({ name: 'DAT_ASCII_EURUSD_M1_2024.csv', text: '20240305 050000;10;12;9;11;0\n' })
    for (const text of ['Status Report\n\nGap of 120s found between 20240305 and 20240306.\n', '']) {
      const report = entry({ name: 'x/DAT_ASCII_EURUSD_M1_2024.txt', text })
      for (const entries of [
        [data, report],
        [report, data],
      ])
        expect(await read(zip(entries))).toMatchObject({ bars: [UTC[0]!.replace(/5$/, '0')] })
      expect(await refusal(zip([report]))).toContain('no files with rows')
    }
    // Rows are read whatever the file is called.
    expect((await read(zip([{ ...data, name: 'DAT_ASCII_EURUSD_M1_2024.txt' }]))).bars).toHaveLength(1)
  })

  test.each([
    ['MSFT.Last.txt', 'AAPL.Last.txt', 'MSFT.LAST and AAPL.LAST'],
    ['ES 03-24.Last.txt', 'ES 06-24.Last.txt', 'ES 03-24.LAST and ES 06-24.LAST'],
    ['x/MSFT.Last.txt', 'x/MSFT.Bid.txt', 'MSFT.LAST and MSFT.BID'],
    [
      'EURUSD_Candlestick_1_M_BID_01.01.2024-31.01.2024.csv',
      'EURUSD_Candlestick_1_M_ASK_01.01.2024-31.01.2024.csv',
      'EURUSD 1m_BID and EURUSD 1m_ASK',
    ],
  ])('%s and %s are refused', async (one, other, message) => {
    expect(await refusal(zip([entry({ name: one }), entry({ name: other })]))).toContain(message)
  })

  test.each([
    ['WMT.txt', 'OIH.txt', true],
    ['XBTUSD.csv', 'ETHUSD.csv', true],
    ['F.txt', 'T.txt', true],
    ['ES_2024.csv', 'NQ_2024.csv', true],
    ['2024-01-01.csv', 'EURUSD.csv', false],
    ['2024-01-01.csv', '2024-01-02.csv', false],
    ['part-1.csv', 'part-2.csv', false],
    ['a/part-a.csv', 'b/part-b.csv', false],
    ['jan.csv', 'February.csv', false],
    ['wmt jan 2024.csv', 'WMT_2024_02.txt', false],
    ['BINANCE_BTCUSDT, 60_ab1c.csv', 'BINANCE_BTCUSDT, 60_ff2d.csv', false],
  ])('%s and %s may be of different series: %j', async (one, other, isDoubtful) => {
    const row = (minute: number) => `${1_709_632_800 + minute * 60},10,12,9,11,5\n`
    const bytes = zip([
      { name: one, text: row(0) },
      { name: '2024.csv', text: row(1) },
      { name: other, text: row(2) },
    ])
    const key = seriesKey('BINANCE', 'X', '1m')
    const warned = isDoubtful
      ? [
          {
            code: 'names_differ',
            message: `By their names the files may be of different series, such as ${one} and ${other}: they were read as one. If they are not, import them one by one.`,
          },
        ]
      : []
    const cache = new BarCache(testBars())
    expect((await inspectBars(cache, key, [bytes])).warnings).toEqual(warned)
    expect((await importBars(cache, key, [bytes])).warnings).toEqual(warned)
  })

  test('a file that nobody can read is named', async () => {
    for (const [text, message] of [
      ['', 'row 1: there are no rows, the file is empty'],
      [
        'hello\n',
        'row 1: expected several columns, found one; say what is between them, such as delimiter=semicolon (--delimiter)',
      ],
    ] as const)
      expect(await refusal(zip([entry(), entry({ name: 'notes/of $& mine.txt', text })]))).toBe(
        `Nothing was imported: of $& mine.txt: ${message}.`,
      )
  })

  test('the rows of all files are counted', async () => {
    const files = Array.from({ length: 60 }, (_, i) =>
      entry({ name: `${i}.csv`, text: `${1_709_632_800 + i * 60},10,1\n${1_709_632_801 + i * 60},11,1\n` }),
    )
    const { read: found } = await stageBars([zip(files)], { symbol: COIN, interval: '1m' }, null)
    expect([found.rows, found.fileCount, found.files.length]).toEqual([120, 60, 50])
  })

  test('that break off, or were changed on the way, are refused wherever it happens', async () => {
    for (const bytes of [
      zip([entry()]),
      zip([entry({ how: 'open-ended' })]),
      gzipSync(CSV),
      zstdCompressSync(CSV),
    ])
      for (let cut = 5; cut < bytes.length; cut += 7) {
        const message = await refusal(bytes.subarray(0, cut))
        expect({ cut, message }).toEqual({ cut, message: expect.stringContaining('Nothing was imported: ') })
      }
    expect(await refusal(zip([entry({ crc: 1 })]))).toContain('the check sum of BTCUSDT-1m-2024-03.csv')
    expect(await refusal(zip([entry({ crc: 1, how: 'open-ended' })]))).toContain('check sum')
  })

  test('zstd that breaks off between blocks is refused, whole frames behind one another are read', async () => {
    const random = seededRandom(9)
    const row = (_: unknown, i: number) => `${1_709_632_800 + i * 60},1,1,1,1,${random.uniform()}\n`
    const bytes = zstdCompressSync(
      `time,open,high,low,close,volume\n${Array.from({ length: 40_000 }, row).join('')}`,
    )
    for (const cut of [1, 5, 5000, bytes.length - 20])
      expect(await refusal(bytes.subarray(0, bytes.length - cut))).toContain('breaks off before its end')
    const skippable = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]
    const frames = [
      zstdCompressSync(CSV.slice(0, 60)),
      Buffer.from(skippable),
      zstdCompressSync(CSV.slice(60)),
    ]
    expect((await read(Buffer.concat(frames))).bars).toEqual(UTC)
  })

  test.each([
    ['encrypted', zip([entry({ flags: 1 })]), 'encrypted; unpack it first'],
    ['packed in a way nobody knows', zip([entry({ method: 12 })]), 'packed by method 12'],
    [
      'an archive in an archive',
      zip([entry({ name: 'a.zip', text: zip([entry()]), how: 'stored' })]),
      'an archive within an archive',
    ],
    [
      'an archive of too many files',
      zip(Array.from({ length: 20_002 }, () => entry({ name: 'a.md', text: '', how: 'stored' }))),
      'more than 20,000 files; pack fewer into one',
    ],
    // As `zstd --long=28` writes it from a pipe: a frame whose window is 256 MB.
    [
      'zstd with a window of more than anybody has room for',
      Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 18 << 3, 9, 0, 0]), Buffer.from('1')]),
      'pack it again without --long',
    ],
    ['gzip in gzip in gzip', gzipSync(gzipSync(gzipSync(CSV))), 'an archive within an archive'],
    ['without any file', zip([]), 'no files with rows'],
    ['a workbook', zip([entry({ name: '[Content_Types].xml', text: '<Types/>' })]), 'this is a workbook'],
    ['a web page', Buffer.from('<!DOCTYPE html><html>'), 'this is a web page'],
    ['a picture', Buffer.from([0x89, 80, 78, 71, 0, 0, 0, 13]), 'this is no text'],
    [
      'bars and trades',
      zip([entry(), entry({ name: 'b.csv', text: '1709632800,1,1\n' })]),
      'some files are of bars and some of trades',
    ],
    ['two series', zip([entry(), entry({ name: 'ETHUSDT-1m-2024-03.csv' })]), 'BTCUSDT 1m and ETHUSDT 1m'],
    [
      'two symbols in two files',
      zip([
        entry({ name: 'x.csv', text: 'ticker,time,open,high,low,close\nA,2024-03-05,1,1,1,1\n' }),
        entry({ name: 'y.csv', text: 'ticker,time,open,high,low,close\nB,2024-03-06,1,1,1,1\n' }),
      ]),
      'of different symbols, A and B',
    ],
    [
      'a price too large for a bar',
      Buffer.from('time,open,high,low,close\n2024-03-05,1e308,1e308,-1e308,1\n'),
      'its numbers are too large',
    ],
    [
      'a year of long ago',
      Buffer.from('time,open,high,low,close\n0024-03-05,1,1,1,1\n'),
      'time is not a date',
    ],
    [
      'two symbols in one file',
      Buffer.from(
        'ticker,date,time,open,high,low,close\nA,20240305,100000,1,1,1,1\nB,20240305,100100,1,1,1,1\n',
      ),
      'is of another symbol',
    ],
  ])('%s is refused by name', async (_name, bytes, message) => {
    expect(await refusal(bytes)).toContain(message)
  })

  test('a bomb is given up on before it grows', async () => {
    const blanks = Buffer.concat([Buffer.from(CSV), Buffer.alloc(20 << 20, '\n')])
    const bomb = gzipSync(blanks)
    expect(await refusal(bomb)).toContain('more than 200 times as large as the archive')
    for (const how of ['deflated', 'open-ended'] as const)
      expect(await refusal(zip([entry({ text: blanks, how })]))).toContain('more than 200 times')
  })

  test.each([
    [
      'an endless line',
      Buffer.from(`${CSV}${'1'.repeat(200_000)}\n`),
      'row 4: the line is too long for a bar',
    ],
    [
      'a line that never ends',
      Buffer.from(`${CSV}${'1'.repeat(2_000_000)}`),
      'row 4: the line is too long for a bar',
    ],
    // What looks for blanks at both ends of a cell takes the square of their number.
    [
      'a cell of blanks',
      Buffer.from(
        `${CSV}1709632920,${' '.repeat(150)},${' '.repeat(150)},${' '.repeat(150)},${' '.repeat(150)},1\n`,
      ),
      'open is not a number',
    ],
    ['a time of many digits', Buffer.from(`${CSV}${'1'.repeat(150)},1,1,1,1,1\n`), 'time is not a date'],
    [
      'columns of JSON without end',
      Buffer.from(`{"time":[${'1,'.repeat(4_000_001)}`),
      'has too many bars as columns; send them as rows, or as CSV',
    ],
  ])('%s is given up on', async (_name, bytes, message) => {
    expect(await refusal(bytes)).toContain(message)
  })

  test('JSON that arrives in large pieces gives others their turns all the same', async () => {
    const others = { turns: 0, over: false }
    const taking = (async () => {
      for (; !others.over; others.turns++) await new Promise((resolve) => setImmediate(resolve))
    })()
    await refusal(Buffer.from(`{"time":[${'1,'.repeat(500_000)}`))
    others.over = true
    await taking
    expect(others.turns).toBeGreaterThan(25)
  })

  test('a bar may be made of any number of trades, and only so many rows are remembered', () => {
    const from = (rowsBytes?: number) => {
      const stage = new BarStage(null, 'refuse', null, rowsBytes)
      for (let bar = 0, row = 0; bar < 200_000 && stage.errors.length === 0; bar++, row += 1 + (bar % 3))
        stage.add(row, 1_709_632_800_000 + bar * 1000, 1, 1, 1, 1, 1)
      return stage
    }
    expect(from().added).toBe(200_000)
    // Two of three bars take a byte or two.
    expect(from(2 << 16)).toMatchObject({ added: expect.any(Number), errors: [{}] })
    expect(from(2 << 16).added).toBeGreaterThan(120_000)
    expect(from(2 << 16).errors[0]!.message).toContain('import the rows from here on by themselves')
  })

  test('the beginning of a file is enough to look at it', async () => {
    const text = Array.from(
      { length: 5000 },
      (_, i) => `${1_709_632_800 + i * 60},1,1,1,1,${(i * 7919) % 1000}`,
    ).join('\n')
    for (const bytes of [
      zip([entry({ text })]),
      zip([entry({ text, how: 'open-ended' })]),
      gzipSync(text),
      Buffer.from(text),
    ]) {
      const { read: found } = await stageBars(
        [bytes.subarray(0, bytes.length / 2)],
        { symbol: COIN, isPart: true },
        null,
      )
      expect(found.count).toBeGreaterThan(1000)
      expect(found.count).toBeLessThan(5000)
    }
  })
})

describe('what is odd is told, with what was done', () => {
  const line = (minute: number, price: number, volume = 5, at = 1_709_632_800) =>
    `${at + minute * 60},${price},${price + 1},${price - 1},${price},${volume}`
  const steady = (count: number) => Array.from({ length: count }, (_, i) => line(i, 100 + (i % 3)))

  test('gaps, bars without volume, a spike', async () => {
    const lines = steady(100)
      .toSpliced(50, 3)
      .with(20, line(20, 100, 0))
    lines[40] = `${1_709_632_800 + 40 * 60},100,900,99,100,5`
    const told = await read(lines.join('\n'), { interval: '1m' })
    expect(told.findings).toEqual([
      '1: 1 bar without volume; stored as it is',
      '1: 1 bar that stands out from both neighbours; stored as it is',
      '1: 3 bars missing inside of sessions, in one place; nothing was filled in',
    ])
  })

  test('nights, weekends and lunch breaks are no gaps, but a missing morning is', async () => {
    const tokyo = defaultSymbol('TSE', '7203')
    const at = (day: number, hour: number) => Date.UTC(2024, 2, day, hour) / 1000
    const hours = (day: number) =>
      [0, 1, 2, 4, 5, 6].map((hour) => (hour < 3 ? at(day, hour) : at(day, hour - 1) + 1800))
    const times = [8, 11, 12].flatMap(hours)
    const text = (some: readonly number[]) => some.map((time) => `${time},1,1,1,1,1`).join('\n')
    expect((await read(text(times), { symbol: tokyo, interval: '1h' })).findings).toEqual([])
    const without = times.filter((time) => time !== at(11, 0))
    expect((await read(text(without), { symbol: tokyo, interval: '1h' })).findings).toEqual([
      '1: 1 bar missing inside of sessions, in one place; nothing was filled in',
    ])
  })

  test('days without bars, a split, and bars outside of the session', async () => {
    const row = (day: string, price: number) => `${day},${price},${price + 1},${price - 1},${price},5`
    const text = `date,open,high,low,close,volume\n${[
      row('2024-03-01', 100),
      row('2024-03-04', 101),
      row('2024-03-06', 25.2),
      row('2024-03-07', 25),
    ].join('\n')}\n`
    expect((await read(text, { symbol: STOCK, interval: '1d' })).findings).toEqual([
      '1: one stretch of days without bars (holidays are among them); nothing was filled in',
      '1: one jump between sessions that looks like a split; prices were not adjusted',
    ])
    const early = `${Date.UTC(2024, 2, 5, 12) / 1000},1,1,1,1,1\n`
    expect((await read(early, { symbol: STOCK, interval: '1h' })).findings).toEqual([
      '1: 1 bar outside of the session; stored as it is',
    ])
  })

  test('weekends are no days without bars of a market whose hours are not known, unless it has others', async () => {
    const days = [1, 4, 5, 6, 7, 8, 11, 13].map((day) => `2024-03-${String(day).padStart(2, '0')},1,1,1,1,5`)
    const found = async (rows: readonly string[]) =>
      (
        await read(`date,open,high,low,close,volume\n${rows.join('\n')}\n`, {
          symbol: defaultSymbol('MINE', 'X'),
          interval: '1d',
        })
      ).findings
    const message = (count: string) =>
      `${count} of days without bars (holidays are among them); nothing was filled in`
    expect(await found(days)).toEqual([`1: ${message('one stretch')}`])
    expect(
      await found([...days, '2024-03-14,1,1,1,1,5', '2024-03-15,1,1,1,1,5', '2024-03-16,1,1,1,1,5']),
    ).toEqual([`3: ${message('3 stretches')}`])
  })

  test('no volume at all is said once', async () => {
    const lines = Array.from({ length: 30 }, (_, i) => line(i, 100, 0))
    expect((await read(lines.join('\n'), { interval: '1m' })).findings).toEqual([
      '30: no bar has a volume; stored with a volume of 0',
    ])
  })

  test('rows of the same time are refused, or one of them is kept and the others counted', async () => {
    const lines = [...steady(5), line(2, 200), line(4, 300), line(4, 400)]
    expect(await refusal(lines.join('\n'))).toContain('row 6: has the same time as row 3')
    for (const [duplicates, kept] of [
      ['first', [100, 101, 102, 100, 101]],
      ['last', [100, 101, 200, 100, 400]],
    ] as const) {
      const told = await read(lines.join('\n'), { hints: { duplicates }, interval: '1m' })
      expect(told.bars.map((bar) => Number(bar.split(' ').at(-2)))).toEqual([...kept])
      expect(told.findings).toContain(
        `3: 3 rows of a time that was there already; the ${duplicates} of each time is kept`,
      )
    }
  })

  test('also where they are blocks apart, newest first or next to each other', async () => {
    const count = 150_000
    const all = Array.from({ length: count }, (_, i) => line(i, 100, i))
    const text = (lines: readonly string[]) => [Buffer.from(lines.join('\n'))]
    for (const lines of [
      [...all, line(3, 7, 1), line(70_000, 7, 1)],
      [...all.toReversed(), line(3, 7, 1), line(70_000, 7, 1)],
    ]) {
      const cache = new BarCache(testBars())
      const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
      const done = await importBars(cache, key, text(lines), { hints: { duplicates: 'last' } })
      expect([done.inserted, done.read.count, done.rows]).toEqual([count, count, count + 2])
      expect(done.read.findings.find(({ kind }) => kind === 'duplicate')?.count).toBe(2)
      const { close } = await cache.read(key)
      expect([close[3], close[4], close[70_000]]).toEqual([7, 100, 7])
    }
    const doubled = all.slice(0, 70_000).flatMap((one, i) => [one, line(i, 7, 1)])
    for (const lines of [doubled, doubled.toReversed()]) {
      const { bars, read: found } = await stageBars(
        text(lines),
        { symbol: COIN, hints: { duplicates: 'first' } },
        null,
      )
      expect([bars.length, found.findings.find(({ kind }) => kind === 'duplicate')?.count]).toEqual([
        70_000, 70_000,
      ])
      expect(bars.close.every((price) => price === (lines === doubled ? 100 : 7))).toBe(true)
    }
  })

  test('inspecting stores nothing, and says what an import would refuse', async () => {
    const cache = new BarCache(testBars())
    const text = [...steady(5), line(2, 200)].join('\n')
    const found = await inspectBars(cache, seriesKey('BINANCE', 'BTCUSDT', '1m'), [Buffer.from(text)])
    expect(found).toMatchObject({ count: 5, rows: 6, spacing: '1m', fileCount: 1 })
    expect(found.findings.map(({ done }) => done)).toContain(
      'an import refuses them unless you say which to keep',
    )
    expect([await cache.store.list(), await cache.store.symbols()]).toEqual([[], []])
  })

  test('of a thousand rows of one time the last is kept, in the room that the first had', async () => {
    let made = 0
    const { ArrayBuffer } = globalThis
    globalThis.ArrayBuffer = new Proxy(ArrayBuffer, {
      construct(target, args: [number]) {
        made += args[0]
        return new target(...args)
      },
    })
    try {
      const stage = new BarStage(null, 'last')
      for (let i = 1; i <= 1000; i++) stage.add(i, 60_000, i, i, i, i, 1)
      const { bars } = await stage.finish()
      expect([bars.length, bars.close[0]]).toEqual([1, 1000])
    } finally {
      globalThis.ArrayBuffer = ArrayBuffer
    }
    // A block for bars takes 3 MB.
    expect(made).toBeLessThan(50_000_000)
  })
})

test('several files are one series, each in its own dialect, and errors name the file', async () => {
  const bytes = async function* (text: string) {
    yield Buffer.from(text)
  }
  const files = (...texts: readonly string[]) =>
    texts.map((text, i) => ({ name: `${i}.csv`, bytes: bytes(text), packing: [] }))
  const one = 'time,open,high,low,close,volume\n1709632800,10,12,9,11,5\n'
  const two = '20240305 050100;11;13;10;12;0\n'
  const { bars, read: found } = await stageNamed(files(one, two), { symbol: COIN }, null)
  expect([bars.length, found.fileCount, found.files.map(({ dialect }) => dialect?.origin)]).toEqual([
    2,
    2,
    [null, 'HistData'],
  ])
  expect(stageNamed(files(one, `${two}20240305 050200;1;0;1;1;1\n`), { symbol: COIN }, null)).rejects.toThrow(
    'row 2 of 1.csv: high is below low',
  )
  expect(stageNamed(files(one, one), { symbol: COIN }, null)).rejects.toThrow(
    'row 2 of 1.csv: has the same time as row 2 of 0.csv',
  )
})

test.each([
  ['BTCUSDT-1h-2024-01.zip', 'BINANCE', 'BTCUSDT', '1h'],
  ['BTCUSDT-aggTrades-2024-01-15.zip', 'BINANCE', 'BTCUSDT', '1m'],
  ['BINANCE_BTCUSDT, 60.csv', 'BINANCE', 'BTCUSDT', '1h'],
  ['DAT_ASCII_EURUSD_M1_2024.csv', 'FX', 'EURUSD', '1m'],
  ['EURUSD_Candlestick_15_M_BID_01.01.2024-31.01.2024.csv', 'FX', 'EURUSD', '15m'],
  ['EURUSD_M15_202401020000_202412312345.csv', '', 'EURUSD', '15m'],
  ['EURUSDH4.csv', '', 'EURUSD', '4h'],
  ['aapl_us_d.csv', '', 'AAPL', '1d'],
  ['XBTUSD_1440.csv', 'KRAKEN', 'XBTUSD', '1d'],
  ['/home/ann/СБЕР_D.csv.gz', '', 'СБЕР', '1d'],
])('%s tells its series', (name, exchange, symbol, interval) => {
  expect(marketOfFile(name)).toEqual({ exchange, symbol, interval })
  expect(marketTold('whatever.csv')).toBeNull()
})
