// line.*, label.*, box.*, table.*, polyline.*, linefill.* and chart.point.*: what a script draws.
//
// A drawing's fields are the parameters it is made with, so what makes one is read off its signature. Setters and getters
// are the same few lines for each field, so they are made from lists. On an object that is na they do nothing and answer
// na, as on TradingView.

import { invalidTable, noSuchCell, polylineTooLong, priceNeedsBarIndex } from '../messages/failing.ts'
import { PineArray } from '../runtime/collections.ts'
import { ChartPoint, UNCHANGED } from '../runtime/drawings.ts'
import type { Box, Cell, Drawing, DrawingKind, Label, Line, Linefill, Table } from '../runtime/drawings.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { DRAWING, PAIR, POINT } from '../runtime/sizes.ts'
import { fn, variable } from './define.ts'
import type { BuiltinEntry, BuiltinFunction, BuiltinVariable } from './registry.ts'

type Text = string | null
type Point = ChartPoint | null

const NAN = Number.NaN
/** Of the parameters that one is made with, what stays as it was. */
const FIXED: ReadonlySet<string> = new Set(['xloc', 'columns', 'rows', 'force_overlay'])

/** A drawing that was deleted reads as na does. */
function isGone(drawing: Drawing | null): drawing is null {
  return drawing === null || drawing.deletedBar !== -1
}

const POINTS: readonly BuiltinEntry[] = [
  fn(
    'chart.point.new',
    'A point of a time, a bar and a price.',
    '(int time, int index, float price) chart.point',
    {
      fn: point,
      runtime: true,
    },
  ),
  fn('chart.point.from_index', 'A point of a bar and a price.', '(int index, float price) chart.point', {
    fn: (runtime: Runtime, index: number, price: number) => point(runtime, NAN, index, price),
    runtime: true,
  }),
  fn('chart.point.from_time', 'A point of a time and a price.', '(int time, float price) chart.point', {
    fn: (runtime: Runtime, time: number, price: number) => point(runtime, time, NAN, price),
    runtime: true,
  }),
  fn('chart.point.now', 'A point of the current bar and a price.', '(float price = close) chart.point', {
    fn: (runtime: Runtime, price: number) =>
      point(runtime, runtime.bars.time[runtime.bar] ?? NAN, runtime.bar, price),
    runtime: true,
  }),
  fn('chart.point.copy', 'A copy.', '(chart.point id) chart.point', {
    fn: (runtime: Runtime, from: Point) =>
      from === null ? null : point(runtime, from.time, from.index, from.price),
    runtime: true,
  }),
]

const LINE_ENDS = 'int x1, float y1, int x2, float y2'
const LINE_STYLE =
  'string xloc = xloc.bar_index, string extend = extend.none, color color = color.blue, string style = line.style_solid, int width = 1, bool force_overlay = false'

const LINE: readonly BuiltinEntry[] = [
  maker(
    'line',
    'Draws a line between two points.',
    [LINE_ENDS, 'chart.point first_point, chart.point second_point'],
    LINE_STYLE,
  ),
  ...life('line'),
  ...setters('line', `${LINE_ENDS}, ${LINE_STYLE}`, { called: { x1: 'x', x2: 'x', y1: 'y', y2: 'y' } }),
  setter<Line>('line', 'set_xy1', 'int x, float y', ['x1', 'y1']),
  setter<Line>('line', 'set_xy2', 'int x, float y', ['x2', 'y2']),
  setter<Line>('line', 'set_xloc', 'int x1, int x2, string xloc', ['x1', 'x2', 'xloc']),
  pointSetter<Line>('line', 'set_first_point', 'x1', 'y1'),
  pointSetter<Line>('line', 'set_second_point', 'x2', 'y2'),
  ...getters<Line>('line', { x1: 'int', x2: 'int', y1: 'float', y2: 'float' }),
  fn(
    'line.get_price',
    'The price a line, or what it would be if it went on, is at on a bar.',
    '(line id, int x) series float',
    {
      fn: (line: Line | null, x: number) => {
        if (isGone(line)) return NAN
        if (line.xloc === 'bar_time') throw priceNeedsBarIndex()
        return line.y1 + ((x - line.x1) / (line.x2 - line.x1)) * (line.y2 - line.y1)
      },
    },
  ),
]

