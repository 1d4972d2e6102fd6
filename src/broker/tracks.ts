// Makes tracks, which charts draw: columns that share one time axis, which is track 0.
//
// A column of 54,000 points is 427 kB of JSON; as `{time, value}` objects it would be 2.1 MB. NaN is na; JSON writes it as
// null. Colours are `#RRGGBBAA`: a palette, and an index for each bar where they change.

import type { Bars } from '../market/bars.ts'
import type { ScriptRun } from '../language/environment.ts'
import type { PlotTrack } from '../language/runtime/plots.ts'
import type { EquityColumns } from './equity.ts'
import { jsonBytes, listOf } from '../lib/json-pieces.ts'
import { Rows, type Picks } from '../wire/columns.ts'
import type { Marker, RestingTrack, Track } from '../wire/track.ts'
import { RESTING_TYPES, type RestingOrder } from './emulator/resting.ts'
import type { Results } from './report/build.ts'
import type { ReportOrder } from '../wire/report.ts'

export interface StrategyTracks {
  readonly columns: EquityColumns
  readonly orders: () => Iterable<ReportOrder>
  /** The same rows as columns. */
  readonly orderColumns: Rows
  readonly resting: readonly RestingOrder[]
  readonly first: Results['first']
  readonly initialCapital: number
}

/** What tracks are made from. With `overlay` the script draws over the prices. `strategy` is null for an indicator. */
export interface TrackSource {
  readonly run: Pick<ScriptRun, 'plots' | 'drawings'>
  readonly bars: Bars
  readonly overlay: boolean
  readonly strategy: StrategyTracks | null
}

/** A track whose items, if any, are made one by one: as objects they take ten times the memory of their text. */
interface Draft extends Readonly<Record<string, unknown>> {
  readonly id: string
  readonly kind: Track['kind']
  readonly items?: Iterable<object> | Rows
}

export function buildTracks(source: TrackSource): Track[] {
  return wholeTracks(drafts(source, AS_LISTS)) as unknown as Track[]
}

/** The tracks with their columns as the run left them, for `pack`: no typed array becomes a list. */
export function columnTracks(source: TrackSource, kinds: TrackKinds): object[] {
  return wholeTracks(chosen(drafts(source, AS_COLUMNS), kinds))
}

const wholeTracks = (tracks: Iterable<Draft>) =>
  Array.from(tracks, ({ items, ...track }) => ({
    ...track,
    ...(items && { items: items instanceof Rows ? items : [...items] }),
  }))

/** The kinds of tracks that are wanted; null = all. */
export type TrackKinds = readonly string[] | null

function* chosen(tracks: Iterable<Draft>, kinds: TrackKinds): Generator<Draft> {
  if (kinds?.length === 0) return
  for (const track of tracks) if (!kinds || kinds.includes(track.kind)) yield track
}

/**
 * JSON text of the tracks in pieces; a track or an item is released as soon as it is text. A piece of bytes is to be used before
 * the next one is asked for.
 */
export function* trackTexts(source: TrackSource, kinds: TrackKinds = null): Generator<string | Uint8Array> {
  let before = '['
  for (const track of chosen(drafts(source, AS_TEXTS), kinds)) {
    yield before
    before = ','
    yield* jsonBytes(track)
  }
  yield before === '[' ? '[]' : ']'
}

/** How the long parts of an answer are represented. */
interface Form {
  readonly column: (values: Float64Array) => number[] | Float64Array
  readonly markers: (strategy: StrategyTracks) => Iterable<object> | Rows
}

const AS_LISTS: Form = {
  column: (values) => listOf(values),
  markers: ({ orders }) => mapped(orders(), marker),
}
/** Columns are read in place, and their text is made piece by piece. */
const AS_TEXTS: Form = { ...AS_LISTS, column: (values) => values }
const AS_COLUMNS: Form = { ...AS_TEXTS, markers: ({ orderColumns }) => markerColumns(orderColumns) }

function* drafts({ run, bars, overlay, strategy }: TrackSource, form: Form): Generator<Draft> {
  const ids = new Set(['time'])
  const plots = run.plots
  const plotIds = plots.map((plot) => uniqueId(ids, plot.title || plot.kind))
  yield { id: 'time', kind: 'time', data: form.column(bars.time) }
  for (const [i, plot] of plots.entries())
    yield plotTrack(plot, plotIds[i]!, plotIds, { overlay, zorder: i + 1, bars: bars.length, form })
  yield* drawingTracks(run.drawings.items, overlay, ids)
  if (strategy) yield* strategyTracks(strategy, bars, ids, form)
}

/** The title, `title#2` on collision. */
function uniqueId(taken: Set<string>, title: string): string {
  let id = title
  for (let n = 2; taken.has(id); n++) id = `${title}#${n}`
  taken.add(id)
  return id
}

// ——— plots ———
//
// A plot's options and columns are named by Pine's parameters, which only the table of built-ins knows: that they fit
// their kind of track is shown by a test, not by the compiler.

