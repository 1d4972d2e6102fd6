// Takes the sheets out of an XLSX, as texts.
//
// Anybody may send one, so nothing is unpacked or parsed before it is known to be small: the archive is unpacked into at most
// `UNPACKED_MAX` bytes, and the cells that the sheets place are looked at before the library lays them out as rectangles,
// where one cell at XFD1048576 would cost billions. A formula is refused, since exports have values alone.

import { unzipSync, zipSync } from 'fflate'
import read from 'read-excel-file/universal'
import { Problem } from '../../lib/problem.ts'

export interface Sheet {
  readonly name: string
  /** Numbers as `12.5`, true and false as `On` and `Off`, times as `2026-03-31 17:45`, an empty cell as ''. */
  readonly rows: readonly (readonly string[])[]
}

const UNPACKED_MAX = 64 << 20
const SHEETS_MAX = 50
/** TradingView keeps 9,000 trades of two rows each. */
const ROWS_MAX = 100_000
const COLUMNS_MAX = 64
const MS_A_DAY = 86_400_000

export const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b])
/** A container of Office, in which encrypted workbooks and those from before 2007 are kept. */
export const isOffice = (bytes: Uint8Array): boolean => startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0])

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte)
}

/** Throws Problem 422 that says what is wrong with the file. */
export async function sheetsOf(bytes: Uint8Array): Promise<readonly Sheet[]> {
  if (isOffice(bytes))
    throw unreadable('is encrypted, or of Excel before 2007: save it as XLSX without a password')
  if (!isZip(bytes)) throw unreadable('is no XLSX: send the file that TradingView saved')
  const parts = partsOf(bytes)
  for (const [path, part] of Object.entries(parts)) if (SHEET.test(path)) checkCells(part)
  const damaged = () => unreadable('has sheets that cannot be read: save it anew as XLSX')
  // Of a packed archive the library would unpack large parts a second time, in threads of its own.
  const stored = zipSync(parts, { level: 0 })
  const sheets = await read(stored.buffer).catch(() => {
    throw damaged()
  })
  // The library answers no rows at all of a sheet whose XML has none.
  if (sheets.some(({ data }: { readonly data: unknown }) => !Array.isArray(data))) throw damaged()
  return sheets.map(({ sheet, data }) => {
    const isDaily = data.every((row) => row.every((cell) => !isDate(cell) || isMidnight(cell)))
    return { name: sheet, rows: data.map((row) => row.map((cell) => textOf(cell, isDaily))) }
  })
}

const unreadable = (what: string) => new Problem(422, 'validation_failed', `The export ${what}.`)
const tooLarge = (what: string) =>
  unreadable(`${what}, which no list of trades has: export it from TradingView again`)

const SHEET = /^\/?xl\/worksheets\/[^/]+\.xml$/

/** The parts of the workbook that tell its cells. */
function partsOf(bytes: Uint8Array): Record<string, Uint8Array> {
  let size = 0
  let sheets = 0
  let parts: Record<string, Uint8Array>
  try {
    parts = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (!/\.(xml|rels)$/.test(name)) return false
        size += originalSize
        if (SHEET.test(name)) sheets++
        if (size > UNPACKED_MAX) throw tooLarge(`unpacks to more than ${UNPACKED_MAX >> 20} MB`)
        if (sheets > SHEETS_MAX) throw tooLarge(`has more than ${SHEETS_MAX} sheets`)
        return true
      },
    })
  } catch (error) {
    if (error instanceof Problem) throw error
    throw unreadable('is damaged: its archive cannot be unpacked')
  }
  if (!('xl/workbook.xml' in parts)) throw unreadable('is no XLSX: the archive has no workbook in it')
  return parts
}

function checkCells(part: Uint8Array): void {
  const text = new TextDecoder().decode(part)
  if (/<(?:\w+:)?f[\s/>]/.test(text)) throw unreadable('has formulas: send it as TradingView saved it')
  let rows = 0
  for (const [, row] of text.matchAll(/<(?:\w+:)?row\b(?:[^>]*?\sr="(\d+)")?/g))
    if (++rows > ROWS_MAX || Number(row ?? 0) > ROWS_MAX) throw tooLarge(`has more than ${ROWS_MAX} rows`)
  for (const [, letters = '', row] of text.matchAll(/<(?:\w+:)?c\b[^>]*?\sr="([A-Za-z]+)(\d+)"/g))
    if (columnNumber(letters) > COLUMNS_MAX || Number(row) > ROWS_MAX)
      throw tooLarge(`has cells beyond column ${COLUMNS_MAX} or row ${ROWS_MAX}`)
}

function columnNumber(letters: string): number {
  let n = 0
  for (const letter of letters.toUpperCase()) n = n * 26 + letter.charCodeAt(0) - 64
  return n
}

const isDate = (cell: unknown): cell is Date => cell instanceof Date
const isMidnight = (date: Date) => date.getTime() % MS_A_DAY === 0

function textOf(cell: unknown, isDaily: boolean): string {
  if (cell === null || cell === undefined) return ''
  // Twelve digits are more than TradingView computes with, and fewer than the noise of binary fractions.
  if (typeof cell === 'number') return plainNumber(Number(cell.toPrecision(12)))
  if (typeof cell === 'boolean') return cell ? 'On' : 'Off'
  if (!isDate(cell)) return typeof cell === 'string' ? cell : ''
  // Serial numbers of days are rounded: 17:45 may be a few milliseconds before it.
  const time = new Date(Math.round(cell.getTime() / 1000) * 1000).toISOString().replace('T', ' ')
  return isDaily ? time.slice(0, 10) : time.slice(0, time.slice(17, 19) === '00' ? 16 : 19)
}

/** Without an exponent, which the digits shown are counted from. */
function plainNumber(value: number): string {
  const text = String(value)
  return /e-/.test(text) ? value.toFixed(12).replace(/0+$/, '') : text
}