const LABEL_PLACE = 'int x, float y'
const LABEL_STYLE =
  "string text = '', string xloc = xloc.bar_index, string yloc = yloc.price, color color = color.blue, string style = label.style_label_down, " +
  'color textcolor = color.white, string|int size = size.normal, string textalign = text.align_center, string tooltip = na, ' +
  'string text_font_family = font.family_default, bool force_overlay = false, string text_formatting = text.format_none'

const LABEL: readonly BuiltinEntry[] = [
  maker('label', 'Draws a label at a point.', [LABEL_PLACE, 'chart.point point'], LABEL_STYLE),
  ...life('label'),
  ...setters('label', `${LABEL_PLACE}, ${LABEL_STYLE}`),
  setter<Label>('label', 'set_xy', 'int x, float y', ['x', 'y']),
  setter<Label>('label', 'set_xloc', 'int x, string xloc', ['x', 'xloc']),
  pointSetter<Label>('label', 'set_point', 'x', 'y'),
  ...getters<Label>('label', { x: 'int', y: 'float', text: 'string' }),
]

const BOX_CORNERS = 'int left, float top, int right, float bottom'
const BOX_STYLE =
  'color border_color = color.blue, int border_width = 1, string border_style = line.style_solid, string extend = extend.none, ' +
  "string xloc = xloc.bar_index, color bgcolor = color.blue, string text = '', string|int text_size = size.auto, color text_color = color.black, " +
  'string text_halign = text.align_center, string text_valign = text.align_center, string text_wrap = text.wrap_none, ' +
  'string text_font_family = font.family_default, bool force_overlay = false, string text_formatting = text.format_none'

const BOX: readonly BuiltinEntry[] = [
  maker(
    'box',
    'Draws a box between two corners.',
    [BOX_CORNERS, 'chart.point top_left, chart.point bottom_right'],
    BOX_STYLE,
  ),
  ...life('box'),
  ...setters('box', `${BOX_CORNERS}, ${BOX_STYLE}`, {
    called: { border_color: 'color', border_width: 'width', border_style: 'style', bgcolor: 'color' },
  }),
  setter<Box>('box', 'set_lefttop', 'int left, float top', ['left', 'top']),
  setter<Box>('box', 'set_rightbottom', 'int right, float bottom', ['right', 'bottom']),
  setter<Box>('box', 'set_xloc', 'int left, int right, string xloc', ['left', 'right', 'xloc']),
  pointSetter<Box>('box', 'set_top_left_point', 'left', 'top'),
  pointSetter<Box>('box', 'set_bottom_right_point', 'right', 'bottom'),
  ...getters<Box>('box', { left: 'int', top: 'float', right: 'int', bottom: 'float' }),
]

const CELL_LOOK =
  "string text = '', float width = 0, float height = 0, color text_color = color.black, string text_halign = text.align_center, " +
  'string text_valign = text.align_center, string|int text_size = size.normal, color bgcolor = na, string tooltip = na, ' +
  'string text_font_family = font.family_default, string text_formatting = text.format_none'
const CELL_NAMES = namesOf(CELL_LOOK)

const TABLE_LOOK =
  'string position, int columns, int rows, color bgcolor = na, color frame_color = na, int frame_width = 0, color border_color = na, int border_width = 0, bool force_overlay = false'

const TABLE: readonly BuiltinEntry[] = [
  fn('table.new', 'Draws a table at a place of the chart.', `(${TABLE_LOOK}) table`, {
    fn: newTable,
    draws: drawn('table', TABLE_LOOK, ['cells:v[9]', 'merged:[]']),
    runtime: true,
  }),
  ...life('table', 'table_id', false),
  ...setters('table', TABLE_LOOK, { id: 'table_id' }),
  fn('table.cell', 'Fills a cell.', `(table table_id, int column, int row, ${CELL_LOOK}) void`, {
    fn: (runtime: Runtime, table: Table | null, column: number, row: number, ...values: unknown[]) =>
      putCell(runtime, table, [column, row], CELL_NAMES, values),
    runtime: true,
  }),
  ...typedNames(CELL_LOOK).map(([type, field]) =>
    fn(
      `table.cell_set_${field}`,
      `Sets '${field}' of a cell.`,
      `(table table_id, int column, int row, ${type} ${field}) void`,
      {
        fn: (runtime: Runtime, table: Table | null, column: number, row: number, value: unknown) =>
          putCell(runtime, table, [column, row], [field], [value]),
        runtime: true,
      },
    ),
  ),
  fn(
    'table.clear',
    'Empties cells.',
    '(table table_id, int start_column, int start_row, int end_column = na, int end_row = na) void',
    { fn: clearCells, runtime: true },
  ),
  fn(
    'table.merge_cells',
    'Makes one cell of several.',
    '(table table_id, int start_column, int start_row, int end_column, int end_row) void',
    {
      fn: (
        runtime: Runtime,
        table: Table | null,
        startColumn: number,
        startRow: number,
        endColumn: number,
        endRow: number,
      ) => {
        if (table === null) return
        cellPlace(table, startColumn, startRow)
        cellPlace(table, endColumn, endRow)
        const merged = [...table.merged, [startColumn, startRow, endColumn, endRow]]
        runtime.drawings.set(table, 'merged', merged, runtime.bar)
      },
      runtime: true,
    },
  ),
]

