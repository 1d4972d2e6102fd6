// Parquet files, a group of rows at a time.
//
// What a file says of itself is at its end, so one that arrives as a stream is taken in whole, up to a limit; from a disk
// only what is needed is read.

import { Problem } from '../../lib/problem.ts'
import { lz4Block } from './lz4.ts'
import { checkPages } from './parquet-pages.ts'
import type { ColumnBatch, Table, TableColumn, TimeType } from './table.ts'
import type { ByteSlices } from './unpack.ts'

/** The most that is taken into memory of a file that arrives as a stream. */
const WHOLE_MAX = 256 << 20
/**
 * The most that the columns of one group of rows may have, unpacked, and its rows: a few bytes may stand for a page of a
 * gigabyte, and for any number of equal values. Programs write groups of 100,000 to a million rows.
 */
const GROUP_MAX = 512 << 20
const ROWS_MAX = 1 << 24

/** The code of others reads, and may go round in circles: whoever cannot wait for it has to be able to end the thread. */
export async function parquetTable(slices: ByteSlices): Promise<Table> {
  // 150 kB that few servers ever need.
  const { parquetMetadataAsync, parquetRead } = await import('hyparquet')
  const { brotliDecompressSync, gunzipSync, zstdDecompressSync } = await import('node:zlib')
  const compressors = {
    GZIP: (input: Uint8Array, length: number) => gunzipSync(input, { maxOutputLength: length }),
    BROTLI: (input: Uint8Array, length: number) => brotliDecompressSync(input, { maxOutputLength: length }),
    ZSTD: (input: Uint8Array, length: number) => zstdDecompressSync(input, { maxOutputLength: length }),
    LZ4_RAW: lz4Block,
    LZ4: hadoopBlock,
  }
  const file = { byteLength: slices.size, slice: slices.slice }
  const metadata = await damagedUnless(() => parquetMetadataAsync(file))
  const leaves = metadata.schema.filter(({ num_children }) => !num_children)
  const columns = leaves.map((leaf): TableColumn => ({
    // Damage may leave a column without a name.
    name: [leaf.name].join(''),
    time: timeTypeOf(leaf),
  }))
  const groups = metadata.row_groups.map((group) => ({
    rows: Number(group.num_rows),
    chunks: group.columns.map(({ meta_data: chunk }) => ({
      from: Number(chunk?.dictionary_page_offset || chunk?.data_page_offset),
      length: Number(chunk?.total_compressed_size),
      values: Number(chunk?.num_values),
    })),
  }))
  return {
    columns,
    async *batches(numbers) {
      const names = numbers.map((number) => columns[number]?.name ?? '')
      let start = 0
      let packed = 0
      for (const { rows, chunks } of groups) {
        if (!(rows >= 0 && rows <= ROWS_MAX)) throw tooLarge()
        const read = numbers.flatMap((number) => chunks[number] ?? [])
        await damagedUnless(() => checkChunks(slices, read, rows))
        packed += read.reduce((sum, { length }) => sum + length, 0)
        // Each group has its own bytes, or a few of them could stand for millions of groups.
        if (packed > slices.size) throw refused('is damaged; copy or download it again')
        const found = new Map<string, ArrayLike<unknown>[]>()
        const from = start
        await damagedUnless(() =>
          parquetRead({
            file,
            metadata,
            columns: [...new Set(names)],
            rowStart: from,
            rowEnd: from + rows,
            compressors,
            parsers: PARSERS,
            onChunk: ({ columnName, columnData }) => {
              const parts = found.get(columnName) ?? []
              found.set(columnName, parts)
              parts.push(columnData as ArrayLike<unknown>)
            },
          }),
        )
        start += rows
        yield batchOf(rows, names, found)
      }
    },
  }
}

interface ColumnChunk {
  readonly from: number
  readonly length: number
  readonly values: number
}

