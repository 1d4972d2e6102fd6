// Turns the tracks of a run into marks for the chart, which know bars and prices, never pixels.
//
// A run may have seen fewer bars than the chart shows. Every mark has `start`: the chart's bar its first value belongs to
// (the plot's own offset included), so that value i - start is drawn at bar i.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Drawing } from '../../language/runtime/drawings.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { extremesOf, type Extremes } from './extremes.ts'
import type { ArrowTrack, CandleTrack, FillTrack, ShapeTrack, Track } from '../../wire/track.ts'

/** One colour for all bars, or one for each; null = not drawn. */
export type Colors =
  { readonly one: string | null } | { readonly palette: readonly string[]; readonly index: readonly number[] }

interface MarkBase {
  readonly title: string
  /** Pine's display bits. */
  readonly display: number
  readonly start: number
  /** The chart's bar that is the first of the run. Scripts on one chart may have seen different stretches. */
  readonly run: number
  /** Drawn only on this many of the last bars; 0 = on all. */
  readonly last: number
}
export interface PlotMark extends MarkBase {
  readonly kind: 'plot'
  readonly style: string
  readonly width: number
  readonly dash: string
  readonly values: Float64Array
  readonly colors: Colors
  readonly base: number
  readonly join: boolean
  readonly trackprice: boolean
  /** Decimal places of its values; null = as many as they need. */
  readonly precision: number | null
}
export interface LevelMark extends MarkBase {
  readonly kind: 'hline'
  readonly price: number
  readonly color: string | null
  readonly dash: string
  readonly width: number
}
export interface FillMark extends MarkBase {
  readonly kind: 'fill'
  readonly a: PlotMark | LevelMark
  readonly b: PlotMark | LevelMark
  readonly colors: Colors
  readonly gradient: {
    readonly top: Float64Array | number
    readonly bottom: Float64Array | number
    readonly topColors: Colors
    readonly bottomColors: Colors
  } | null
  readonly fillgaps: boolean
}
export interface ShapeMark extends MarkBase {
  readonly kind: 'shape'
  /** A shape's name, or `char`. */
  readonly shape: string
  readonly char: string
  readonly text: string
  readonly location: string
  readonly size: string
  readonly values: Float64Array
  readonly colors: Colors
  readonly textColors: Colors
}
export interface ArrowMark extends MarkBase {
  readonly kind: 'arrow'
  readonly values: Float64Array
  readonly up: Colors
  readonly down: Colors
  readonly minheight: number
  readonly maxheight: number
  readonly largest: number
}
export interface CandleMark extends MarkBase {
  readonly kind: 'candle' | 'bar'
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  readonly colors: Colors
  readonly wicks: Colors | null
  readonly borders: Colors | null
}
export interface GroundMark extends MarkBase {
  readonly kind: 'bgcolor' | 'barcolor'
  readonly palette: readonly string[]
  /** Stretches [first, bars, palette index], sorted. */
  readonly runs: readonly (readonly [number, number, number])[]
}
export interface DrawingsMark extends MarkBase {
  readonly kind: 'drawings'
  readonly items: readonly WireDrawing[]
  /** The chart's bar that is the first of their run: a chart may show several runs, whose drawings count their own bars. */
  readonly base: number
  /** All lines of the run, in whichever pane, since linefills refer to them by number. */
  readonly lines: readonly WireDrawing[]
}
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
  readonly base: number
  readonly byId: Lines
  readonly lines: readonly WireDrawing[]
}

function markOf(track: Track, { base, byId, lines }: OfRun): Mark | undefined {
  switch (track.kind) {
    case 'plot':
      return {
        ...headOf(track, base),
        kind: 'plot',
        style: track.style || 'line',
        width: track.linewidth ?? 1,
        dash: track.linestyle || 'solid',
        values: toColumn(track.data),
        colors: colorsOf(track.colors, track.color),
        base: track.histbase ?? 0,
        join: track.join === true,
        trackprice: track.trackprice === true,
        precision: null,
      }
    case 'hline':
      return {
        ...headOf(track, base),
        kind: 'hline',
        price: track.price ?? Number.NaN,
        color: track.color ?? null,
        dash: track.linestyle || 'solid',
        width: track.linewidth ?? 1,
      }
    case 'fill':
      return fillOf(track, base, byId)
    case 'shape':
    case 'char':
      return shapeOf(track, base)
    case 'arrow':
      return arrowOf(track, base)
    case 'candle':
    case 'bar':
      return candlesOf(track, base)
    case 'bgcolor':
    case 'barcolor':
      return { ...headOf(track, base), kind: track.kind, palette: track.palette, runs: track.runs }
    case 'line':
    case 'label':
    case 'box':
    case 'polyline':
    case 'linefill':
    case 'table':
      return { ...headOf(track, base), kind: 'drawings', items: track.items as typeof lines, base, lines }
    default:
      return undefined
  }
}

interface Head {
  readonly title: string
  readonly display?: number | null
  readonly offset?: number | null
  readonly show_last?: number | null
}

function headOf({ title, display, offset, show_last }: Head, base: number): MarkBase {
  return { title, display: display ?? 31, start: base + (offset ?? 0), run: base, last: show_last ?? 0 }
}

/** The colours of the single bars if there are any, otherwise the common one. */
const colorsOf = (many: Many | undefined, one: string | null | undefined): Colors =>
  many ?? { one: one ?? null }
type Many = Exclude<Colors, { readonly one: string | null }>

/** The same, but null if the script gives no colour. */
const ownColors = (many: Many | undefined, one: string | null | undefined): Colors | null =>
  many ?? (typeof one === 'string' ? { one } : null)

function fillOf(track: FillTrack, base: number, byId: Lines): FillMark | undefined {
  const [a, b] = [byId.get(track.between[0] ?? ''), byId.get(track.between[1] ?? '')]
  if (!a || !b) return undefined
  const level = (value: FillTrack['top_value']) => (typeof value === 'number' ? value : toColumn(value))
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
    ...headOf(track, base),
    kind: 'fill',
    a,
    b,
    colors: colorsOf(track.colors, track.color),
    gradient,
    fillgaps: track.fillgaps === true,
  }
}

function shapeOf(track: ShapeTrack, base: number): ShapeMark {
  const colors = colorsOf(track.colors, track.color)
  return {
    ...headOf(track, base),
    kind: 'shape',
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

function arrowOf(track: ArrowTrack, base: number): ArrowMark {
  const values = toColumn(track.data)
  let largest = 0
  for (const value of values) if (Math.abs(value) > largest) largest = Math.abs(value)
  return {
    ...headOf(track, base),
    kind: 'arrow',
    values,
    up: colorsOf(track.colorups, track.colorup),
    down: colorsOf(track.colordowns, track.colordown),
    minheight: track.minheight ?? 5,
    maxheight: track.maxheight ?? 100,
    largest,
  }
}

function candlesOf(track: CandleTrack, base: number): CandleMark {
  const isCandle = track.kind === 'candle'
  return {
    ...headOf(track, base),
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
