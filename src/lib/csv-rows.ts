// Reads CSV (RFC 4180) row by row, so that a text of millions of commas never becomes millions of cells at once.
//
// Cells may be quoted, with "" for a quote inside; a quote that is never closed ends with the text. Empty rows are
// skipped.

/**
 * No real table has more cells in a row, or longer cells; the rest is cut off. The limit on a cell is longer than any
 * field may be, so the reader of the field still refuses one that is too long instead of storing it without its end.
 */
const CELLS_MAX = 1000
const CHARACTERS_MAX = 4000

export function* csvRows(
  text: string,
  delimiter: string,
): Generator<{ readonly row: number; readonly cells: string[] }> {
  let row = 0
  for (const cells of everyCsvRow(text, delimiter)) {
    row++
    if (cells.some((cell) => cell.trim() !== '')) yield { row, cells }
  }
}

/** The empty rows as well, for a reader that has to count them. */
export function* everyCsvRow(text: string, delimiter: string): Generator<string[]> {
  for (let at = 0; at < text.length;) {
    const cells: string[] = []
    let isLast = false
    while (!isLast) {
      if (cells.length === CELLS_MAX) {
        at = rowEnd(text, at, delimiter)
        break
      }
      const cell = text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter)
      cells.push(cell.text.slice(0, CHARACTERS_MAX))
      isLast = cell.isLast
      at = cell.next
    }
    yield cells
  }
}

/** The delimiter that splits the first line into the most cells. */
export function delimiterOf(text: string): string {
  const end = text.indexOf('\n')
  const line = text.slice(0, Math.min(end < 0 ? text.length : end, 10_000))
  const counts = [',', ';', '\t', '|'].map((one) => [line.split(one).length, one] as const)
  return counts.reduce((most, one) => (one[0] > most[0] ? one : most))[1]
}

/** The names in the first line, without blanks around them. */
export function headerOf(text: string): string[] {
  const line = text.replace(/^\uFEFF/, '').split(/\r?\n/, 1)[0] ?? ''
  return splitCsvLine(line, delimiterOf(line)).map((cell) => cell.trim())
}

/**
 * Where the next row begins; `at` must be the start of a cell. Creates no strings, since a line of 14 million commas
 * would become as many cells.
 */
function rowEnd(text: string, at: number, delimiter: string): number {
  let isBegin = true
  for (let end = at; end < text.length; end++) {
    const letter = text[end]
    if (letter === '\n') return end + 1
    if (isBegin && letter === '"') end = closingQuote(text, end)
    isBegin = letter === delimiter
  }
  return text.length
}

interface CsvCell {
  readonly text: string
  readonly next: number
  /** Whether this cell is the last of its row. */
  readonly isLast: boolean
}

function plainCell(text: string, at: number, delimiter: string): CsvCell {
  let end = at
  while (end < text.length && text[end] !== '\n' && text[end] !== delimiter) end++
  const isLast = text[end] !== delimiter
  const cell = text.slice(at, end)
  return { text: isLast && cell.endsWith('\r') ? cell.slice(0, -1) : cell, next: end + 1, isLast }
}

function quotedCell(text: string, at: number, delimiter: string): CsvCell {
  const close = closingQuote(text, at)
  // An escaped quote takes two letters, so twice the limit is enough; the rest is cut off.
  const inside = text.slice(at + 1, Math.min(close, at + 1 + 2 * CHARACTERS_MAX))
  // Text between the closing quote and the delimiter is dropped.
  const rest = plainCell(text, close + 1, delimiter)
  return { ...rest, text: inside.replaceAll('""', '"') }
}

/** Index of the closing quote of a cell that begins with one, or the text's length if it is never closed. */
function closingQuote(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
  return end < 0 ? text.length : end
}

/** The cells of one line. */
export function splitCsvLine(line: string, delimiter: string): readonly string[] {
  for (const cells of everyCsvRow(line, delimiter)) return cells
  return ['']
}