const POLYLINE_LOOK =
  'array<chart.point> points, bool curved = false, bool closed = false, string xloc = xloc.bar_index, color line_color = color.blue, color fill_color = na, string line_style = line.style_solid, int line_width = 1, bool force_overlay = false'

const POLYLINE: readonly BuiltinEntry[] = [
  fn('polyline.new', 'Draws a line through points.', `(${POLYLINE_LOOK}) polyline`, {
    fn: newPolyline,
    draws: drawn('polyline', POLYLINE_LOOK),
    runtime: true,
  }),
  ...life('polyline', 'id', false),
]

const LINEFILL: readonly BuiltinEntry[] = [
  fn('linefill.new', 'Fills between two lines.', '(line line1, line line2, color color) linefill', {
    fn: newLinefill,
    runtime: true,
  }),
  ...life('linefill', 'id', false),
  ...setters('linefill', 'color color'),
  fn('linefill.get_line1', 'Its first line.', '(linefill id) line', {
    fn: (fill: Linefill | null) => (isGone(fill) ? null : fill.line1),
  }),
  fn('linefill.get_line2', 'Its second line.', '(linefill id) line', {
    fn: (fill: Linefill | null) => (isGone(fill) ? null : fill.line2),
  }),
]

export const DRAWINGS: readonly BuiltinEntry[] = [
  ...POINTS,
  ...LINE,
  ...LABEL,
  ...BOX,
  ...TABLE,
  ...POLYLINE,
  ...LINEFILL,
]

function point({ budget }: Runtime, time: number, index: number, price: number): ChartPoint {
  budget.take(POINT)
  return new ChartPoint(time, index, price)
}

function xOf(point: Point, xloc: Text): number {
  if (point === null) return NAN
  return xloc === 'bar_time' ? point.time : point.index
}

function yOf(point: Point): number {
  return point === null ? NAN : point.price
}

function born(runtime: Runtime) {
  return { createdBar: runtime.bar, deletedBar: -1, changes: UNCHANGED }
}

/** The text of one whose fields are the arguments, by the names of the parameters, in the order in which answers have them. */
function drawn(kind: DrawingKind, parameters: string, more: readonly string[] = []): string {
  const names = namesOf(parameters)
  const others = names.filter((name) => name !== 'force_overlay')
  const fields = [...others, 'force_overlay'].map((name) => `${name}:v[${names.indexOf(name)}]`)
  return `{kind:"${kind}",createdBar:bar,deletedBar:-1,changes:unchanged,${[...fields, ...more].join(',')}}`
}

/** `int x, float y = 0`: of each parameter its type and its name. */
function typedNames(parameters: string): (readonly [type: string, name: string])[] {
  return parameters.split(', ').map((parameter) => {
    const [type = '', name = ''] = parameter.split(' ')
    return [type, name]
  })
}

function namesOf(parameters: string): string[] {
  return typedNames(parameters).map(([, name]) => name)
}

/** `*.new`, by the coordinates of its corners or by their points. */
function maker(
  kind: 'line' | 'label' | 'box',
  doc: string,
  [coordinates, points]: readonly [coordinates: string, points: string],
  style: string,
): BuiltinFunction {
  const draws = drawn(kind, `${coordinates}, ${style}`)
  const corners = namesOf(points).length
  const xloc = corners + namesOf(style).indexOf('xloc')
  const signatures = [coordinates, points].map((places) => `(${places}, ${style}) ${kind}`)
  return fn(`${kind}.new`, doc, signatures, [
    { fn: (...values: readonly unknown[]) => values, draws },
    {
      fn: (...values: readonly unknown[]) => {
        const at = (values.slice(0, corners) as Point[]).flatMap((point) => [
          xOf(point, values[xloc] as Text),
          yOf(point),
        ])
        return [...at, ...values.slice(corners)]
      },
      draws,
    },
  ])
}

