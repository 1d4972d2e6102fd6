// The XLSX of TradingView's strategy tester: which of its sheets is which, and what is made of them.

import { Problem } from '../../lib/problem.ts'
import { tradeListOf, type ExportedList } from './trade-list.ts'
import { columnOf, sheetKindOf } from './words.ts'
import type { Sheet } from './workbook.ts'

export interface TesterExport {
  readonly list: ExportedList
  /** The rows of the properties; null if no sheet of the file is understood as theirs. */
  readonly properties: Sheet['rows'] | null
  readonly figures: readonly Sheet[]
  /** Sheets that are not understood. */
  readonly unknown: readonly string[]
}

/** Throws Problem 422 that says what is wrong with the file. */
export async function readExport(bytes: Uint8Array): Promise<TesterExport> {
  const { sheetsOf } = await import('./workbook.ts')
  const sheets = await sheetsOf(bytes)
  // The list is known by its headings in more languages than by its name.
  const trades = sheets.find(isTradeList) ?? sheets.find(({ name }) => sheetKindOf(name) === 'trades')
  if (!trades) throw new Problem(422, 'validation_failed', noTrades(sheets))
  const kindOf = (sheet: Sheet) => (sheet === trades ? 'trades' : sheetKindOf(sheet.name))
  const unknown = sheets.filter((sheet) => kindOf(sheet) === null)
  return {
    list: tradeListOf(() => trades.rows.map((cells, i) => ({ row: i + 1, cells })), '.'),
    properties: sheets.find((sheet) => kindOf(sheet) === 'properties')?.rows ?? null,
    figures: sheets.filter((sheet) => kindOf(sheet) === 'figures'),
    unknown: unknown.map(
      ({ name }) => `The sheet "${name.slice(0, 60)}" is not understood: nothing is taken from it.`,
    ),
  }
}

function isTradeList({ rows: [header = []] }: Sheet): boolean {
  const columns = header.map((heading) => columnOf(heading)?.column)
  return ['number', 'type', 'date', 'price'].every((column) => columns.includes(column as 'number'))
}

function noTrades(sheets: readonly Sheet[]): string {
  const names = sheets.slice(0, 20).map(({ name }) => `"${name.slice(0, 60)}"`)
  return `No sheet of the export is understood as the list of trades; it has ${names.join(', ')}. Set TradingView to English and export it again.`
}
