// Files of bars over HTTP: looked at first, and stored as they were read.

import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { zip } from '../market/archives.ts'
import { testServer } from './server.ts'

const KLINES =
  '1709632800000000,10,12,9,11,5,1709632859999999,55,3,2,22,0\n1709632860000000,11,13,10,12,6,1709632919999999,66,3,2,22,0\n'
const ARCHIVE = zip([{ name: 'BTCUSDT-1m-2024-03.csv', text: KLINES }])
const SERIES = 'exchange=BINANCE&symbol=BTCUSDT&interval=1m'
const binary = { 'content-type': 'application/octet-stream' }

async function open() {
  const server = testServer()
  const owner = await server.signUp('owner@example.com')
  const send = (path: string, body: string | Uint8Array, headers = binary) =>
    server.call('POST', path, { headers: { ...owner, ...headers }, body })
  return { ...server, owner, send }
}

test('an archive is said to be what it is, and nothing is stored', async () => {
  const { call, owner, send } = await open()
  const looked = await send('/api/platform/bars/inspect?fileName=BTCUSDT-1m-2024-03.zip', ARCHIVE)
  expect(looked.status).toBe(200)
  expect(looked.json).toMatchObject({
    market: { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1m' },
    rows: 2,
    count: 2,
    first: 1_709_632_800_000,
    last: 1_709_632_860_000,
    bars: { time: [1_709_632_800_000, 1_709_632_860_000], close: [11, 12] },
    read: {
      fileCount: 1,
      findings: [],
      files: [
        {
          name: 'BTCUSDT-1m-2024-03.csv',
          packing: ['zip'],
          format: 'csv',
          kind: 'bars',
          rows: 2,
          dialect: {
            origin: 'Binance',
            delimiter: ',',
            decimal: '.',
            header: 0,
            columns: { time: '1', open: '2', high: '3', low: '4', close: '5', volume: '6' },
            times: 'epoch',
            unit: 'us',
            order: 'ymd',
            timezone: 'UTC',
            zoneBy: 'offsets',
          },
        },
      ],
    },
  })
  expect(looked.json.read.files[0].text).toStartWith('CSV as Binance writes it, packed as zip: ')
  const bars = await call('GET', `/api/platform/bars?${SERIES}`, { headers: owner })
  expect(bars.status).toBe(404)
})

test('what was looked at is stored, with the same report', async () => {
  const { call, owner, send } = await open()
  const { json: looked } = await send('/api/platform/bars/inspect?fileName=BTCUSDT-1m-2024-03.zip', ARCHIVE)
  const stored = await send(`/api/platform/bars/import?${SERIES}`, ARCHIVE, {
    'content-type': 'application/zip',
  })
  expect(stored.json).toMatchObject({ rows: 2, inserted: 2, read: looked.read })
  const { json } = await call('GET', `/api/platform/bars?${SERIES}`, { headers: owner })
  expect(json.bars.volume).toEqual([5, 6])
})

test('a check sum that does not agree keeps everything out', async () => {
  const { call, owner, send } = await open()
  const sum = new Bun.CryptoHasher('sha256').update(ARCHIVE).digest('hex')
  const wrong = await send(`/api/platform/bars/import?${SERIES}&sha256=${'0'.repeat(64)}`, ARCHIVE)
  expect(wrong.status).toBe(422)
  expect(wrong.json.error).toMatchObject({
    message: 'Nothing was imported: the check sum does not agree; download the file again.',
    fields: [{ in: 'query', path: '/sha256', code: 'checksum' }],
  })
  expect((await call('GET', `/api/platform/bars?${SERIES}`, { headers: owner })).status).toBe(404)
  expect(
    (await send(`/api/platform/bars/import?${SERIES}&sha256=${sum.toUpperCase()}`, ARCHIVE)).status,
  ).toBe(200)
})

test('what the sender says of the file counts, and is refused by its name if it is wrong', async () => {
  const { send } = await open()
  const clock = '2024.03.05;10:00;10;12;9;11;5\n2024.03.05;10:01;11;13;10;12;6\n'
  const said = 'timesIn=America/New_York&delimiter=semicolon&decimal=point&dates=ymd&unit=ms&duplicates=last'
  const stored = await send(`/api/platform/bars/import?${SERIES}&${said}`, clock)
  expect(stored.json.read.files[0].dialect).toMatchObject({ timezone: 'America/New_York', zoneBy: 'user' })
  expect(stored.json.series.first).toBe(Date.UTC(2024, 2, 5, 15))
  const refused = await send(`/api/platform/bars/import?${SERIES}&timesIn=Mars`, clock)
  expect(refused.json.error.fields).toMatchObject([{ in: 'query', path: '/timesIn' }])
  expect((await send(`/api/platform/bars/import?${SERIES}&duplicates=all`, clock)).status).toBe(422)
})

test('findings come with their number, places and what was done', async () => {
  const { send } = await open()
  const row = (minute: number) => `${1_709_632_800 + minute * 60},1,1,1,1,${minute}`
  const { json } = await send(`/api/platform/bars/import?${SERIES}`, [0, 1, 2, 5].map(row).join('\n'))
  expect(json.read.findings).toEqual([
    {
      kind: 'zero_volume',
      count: 1,
      message: '1 bar without volume',
      done: 'stored as it is',
      examples: [{ time: 1_709_632_800_000, text: '' }],
    },
    {
      kind: 'gap',
      count: 1,
      message: '2 bars missing inside of sessions, in one place',
      done: 'nothing was filled in',
      examples: [{ time: 1_709_632_980_000, text: '2 bars' }],
    },
  ])
})

test('the beginning of a large file is enough to say how it would be read', async () => {
  const { send } = await open()
  const text = Array.from(
    { length: 5000 },
    (_, i) => `${1_709_632_800 + i * 300},1,1,1,1,${(i * 7919) % 1000}`,
  )
  const half = gzipSync(text.join('\n')).subarray(0, 8000)
  const { json } = await send('/api/platform/bars/inspect?partial=true&exchange=X&symbol=S', half)
  expect(json.market).toEqual({ exchange: 'X', symbol: 'S', interval: '5m' })
  expect(json.read.files[0].packing).toEqual(['gzip'])
  expect((await send('/api/platform/bars/inspect?exchange=X&symbol=S', half)).json.error.message).toContain(
    'breaks off before its end',
  )
})

test('a series is exported as CSV and as Parquet, which an import takes as they are', async () => {
  const { app, owner, send } = await open()
  await send(`/api/platform/bars/import?${SERIES}`, ARCHIVE)
  const get = async (query: string) =>
    app.handle(new Request(`http://localhost/api/platform/bars/export?${query}`, { headers: owner }))
  const csv = await get(SERIES)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await csv.text()).toBe(
    'time,open,high,low,close,volume,bought\n1709632800000,10,12,9,11,5,2\n1709632860000,11,13,10,12,6,2\n',
  )
  const later = await get(`${SERIES}&start=2024-03-05T10:01:00Z&format=csv`)
  expect((await later.text()).split('\n').length).toBe(3)
  const parquet = await get(`${SERIES}&format=parquet`)
  expect(parquet.headers.get('content-disposition')).toContain('filename="BINANCE_BTCUSDT_1m.parquet"')
  const back = await send(
    '/api/platform/bars/import?exchange=X&symbol=ИМЯ&interval=1m',
    await parquet.bytes(),
  )
  expect(back.json).toMatchObject({
    rows: 2,
    read: { files: [{ format: 'parquet', dialect: { delimiter: '' } }] },
  })
  const named = await get('exchange=X&symbol=ИМЯ&interval=1m')
  expect(named.headers.get('content-disposition')).toBe(
    `attachment; filename="X_____1m.csv"; filename*=UTF-8''X_${encodeURIComponent('ИМЯ')}_1m.csv`,
  )
  expect((await get('exchange=X&symbol=NONE&interval=1m')).status).toBe(404)
  expect((await get(`${SERIES}&format=xml`)).status).toBe(422)
})