function plotTrack(
  plot: PlotTrack,
  id: string,
  ids: readonly string[],
  {
    overlay,
    zorder,
    bars,
    form,
  }: { readonly overlay: boolean; readonly zorder: number; readonly bars: number; readonly form: Form },
): Draft {
  const over = overlay || plot.options['force_overlay'] === true
  const head = { id, kind: plot.kind, title: plot.title, pane: over ? 'price' : '1', overlay: over, zorder }
  const options = wireOptions(plot.options)
  const between = plot.between && { between: [ids[plot.between[0]], ids[plot.between[1]]] }
  const texts = Object.keys(plot.texts).length > 0 ? { texts: plot.texts } : {}
  if (plot.kind === 'bgcolor' || plot.kind === 'barcolor')
    return { ...options, ...head, ...runsOf(plot.colors['color'] ?? oneColor(plot.options['color'], bars)) }
  const names = Object.keys(plot.columns)
  const only = names.length === 1 ? names[0] : undefined
  const data =
    only === undefined
      ? Object.fromEntries(names.map((name) => [name, form.column(plot.columns[name]!)]))
      : { data: form.column(plot.columns[only]!) }
  const colors = Object.fromEntries(
    Object.entries(plot.colors).map(([name, column]) => {
      const { palette, index } = indexed(column)
      return [name === 'color' ? 'colors' : `${name}s`, { palette, index: form.column(index) }]
    }),
  )
  return { ...options, ...head, ...data, ...colors, ...texts, ...between }
}

/** If a plot has the same colour on all bars, it is an option instead of a column. */
function oneColor(color: PlotTrack['options'][string] | undefined, bars: number): Float64Array {
  return new Float64Array(bars).fill(typeof color === 'number' ? color : Number.NaN)
}

/** Option values in wire form: colours as text. */
function wireOptions(options: PlotTrack['options']): Record<string, number | string | boolean | null> {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'number' && /color/i.test(name) ? colorText(value) : value,
    ]),
  )
}

function colorText(color: number): string | null {
  return Number.isNaN(color) ? null : `#${(color >>> 0).toString(16).padStart(8, '0').toUpperCase()}`
}

/** One colour for each bar as a palette and indexes into it; -1 = na. */
function indexed(column: Float64Array): { palette: string[]; index: Float64Array } {
  const palette: string[] = []
  const known = new Map<number, number>()
  const index = new Float64Array(column.length)
  for (let i = 0; i < column.length; i++) {
    const color = column[i]!
    let at = Number.isNaN(color) ? -1 : known.get(color)
    if (at === undefined) {
      at = palette.push(colorText(color)!) - 1
      known.set(color, at)
    }
    index[i] = at
  }
  return { palette, index }
}

/** Stretches of one colour: [first bar, bars, palette index]; na stretches are left out. */
function runsOf(column: Float64Array): {
  palette: string[]
  runs: [number, number, number][]
} {
  const { palette, index } = indexed(column)
  const runs: [number, number, number][] = []
  for (let start = 0; start < index.length;) {
    let end = start + 1
    while (end < index.length && index[end] === index[start]) end++
    if (index[start]! >= 0) runs.push([start, end - start, index[start]!])
    start = end
  }
  return { palette, runs }
}

// ——— drawings ———

type Drawing = ScriptRun['drawings']['items'][number]

function* drawingTracks(items: readonly Drawing[], overlay: boolean, ids: Set<string>): Generator<Draft> {
  const numbers = new Map<object, number>()
  const groups = new Map<Drawing['kind'], Drawing[]>()
  for (const item of items) {
    const group = groups.get(item.kind)
    if (group) {
      numbers.set(item, group.length)
      group.push(item)
    } else {
      numbers.set(item, 0)
      groups.set(item.kind, [item])
    }
  }
  for (const [kind, group] of groups)
    yield {
      id: uniqueId(ids, kind),
      kind,
      title: kind,
      pane: overlay ? 'price' : '1',
      overlay,
      items: mapped(group, (item) => wireFields(item, numbers)),
    }
}

function* mapped<From, To>(items: Iterable<From>, make: (item: From) => To): Generator<To> {
  for (const item of items) yield make(item)
}

/** A drawing's own fields as data; a reference to another drawing becomes its index in the track of its kind. */
function wireFields(item: object, numbers: ReadonlyMap<object, number>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(item)
      .filter(([name, value]) => !name.startsWith('#') && typeof value !== 'function')
      .map(([name, value]) => [name, wireValue(name, value, numbers)]),
  )
}

function wireValue(name: string, value: unknown, numbers: ReadonlyMap<object, number>): unknown {
  if (typeof value === 'number') return /color/i.test(name) ? colorText(value) : value
  if (value === null || typeof value !== 'object') return value ?? null
  const number = numbers.get(value)
  if (number !== undefined) return number
  if (Array.isArray(value)) return value.map((one) => wireValue(name, one, numbers))
  if (value instanceof Map) return Array.from(value, ([key, one]) => [key, wireValue(name, one, numbers)])
  return wireFields(value, numbers)
}

