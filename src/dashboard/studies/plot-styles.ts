// How the user wants a study's plots to look, in place of what the script says.

import { DISPLAY, type Mark, type PlotMark, type RunMarks } from '../chart/marks.ts'

export interface PlotStyle {
  readonly color?: string
  readonly width?: number
  readonly hidden?: boolean
}
/** Styles by the plot's title, or by its number if it has none. */
export type PlotStyles = Readonly<Record<string, PlotStyle>>

export interface StyledPlot {
  readonly key: string
  readonly name: string
  readonly color: string
  readonly width: number
}

/** The plots that can be styled, in order. */
export function plotsOf(marks: RunMarks): readonly StyledPlot[] {
  return keyed(marks).map(([key, mark], i) => ({
    key,
    name: mark.title || `Plot ${i + 1}`,
    color: firstColor(mark),
    width: mark.width,
  }))
}

export function styled(marks: RunMarks, styles: PlotStyles): RunMarks {
  if (Object.keys(styles).length === 0) return marks
  const changed = new Map<Mark, Mark>()
  for (const [key, mark] of keyed(marks)) {
    const style = styles[key]
    if (style) changed.set(mark, restyled(mark, style))
  }
  return {
    ...marks,
    panes: marks.panes.map((pane) => ({
      ...pane,
      marks: pane.marks.map((mark) => changed.get(mark) ?? mark),
    })),
  }
}

function keyed({ panes }: RunMarks): readonly (readonly [string, PlotMark])[] {
  const plots = panes.flatMap(({ marks }) => marks.filter((mark): mark is PlotMark => mark.kind === 'plot'))
  return plots.map((mark, i) => [mark.title || String(i), mark])
}

const restyled = (mark: PlotMark, { color, width, hidden }: PlotStyle): PlotMark => ({
  ...mark,
  ...(color !== undefined && { colors: { one: color } }),
  ...(width !== undefined && { width }),
  ...(hidden && { display: mark.display & DISPLAY.dataWindow }),
})

const firstColor = ({ colors }: PlotMark): string =>
  ('one' in colors ? colors.one : colors.palette[0])?.slice(0, 7) ?? '#2962ff'
