// What a script draws, as a chart wants it: tracks of a run turned into marks that know bars and prices, never pixels.
//
// A run may have seen fewer bars than the chart shows. Every mark has `start`: the chart's bar its first value belongs to
// (the plot's own offset included), so that value i - start is drawn at bar i.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Drawing } from '../../pine/runtime/drawings.ts'
import type { Track } from '../../backtest/tracks.ts'

/** One colour for all bars, or one a bar; null = not drawn. */
export type Colors =
  { readonly one: string | null } | { readonly palette: readonly string[]; readonly index: readonly number[] }

interface MarkBase {
  readonly title: string
  /** Pine's display bits. */
  readonly display: number
  readonly start: number
  /** Only the last so many bars; 0 = all. */
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
}
export type Mark =
  PlotMark | LevelMark | FillMark | ShapeMark | ArrowMark | CandleMark | GroundMark | DrawingsMark

/** A drawing as the API sends it: colours as text, another drawing by its place among its kind. */
export type WireDrawing = { readonly [Field in keyof Drawing]: Drawing[Field] } & Readonly<
  Record<string, unknown>
>

export interface ScenePane {
  /** `price`, or the script's own pane. */
  readonly name: string
  readonly marks: readonly Mark[]
}
export interface Scene {
  readonly title: string
  /** The chart's bar that is the run's first. */
  readonly base: number
  /** Bars the run has seen. */
  readonly length: number
  readonly panes: readonly ScenePane[]
}

export const DISPLAY = { pane: 1, dataWindow: 2, priceScale: 4, statusLine: 8 } as const

export function colorAt(colors: Colors, i: number): string | null {
  if ('one' in colors) return colors.one
  const at = colors.index[i] ?? -1
  return at < 0 ? null : (colors.palette[at] ?? null)
}

export function buildScene(title: string, tracks: readonly Track[], bars: Bars): Scene {
  const times = (tracks.find((track) => track.kind === 'time')?.['data'] ?? []) as readonly number[]
  const base = times.length === 0 ? 0 : lowerBound(bars.time, times[0]!)
  const panes = new Map<string, Mark[]>()
  const byId = new Map<string, PlotMark | LevelMark>()
  for (const track of tracks) {
    const mark = markOf(track, base, byId)
    if (!mark) continue
    if (mark.kind === 'plot' || mark.kind === 'hline') byId.set(track.id, mark)
    const add = (pane: string, one: Mark) => {
      const marks = panes.get(pane)
      if (marks) marks.push(one)
      else panes.set(pane, [one])
    }
    const pane = text(track['pane']) || 'price'
    if (mark.kind === 'drawings' && pane !== 'price') {
      const forced = mark.items.filter((item) => item['force_overlay'] === true)
      if (forced.length > 0) add('price', { ...mark, items: forced })
      const own = mark.items.filter((item) => item['force_overlay'] !== true)
      if (own.length > 0) add(pane, { ...mark, items: own })
    } else add(mark.kind === 'barcolor' ? 'price' : pane, mark)
  }
  return {
    title,
    base,
    length: times.length,
    panes: [...panes].map(([name, marks]) => ({ name, marks })),
  }
}

const DRAWINGS = new Set(['line', 'label', 'box', 'polyline', 'linefill', 'table'])