async function checkChunks(slices: ByteSlices, chunks: readonly ColumnChunk[], rows: number): Promise<void> {
  let unpacked = 0
  for (const { from, length, values } of chunks) {
    if (!(from >= 4 && length > 0 && from + length <= slices.size && values === rows))
      throw new RangeError('a column lies outside of the file')
    unpacked += checkPages(new Uint8Array(await slices.slice(from, from + length)), rows)
    if (unpacked > GROUP_MAX) throw tooLarge()
  }
}

/** Times stay numbers: instants and clocks in ms, days since 1970. */
const PARSERS = {
  timestampFromMilliseconds: (ms: bigint) => Number(ms),
  timestampFromMicroseconds: (us: bigint) => Number(us / 1000n),
  timestampFromNanoseconds: (ns: bigint) => Number(ns / 1_000_000n),
  dateFromDays: (days: number) => days,
}

function batchOf(
  length: number,
  names: readonly string[],
  found: ReadonlyMap<string, readonly ArrayLike<unknown>[]>,
): ColumnBatch {
  const columns = names.map((name) => {
    const parts = found.get(name) ?? []
    const [only] = parts
    return parts.length === 1 && only ? only : parts.flatMap((part) => Array.from(part))
  })
  if (columns.some((column) => column.length !== length))
    throw refused('is damaged; copy or download it again')
  return { length, columns }
}

interface Leaf {
  readonly type?: string | undefined
  readonly converted_type?: string | undefined
  readonly logical_type?: { readonly type: string; readonly isAdjustedToUTC?: boolean } | undefined
}

function timeTypeOf({ type, converted_type: converted, logical_type: logical }: Leaf): TimeType {
  if (converted === 'DATE' || logical?.type === 'DATE') return 'day'
  if (logical?.type === 'TIMESTAMP') return logical.isAdjustedToUTC === true ? 'instant' : 'clock'
  if (converted?.startsWith('TIMESTAMP') === true) return 'instant'
  if (type === 'INT96') return 'clock'
  return type === 'BYTE_ARRAY' ? 'text' : 'number'
}

/** Hadoop's LZ4: blocks with their two lengths, most significant byte first. */
function hadoopBlock(input: Uint8Array, length: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  if (input.length < 8 || view.getUint32(0) !== length || view.getUint32(4) !== input.length - 8)
    return lz4Block(input, length)
  return lz4Block(input.subarray(8), length)
}

/**
 * All of a stream, in memory that threads share and that grows: to join it at the end would take as much again, and hold up
 * for seconds whoever else reads on this thread. `took` is told of all that is taken before more is.
 */
export async function wholeOf(
  bytes: AsyncIterable<Uint8Array>,
  took: (bytes: number) => void | Promise<void> = () => {},
): Promise<SharedArrayBuffer> {
  const whole = new SharedArrayBuffer(0, { maxByteLength: WHOLE_MAX })
  for await (const chunk of bytes) {
    const size = whole.byteLength
    if (size + chunk.length > WHOLE_MAX)
      throw refused(
        `may have at most ${WHOLE_MAX >> 20} MiB here; \`chartroom bars import\` takes files of any size`,
      )
    await took(chunk.length)
    whole.grow(size + chunk.length)
    new Uint8Array(whole, size).set(chunk)
  }
  return whole
}

/** What reads a file wants memory that no other thread sees. */
export function slicesOf(whole: SharedArrayBuffer): ByteSlices {
  const size = whole.byteLength
  return { size, slice: async (from, to = size) => new Uint8Array(whole).slice(from, to).buffer }
}

/** What the reader of Parquet throws is about bytes, and nobody's words. */
async function damagedUnless<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Problem) throw error
    throw refused('is damaged or of a kind nobody here reads; write it again, or as CSV')
  }
}

function tooLarge(): Problem {
  return refused(
    `has groups of more than ${GROUP_MAX >> 20} MiB or ${ROWS_MAX.toLocaleString('en')} rows; write it again with smaller ones`,
  )
}

function refused(message: string): Problem {
  return new Problem(422, 'validation_failed', `Nothing was imported: the Parquet file ${message}.`, {
    fields: [{ in: 'body', path: '/rows/1', code: 'invalid_bar', message: `the Parquet file ${message}` }],
  })
}
