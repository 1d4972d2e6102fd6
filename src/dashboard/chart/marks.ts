// Turns the tracks of a run into marks for the chart, which know bars and prices, never pixels.
//
// A run may have seen fewer bars than the chart shows. Every mark has `start`: the chart's bar its first value belongs to
// (the plot's own offset included), so that value i - start is drawn at bar i.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Drawing } from '../../language/runtime/drawings.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { extremesOf, type Extremes } from './extremes.ts'
import type { Track } from '../../wire/track.ts'

/** One colour for all bars, or one for each; null = not drawn. */
export type Colors =
  { readonly one: string | null } | { readonly palette: readonly string[]; readonly index: readonly number[] }

export type PlotMark = Readonly<ReturnType<typeof plotOf>>
export type LevelMark = Readonly<ReturnType<typeof levelOf>>
export type FillMark = Readonly<NonNullable<ReturnType<typeof fillOf>>>
export type ShapeMark = Readonly<ReturnType<typeof shapeOf>>
export type ArrowMark = Readonly<ReturnType<typeof arrowOf>>
export type CandleMark = Readonly<ReturnType<typeof candlesOf>>
export type GroundMark = Readonly<ReturnType<typeof groundOf>>
export type DrawingsMark = Readonly<ReturnType<typeof drawingsOf>>
export type Mark =
  PlotMark | LevelMark | FillMark | ShapeMark | ArrowMark | CandleMark | GroundMark | DrawingsMark

/** A drawing as the API sends it: colours are text, and another drawing is its index among those of its kind. */
type WireDrawing = { readonly [Field in keyof Drawing]: Drawing[Field] } & Readonly<Record<string, unknown>>

export interface MarkedPane {
  /** `price`, or the script's own pane. */
  readonly name: string
  readonly marks: readonly Mark[]
}
/** What a run draws on the bars of a chart. */
export interface RunMarks {
  readonly title: string
  /** Index in the chart's bars of the first bar of the run. */
  readonly base: number
  /** How many bars the run has seen. */
  readonly length: number
  readonly panes: readonly MarkedPane[]
}

export const DISPLAY = { pane: 1, dataWindow: 2, priceScale: 4, statusLine: 8 } as const

export function colorAt(colors: Colors, i: number): string | null {
  if ('one' in colors) return colors.one
  const at = colors.index[i] ?? -1
  return at < 0 ? null : (colors.palette[at] ?? null)
}

/** The name of the layer that is the editor's script. */
export const MAIN_LAYER = 'main'

/**
 * Several scripts on one chart: their overlays are all drawn over the price, in their order, and each has a pane of its
 * own, named after its layer, for the rest.
 */
export function stacked(layers: readonly StackedLayer[]): readonly MarkedPane[] {
  const panes = new Map<string, Mark[]>()
  for (const { id, marks: all, pane: chosen = null } of layers)
    for (const { name, marks } of all?.panes ?? []) {
      const add = (pane: string, some: readonly Mark[]) => {
        if (some.length > 0) panes.set(pane, [...(panes.get(pane) ?? []), ...some])
      }
      const pane = paneOf(id, name, chosen)
      // Colours of bars are the price's, wherever the rest is drawn.
      const ofBars = (mark: Mark) => pane !== name && name === 'price' && mark.kind === 'barcolor'
      add(
        pane,
        marks.filter((mark) => !ofBars(mark)),
      )
      add('price', marks.filter(ofBars))
    }
  return [...panes].map(([name, marks]) => ({ name, marks }))
}

/** The name of a layer's pane on the chart; `chosen` is the pane that all of it was put into. */
export const paneOf = (layer: string, pane: string, chosen: string | null = null): string =>
  chosen ?? (pane === 'price' || layer === MAIN_LAYER ? pane : layer)

interface StackedLayer {
  readonly id: string
  /** null = there is nothing to draw of it. */
  readonly marks: RunMarks | null
  readonly pane?: string | null
}

function baseOf(times: readonly number[], shown: Float64Array): number {
  const [first, oldest] = [times[0], shown[0]]
  if (first === undefined || oldest === undefined) return 0
  return first < oldest ? -lowerBound(Float64Array.from(times), oldest) : lowerBound(shown, first)
}

