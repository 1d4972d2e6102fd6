// Files of several programs look alike and mean other hours: what tells them apart, and what is said where nothing does.

import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { importBars, inspectBars, type ReadBarsOptions, stageBars } from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { testBars } from '../store/test-store.ts'
import { zip } from './archives.ts'

const FUTURE = defaultSymbol('CME', 'ES1!')

/** Who writes it, what the first bar opens at and its volume, and what is said of the zone. */
async function read(content: string | Uint8Array, options: Partial<ReadBarsOptions> = {}) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const { bars, read: found } = await stageBars([bytes], { symbol: FUTURE, ...options }, null)
  const dialect = found.files[0]?.dialect
  return {
    by: dialect?.origin,
    kind: found.files[0]?.kind,
    zone: dialect?.timezone,
    times: Array.from(bars.time, (time) => new Date(time).toISOString().slice(0, 19)),
    volume: bars.volume[0],
    said: found.findings
      .filter(({ kind }) => kind === 'unknown_zone')
      .map((one) => `${one.message}: ${one.done}`),
  }
}

const rows = (times: readonly string[], rest: string) => times.map((time) => `${time}${rest}\n`).join('')
const NINJA = rows(['20240102 093100', '20240102 093200'], ';470.1;470.2;470.0;470.15;123')
const SAID_OF_NINJA =
  'NinjaTrader exports in UTC and dates bars by their end (--dated end), others write its rows in zones of their own, and the file does not say its zone: taken as UTC; say the zone of its times if that is wrong, such as America/New_York'

test('NinjaTrader’s bars are in UTC, and HistData’s, which have no volume, in New York’s winter time', async () => {
  expect(await read(NINJA)).toMatchObject({
    by: 'NinjaTrader',
    times: ['2024-01-02T09:31:00', '2024-01-02T09:32:00'],
    volume: 123,
    said: [SAID_OF_NINJA],
  })
  expect(await read(NINJA.replaceAll(';123', ';0'))).toMatchObject({
    by: 'HistData',
    times: ['2024-01-02T14:31:00', '2024-01-02T14:32:00'],
    said: [],
  })
  // A single bar of volume shows that volume is known.
  expect((await read(NINJA.replace(';123', ';0'))).by).toBe('NinjaTrader')
})

test.each([
  ['ES 03-24.Last.txt', 'NinjaTrader', []],
  ['EURUSD.Bid.txt', 'NinjaTrader', []],
  ['ES 03-24.txt', 'NinjaTrader', [SAID_OF_NINJA]],
  ['DAT_ASCII_EURUSD_M1_2024.csv', 'HistData', []],
  ['folder/DAT_NT_EURUSD_M1_2024.csv', 'HistData', []],
])('the name %s tells', async (fileName, by, said) => {
  expect(await read(NINJA, { fileName })).toMatchObject({ by, said: [...said] })
  const packed = zip([{ name: fileName, text: NINJA }])
  expect(await read(packed)).toMatchObject({ by, said: [...said] })
})

const TRADE_STATION = '"Date","Time","Open","High","Low","Close","Up","Down"\n'
const stationed = (...clocks: readonly string[]) =>
  TRADE_STATION + rows(clocks, ',10,12,9,11,300,200').replaceAll(' ', ',')

