// What a million rows of a file cost, from its bytes to checked bars with the report of what is odd about them: processor
// time of one core, in the dialects that people have.
//
//     bun run bench files

import process from 'node:process'
import { exportPieces } from '../../src/market/files/export-bars.ts'
import { readBars } from '../../src/market/import.ts'
import { type Bars, emptyBars } from '../../src/market/bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { noteRow } from '../bench-rows.ts'

const ROWS = 1_000_000
const ROUNDS = 5
const START = 1_600_000_000
const symbol = defaultSymbol('BINANCE', 'BTCUSDT')

const bars = emptyBars(ROWS)
for (let i = 0; i < ROWS; i++) {
  const price = 40_000 + Math.round((i % 1000) * 14.3) / 100
  bars.time[i] = (START + i * 60) * 1000
  bars.open[i] = price
  bars.high[i] = price + 5.5
  bars.low[i] = price - 5.25
  bars.close[i] = price + 1
  bars.volume[i] = i % 97
}

const prices = (i: number, delimiter: string) =>
  [bars.open[i], bars.high[i], bars.low[i], bars.close[i]].join(delimiter)
const seconds = (i: number) => START + i * 60
const stamp = (i: number) => new Date(seconds(i) * 1000).toISOString()

const DIALECTS: Readonly<Record<string, (i: number) => string>> = {
  'TradingView, seconds': (i) => `${seconds(i)},${prices(i, ',')},${i % 97}`,
  'Binance, microseconds, 12 columns': (i) =>
    `${seconds(i)}000000,${prices(i, ',')},${i % 97}.12345,${seconds(i)}999999,123456.789,${i % 500},1.5,2.5,0`,
  'HistData, clock of New York': (i) =>
    `${stamp(i).slice(0, 10).replaceAll('-', '')} ${stamp(i).slice(11, 19).replaceAll(':', '')};${prices(i, ';')};0`,
  'MetaTrader 5, date and clock apart': (i) =>
    `${stamp(i).slice(0, 10).replaceAll('-', '.')}\t${stamp(i).slice(11, 19)}\t${prices(i, '\t')}\t${i % 97}\t0\t2`,
}
const HEADERS: Readonly<Record<string, string>> = {
  'TradingView, seconds': 'time,open,high,low,close,Volume\n',
  'MetaTrader 5, date and clock apart':
    '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n',
}

async function* once(all: Bars): AsyncGenerator<Bars> {
  yield all
}

async function measured(name: string, bytes: Uint8Array): Promise<void> {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 1 << 20) pieces.push(bytes.subarray(at, at + (1 << 20)))
  const taken: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    const { length } = await readBars(pieces, { symbol, interval: '1m' })
    const { user, system } = process.cpuUsage(before)
    if (length !== ROWS) throw new Error(`${length} rows were read of ${ROWS}`)
    taken.push((user + system) / 1000)
  }
  const ms = taken.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  const perSecond = Math.round(ROWS / ms) / 1000
  console.log(`${name}: ${Math.round(ms)} ms of processor, ${perSecond} million rows a second`)
  noteRow(`a million rows of ${name}`, ms, 'ms of processor')
}

for (const [name, line] of Object.entries(DIALECTS)) {
  const lines = Array.from({ length: ROWS }, (_, i) => line(i)).join('\n')
  await measured(name, Buffer.from(`${HEADERS[name] ?? ''}${lines}\n`))
}
const parquet = await Array.fromAsync(exportPieces(() => once(bars), 'parquet'))
await measured('Parquet', Buffer.concat(parquet))