test("a member's private bars are exported to that member alone", async () => {
  const { app, signUp, call } = await open()
  const member = await signUp('member@example.com')
  await call('POST', `/api/platform/bars/import?exchange=P&symbol=MINE&interval=1m`, {
    headers: { ...member, ...binary },
    body: KLINES,
  })
  const other = await signUp('other@example.com')
  const get = async (headers: Record<string, string>) =>
    app.handle(
      new Request('http://localhost/api/platform/bars/export?exchange=P&symbol=MINE&interval=1m', {
        headers,
      }),
    )
  expect([(await get(member)).status, (await get(other)).status, (await get({})).status]).toEqual([
    200, 404, 401,
  ])
})

test('trades are stored as bars of volume where that is asked for', async () => {
  const { call, owner, send } = await open()
  const trades = '1709632800,10,3\n1709632801,11,3\n1709632802,12,4\n'
  const at = 'exchange=BINANCE&symbol=BTCUSDT.V5&interval=1s'
  const sent = await send(`/api/platform/bars/import?${at}&volumePerBar=5`, trades)
  expect(sent.json).toMatchObject({ rows: 3, inserted: 2 })
  const { json } = await call('GET', `/api/platform/bars?${at}`, { headers: owner })
  expect(json.bars).toMatchObject({ close: [11, 12], volume: [6, 4] })
  const refused = await send(`/api/platform/bars/import?${at}&volumePerBar=none`, trades)
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('volumePerBar')])
})

