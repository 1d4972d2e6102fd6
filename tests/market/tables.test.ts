// Parquet and Arrow, written by other people's programs and by ours, read and read back.

import { describe, expect, test } from 'bun:test'
import {
  compressionRegistry,
  CompressionType,
  RecordBatchStreamWriter,
  tableFromArrays,
  tableToIPC,
  vectorFromArray,
  TimestampMillisecond,
  TimestampNanosecond,
  DateDay,
  Int64,
  Table,
  Utf8,
  type Vector,
} from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { Problem } from '../../src/lib/problem.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { type Bars, emptyBars, sliceBars } from '../../src/market/bars.ts'
import { barWindows, exportPieces } from '../../src/market/files/export-bars.ts'
import { lz4Block, lz4Frame } from '../../src/market/files/lz4.ts'
import { readingText } from '../../src/market/files/reading-text.ts'
import { type ReadBarsOptions, stageBars } from '../../src/market/import.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import { zip } from './archives.ts'
import { rows } from './bar-store.conformance.ts'
import { testBars } from '../store/test-store.ts'

const COIN = defaultSymbol('BINANCE', 'BTCUSDT')
const STOCK = defaultSymbol('NASDAQ', 'AAPL')
const START = 1_709_632_800_000

async function read(bytes: Uint8Array, options: Partial<ReadBarsOptions> = {}) {
  const { bars, read: found } = await stageBars([bytes], { symbol: COIN, ...options }, null)
  return { bars: rows(bars), says: found.files.map((file) => readingText(file)).join(' '), found }
}

async function refusal(bytes: Uint8Array): Promise<string> {
  try {
    await read(bytes)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  return ''
}

const PRICES = { open: [10, 11], high: [12, 13], low: [9, 10], close: [11, 12] }
const EXPECTED = [
  [START, 10, 12, 9, 11, 5],
  [START + 60_000, 11, 13, 10, 12, 6],
]

/** Random walks of any length, the same for the same seed. */
function walk(count: number, seed: number): Bars {
  const random = seededRandom(seed)
  const bars = emptyBars(count)
  let price = 100
  for (let i = 0; i < count; i++) {
    const close = price + random.uniform() - 0.5
    bars.time[i] = START + i * 60_000
    bars.open[i] = price
    bars.close[i] = close
    bars.high[i] = Math.max(price, close) + random.uniform()
    bars.low[i] = Math.min(price, close) - random.uniform()
    bars.volume[i] = Math.floor(random.uniform() * 1e6) / 100
    price = close
  }
  return bars
}

async function written(windows: () => AsyncIterable<Bars>, format: 'csv' | 'parquet'): Promise<Uint8Array> {
  return new Uint8Array(Buffer.concat(await Array.fromAsync(exportPieces(windows, format))))
}

async function* windowsOf(bars: Bars, size: number) {
  for (let at = 0; at < bars.length; at += size) yield sliceBars(bars, at, at + size)
}

describe('Parquet', () => {
  const file = (time: object) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'Date', ...time } as never,
          ...Object.entries(PRICES).map(([name, data]) => ({ name, data, type: 'DOUBLE' as const })),
          { name: 'Volume', data: [5n, 6n], type: 'INT64' },
          { name: 'note', data: ['a', 'b'], type: 'STRING' },
        ],
      }),
    )

  test.each([
    [
      'instants',
      { data: [new Date(START), new Date(START + 60_000)], type: 'TIMESTAMP' },
      'year, month, day and clock',
    ],
    [
      'milliseconds',
      { data: [BigInt(START), BigInt(START + 60_000)], type: 'INT64' },
      'milliseconds since 1970',
    ],
    ['seconds', { data: [START / 1000, START / 1000 + 60], type: 'DOUBLE' }, 'seconds since 1970'],
    ['texts', { data: ['2024-03-05T10:00:00Z', '2024-03-05T10:01:00Z'], type: 'STRING' }, 'clock'],
  ])('times as %s', async (_name, time, says) => {
    const told = await read(file(time))
    expect(told.bars).toEqual(EXPECTED)
    expect(told.says).toStartWith('Parquet: ')
    expect(told.says).toContain(says)
    expect(told.says).toContain('time from Date, open, high')
  })

  test('in an archive, and cut anywhere', async () => {
    const bytes = file({ data: [BigInt(START), BigInt(START + 60_000)], type: 'INT64' })
    expect((await read(zip([{ name: 'a.parquet', text: bytes }]))).bars).toEqual(EXPECTED)
    for (let cut = 4; cut < bytes.length; cut += 13)
      expect({ cut, message: await refusal(bytes.subarray(0, cut)) }).toEqual({
        cut,
        message: expect.stringContaining('Nothing was imported: '),
      })
  })

  test('bytes that were changed never do worse than being refused', async () => {
    const whole = file({ data: [BigInt(START), BigInt(START + 60_000)], type: 'INT64' })
    // Always the same damage: what goes round in circles cannot be ended by a test.
    const seed = 17
    const random = seededRandom(seed)
    for (let round = 0; round < 200; round++) {
      const bytes = Uint8Array.from(whole)
      const at = 4 + Math.floor(random.uniform() * (bytes.length - 4))
      bytes[at] = Math.floor(random.uniform() * 256)
      const outcome = await refusal(bytes)
      expect({ seed, at, outcome: outcome === '' || outcome.startsWith('Nothing was imported: ') }).toEqual({
        seed,
        at,
        outcome: true,
      })
    }
  })

  test('columns by names that mean nothing are refused with what lacks', async () => {
    const bytes = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: 'a', data: [1, 2], type: 'DOUBLE' }] }),
    )
    expect(await refusal(bytes)).toContain('the header has no column time, open, high, low, close')
  })
})