export function marksOf(title: string, tracks: readonly Track[], bars: Bars): RunMarks {
  const times = ofKind(tracks, 'time')?.data ?? []
  const base = baseOf(times, bars.time)
  const lines = (ofKind(tracks, 'line')?.items ?? []) as readonly WireDrawing[]
  const panes = new Map<string, Mark[]>()
  const byId: Lines = new Map()
  for (const track of tracks) {
    const mark = markOf(track, { base, byId, lines })
    if (!mark) continue
    if (mark.kind === 'plot' || mark.kind === 'hline') byId.set(track.id, mark)
    const add = (pane: string, one: Mark) => panes.set(pane, [...(panes.get(pane) ?? []), one])
    const pane = ('pane' in track && track.pane) || 'price'
    if (mark.kind === 'drawings' && pane !== 'price') {
      const isForced = (item: WireDrawing) => item['force_overlay'] === true
      const [forced, own] = [mark.items.filter(isForced), mark.items.filter((item) => !isForced(item))]
      if (forced.length > 0) add('price', { ...mark, items: forced })
      if (own.length > 0) add(pane, { ...mark, items: own })
    } else add(mark.kind === 'barcolor' ? 'price' : pane, mark)
  }
  return { title, base, length: times.length, panes: [...panes].map(([name, marks]) => ({ name, marks })) }
}

/** What fills lie between, by the id of its track. */
type Lines = Map<string, PlotMark | LevelMark>

interface OfRun {
  /** The chart's bar that is the first of the run. */
  readonly base: number
  readonly byId: Lines
  /** All lines of the run, in whichever pane, since linefills refer to them by number. */
  readonly lines: readonly WireDrawing[]
}

function markOf(track: Track, of: OfRun): Mark | undefined {
  switch (track.kind) {
    case 'plot':
      return plotOf(track, of)
    case 'hline':
      return levelOf(track, of)
    case 'fill':
      return fillOf(track, of)
    case 'shape':
    case 'char':
      return shapeOf(track, of)
    case 'arrow':
      return arrowOf(track, of)
    case 'candle':
    case 'bar':
      return candlesOf(track, of)
    case 'bgcolor':
    case 'barcolor':
      return groundOf(track, of)
    case 'line':
    case 'label':
    case 'box':
    case 'polyline':
    case 'linefill':
    case 'table':
      return drawingsOf(track, of)
    default:
      return undefined
  }
}

type TrackOf<K extends Track['kind']> = Extract<Track, { readonly kind: K }>

interface Head {
  readonly title: string
  readonly display?: number | null
  readonly offset?: number | null
  readonly show_last?: number | null
}

const headOf = ({ title, display, offset, show_last }: Head, { base }: OfRun) => ({
  title,
  /** Pine's display bits. */
  display: display ?? 31,
  start: base + (offset ?? 0),
  /** The chart's bar that is the first of the run. Scripts on one chart may have seen different stretches. */
  run: base,
  /** Drawn only on this many of the last bars; 0 = on all. */
  last: show_last ?? 0,
})

const plotOf = (track: TrackOf<'plot'>, of: OfRun) => ({
  ...headOf(track, of),
  kind: 'plot' as const,
  style: track.style || 'line',
  width: track.linewidth ?? 1,
  dash: track.linestyle || 'solid',
  values: toColumn(track.data),
  colors: colorsOf(track.colors, track.color),
  base: track.histbase ?? 0,
  join: track.join === true,
  trackprice: track.trackprice === true,
  /** Decimal places of its values; null = as many as they need. */
  precision: null as number | null,
})

const levelOf = (track: TrackOf<'hline'>, of: OfRun) => ({
  ...headOf(track, of),
  kind: 'hline' as const,
  price: track.price ?? Number.NaN,
  color: track.color ?? null,
  dash: track.linestyle || 'solid',
  width: track.linewidth ?? 1,
})

/** Its runs are stretches [first, bars, palette index], sorted. */
const groundOf = (track: TrackOf<'bgcolor' | 'barcolor'>, of: OfRun) => ({
  ...headOf(track, of),
  kind: track.kind,
  palette: track.palette,
  runs: track.runs,
})

/** A chart may show several runs, whose drawings count their own bars. */
const drawingsOf = ({ title, items }: Head & { readonly items: readonly object[] }, of: OfRun) => ({
  ...headOf({ title }, of),
  kind: 'drawings' as const,
  items: items as readonly WireDrawing[],
  base: of.base,
  lines: of.lines,
})

/** The colours of the single bars if there are any, otherwise the common one. */
const colorsOf = (many: Many | undefined, one: string | null | undefined): Colors =>
  many ?? { one: one ?? null }
type Many = Exclude<Colors, { readonly one: string | null }>

/** The same, but null if the script gives no colour. */
const ownColors = (many: Many | undefined, one: string | null | undefined): Colors | null =>
  many ?? (typeof one === 'string' ? { one } : null)

