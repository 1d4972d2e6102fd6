// What scripts plot on real bars, shown on bars that go by price: each has the value of the real bar behind it.
//
// Plots, levels and fills between them go over. What is tied to bars and prices of its own (trades, drawings, shapes) would stand
// where it does not belong, and is left out.

import { memoOf, whileSame } from '../../lib/memo.ts'
import type { Colors, FillMark, LevelMark, Mark, PlotMark, RunMarks } from './marks.ts'

export const sampled = (real: RunMarks, source: Int32Array): RunMarks => sampledOf(real)(source)

const sampledOf = memoOf((real: RunMarks) => whileSame((source: Int32Array) => make(real, source)))

function make(real: RunMarks, source: Int32Array): RunMarks {
  const made = new Map<Mark, PlotMark | LevelMark>()
  for (const { marks } of real.panes)
    for (const mark of marks)
      if (mark.kind === 'plot') made.set(mark, plotOn(mark, source))
      else if (mark.kind === 'hline') made.set(mark, { ...mark, start: 0, run: 0, last: 0 })
  const fillOn = (fill: FillMark): readonly Mark[] => {
    const [a, b] = [made.get(fill.a), made.get(fill.b)]
    return a && b && !fill.gradient && 'one' in fill.colors ? [{ ...fill, a, b, start: 0, run: 0 }] : []
  }
  return {
    ...real,
    base: 0,
    length: source.length,
    panes: real.panes.map(({ name, marks }) => ({
      name,
      marks: marks.flatMap((mark) => made.get(mark) ?? (mark.kind === 'fill' ? fillOn(mark) : [])),
    })),
  }
}

function plotOn(plot: PlotMark, source: Int32Array): PlotMark {
  const at = (bar: number) => bar - plot.start
  const values = Float64Array.from(source, (bar) => plot.values[at(bar)] ?? Number.NaN)
  return { ...plot, values, colors: colorsOn(plot.colors, source, plot.start), start: 0, run: 0, last: 0 }
}

const colorsOn = (colors: Colors, source: Int32Array, start: number): Colors =>
  'one' in colors
    ? colors
    : { palette: colors.palette, index: Array.from(source, (bar) => colors.index[bar - start] ?? -1) }
