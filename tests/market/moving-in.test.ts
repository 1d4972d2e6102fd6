// Files that TradingView lets somebody export: each is told by what is in it, and what cannot come says why.

import { expect, test } from 'bun:test'
import { zipSync } from 'fflate'
import { cameText, foundFiles, moved, type MakingAsk } from '../../src/market/files/moving-in.ts'
import { rejection } from '../rejection.ts'
import { filesOfZip } from '../../src/market/files/small-zip.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const file = (name: string, text: string) => ({ name, bytes: bytesOf(text) })
const foundOf = async (name: string, text: string) => (await foundFiles([file(name, text)]))[0]!
const LOG = `Alert ID,Ticker,Name,Description,Time,Webhook status
1,"NASDAQ:AAPL, 1h",Уровень,AAPL Crossing 1,234.50,2026-11-01T10:00:00Z,
1,"NASDAQ:AAPL, 1h",Уровень,AAPL Crossing 1,2026-11-01T11:00:00Z,
2,BINANCE:BTCUSDT,,BTCUSDT Greater Than 90000,2026-11-01T10:00:00Z,
3,"BINANCE:BTCUSDT, 5m",Bot,"{""action"": ""buy""}",2026-11-01T10:00:00Z,Delivered`

test.each([
  ['Tech.txt', '###Chips,NASDAQ:NVDA,NASDAQ:AMD\n###Банки,NYSE:JPM', 'watchlist'],
  ['list.csv', 'symbol,exchange,note\nAAPL,NASDAQ,mine', 'watchlist'],
  ['x.txt', '// mine\n//@version=5\nindicator("a")', 'script'],
  ['old.pine', 'study("a")', 'script'],
  ['TradingView_Alerts_Log_2026-11-01.csv', LOG.replace('1,234.50', '"1,234.50"'), 'log of alerts'],
  ['alerts.csv', 'Ticker,Name,Condition\nNASDAQ:AAPL,x,AAPL Crossing Up 5', 'alerts'],
  ['trades.csv', 'Trade #,Type,Signal,Date/Time,Price USD\n1,Entry long,L,2026-01-01,5', 'list of trades'],
  ['trades.csv', 'Trade number,Type,Date and time\n', 'list of trades'],
  ['NASDAQ_AAPL, 60.csv', 'time,open,high,low,close,RSI\n1,2,3,1,2,50', 'bars'],
  ['ticks.csv', 'symbol,open,high\nAAPL,1,2', 'bars'],
  ['empty.txt', ' \n', 'unknown'],
] as const)('%s is taken for what is in it (%#)', async (name, text, kind) => {
  expect((await foundOf(name, text)).kind).toBe(kind)
})

test('of a log each alert is made once, paused; what names no price says what to do', async () => {
  const { asks, left } = await foundOf(
    'log.csv',
    LOG.replace('1,234.50', '"1,234.50"').replaceAll('AAPL Crossing "', '"AAPL Crossing '),
  )
  expect(asks.map(({ body, paused }): object => ({ ...body, paused }))).toEqual([
    {
      name: 'Уровень',
      exchange: 'NASDAQ',
      symbol: 'AAPL',
      interval: '1h',
      kind: 'price',
      op: 'crossing',
      price: 1234.5,
      channels: ['email'],
      paused: true,
    },
    {
      name: '',
      exchange: 'BINANCE',
      symbol: 'BTCUSDT',
      interval: '1d',
      kind: 'price',
      op: 'above',
      price: 90_000,
      channels: ['email'],
      paused: true,
    },
  ])
  expect(left).toEqual([expect.stringMatching(/^Row 5, “Bot”: its text names no price/)])
})

test('a channel needs two prices, and a condition nothing behind them', async () => {
  const rows = [
    'Entering Channel 100 and 110',
    'Entering Channel 100',
    'Crossing 5 and 6',
    'Crossing Up 5% in 3 bars',
    'Less Than 1.5',
  ]
  const { asks } = await foundOf(
    'a.csv',
    `Ticker,Name,Message\n${rows.map((row) => `A:B,,B ${row}`).join('\n')}`,
  )
  expect(asks.map(({ body }) => [body['op'], body['price'], body['price2'] ?? null])).toEqual([
    ['entering_channel', 100, 110],
    ['below', 1.5, null],
  ])
})

test('a zip of scripts comes file by file; a workbook is a list of trades; others say why not', async () => {
  const zip = zipSync({
    'my/one.pine': bytesOf('//@version=6\nstrategy(title = "Пробой", overlay = true)'),
    'my/two.txt': [bytesOf('//@version=6\nplot(1)'), { level: 0 }],
    '__MACOSX/x.pine': bytesOf('x'),
    'inner.zip': zipSync({ a: bytesOf('a') }),
  })
  const book = zipSync({ 'xl/workbook.xml': bytesOf('<x/>') })
  const found = await foundFiles([
    { name: 'pine.zip', bytes: zip },
    { name: 'list.xlsx', bytes: book },
    { name: 'cut.zip', bytes: zip.slice(0, 80) },
  ])
  expect(found.map(({ name, kind, asks }) => [name, kind, asks.map((ask) => ask.name)])).toEqual([
    ['my/one.pine', 'script', ['Пробой']],
    ['my/two.txt', 'script', ['two']],
    ['inner.zip', 'unknown', []],
    ['list.xlsx', 'list of trades', []],
    ['cut.zip', 'unknown', []],
  ])
  expect(found[4]?.left).toEqual([expect.stringContaining('damaged')])
})

test('an archive never takes more than it says', async () => {
  const zip = zipSync({ a: new Uint8Array(1000) })
  const lying = zip.slice()
  const at = new TextDecoder('latin1').decode(zip).lastIndexOf('PK\x01\x02')
  new DataView(lying.buffer).setUint32(at + 24, 10, true)
  expect(await rejection(filesOfZip(lying))).toMatchObject({ message: expect.stringContaining('damaged') })
  new DataView(lying.buffer).setUint32(at + 24, 2 ** 31, true)
  expect(await rejection(filesOfZip(lying))).toMatchObject({ message: expect.stringContaining('64 MB') })
})

test('the report says what came, what was refused, and the same file has the same keys', async () => {
  const keys: string[] = []
  const maker = {
    make: async ({ body }: MakingAsk, key: string) => {
      keys.push(key)
      if (body['symbol'] === 'BTCUSDT') throw new Error('You can have at most 400 alerts.')
      return 'al_1'
    },
    pause: async () => undefined,
  }
  const found = await foundOf('log.csv', LOG.replace('AAPL Crossing 1,234.50', 'AAPL Crossing 5'))
  const { came, left, kind } = await moved(found, maker)
  expect([cameText({ kind, came }), left.length, left[1]]).toEqual([
    'alert, made paused: Уровень',
    2,
    'BTCUSDT Greater Than 90000: You can have at most 400 alerts.',
  ])
  await moved(found, maker)
  expect(keys.slice(0, 2)).toEqual(keys.slice(2))
})