test.each([
  ['NinjaTrader', 'ES 03-24.Last.txt', NINJA, 1, ['2024-01-02T09:30:00', '2024-01-02T09:31:00']],
  // Thin trading: minutes nonetheless.
  [
    'NinjaTrader',
    'ES 03-24.Last.txt',
    NINJA.replace('093200', '094200'),
    1,
    ['2024-01-02T09:30:00', '2024-01-02T09:41:00'],
  ],
  ['NinjaTrader', 'ES 03-24.txt', NINJA, null, ['2024-01-02T09:31:00', '2024-01-02T09:32:00']],
  ['HistData', 'DAT_NT_X_M1_2024.csv', NINJA, null, ['2024-01-02T14:31:00', '2024-01-02T14:32:00']],
  [
    'TradeStation',
    'x.txt',
    stationed('01/16/2024 09:35', '01/16/2024 09:40', '01/16/2024 09:45', '01/16/2024 16:00'),
    5,
    ['2024-01-16T09:30:00', '2024-01-16T09:35:00', '2024-01-16T09:40:00', '2024-01-16T15:55:00'],
  ],
  // An hour of New York's stocks begins at half past, and the last one has half an hour.
  [
    'TradeStation',
    'x.txt',
    stationed('01/16/2024 14:30', '01/16/2024 15:30', '01/16/2024 16:00', '01/17/2024 10:30'),
    0,
    ['2024-01-16T14:30:00', '2024-01-16T15:30:00', '2024-01-16T16:00:00', '2024-01-17T10:30:00'],
  ],
  ['TradeStation', 'x.txt', stationed('01/16/2024 09:35'), 0, ['2024-01-16T09:35:00']],
  [
    'TradeStation',
    'x.txt',
    stationed('01/16/2024 16:00', '01/17/2024 16:00'),
    null,
    ['2024-01-16T16:00:00', '2024-01-17T16:00:00'],
  ],
])(
  '%s dates bars of minutes by their end: %s %j is moved by %j',
  async (by, fileName, text, byEnd, times) => {
    expect(await read(text, { fileName })).toMatchObject({ by, times: [...times] })
    const cache = new BarCache(testBars())
    const { warnings } = await importBars(cache, seriesKey('CME', 'ES1!', '1m'), [Buffer.from(text)], {
      fileName,
    })
    expect(warnings.filter(({ code }) => code === 'bars_by_end').map(({ message }) => message)).toEqual(
      byEnd === null
        ? []
        : [
            `${by} dates bars of minutes by their end: ${
              byEnd > 0
                ? `each was moved to its beginning, ${byEnd} min earlier.`
                : 'how long these last is not certain, so they stay as they are; to move them import them again with dated=end (--dated end).'
            }`,
          ],
    )
  },
)

test('volumes of TradeStation that is moved are added up nonetheless', async () => {
  const text = stationed('01/16/2024 09:31', '01/16/2024 09:32')
  expect(await read(text)).toMatchObject({
    times: ['2024-01-16T09:30:00', '2024-01-16T09:31:00'],
    volume: 500,
  })
})

test('NinjaTrader’s name counts for more than volumes of 0', async () => {
  const forex = NINJA.replaceAll(';123', ';0')
  for (const fileName of ['EURUSD.Last.txt', 'EURUSD.Bid.txt'])
    expect(await read(forex, { fileName })).toMatchObject({ by: 'NinjaTrader', zone: 'UTC', said: [] })
  expect(await read('20240102 093100;1.1;0\n', { fileName: 'EURUSD.Last.txt' })).toMatchObject({
    by: 'NinjaTrader',
    kind: 'trades',
  })
})

test('the name of a file that came packed counts without what it is packed in', async () => {
  for (const fileName of ['ES 03-24.Last.txt.gz', 'DAT_ASCII_EURUSD_M1_2024.csv.gz'])
    expect(await read(gzipSync(NINJA), { fileName })).toMatchObject({ said: [] })
})

test('what the user says of the zone counts, and is not doubted', async () => {
  const timesIn = 'America/New_York'
  for (const text of [NINJA, NINJA.replaceAll(';123', ';0'), rows(['01/13/2024,09:31'], ',1,1,1,1,5')])
    expect(await read(text, { hints: { timesIn } })).toMatchObject({ zone: timesIn, said: [] })
})

test('NinjaTrader’s ticks, with and without bid and ask, are trades, and HistData’s are quotes', async () => {
  const minute = { interval: '1m' }
  expect(await read('20240102 093100;470;1\n20240102 093159;471;2\n', minute)).toMatchObject({
    by: 'NinjaTrader',
    kind: 'trades',
    times: ['2024-01-02T09:31:00'],
    volume: 3,
  })
  const ticks = '20240102 093100 0520000;470;469.75;470;1\n20240102 093200 9999999;471;470.75;471;2\n'
  expect(await read(ticks, minute)).toMatchObject({
    by: 'NinjaTrader',
    kind: 'trades',
    times: ['2024-01-02T09:31:00', '2024-01-02T09:32:00'],
    volume: 1,
  })
  expect(await read('20240102 093100;1.1;0\n20240102 093101;1.2;0\n', minute)).toMatchObject({
    by: 'HistData',
    kind: 'quotes',
    times: ['2024-01-02T14:31:00'],
    volume: 2,
  })
})

const KIBOT = rows(['01/12/2024,09:30', '01/16/2024,09:30', '07/12/2024,09:30'], ',47.1,47.2,47,47.15,123')
const SAID_OF_KIBOT =
  'Kibot writes the clock of New York, others write such rows in zones of their own, and the file does not say its zone: taken as America/New_York; say the zone of its times if that is wrong, such as UTC'

