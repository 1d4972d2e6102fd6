// Writes CSV (RFC 4180). Everything that leaves as a table goes through here; `csv-rows.ts` reads.
//
// Names, notes and comments are other people's text. A spreadsheet runs a cell that begins like a formula, so such a
// cell gets an apostrophe in front, but a number does not, since a loss begins with a minus too.
//
// Numbers have 15 digits, which is all that a spreadsheet keeps: a double has further ones, which sums and products fill with
// noise such as 0.30000000000000004.

export function csvRow(cells: readonly (string | number)[]): string {
  return cells.map(cell).join(',')
}

function cell(value: string | number): string {
  if (typeof value === 'number')
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(15)))
  // A number with as many decimals as it should have is a text.
  const safe = /^[=+\-@\t\r]/.test(value) && !/^-\d+\.\d+$/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
