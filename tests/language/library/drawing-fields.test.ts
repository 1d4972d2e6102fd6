// Setters, getters, copies and ends of drawings: what each leaves in the drawing, and that a replay sees the bar before.

import { describe, expect, test } from 'bun:test'
import { answer, runScript } from './script.ts'

type Item = Record<string, unknown> & { readonly changes: readonly Record<string, unknown>[] }

function itemsOf(body: string, kind: string): Item[] {
  const track = runScript(body).tracks.find((each) => each.kind === kind)
  return track !== undefined && 'items' in track ? (track.items as unknown as Item[]) : []
}

type Row = readonly [call: string, after: Readonly<Record<string, unknown>>]

/** Each call on bar 2 of a drawing of bar 0: the fields named have the new values, and the old ones until bar 1. */
function setters(kind: string, made: string, rows: readonly Row[]): void {
  describe(`${kind} setters`, () => {
    const before = itemsOf(`var d = ${made}`, kind)[0]!
    for (const [call, after] of rows)
      test(call, () => {
        const [drawing] = itemsOf(`var d = ${made}\nif bar_index == 2\n    ${call}`, kind)
        expect(drawing).toMatchObject(after)
        const old = Object.fromEntries(Object.keys(after).map((field) => [field, before[field]]))
        expect(drawing?.changes).toEqual([{ bar: 2, ...old }])
        const others = ({ changes: _changes, ...fields }: Item) =>
          Object.fromEntries(Object.entries(fields).filter(([field]) => !(field in after)))
        expect(others(drawing!)).toEqual(others(before))
      })
    for (const [call] of rows)
      test(`${call} of na does nothing`, () => {
        const nothing = call.replace(/\(d\b/, `(${kind}(na)`)
        expect(itemsOf(`var d = ${made}\nif bar_index == 2\n    ${nothing}`, kind)).toEqual([before])
      })
  })
}

const POINT = 'chart.point.new(9000, 7, 6.5)'

setters('line', 'line.new(1, 2.5, 3, 4.5)', [
  ['line.set_x1(d, 8)', { x1: 8 }],
  ['line.set_y1(d, 8.5)', { y1: 8.5 }],
  ['line.set_x2(d, 8)', { x2: 8 }],
  ['line.set_y2(d, 8.5)', { y2: 8.5 }],
  ['line.set_xy1(d, 8, 9.5)', { x1: 8, y1: 9.5 }],
  ['line.set_xy2(d, 8, 9.5)', { x2: 8, y2: 9.5 }],
  ['line.set_xloc(d, 1000, 2000, xloc.bar_time)', { x1: 1000, x2: 2000, xloc: 'bar_time' }],
  [`line.set_first_point(d, ${POINT})`, { x1: 7, y1: 6.5 }],
  [`line.set_second_point(d, ${POINT})`, { x2: 7, y2: 6.5 }],
  ['line.set_color(d, #11223344)', { color: '#11223344' }],
  ['line.set_style(d, line.style_dotted)', { style: 'dotted' }],
  ['line.set_width(d, 4)', { width: 4 }],
  ['line.set_extend(d, extend.both)', { extend: 'both' }],
])

setters('line', 'line.new(1, 2.5, 3, 4.5, xloc = xloc.bar_time)', [
  [`line.set_first_point(d, ${POINT})`, { x1: 9000, y1: 6.5 }],
  [`line.set_second_point(d, ${POINT})`, { x2: 9000, y2: 6.5 }],
])

setters('label', 'label.new(1, 2.5, "a")', [
  ['label.set_x(d, 8)', { x: 8 }],
  ['label.set_y(d, 8.5)', { y: 8.5 }],
  ['label.set_xy(d, 8, 9.5)', { x: 8, y: 9.5 }],
  ['label.set_xloc(d, 1000, xloc.bar_time)', { x: 1000, xloc: 'bar_time' }],
  ['label.set_yloc(d, yloc.abovebar)', { yloc: 'abovebar' }],
  [`label.set_point(d, ${POINT})`, { x: 7, y: 6.5 }],
  ['label.set_text(d, "b")', { text: 'b' }],
  ['label.set_color(d, #11223344)', { color: '#11223344' }],
  ['label.set_textcolor(d, #11223344)', { textcolor: '#11223344' }],
  ['label.set_style(d, label.style_flag)', { style: 'flag' }],
  ['label.set_size(d, size.huge)', { size: 'huge' }],
  ['label.set_size(d, 30)', { size: 30 }],
  ['label.set_textalign(d, text.align_right)', { textalign: 'right' }],
  ['label.set_tooltip(d, "tip")', { tooltip: 'tip' }],
  ['label.set_text_font_family(d, font.family_monospace)', { text_font_family: 'monospace' }],
  ['label.set_text_formatting(d, text.format_italic)', { text_formatting: 'italic' }],
])

setters('box', 'box.new(1, 4.5, 3, 2.5, text = "a")', [
  ['box.set_left(d, 0)', { left: 0 }],
  ['box.set_top(d, 8.5)', { top: 8.5 }],
  ['box.set_right(d, 8)', { right: 8 }],
  ['box.set_bottom(d, 1.5)', { bottom: 1.5 }],
  ['box.set_lefttop(d, 0, 8.5)', { left: 0, top: 8.5 }],
  ['box.set_rightbottom(d, 8, 1.5)', { right: 8, bottom: 1.5 }],
  ['box.set_xloc(d, 1000, 2000, xloc.bar_time)', { left: 1000, right: 2000, xloc: 'bar_time' }],
  [`box.set_top_left_point(d, ${POINT})`, { left: 7, top: 6.5 }],
  [`box.set_bottom_right_point(d, ${POINT})`, { right: 7, bottom: 6.5 }],
  ['box.set_bgcolor(d, #11223344)', { bgcolor: '#11223344' }],
  ['box.set_border_color(d, #11223344)', { border_color: '#11223344' }],
  ['box.set_border_width(d, 4)', { border_width: 4 }],
  ['box.set_border_style(d, line.style_dashed)', { border_style: 'dashed' }],
  ['box.set_extend(d, extend.right)', { extend: 'right' }],
  ['box.set_text(d, "b")', { text: 'b' }],
  ['box.set_text_size(d, size.tiny)', { text_size: 'tiny' }],
  ['box.set_text_color(d, #11223344)', { text_color: '#11223344' }],
  ['box.set_text_halign(d, text.align_left)', { text_halign: 'left' }],
  ['box.set_text_valign(d, text.align_bottom)', { text_valign: 'bottom' }],
  ['box.set_text_wrap(d, text.wrap_auto)', { text_wrap: 'auto' }],
  ['box.set_text_font_family(d, font.family_monospace)', { text_font_family: 'monospace' }],
  ['box.set_text_formatting(d, text.format_bold)', { text_formatting: 'bold' }],
])

setters('table', 'table.new(position.top_left, 2, 2)', [
  ['table.set_position(d, position.bottom_right)', { position: 'bottom_right' }],
  ['table.set_bgcolor(d, #11223344)', { bgcolor: '#11223344' }],
  ['table.set_frame_color(d, #11223344)', { frame_color: '#11223344' }],
  ['table.set_frame_width(d, 4)', { frame_width: 4 }],
  ['table.set_border_color(d, #11223344)', { border_color: '#11223344' }],
  ['table.set_border_width(d, 4)', { border_width: 4 }],
])

describe('cells of a table', () => {
  /** [place, cell] of the table at the end; the place counts along the rows. */
  const cells = (call: string) =>
    itemsOf(
      `var d = table.new(position.top_left, 3, 2)\nif barstate.isfirst\n    table.cell(d, 0, 0, "a")\n    table.cell(d, 1, 1, "b")\nif bar_index == 2\n    ${call}`,
      'table',
    )[0]?.['cells'] as [number, Record<string, unknown>][]

  test.each([
    ['table.cell_set_text(d, 1, 1, "c")', 'text', 'c'],
    ['table.cell_set_width(d, 1, 1, 12.5)', 'width', 12.5],
    ['table.cell_set_height(d, 1, 1, 7.5)', 'height', 7.5],
    ['table.cell_set_text_color(d, 1, 1, #11223344)', 'text_color', '#11223344'],
    ['table.cell_set_text_halign(d, 1, 1, text.align_right)', 'text_halign', 'right'],
    ['table.cell_set_text_valign(d, 1, 1, text.align_top)', 'text_valign', 'top'],
    ['table.cell_set_text_size(d, 1, 1, size.large)', 'text_size', 'large'],
    ['table.cell_set_bgcolor(d, 1, 1, #11223344)', 'bgcolor', '#11223344'],
    ['table.cell_set_tooltip(d, 1, 1, "tip")', 'tooltip', 'tip'],
    ['table.cell_set_text_font_family(d, 1, 1, font.family_monospace)', 'text_font_family', 'monospace'],
    ['table.cell_set_text_formatting(d, 1, 1, text.format_bold)', 'text_formatting', 'bold'],
  ])('%s', (call, field, value) => {
    const [a, b] = cells('na')
    expect(cells(call)).toEqual([a!, [4, { ...b![1], [field]: value }]])
  })

  test('those of a rectangle are emptied by table.clear(), one alone without an end', () => {
    const places = (call: string) => cells(call).map(([place]) => place)
    expect(places('table.clear(d, 0, 0, 2, 1)')).toEqual([])
    expect(places('table.clear(d, 1, 1)')).toEqual([0])
    expect(places('table.clear(d, 1, 0, 2, 1)')).toEqual([0])
    expect(places('table.clear(d, 2, 0, 2, 1)')).toEqual([0, 4])
  })

  test('those of a rectangle become one by table.merge_cells()', () => {
    const [table] = itemsOf(
      'var d = table.new(position.top_left, 3, 2)\nif bar_index == 2\n    table.merge_cells(d, 0, 1, 2, 1)',
      'table',
    )
    expect(table).toMatchObject({ merged: [[0, 1, 2, 1]], changes: [{ bar: 2, merged: [] }] })
  })
})

describe('getters', () => {
  const LINE = 'd = line.new(1, 2.5, 3, 4.5)'
  const LABEL = 'd = label.new(1, 2.5, "a")'
  const BOX = 'd = box.new(1, 4.5, 3, 2.5)'
  test.each([
    [LINE, 'line.get_x1(d)', '1'],
    [LINE, 'line.get_y1(d)', '2.5'],
    [LINE, 'line.get_x2(d)', '3'],
    [LINE, 'line.get_y2(d)', '4.5'],
    // Two bars beyond the end of a line that rises by 1 a bar.
    [LINE, 'line.get_price(d, 5)', '6.5'],
    [LABEL, 'label.get_x(d)', '1'],
    [LABEL, 'label.get_y(d)', '2.5'],
    [LABEL, 'label.get_text(d)', 'a'],
    [BOX, 'box.get_left(d)', '1'],
    [BOX, 'box.get_top(d)', '4.5'],
    [BOX, 'box.get_right(d)', '3'],
    [BOX, 'box.get_bottom(d)', '2.5'],
    ['d = line(na)', 'line.get_y1(d)', 'NaN'],
    ['d = label(na)', 'label.get_y(d)', 'NaN'],
    ['d = box(na)', 'box.get_top(d)', 'NaN'],
  ])('%s: %s is %s', (setup, expression, expected) => {
    expect(answer(expression, setup)).toBe(expected)
  })
  test('the lines of a fill', () => {
    const setup = 'a = line.new(1, 2, 3, 4)\nb = line.new(5, 6, 7, 8)\nd = linefill.new(a, b, color.red)'
    expect(answer('linefill.get_line1(d).get_x1() * 10 + linefill.get_line2(d).get_x1()', setup)).toBe('15')
    expect(answer('na(linefill.get_line1(linefill(na)))')).toBe('true')
  })
  test('a point', () => {
    const fields = (point: string) =>
      answer('str.format("{0} {1} {2}", p.time, p.index, p.price)', `p = ${point}`)
    expect(fields('chart.point.new(9, 7, 6.5)')).toBe('9 7 6.5')
    expect(fields('chart.point.from_time(9, 6.5)')).toBe('9 NaN 6.5')
    expect(fields('chart.point.from_index(7, 6.5)')).toBe('NaN 7 6.5')
    // The last of the five bars closes at 14; 18:30 UTC on 8 January 2024.
    expect(fields('chart.point.now()')).toBe(`${Date.UTC(2024, 0, 8, 18, 30).toLocaleString('en-US')} 4 14`)
    const copied = 'p = chart.point.new(9, 7, 6.5)\nq = chart.point.copy(p)\nq.price := 1\nq.index := 2'
    expect(answer('p.price + p.index', copied)).toBe('13.5')
  })
})

describe('copies', () => {
  test.each([
    ['line', 'line.new(1, 2.5, 3, 4.5, width = 3)', 'line.copy(d)', 'line.set_x2(d, 9)', { x2: 3, width: 3 }],
    [
      'label',
      'label.new(1, 2.5, "a", size = size.tiny)',
      'label.copy(d)',
      'label.set_x(d, 9)',
      { x: 1, size: 'tiny' },
    ],
    [
      'box',
      'box.new(1, 4.5, 3, 2.5, text = "a")',
      'box.copy(d)',
      'box.set_left(d, 0)',
      { left: 1, text: 'a' },
    ],
  ])('a %s that is copied does not follow the first', (kind, made, copy, change, fields) => {
    const items = itemsOf(`var d = ${made}\nif bar_index == 2\n    ${copy}\n    ${change}`, kind)
    expect(items).toHaveLength(2)
    expect(items[1]).toMatchObject({ ...fields, createdBar: 2, changes: [] })
  })
})

describe('lists and ends', () => {
  test.each([
    ['line', 'line.new(bar_index, 0, 9, 0)'],
    ['label', 'label.new(bar_index, 0)'],
    ['box', 'box.new(bar_index, 1, 9, 0)'],
    ['polyline', 'polyline.new(array.from(chart.point.now(1), chart.point.from_index(9, 2)))'],
  ])('%s.all has those that are there, oldest first, and one that was deleted is not', (kind, made) => {
    const body = `${made}\nif bar_index == 3\n    ${kind}.delete(${kind}.all.get(1))`
    expect(answer(`${kind}.all.size()`, body)).toBe('4')
    expect(itemsOf(body, kind).map((item) => [item['createdBar'], item['deletedBar']])).toEqual([
      [0, -1],
      [1, 3],
      [2, -1],
      [3, -1],
      [4, -1],
    ])
  })
  test('deleting twice, or na, is no mistake', () => {
    for (const kind of ['line', 'label', 'box', 'table', 'polyline', 'linefill'])
      expect(answer('1', `${kind}.delete(${kind}(na))`)).toBe('1')
    expect(answer('box.all.size()', 'var d = box.new(1, 2, 3, 4)\nbox.delete(d)\nbox.delete(d)')).toBe('0')
  })
  test('box.all, label.all, line.all, linefill.all, polyline.all and table.all know their own kind only', () => {
    const setup =
      'if barstate.isfirst\n    a = line.new(1, 2, 3, 4)\n    b = line.new(5, 6, 7, 8)\n    linefill.new(a, b, color.red)\n    label.new(1, 2)\n    label.new(2, 2)\n    label.new(3, 2)\n    table.new(position.top_left, 1, 1)'
    const sizes = 'box label line linefill polyline table'.split(' ').map((kind) => `${kind}.all.size()`)
    expect(answer(`str.format("{0} {1} {2} {3} {4} {5}", ${sizes.join(', ')})`, setup)).toBe('0 3 2 1 0 1')
  })
  test('table.delete() and linefill.delete() end theirs, and leave the lines', () => {
    const setup =
      'var a = line.new(1, 2, 3, 4)\nvar b = line.new(5, 6, 7, 8)\nvar f = linefill.new(a, b, color.red)\nvar t = table.new(position.top_left, 1, 1)\nif bar_index == 3\n    linefill.delete(f)\n    table.delete(t)'
    expect(answer('line.all.size() * 100 + linefill.all.size() * 10 + table.all.size()', setup)).toBe('200')
    expect(itemsOf(setup, 'linefill')[0]).toMatchObject({ createdBar: 0, deletedBar: 3 })
  })
  test('linefill.set_color()', () => {
    const setup =
      'var a = line.new(1, 2, 3, 4)\nvar b = line.new(5, 6, 7, 8)\nvar f = linefill.new(a, b, #01020304)\nif bar_index == 3\n    linefill.set_color(f, #11223344)'
    expect(itemsOf(setup, 'linefill')[0]).toMatchObject({
      line1: 0,
      line2: 1,
      color: '#11223344',
      changes: [{ bar: 3, color: '#01020304' }],
    })
  })
  test('polyline.delete() ends the one it is given; polyline(na) is none', () => {
    const body =
      'var p = polyline.new(array.from(chart.point.from_index(0, 1), chart.point.from_index(1, 2)))\nvar q = polyline(na)\npolyline.delete(q)\nif bar_index == 2\n    polyline.delete(p)'
    expect(itemsOf(body, 'polyline')).toMatchObject([{ createdBar: 0, deletedBar: 2 }])
  })
})