function newTable(runtime: Runtime, position: Text, columns: number, rows: number, ...look: unknown[]) {
  // TradingView's reference contains `table.new(position.top_left, na, na)`: a table that stays empty.
  const isBlank = Number.isNaN(columns) && Number.isNaN(rows)
  if (!isBlank && !(columns >= 1 && rows >= 1 && columns * rows <= runtime.limits.collectionSize))
    throw invalidTable(columns, rows)
  const { drawings, bar } = runtime
  // Only the last table at a place is shown; scripts that make one on every bar rely on it.
  const before = drawings.alive.table.find((table) => table.kind === 'table' && table.position === position)
  if (before !== undefined) drawings.remove(before, bar)
  return [position, Math.trunc(columns), Math.trunc(rows), ...look, new Map()]
}

const EMPTY_CELL: Cell = {
  text: '',
  width: 0,
  height: 0,
  text_color: NAN,
  text_halign: 'center',
  text_valign: 'center',
  text_size: 'normal',
  bgcolor: NAN,
  tooltip: null,
  text_font_family: 'default',
  text_formatting: 'none',
}

/** A cell at na does not exist: what is written to it is lost. */
function putCell(
  runtime: Runtime,
  table: Table | null,
  [column, row]: readonly [number, number],
  fields: readonly string[],
  values: readonly unknown[],
): void {
  if (table === null || Number.isNaN(column) || Number.isNaN(row)) return
  const place = cellPlace(table, column, row)
  const cell: Record<string, unknown> = { ...EMPTY_CELL, ...table.cells.get(place) }
  for (let i = 0; i < fields.length; i++) cell[fields[i]!] = values[i]
  writableCells(runtime, table).set(place, cell as unknown as Cell)
}

/** The cells as they were at the end of the bar before are kept, so the first write on a bar copies them. */
function writableCells(runtime: Runtime, table: Table): Map<number, Cell> {
  const { drawings, bar } = runtime
  const last = table.changes.at(-1)
  const isOwn = table.createdBar === bar || (last?.bar === bar && Object.hasOwn(last, 'cells'))
  if (!isOwn) {
    runtime.budget.take(PAIR * table.cells.size)
    drawings.set(table, 'cells', new Map(table.cells), bar)
  }
  return table.cells
}

function cellPlace(table: Table, column: number, row: number): number {
  const [x, y] = [Math.trunc(column), Math.trunc(row)]
  if (!(x >= 0 && x < table.columns && y >= 0 && y < table.rows))
    throw noSuchCell(column, row, table.columns, table.rows)
  return y * table.columns + x
}

function clearCells(
  runtime: Runtime,
  table: Table | null,
  startColumn: number,
  startRow: number,
  endColumn: number,
  endRow: number,
): void {
  if (table === null) return
  const [lastColumn, lastRow] = [
    Number.isNaN(endColumn) ? startColumn : endColumn,
    Number.isNaN(endRow) ? startRow : endRow,
  ]
  cellPlace(table, startColumn, startRow)
  cellPlace(table, lastColumn, lastRow)
  const inside = (place: number) => {
    const column = place % table.columns
    const row = Math.floor(place / table.columns)
    return column >= startColumn && column <= lastColumn && row >= startRow && row <= lastRow
  }
  const cells = writableCells(runtime, table)
  for (const place of cells.keys()) if (inside(place)) cells.delete(place)
}

function newPolyline(runtime: Runtime, points: PineArray<Point> | null, ...look: unknown[]) {
  const copies = (points?.values() ?? []).flatMap((from) =>
    from === null ? [] : [point(runtime, from.time, from.index, from.price)],
  )
  if (copies.length > 10_000) throw polylineTooLong(copies.length)
  return [copies, ...look]
}

/** Two lines have at most one fill: a new one replaces it. */
function newLinefill(runtime: Runtime, line1: Line | null, line2: Line | null, color: number): Linefill {
  const { drawings, bar, budget } = runtime
  budget.take(DRAWING)
  const before = drawings.alive.linefill.find(
    (fill) => fill.kind === 'linefill' && isPair(fill, line1, line2),
  )
  if (before !== undefined) drawings.remove(before, bar)
  return drawings.add<Linefill>({ kind: 'linefill', ...born(runtime), line1, line2, color }, runtime.held)
}

function isPair(fill: Linefill, line1: Line | null, line2: Line | null): boolean {
  return (fill.line1 === line1 && fill.line2 === line2) || (fill.line1 === line2 && fill.line2 === line1)
}