/** A file is a stream between two magic words, with a directory behind it that nobody needs who reads on. */
function fileOf(table: Table): Uint8Array {
  const magic = new TextEncoder().encode('ARROW1')
  return new Uint8Array(
    Buffer.concat([magic, Buffer.alloc(2), tableToIPC(table, 'stream'), Buffer.alloc(40), magic]),
  )
}

describe('Arrow', () => {
  const table = (time: Vector<TimestampMillisecond | TimestampNanosecond>) =>
    new Table({
      time,
      ...Object.fromEntries(
        Object.entries(PRICES).map(([name, data]) => [name, vectorFromArray(Float64Array.from(data))]),
      ),
      volume: vectorFromArray([5n, 6n], new Int64()),
    })
  const ms = () => table(vectorFromArray([START, START + 60_000], new TimestampMillisecond()))

  test.each(['file', 'stream'] as const)('as a %s, in any pieces', async (form) => {
    const bytes = form === 'file' ? fileOf(ms()) : tableToIPC(ms(), form)
    for (const size of [1, 64, 1 << 20]) {
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      const { bars } = await stageBars(pieces, { symbol: COIN }, null)
      expect(rows(bars)).toEqual(EXPECTED)
    }
  })

  test('times that state no zone are in the one that the user says', async () => {
    const bytes = fileOf(ms())
    const told = await read(bytes, { hints: { timesIn: 'America/New_York' } })
    expect(told.bars.map(([time]) => time)).toEqual([START + 5 * 3_600_000, START + 5 * 3_600_000 + 60_000])
    expect(told.says).toContain('in America/New_York, as you say')
    expect((await read(bytes)).says).toContain('in UTC, which the file does not say')
  })

  test('nanoseconds, 32-bit numbers, days, and rows without a price', async () => {
    const ns = vectorFromArray([START, START + 60_000], new TimestampNanosecond())
    expect((await read(fileOf(table(ns)))).bars).toEqual(EXPECTED)
    const small = tableFromArrays({
      timestamp: Uint32Array.of(START / 1000, START / 1000 + 60),
      o: Float32Array.of(10, 11),
      h: Int32Array.of(12, 13),
      l: Int16Array.of(9, 10),
      c: Uint8Array.of(11, 12),
      v: Int8Array.of(5, 6),
    })
    expect((await read(tableToIPC(small, 'stream'))).bars).toEqual(EXPECTED)
    const days = new Table({
      date: vectorFromArray([new Date('2024-03-04'), new Date('2024-03-05')], new DateDay()),
      ...Object.fromEntries(
        Object.entries(PRICES).map(([name, [, last]]) => [name, vectorFromArray([null, last ?? 0])]),
      ),
    })
    const told = await read(fileOf(days), { symbol: STOCK, interval: '1d' })
    expect(told.bars).toEqual([[Date.UTC(2024, 2, 5, 14, 30), 11, 13, 10, 12, 0]])
    expect(told.found.findings.map(({ kind }) => kind)).toContain('empty_row')
  })

  /** A frame of LZ4 for what repeats every eight bytes; all else comes to more than it is, and stays as it is. */
  function repeatedAsLz4(bytes: Uint8Array): Uint8Array {
    const head = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]
    if (bytes.length < 40 || bytes.some((byte, i) => i >= 8 && byte !== bytes[i - 8]))
      return Uint8Array.of(...head, ...bytes)
    const more = bytes.length - 8 - 5 - 4 - 15
    const length = [...Array<number>(Math.floor(more / 255)).fill(255), more % 255]
    const block = [0x8f, ...bytes.subarray(0, 8), 8, 0, ...length, 0x50, ...bytes.subarray(-5)]
    return Uint8Array.of(...head, block.length, 0, 0, 0, ...block, 0, 0, 0, 0)
  }

  test.each([
    ['LZ4_FRAME', repeatedAsLz4, 1],
    ['ZSTD', (bytes: Uint8Array) => new Uint8Array(Bun.zstdCompressSync(bytes)), 6],
  ] as const)('packed by %s, but for columns that come to no less', async (name, encode, columnsPacked) => {
    const packed: { readonly bytes: Uint8Array; readonly length: number }[] = []
    compressionRegistry.set(CompressionType[name], {
      decode: (data) => data,
      encode: (data) => {
        const bytes = encode(data)
        if (bytes.length < data.length) packed.push({ bytes, length: data.length })
        return bytes
      },
    })
    const bars = walk(200, 9)
    bars.volume.fill(7)
    const { time, ...columns } = bars
    const named = Object.entries(columns).filter(([name]) => name in PRICES || name === 'volume')
    const table = new Table({
      time: vectorFromArray([...time], new TimestampMillisecond()),
      ...Object.fromEntries(named.map(([name, data]) => [name, vectorFromArray(data as Float64Array)])),
    })
    const writer = new RecordBatchStreamWriter({ compressionType: CompressionType[name] })
    const bytes = writer.writeAll(table).toUint8Array(true)
    // This writer says how long a buffer is packed, where it should say how long it is unpacked.
    for (const one of packed) {
      const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(one.bytes)
      new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(at - 8, BigInt(one.length), true)
    }
    expect((await read(bytes)).bars).toEqual(rows(bars))
    expect(packed).toHaveLength(columnsPacked)
  })

  test('whose texts overlap, or whose names are endless, is refused', async () => {
    const texts = fileOf(
      new Table({
        time: vectorFromArray(['2024-03-05T10:00:00Z', '2024-03-05T10:01:00Z'], new Utf8()),
        ...Object.fromEntries(
          Object.entries(PRICES).map(([name, data]) => [name, vectorFromArray(Float64Array.from(data))]),
        ),
      }),
    )
    expect((await read(texts)).bars.map(([time]) => time)).toEqual([START, START + 60_000])
    const at = Buffer.from(texts).indexOf(Buffer.from(Int32Array.of(0, 20, 40).buffer))
    for (const offsets of [
      [0, 40, 20],
      [0, 20, 60_000],
    ]) {
      const bytes = Uint8Array.from(texts)
      bytes.set(new Uint8Array(Int32Array.from(offsets).buffer), at)
      expect(await refusal(bytes)).toContain('the Arrow file is damaged')
    }
    const named = tableFromArrays({ ['x'.repeat(5000)]: [1], time: [START], ...PRICES })
    expect(await refusal(fileOf(named))).toContain('the Arrow file is damaged')
  })

  test('that breaks off, or was changed, is refused or read, and nothing else happens', async () => {
    const whole = fileOf(ms())
    const seed = 17
    const random = seededRandom(seed)
    for (let cut = 8; cut < whole.length - 60; cut += 7)
      expect(await refusal(whole.subarray(0, cut))).toContain('Nothing was imported: ')
    // A message whose body has less than no length.
    const at = Buffer.from(whole).indexOf(Buffer.from('ffffffff', 'hex'), 16)
    const metadata = new DataView(whole.buffer, whole.byteOffset + at + 8)
    const table = metadata.getUint32(0, true)
    const offset = metadata.getUint16(table - metadata.getInt32(table, true) + 4 + 3 * 2, true)
    const backwards = Uint8Array.from(whole)
    backwards.fill(255, at + 8 + table + offset, at + 8 + table + offset + 8)
    expect(await refusal(backwards)).toContain('the Arrow file is damaged')
    for (let round = 0; round < 300; round++) {
      const bytes = Uint8Array.from(whole)
      const at = 8 + Math.floor(random.uniform() * (bytes.length - 8))
      bytes[at] = Math.floor(random.uniform() * 256)
      const outcome = await refusal(bytes)
      expect({ seed, at, fine: outcome === '' || outcome.startsWith('Nothing was imported: ') }).toEqual({
        seed,
        at,
        fine: true,
      })
    }
  })
})