test('trades of files in any order, and of uploads that overlap, make whole bars', async () => {
  const { call, owner, send } = await open()
  const file = (name: string, ...trades: string[]) => ({
    name,
    text: `timestamp,price,quantity\n${trades.join('\n')}\n`,
  })
  const imported = async (...files: ReturnType<typeof file>[]) =>
    (await send(`/api/platform/bars/import?${SERIES}`, zip(files))).json
  const [a, b, c, d] = ['1709632800,10,1', '1709632830,12,2', '1709632850,9,4', '1709632860,11,8'] as const
  const bars = async () => (await call('GET', `/api/platform/bars?${SERIES}`, { headers: owner })).json.bars
  const whole = { open: [10, 11], high: [12, 11], low: [9, 11], close: [9, 11], volume: [7, 8] }
  expect(await imported(file('2.csv', c, d), file('1.csv', b, a))).toMatchObject({ inserted: 2 })
  expect(await bars()).toMatchObject(whole)
  await imported(file('2.csv', c, d))
  expect(await bars()).toMatchObject(whole)
})

test('a file of a German Windows is read and said to be one, and an empty one is said to be empty', async () => {
  const { send } = await open()
  const german =
    'Datum;Eröffnung;Hoch;Tief;Schluss;Umsatz\n02.01.2023;15.234,50;15.601,83;15.165,14;15.534,97;7\n'
  const looked = await send('/api/platform/bars/inspect?fileName=dax.csv', Buffer.from(german, 'latin1'))
  expect(looked.json).toMatchObject({
    count: 1,
    bars: { open: [15_234.5], close: [15_534.97], volume: [7] },
    read: { files: [{ encoding: 'windows-1252' }] },
  })
  expect(looked.json.read.files[0].text).toStartWith('CSV, in the letters of Windows-1252: ')
  for (const path of ['inspect?fileName=dax.csv', `import?${SERIES}`]) {
    const { status, json } = await send(`/api/platform/bars/${path}`, '')
    expect([status, json.error.message]).toEqual([422, expect.stringMatching(/the file is empty/i)])
  }
})
