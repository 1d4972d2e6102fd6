// Reading watchlist files: CSV with or without a header, and TradingView's .txt (`###Tech,NASDAQ:AAPL,SP:SPX`).

import { csvRows, delimiterOf, headerOf } from '../../lib/csv-rows.ts'

interface WatchlistRow {
  readonly symbol: string
  readonly exchange: string
  readonly note: string | null
  /** Its row in the file, from 1. */
  readonly line: number
}

export interface ParsedWatchlist {
  readonly rows: readonly WatchlistRow[]
  readonly problem: string | null
}

export function parseWatchlist(text: string): ParsedWatchlist {
  const clean = text.replace(/^\uFEFF/, '')
  if (clean.trim() === '') return { rows: [], problem: 'The file is empty.' }
  if (hasPrices(clean))
    return { rows: [], problem: 'These are bars, not a list of symbols: Bring bars reads them.' }
  const rows = isTradingView(clean) ? readTradingView(clean) : readCsv(clean)
  return rows.length === 0 ? { rows, problem: 'No symbols were found in the file.' } : { rows, problem: null }
}

/** Whether a file can be nothing else: other CSV is taken for one only by who says that it is. */
export const isWatchlist = (text: string): boolean => isTradingView(text) || hasSymbols(text)

/** TradingView's format has `EXCHANGE:SYMBOL` separated by commas or lines, and sections that start with `###`. */
function isTradingView(text: string): boolean {
  if (text.includes('###')) return true
  const parts = text.split(/[,\n]/).map((part) => part.trim())
  const filled = parts.filter((part) => part !== '')
  return filled.length > 0 && filled.every((part) => /^[^\s:"]+:[^\s:"]+$/.test(part))
}

function readTradingView(text: string): WatchlistRow[] {
  const rows: WatchlistRow[] = []
  let section = ''
  for (const [i, line] of text.split(/\r?\n/).entries())
    for (const part of line.split(',').map((one) => one.trim())) {
      if (part === '') continue
      if (part.startsWith('###')) section = part.slice(3).trim()
      else {
        const colon = part.indexOf(':')
        const exchange = colon < 0 ? '' : part.slice(0, colon)
        rows.push({ symbol: part.slice(colon + 1), exchange, note: section || null, line: i + 1 })
      }
    }
  return rows
}

const HEADERS: Readonly<Record<string, 'symbol' | 'exchange' | 'note'>> = {
  symbol: 'symbol',
  ticker: 'symbol',
  exchange: 'exchange',
  market: 'exchange',
  note: 'note',
  notes: 'note',
  description: 'note',
  comment: 'note',
}

const columnsOf = (text: string): readonly string[] => headerOf(text).map((name) => name.toLowerCase())

/** Whether each of its rows would be taken for a symbol that is called as a date. */
function hasPrices(text: string): boolean {
  const columns = columnsOf(text)
  return ['open', 'high', 'low', 'close'].every((name) => columns.includes(name))
}

/** A header that names symbols, and no prices. */
function hasSymbols(text: string): boolean {
  const columns = columnsOf(text)
  return (
    columns.every((column) => Object.hasOwn(HEADERS, column)) &&
    columns.some((one) => HEADERS[one] === 'symbol')
  )
}

function readCsv(text: string): WatchlistRow[] {
  const table = [...csvRows(text, delimiterOf(text))]
  const first = table[0]?.cells.map((cell) => HEADERS[cell.trim().toLowerCase()]) ?? []
  const hasHeader = first.includes('symbol')
  const columns = hasHeader ? first : (['symbol', 'exchange', 'note'] as const)
  return table.slice(hasHeader ? 1 : 0).map(({ cells, row }) => {
    const of = (name: 'symbol' | 'exchange' | 'note') => (cells[columns.indexOf(name)] ?? '').trim()
    // Our own export puts an apostrophe before a cell that a spreadsheet would run as a formula.
    const bare = (value: string) => value.replace(/^'(?=[=+\-@])/, '')
    const symbol = bare(of('symbol'))
    const colon = symbol.indexOf(':')
    const exchange = of('exchange') || (colon > 0 ? symbol.slice(0, colon) : '')
    return {
      symbol: colon > 0 ? symbol.slice(colon + 1) : symbol,
      exchange: bare(exchange),
      note: bare(of('note')) || null,
      line: row,
    }
  })
}