/** `*.delete`, `*.copy` and `*.all`. */
function life(kind: DrawingKind, id = 'id', hasCopy = true): BuiltinEntry[] {
  const entries: (BuiltinFunction | BuiltinVariable)[] = [
    fn(`${kind}.delete`, `Deletes a ${kind}.`, `(${kind} ${id}) void`, {
      fn: (runtime: Runtime, drawing: Drawing | null) => {
        if (drawing === null) return
        runtime.drawings.remove(drawing, runtime.bar)
        if (drawing.kind === 'line') removeFillsOf(runtime, drawing)
      },
      runtime: true,
    }),
    variable(`${kind}.all`, `Every ${kind} there is, oldest first.`, `series array<${kind}>`, {
      get: (runtime) =>
        new PineArray<Drawing | null>(runtime.drawings.alive[kind].slice(), null, runtime.budget),
    }),
  ]
  if (!hasCopy) return entries
  const copy = fn(`${kind}.copy`, `Draws a copy of a ${kind}.`, `(${kind} ${id}) ${kind}`, {
    fn: (runtime: Runtime, drawing: Drawing | null) => {
      if (drawing === null) return null
      runtime.budget.take(DRAWING)
      return runtime.drawings.add({ ...drawing, ...born(runtime) }, runtime.held)
    },
    runtime: true,
  })
  return [...entries, copy]
}

function removeFillsOf(runtime: Runtime, line: Line): void {
  for (const fill of runtime.drawings.alive.linefill.slice())
    if (fill.kind === 'linefill' && (fill.line1 === line || fill.line2 === line))
      runtime.drawings.remove(fill, runtime.bar)
}

/** `set_<field>` for each parameter that one is made with, and that is `called` otherwise there. */
function setters(
  kind: DrawingKind,
  parameters: string,
  {
    called = {},
    id = 'id',
  }: { readonly called?: Readonly<Record<string, string>>; readonly id?: string } = {},
): BuiltinEntry[] {
  return typedNames(parameters)
    .filter(([, field]) => !FIXED.has(field))
    .map(([type, field]) =>
      fn(
        `${kind}.set_${field}`,
        `Sets '${field}' of a ${kind}.`,
        `(${kind} ${id}, ${type} ${called[field] ?? field}) void`,
        {
          fn: (runtime: Runtime, drawing: Drawing | null, value: never) => {
            if (drawing !== null) runtime.drawings.set(drawing, field as keyof Drawing, value, runtime.bar)
          },
          runtime: true,
        },
      ),
    )
}

/** A setter of several fields, in the order of its parameters. */
function setter<D extends Drawing>(
  kind: D['kind'],
  name: string,
  parameters: string,
  fields: readonly (keyof D & string)[],
): BuiltinFunction {
  return fn(`${kind}.${name}`, `Changes a ${kind}.`, `(${kind} id, ${parameters}) void`, {
    fn: ({ drawings, bar }: Runtime, drawing: D | null, ...values: unknown[]) => {
      if (drawing === null) return
      for (const [i, field] of fields.entries())
        drawings.set(drawing, field, values[i] as D[typeof field], bar)
    },
    runtime: true,
  })
}

function pointSetter<D extends Line | Label | Box>(
  kind: D['kind'],
  name: string,
  x: keyof D & string,
  y: keyof D & string,
): BuiltinFunction {
  return fn(`${kind}.${name}`, `Changes a ${kind}.`, `(${kind} id, chart.point point) void`, {
    fn: ({ drawings, bar }: Runtime, drawing: D | null, point: Point) => {
      if (drawing === null) return
      drawings.set(drawing, x, xOf(point, drawing.xloc) as D[typeof x], bar)
      drawings.set(drawing, y, yOf(point) as D[typeof y], bar)
    },
    runtime: true,
  })
}

function getters<D extends Drawing>(
  kind: D['kind'],
  fields: Partial<Record<keyof D & string, 'int' | 'float' | 'string'>>,
): BuiltinEntry[] {
  return Object.entries<'int' | 'float' | 'string' | undefined>(fields).map(([field, type]) => {
    const na = type === 'string' ? null : NAN
    return fn(`${kind}.get_${field}`, `'${field}' of a ${kind}.`, `(${kind} id) series ${type}`, {
      fn: (drawing: D | null) => (isGone(drawing) ? na : drawing[field as keyof D & string]),
    })
  })
}