test('Kibot’s dates begin with the month, and its clock is New York’s, in summer and winter', async () => {
  expect(await read(KIBOT)).toMatchObject({
    by: 'Kibot',
    times: ['2024-01-12T14:30:00', '2024-01-16T14:30:00', '2024-07-12T13:30:00'],
    said: [SAID_OF_KIBOT],
  })
  const ticks = '01/12/2024,09:30:00,47.1,47.0,47.2,100\n01/16/2024,09:30:01,47.2,47.1,47.3,50\n'
  expect(await read(ticks, { interval: '1m' })).toMatchObject({
    by: 'Kibot',
    kind: 'trades',
    times: ['2024-01-12T14:30:00', '2024-01-16T14:30:00'],
    volume: 100,
  })
})

test('the hour that the clock shows twice, and that it skips', async () => {
  const night = rows(['03/10/2024,01:59', '03/10/2024,03:00', '03/13/2024,03:00'], ',1,1,1,1,5')
  expect((await read(night)).times).toEqual([
    '2024-03-10T06:59:00',
    '2024-03-10T07:00:00',
    '2024-03-13T07:00:00',
  ])
  const twice = rows(['11/03/2024,01:30', '11/03/2024,02:30', '11/13/2024,01:30'], ',1,1,1,1,5')
  expect((await read(twice)).times).toEqual([
    '2024-11-03T05:30:00',
    '2024-11-03T07:30:00',
    '2024-11-13T06:30:00',
  ])
})

test('dates that begin with the day, and with the year, are no Kibot’s', async () => {
  expect(await read(rows(['13/01/2024,09:30'], ',1,1,1,1,5'))).toMatchObject({
    by: null,
    zone: 'UTC',
    times: ['2024-01-13T09:30:00'],
    said: [
      'the file does not say the zone of its times: taken as UTC; say the zone of its times if that is wrong, such as America/New_York',
    ],
  })
  expect((await read(rows(['2024.01.13,09:30'], ',1,1,1,1,5'))).by).toBe('MetaTrader 4')
  expect((await read(rows(['2024-01-13,09:30'], ',1,1,1,1,5'))).by).toBeNull()
  // Who says that the day comes first says that it is not Kibot's.
  const said = await read(rows(['01/02/2024,09:30'], ',1,1,1,1,5'), { hints: { dates: 'dmy' } })
  expect(said).toMatchObject({ by: null, zone: 'UTC', times: ['2024-02-01T09:30:00'] })
  expect(await read(rows(['01/13/2024,09:30'], ',1,2,1,1'))).toMatchObject({
    by: 'Kibot',
    kind: 'bars',
    volume: 0,
  })
  // One day that may be two is asked for, as everywhere.
  expect(read(rows(['01/02/2024,09:30'], ',1,1,1,1,5'))).rejects.toThrow('dates=dmy or dates=mdy')
})

test.each([[','], [';'], ['\t'], ['|']])(
  'the order of dates is seen with %j between date and clock',
  async (delimiter) => {
    const head = ['Date', 'Time', 'Open', 'High', 'Low', 'Close', 'Vol'].join(delimiter)
    for (const [date, day] of [
      ['13/03/2024', '2024-03-13'],
      ['03/14/2024', '2024-03-14'],
      ['15.03.2024', '2024-03-15'],
    ] as const) {
      const row = [date, '10:00', 1, 1, 1, 1, 5].join(delimiter)
      expect((await read(`${head}\n${row}\n`, { hints: { timesIn: 'UTC' } })).times).toEqual([
        `${day}T10:00:00`,
      ])
    }
  },
)

test('a zone in doubt is among the warnings of an import, and of a look at it', async () => {
  const cache = new BarCache(testBars())
  const key = seriesKey('CME', 'ES1!', '1m')
  const warned = [{ code: 'zone_unknown', message: `${SAID_OF_NINJA}.` }]
  expect((await inspectBars(cache, key, [Buffer.from(NINJA)])).warnings).toEqual(warned)
  expect((await importBars(cache, key, [Buffer.from(NINJA)])).warnings).toEqual(warned)
  const hints = { timesIn: 'UTC' }
  expect((await importBars(cache, key, [Buffer.from(NINJA)], { hints })).warnings).toEqual([])
  const stated = 'time,open,high,low,close\n2024-01-02T09:31:00Z,1,1,1,1\n'
  expect((await importBars(cache, key, [Buffer.from(stated)])).warnings).toEqual([])
  const days = 'date,open,high,low,close\n2024-01-02,1,1,1,1\n'
  expect((await importBars(cache, seriesKey('CME', 'ES1!', '1d'), [Buffer.from(days)])).warnings).toEqual([])
})