describe('LZ4', () => {
  // A token of 1 literal and a copy of 4 + 15 + 2 from one byte back, then 5 literals.
  const block = Uint8Array.of(0x1f, 97, 1, 0, 2, 0x50, 98, 99, 100, 101, 102)
  const text = `${'a'.repeat(22)}bcdef`

  test('a block, and a frame of it with what was not packed', () => {
    expect(new TextDecoder().decode(lz4Block(block, text.length))).toBe(text)
    const head = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]
    const size = (length: number, plain: boolean) => [length, 0, 0, plain ? 0x80 : 0]
    const frame = Uint8Array.of(
      ...head,
      ...size(block.length, false),
      ...block,
      ...size(2, true),
      120,
      121,
      0,
      0,
      0,
      0,
    )
    expect(new TextDecoder().decode(lz4Frame(frame, text.length + 2))).toBe(`${text}xy`)
  })

  test('what breaks off, reaches back too far, or is longer than it says is thrown at', () => {
    expect(() => lz4Block(block, text.length - 1)).toThrow(RangeError)
    expect(() => lz4Block(block, text.length + 1)).toThrow(RangeError)
    expect(() => lz4Block(block.with(2, 9), text.length)).toThrow(RangeError)
    for (let cut = 1; cut < block.length; cut++)
      expect(() => lz4Block(block.subarray(0, cut), text.length)).toThrow(RangeError)
    expect(() => lz4Frame(block, text.length)).toThrow(RangeError)
  })
})

describe('what is exported', () => {
  test.each(['csv', 'parquet'] as const)('as %s is read back bit for bit', async (format) => {
    const bars = walk(2500, 11)
    for (const size of [1, 1000, 2500]) {
      const some = size === 1 ? sliceBars(bars, 0, 20) : bars
      const { bars: back } = await read(await written(() => windowsOf(some, size), format))
      expect(back).toEqual(rows(some))
    }
  })

  test('comes in steps, also of an interval that is built from a finer one', async () => {
    const cache = new BarCache(testBars())
    const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
    await cache.upsert(key, walk(1000, 3))
    const hours = { ...key, interval: '1h' }
    for (const [series, range] of [
      [key, {}],
      [key, { from: START + 90_000, to: START + 500 * 60_000 }],
      [hours, {}],
    ] as const) {
      const whole = await cache.read(series, range)
      for (const step of [1, 7, 100_000]) {
        const windows = await Array.fromAsync(barWindows((part) => cache.read(series, part), range, step))
        expect({ step, bars: windows.flatMap(rows) }).toEqual({ step, bars: rows(whole) })
      }
    }
  })
})