function fillOf(track: TrackOf<'fill'>, of: OfRun) {
  const { byId } = of
  const [a, b] = [byId.get(track.between[0] ?? ''), byId.get(track.between[1] ?? '')]
  if (!a || !b) return undefined
  const level = (value: typeof track.top_value) => (typeof value === 'number' ? value : toColumn(value))
  const gradient =
    'top_value' in track
      ? {
          top: level(track.top_value),
          bottom: level('bottom_value' in track ? track.bottom_value : track.data),
          topColors: colorsOf(track.top_colors, track.top_color),
          bottomColors: colorsOf(track.bottom_colors, track.bottom_color),
        }
      : null
  return {
    ...headOf(track, of),
    kind: 'fill' as const,
    a,
    b,
    colors: colorsOf(track.colors, track.color),
    gradient,
    fillgaps: track.fillgaps === true,
  }
}

function shapeOf(track: TrackOf<'shape' | 'char'>, of: OfRun) {
  const colors = colorsOf(track.colors, track.color)
  return {
    ...headOf(track, of),
    kind: 'shape' as const,
    /** A shape's name, or `char`. */
    shape: track.kind === 'char' ? 'char' : (track.style ?? ''),
    char: (track.kind === 'char' && track.char) || '★',
    text: track.text ?? '',
    location: track.location || 'abovebar',
    size: track.size || 'auto',
    values: toColumn(track.data),
    colors,
    textColors: ownColors(track.textcolors, track.textcolor) ?? colors,
  }
}

function arrowOf(track: TrackOf<'arrow'>, of: OfRun) {
  const values = toColumn(track.data)
  let largest = 0
  for (const value of values) if (Math.abs(value) > largest) largest = Math.abs(value)
  return {
    ...headOf(track, of),
    kind: 'arrow' as const,
    values,
    up: colorsOf(track.colorups, track.colorup),
    down: colorsOf(track.colordowns, track.colordown),
    minheight: track.minheight ?? 5,
    maxheight: track.maxheight ?? 100,
    largest,
  }
}

function candlesOf(track: TrackOf<'candle' | 'bar'>, of: OfRun) {
  const isCandle = track.kind === 'candle'
  return {
    ...headOf(track, of),
    kind: track.kind,
    open: toColumn(track.open),
    high: toColumn(track.high),
    low: toColumn(track.low),
    close: toColumn(track.close),
    colors: colorsOf(track.colors, track.color),
    wicks: isCandle ? ownColors(track.wickcolors, track.wickcolor) : null,
    borders: isCandle ? ownColors(track.bordercolors, track.bordercolor) : null,
  }
}

/** A column from JSON, with NaN for null. */
function toColumn(data: readonly (number | null)[] | null | undefined): Float64Array {
  return Float64Array.from(data ?? [], (value) => value ?? Number.NaN)
}

/** Index of the last stretch that begins at or before a bar; 0 if none does. */
export function runBefore(mark: GroundMark, bar: number): number {
  const at = bar - mark.start
  let low = 0
  let high = mark.runs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (mark.runs[middle]![0] <= at) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

/** The colour a run gives a bar, from stretches; null = none. */
export function groundAt(mark: GroundMark, bar: number): string | null {
  const at = bar - mark.start
  const run = mark.runs[runBefore(mark, bar)]
  return run && at >= run[0] && at < run[0] + run[1] ? (mark.palette[run[2]] ?? null) : null
}

/** The lowest and the highest value that the scale needs for bars from..to of the chart, without those after `cut`. */
export function rangeOf(marks: readonly Mark[], from: number, to: number, cut = Infinity): Extremes {
  let low = Infinity
  let high = -Infinity
  const take = (value: number) => {
    if (value < low) low = value
    if (value > high) high = value
  }
  /** Answers whether there was any value. */
  const takeAll = (values: Float64Array, { start, run }: Mark): boolean => {
    const found = extremesOf(values, from - start, Math.min(cut - run, to - start))
    if (found.low > found.high) return false
    take(found.low)
    take(found.high)
    return true
  }
  for (const mark of marks) {
    if ((mark.display & DISPLAY.pane) === 0) continue
    if (mark.kind === 'hline' && Number.isFinite(mark.price)) take(mark.price)
    else if (mark.kind === 'plot') {
      const isSeen = takeAll(mark.values, mark)
      if (isSeen && /histogram|columns|area/.test(mark.style)) take(mark.base)
    } else if (mark.kind === 'candle' || mark.kind === 'bar') {
      takeAll(mark.low, mark)
      takeAll(mark.high, mark)
    } else if (mark.kind === 'shape' && mark.location === 'absolute') {
      const { values, start, run } = mark
      for (let i = Math.max(0, from - start); i <= Math.min(values.length - 1, cut - run, to - start); i++)
        if (values[i] === values[i] && values[i] !== 0) take(values[i]!)
    }
  }
  return { low, high }
}
