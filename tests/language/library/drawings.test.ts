// Drawings can be shown as they were on any bar.

import { describe, expect, test } from 'bun:test'

import type { Broker } from '../../../src/language/broker.ts'
import { compile } from '../../../src/language/compile.ts'
import { Drawings, drawingAt } from '../../../src/language/runtime/drawings.ts'
import type { Drawing, Line } from '../../../src/language/runtime/drawings.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { barsOfCloses, SYMBOL } from './script.ts'

const SEED = Number(process.env['SEED'] ?? 7)

function newLine(bar: number): Line {
  return {
    kind: 'line',
    createdBar: bar,
    deletedBar: -1,
    changes: [],
    x1: 0,
    y1: 0,
    x2: 1,
    y2: 1,
    xloc: 'bar_index',
    extend: 'none',
    color: 255,
    style: 'solid',
    width: 1,
    force_overlay: false,
  }
}

/** What a reader of one bar sees: fields without the life around them. */
function look(drawing: Drawing | null): unknown {
  if (drawing === null) return null
  const { changes: _changes, deletedBar: _deletedBar, ...fields } = drawing
  return fields
}

function linesOf(body: string, closes: readonly number[], step = closes.length, declaration = ''): Drawings {
  const { script, diagnostics } = compile(`//@version=6\nindicator("test"${declaration})\n${body}\n`)
  if (script === null) throw new Error(JSON.stringify(diagnostics))
  const bars = barsOfCloses(closes)
  const run = script.instantiate({
    bars,
    symbol: SYMBOL,
    interval: '1h',
    inputs: {},
    broker: { bytes: 0, account: { bar: 0 } } as Broker,
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  for (let end = step; run.position < bars.length; end += step) run.advance(Math.min(end, bars.length))
  return run.drawings
}

const CLOSES = Array.from({ length: 120 }, (_, i) => i)

describe('drawings', () => {
  test(`every bar can be seen again as it was (seed ${SEED})`, () => {
    let state = SEED
    const below = (n: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
      return (state >> 8) % n
    }
    const drawings = new Drawings(DEFAULT_LIMITS, { max_lines_count: 10 })
    const made: Line[] = []
    const seen: Map<Line, unknown>[] = []
    for (let bar = 0; bar < 200; bar++) {
      for (let i = below(3); i > 0; i--) made.push(drawings.add(newLine(bar)))
      for (let i = below(6); i > 0 && made.length > 0; i--) {
        const line = made[below(made.length)]!
        if (below(8) === 0) drawings.remove(line, bar)
        else drawings.set(line, 'x2', below(5), bar)
        drawings.set(made[below(made.length)]!, 'color', below(3), bar)
      }
      const alive = new Set<Drawing>(drawings.alive.line)
      seen.push(new Map(made.map((line) => [line, alive.has(line) ? look({ ...line }) : null])))
      expect(drawings.alive.line.length).toBeLessThanOrEqual(15)
    }
    for (const [bar, states] of seen.entries())
      for (const [line, expected] of states)
        expect([bar, look(drawingAt(line, bar))]).toEqual([bar, expected])
  })

  test('the oldest go when there are more than the declaration asks for', () => {
    const body = 'label.new(bar_index, close)'
    const fifty = linesOf(body, CLOSES)
    expect(fifty.alive.label.map((label) => label.createdBar)).toEqual(
      Array.from({ length: 54 }, (_, i) => 66 + i),
    )
    expect(fifty.items).toHaveLength(120)
    expect(linesOf(body, CLOSES, 120, ', max_labels_count = 500').alive.label).toHaveLength(120)
  })

  test('what a variable holds stays when the oldest go, be it of the script or of a call', () => {
    const body =
      'f() =>\n    var own = label.new(bar_index, -1)\n    own.get_x()\nvar first = label.new(bar_index, -2)\nf()\nf()\nlabel.new(bar_index, close)'
    const { alive } = linesOf(body, CLOSES)
    expect(alive.label.slice(0, 4).map((label) => label.kind === 'label' && [label.x, label.y])).toEqual([
      [0, -2],
      [0, -1],
      [0, -1],
      [72, 72],
    ])
  })

  test('what is drawn and deleted on one bar is not kept', () => {
    const { items } = linesOf('l = line.new(0, 1, 2, 3)\nline.delete(l)', CLOSES)
    expect(items).toEqual([])
  })

  test('a script that draws again on every bar does not fill the memory', () => {
    const drawings = new Drawings(DEFAULT_LIMITS)
    for (let bar = 0; bar < 50_000; bar++) drawings.add(newLine(bar))
    expect(drawings.items.length).toBeLessThanOrEqual(10_100)
    const line = drawings.add(newLine(0))
    for (let bar = 1; bar < 50_000; bar++) drawings.set(line, 'x2', bar + 1, bar)
    expect(line.changes.length).toBeLessThanOrEqual(1000)
    expect(drawingAt(line, 49_500)?.x2).toBe(49_501)
  })

  test('of deleted drawings with long texts or many points fewer are kept, the latest', () => {
    const points = 'var p = array.new<chart.point>(10000, chart.point.from_index(0, 1))'
    const body = (what: string) => `${points}\n${what}`
    const polylines = linesOf(body('polyline.new(p)'), CLOSES.concat(CLOSES), 240)
    expect(polylines.items.length).toBeLessThan(50 + 65)
    expect(polylines.items.at(-1)?.createdBar).toBe(239)
    expect(polylines.items.map(({ createdBar }) => createdBar)).toEqual(
      polylines.items.map((_, i) => 240 - polylines.items.length + i),
    )
    const labels = linesOf(body('label.new(bar_index, close, str.repeat("x", 10))'), CLOSES)
    expect(labels.items).toHaveLength(120)
  })

  test('a new fill between the same lines replaces the old one, and goes with its line', () => {
    const body =
      'var a = line.new(0, 1, 2, 3)\nvar b = line.new(0, 2, 2, 4)\nlinefill.new(a, b, color.red)\nif bar_index == 100\n    line.delete(a)'
    const { alive, items } = linesOf(body, CLOSES.slice(0, 101))
    expect(alive.linefill).toHaveLength(0)
    expect(items.filter((item) => item.kind === 'linefill')).toHaveLength(100)
  })

  test('cells of a table are filled, merged and cleared', () => {
    const body =
      'var t = table.new(position.top_right, 2, 2)\nif bar_index == 1\n    table.cell(t, 1, 0, "a", bgcolor = color.red)\n    t.cell_set_text(1, 0, "b")\n    t.merge_cells(0, 1, 1, 1)\nif bar_index == 3\n    t.clear(0, 0, 1, 1)'
    const table = linesOf(body, CLOSES.slice(0, 5)).alive.table[0]!
    const cellsAt = (bar: number) => {
      const then = drawingAt(table, bar)
      return then?.kind === 'table' ? [...then.cells].map(([place, cell]) => [place, cell.text]) : null
    }
    expect([0, 1, 2, 3].map(cellsAt)).toEqual([[], [[1, 'b']], [[1, 'b']], []])
    expect(table.kind === 'table' && table.merged).toEqual([[0, 1, 1, 1]])
  })

  test('bar by bar is the same as all at once', () => {
    const body =
      'var l = line.new(0, 1, 2, 3)\nl.set_xy2(bar_index, close)\nif bar_index % 7 == 0\n    b = box.new(bar_index, high, bar_index + 3, low)\n    l2 = line.copy(l)\n    l2.set_color(color.red)\nif bar_index % 5 == 0 and line.all.size() > 3\n    line.delete(line.all.get(1))'
    expect(linesOf(body, CLOSES, 1).items).toEqual(linesOf(body, CLOSES).items)
  })
})
