// Makes XLSX files for tests, as small as the format allows.

import { strToU8, zipSync, type Zippable } from 'fflate'

export type Cell = string | number | boolean | Date | null
export interface MadeSheet {
  readonly name: string
  readonly rows: readonly (readonly Cell[])[]
}

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const LINKS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PARTS = 'http://schemas.openxmlformats.org/package/2006'

/** `change` may replace or add parts of the archive. */
export function xlsxOf(sheets: readonly MadeSheet[], change: Zippable = {}): Uint8Array {
  const numbered = sheets.map((sheet, i) => ({ ...sheet, n: i + 1 }))
  const link = (n: number, type: string, target: string) =>
    `<Relationship Id="rId${n}" Type="${LINKS}/${type}" Target="${target}"/>`
  const links = (inner: string) =>
    `${HEAD}<Relationships xmlns="${PARTS}/relationships">${inner}</Relationships>`
  const parts: Record<string, string> = {
    '[Content_Types].xml': `${HEAD}<Types xmlns="${PARTS}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': links(link(1, 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><sheets>${numbered.map(({ name, n }) => `<sheet name="${escaped(name)}" sheetId="${n}" r:id="rId${n}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': links(
      numbered.map(({ n }) => link(n, 'worksheet', `worksheets/sheet${n}.xml`)).join('') +
        link(numbered.length + 1, 'styles', 'styles.xml'),
    ),
    'xl/styles.xml': `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(numbered.map(({ n, rows }) => [`xl/worksheets/sheet${n}.xml`, sheetXml(rows)])),
  }
  const files = Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)]))
  return zipSync({ ...files, ...change })
}

export function sheetXml(rows: MadeSheet['rows']): string {
  const body = rows.map(
    (row, r) =>
      `<row r="${r + 1}">${row.map((cell, c) => cellXml(cell, `${column(c)}${r + 1}`)).join('')}</row>`,
  )
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${body.join('')}</sheetData></worksheet>`
}

function cellXml(cell: Cell, at: string): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return `<c r="${at}"><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c r="${at}" t="b"><v>${Number(cell)}</v></c>`
  if (cell instanceof Date) return `<c r="${at}" s="1"><v>${cell.getTime() / 86_400_000 + 25_569}</v></c>`
  return `<c r="${at}" t="inlineStr"><is><t>${escaped(cell)}</t></is></c>`
}

const column = (c: number): string =>
  (c < 26 ? '' : column(Math.floor(c / 26) - 1)) + String.fromCharCode(65 + (c % 26))
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