// ——— strategy ———

function* strategyTracks(
  strategy: StrategyTracks,
  bars: Bars,
  ids: Set<string>,
  form: Form,
): Generator<Draft> {
  const { columns, first, initialCapital } = strategy
  const track = (kind: Track['kind'], title: string, pane: string, rest: object): Draft => ({
    id: uniqueId(ids, kind),
    kind,
    title,
    pane,
    overlay: pane === 'price',
    ...rest,
  })
  const curve = (kind: Track['kind'], title: string, values: Float64Array, pane = 'equity') =>
    track(kind, title, pane, { data: form.column(values) })
  yield curve('equity', 'Equity', columns.equity)
  yield curve('drawdown', 'Drawdown', drawdownOf(columns.equity, bars, initialCapital))
  yield curve('buyhold', 'Buy & hold', buyHoldOf(first, bars, initialCapital))
  yield curve('position', 'Position', columns.position, 'position')
  yield track('markers', 'Orders', 'price', { items: form.markers(strategy) })
  if (strategy.resting.length > 0)
    yield track('resting', 'Resting orders', 'price', restingColumns(strategy.resting))
}

function drawdownOf(equity: Float64Array, bars: Bars, initialCapital: number): Float64Array {
  const drawdown = new Float64Array(bars.length)
  let peak = initialCapital
  for (let i = 0; i < bars.length; i++) {
    const value = equity[i]!
    if (value > peak) peak = value
    drawdown[i] = value - peak
  }
  return drawdown
}

function buyHoldOf(first: StrategyTracks['first'], bars: Bars, initialCapital: number): Float64Array {
  const held = first && first.price > 0 ? initialCapital / first.price : 0
  const buyHold = new Float64Array(bars.length).fill(initialCapital)
  if (!first) return buyHold
  for (let i = first.bar; i < bars.length; i++)
    buyHold[i] = initialCapital + held * (bars.close[i]! - first.price)
  return buyHold
}

/** Waiting orders, one row each, as columns: names and types are indexes. A `to` of -1 means to the end. */
function restingColumns(
  resting: readonly RestingOrder[],
): Omit<RestingTrack, 'id' | 'kind' | 'title' | 'pane' | 'overlay'> {
  const names: string[] = []
  const known = new Map<string, number>()
  const name = resting.map(({ id }) => {
    let at = known.get(id)
    if (at === undefined) {
      at = names.push(id) - 1
      known.set(id, at)
    }
    return at
  })
  return {
    names,
    types: RESTING_TYPES,
    name,
    type: resting.map((one) => RESTING_TYPES.indexOf(one.type)),
    from: resting.map((one) => one.from),
    to: resting.map((one) => one.to),
    price: resting.map((one) => one.price),
    qty: resting.map((one) => one.qty),
  }
}

/** A SeriesMarker of lightweight-charts has `time` in seconds; this one also has an index into track 0. */
function marker(order: ReportOrder): Marker {
  const buy = order.side === 'buy'
  const sign = buy ? '+' : '-'
  return {
    bar: order.bar,
    time: order.time / 1000,
    position: buy ? 'belowBar' : 'aboveBar',
    shape: buy ? 'arrowUp' : 'arrowDown',
    color: buy ? BUY_COLOR : SELL_COLOR,
    text: `${order.comment || order.id}\n${sign}${order.qty}`,
    id: order.id,
    price: order.price,
    qty: order.qty,
    size: 1,
    after: order.position,
  }
}

/** Like `marker`, for all orders. */
function markerColumns({ length, fields }: Rows): Rows {
  const { bar, time, price, qty, position } = fields as Record<string, Float64Array>
  const { id, side, comment } = fields as Record<string, Picks>
  const one = (value: string | number) => ({ values: [value], index: new Float64Array(length) })
  const bySide = (buy: string, sell: string) => ({
    values: side!.values.map((value) => (value === 'buy' ? buy : sell)),
    index: side!.index,
  })
  const texts = new Map<string, number>()
  const text = new Float64Array(length)
  for (let i = 0; i < length; i++) {
    const name = comment!.values[comment!.index[i]!] || id!.values[id!.index[i]!]
    const sign = side!.values[side!.index[i]!] === 'buy' ? '+' : '-'
    const said = `${String(name)}\n${sign}${qty![i]!}`
    let at = texts.get(said)
    if (at === undefined) texts.set(said, (at = texts.size))
    text[i] = at
  }
  return new Rows(length, {
    bar: bar!,
    time: time!.map((ms) => ms / 1000),
    position: bySide('belowBar', 'aboveBar'),
    shape: bySide('arrowUp', 'arrowDown'),
    color: bySide(BUY_COLOR, SELL_COLOR),
    text: { values: [...texts.keys()], index: text },
    id: id!,
    price: price!,
    qty: qty!,
    size: one(1),
    after: position!,
  })
}

const BUY_COLOR = '#2962FFFF'
const SELL_COLOR = '#F23645FF'