function markOf(
  track: Track,
  base: number,
  byId: ReadonlyMap<string, PlotMark | LevelMark>,
): Mark | undefined {
  const head = {
    title: text(track['title']),
    display: number(track['display'], 31),
    start: base + number(track['offset'], 0),
    last: number(track['show_last'], 0),
  }
  const colors = (name: string): Colors => {
    const many = track[name === 'color' ? 'colors' : `${name}s`]
    if (many) return many as Colors
    const one = track[name]
    return { one: typeof one === 'string' ? one : null }
  }
  const maybe = (name: string): Colors | null =>
    track[`${name}s`] || typeof track[name] === 'string' ? colors(name) : null
  const column = (name: string) => toColumn(track[name])
  const { kind } = track
  if (kind === 'plot')
    return {
      ...head,
      kind,
      style: text(track['style']) || 'line',
      width: number(track['linewidth'], 1),
      dash: text(track['linestyle']) || 'solid',
      values: column('data'),
      colors: colors('color'),
      base: number(track['histbase'], 0),
      join: track['join'] === true,
      trackprice: track['trackprice'] === true,
    }
  if (kind === 'hline')
    return {
      ...head,
      kind,
      price: number(track['price'], Number.NaN),
      color: typeof track['color'] === 'string' ? track['color'] : null,
      dash: text(track['linestyle']) || 'solid',
      width: number(track['linewidth'], 1),
    }
  if (kind === 'fill') {
    const between = (track['between'] ?? []) as readonly string[]
    const [a, b] = [byId.get(between[0] ?? ''), byId.get(between[1] ?? '')]
    if (!a || !b) return undefined
    const level = (name: string) =>
      typeof track[name] === 'number' ? track[name] : column(name in track ? name : 'data')
    const gradient =
      'top_value' in track
        ? {
            top: level('top_value'),
            bottom: level('bottom_value'),
            topColors: colors('top_color'),
            bottomColors: colors('bottom_color'),
          }
        : null
    return { ...head, kind, a, b, colors: colors('color'), gradient, fillgaps: track['fillgaps'] === true }
  }
  if (kind === 'shape' || kind === 'char')
    return {
      ...head,
      kind: 'shape',
      shape: kind === 'char' ? 'char' : text(track['style']),
      char: text(track['char']) || '★',
      text: text(track['text']),
      location: text(track['location']) || 'abovebar',
      size: text(track['size']) || 'auto',
      values: column('data'),
      colors: colors('color'),
      textColors: maybe('textcolor') ?? colors('color'),
    }
  if (kind === 'arrow') {
    const values = column('data')
    let largest = 0
    for (const value of values) if (Math.abs(value) > largest) largest = Math.abs(value)
    return {
      ...head,
      kind,
      values,
      up: colors('colorup'),
      down: colors('colordown'),
      minheight: number(track['minheight'], 5),
      maxheight: number(track['maxheight'], 100),
      largest,
    }
  }
  if (kind === 'candle' || kind === 'bar')
    return {
      ...head,
      kind,
      open: column('open'),
      high: column('high'),
      low: column('low'),
      close: column('close'),
      colors: colors('color'),
      wicks: maybe('wickcolor'),
      borders: maybe('bordercolor'),
    }
  if (kind === 'bgcolor' || kind === 'barcolor')
    return {
      ...head,
      kind,
      palette: (track['palette'] ?? []) as string[],
      runs: (track['runs'] ?? []) as [number, number, number][],
    }
  if (DRAWINGS.has(kind)) return { ...head, kind: 'drawings', items: (track['items'] ?? []) as WireDrawing[] }
  return undefined
}

/** JSON's null is NaN here. */
function toColumn(data: unknown): Float64Array {
  const values = (Array.isArray(data) ? data : []) as readonly (number | null)[]
  return Float64Array.from(values, (value) => value ?? Number.NaN)
}

const number = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback)
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The last stretch that begins at a bar or before it, 0 where none does. */
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

/** Lowest and highest of what counts for the scale in bars from..to, as far as the run's bars are known; null = nothing. */
export function rangeOf(
  marks: readonly Mark[],
  from: number,
  to: number,
  known = Infinity,
): { minValue: number; maxValue: number } | null {
  let low = Infinity
  let high = -Infinity
  const take = (value: number) => {
    if (value < low) low = value
    if (value > high) high = value
  }
  for (const mark of marks) {
    if ((mark.display & DISPLAY.pane) === 0) continue
    if (mark.kind === 'hline' && Number.isFinite(mark.price)) take(mark.price)
    else if (mark.kind === 'plot') {
      const { values, start } = mark
      let seen = false
      for (let i = Math.max(0, from - start); i <= Math.min(values.length - 1, known, to - start); i++) {
        const value = values[i]!
        if (value !== value) continue
        take(value)
        seen = true
      }
      if (seen && /histogram|columns|area/.test(mark.style)) take(mark.base)
    } else if (mark.kind === 'candle' || mark.kind === 'bar') {
      const { start } = mark
      for (let i = Math.max(0, from - start); i <= Math.min(mark.low.length - 1, known, to - start); i++) {
        if (mark.low[i] === mark.low[i]) take(mark.low[i]!)
        if (mark.high[i] === mark.high[i]) take(mark.high[i]!)
      }
    } else if (mark.kind === 'shape' && mark.location === 'absolute') {
      const { values, start } = mark
      for (let i = Math.max(0, from - start); i <= Math.min(values.length - 1, known, to - start); i++)
        if (values[i] === values[i] && values[i] !== 0) take(values[i]!)
    }
  }
  return low <= high ? { minValue: low, maxValue: high } : null
}
