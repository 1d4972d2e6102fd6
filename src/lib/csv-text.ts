// Writes CSV (RFC 4180). Everything that leaves as a table goes through here; `csv-rows.ts` reads.
//
// Names, notes and comments are other people's text. A spreadsheet runs a cell that begins like a formula, so such a
// cell gets an apostrophe in front. Numbers are written as they are, since a loss begins with a minus too.

export function csvRow(cells: readonly (string | number)[]): string {
  return cells.map(cell).join(',')
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
