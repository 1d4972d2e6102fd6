// How the user wants a study's plots and levels to look, in place of what the script says.

import type { Study } from '../charts.ts'
import { DISPLAY, type LevelMark, type Mark, type PlotMark, type RunMarks } from '../chart/marks.ts'

/** Styles by the plot's title, or by its number if it has none; those of levels with a word before it. */
export type PlotStyles = Study['plots']
export type PlotStyle = PlotStyles[string]

export type StyledPlot = ReturnType<typeof plotsOf>[number]

/** The plots and levels that can be styled, in order. */
export function plotsOf(marks: RunMarks) {
  return keyed(marks).map(([key, mark, n]) => ({
    key,
    name: mark.title || `${mark.kind === 'plot' ? 'Plot' : 'Level'} ${n + 1}`,
    color: firstColor(mark),
    width: mark.width,
    dash: mark.dash,
    /** Where a level stands; null = it is a plot. */
    price: mark.kind === 'plot' ? null : mark.price,
  }))
}

export function styled(marks: RunMarks, styles: PlotStyles): RunMarks {
  if (Object.keys(styles).length === 0) return marks
  const changed = new Map<Mark, Mark>()
  for (const [key, mark] of keyed(marks)) {
    const style = styles[key]
    if (style) changed.set(mark, mark.kind === 'plot' ? styledPlot(mark, style) : styledLevel(mark, style))
  }
  // Fills lie between what they were made for, as it looks now.
  const now = <M extends PlotMark | LevelMark>(mark: M) => (changed.get(mark) as M | undefined) ?? mark
  const shown = (mark: Mark): Mark =>
    mark.kind === 'fill' ? { ...mark, a: now(mark.a), b: now(mark.b) } : (changed.get(mark) ?? mark)
  return { ...marks, panes: marks.panes.map((pane) => ({ ...pane, marks: pane.marks.map(shown) })) }
}

type Keyed = readonly [key: string, mark: PlotMark | LevelMark, number: number]

function keyed({ panes }: RunMarks): readonly Keyed[] {
  const all = panes.flatMap(({ marks }) => marks)
  return [
    ...all.filter((mark) => mark.kind === 'plot').map((mark, i): Keyed => [mark.title || String(i), mark, i]),
    ...all
      .filter((mark) => mark.kind === 'hline')
      .map((mark, i): Keyed => [`level ${mark.title || String(i)}`, mark, i]),
  ]
}

const styledPlot = (mark: PlotMark, { color, hidden, price: _price, ...own }: PlotStyle): PlotMark => ({
  ...mark,
  ...own,
  ...(color !== undefined && { colors: { one: color } }),
  ...(hidden && { display: mark.display & DISPLAY.dataWindow }),
})

const styledLevel = (mark: LevelMark, { hidden, precision: _places, ...own }: PlotStyle): LevelMark => ({
  ...mark,
  ...own,
  ...(hidden && { display: mark.display & DISPLAY.dataWindow }),
})

const firstColor = (mark: PlotMark | LevelMark): string => {
  const color =
    mark.kind === 'hline' ? mark.color : 'one' in mark.colors ? mark.colors.one : mark.colors.palette[0]
  return color?.slice(0, 7) ?? '#2962ff'
}
