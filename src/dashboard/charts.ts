// The charts of the page: one to eight in a grid, what each shows, which of them is active, and what they do together.
//
// All of it is one value that the browser remembers and a layout keeps. What other parts of the page read as "the market" or
// "the chart's type" is a window on that value: the part of the chart that is active.

import { computed, type ReadonlySignal } from '@preact/signals'
import type { ChartLink, GridShape, LayoutChart } from '../wire/layout.ts'
import type { ChartType } from './chart/draw-bars.ts'
import type { Boxes } from './chart/price-bars.ts'
import type { Named } from './format.ts'
import { placesOf } from './layouts/places.ts'
import { remembered } from './settings.ts'

export interface Market extends Named {
  readonly interval: string
}

/** Of what is of a market: the market alone. */
export const seriesOf = ({ exchange, symbol, interval }: Market): Market => ({ exchange, symbol, interval })

export const isSameMarket = (a: Market, b: Market): boolean =>
  a.exchange === b.exchange && a.symbol === b.symbol && a.interval === b.interval

/** A script on a chart beside the editor's, as the browser remembers it and a layout keeps it. */
export type Study = LayoutChart['studies'][number]

export interface OneChart {
  readonly id: string
  readonly market: Market
  readonly type: ChartType
  readonly scale: LayoutChart['scale']
  readonly volume: boolean
  readonly trades: boolean
  readonly studies: readonly Study[]
  /** How large the boxes are in types that go by price; absent = the defaults. */
  readonly boxes?: Boxes | undefined
  /** How high panes are in proportion to each other, by name, once somebody has dragged them. */
  readonly heights?: Readonly<Record<string, number>> | undefined
  /** Other symbols drawn over it; absent in what an older version has kept. */
  readonly compared?: readonly Compared[]
}

export type Compared = NonNullable<LayoutChart['compared']>[number]
export const COMPARED_MAX = 10

export interface Charts {
  readonly shape: GridShape
  readonly links: readonly ChartLink[]
  /** Id of the chart that keys, dialogs and the palette mean. */
  readonly active: string
  /** Id of the chart that the editor's script runs on. */
  readonly script: string
  /** In reading order; those for which the grid has no place stay for when it grows. */
  readonly all: readonly OneChart[]
}

export const CHARTS_MAX = 8

/** A signal, or a window on a part of one. */
export interface Writable<T> {
  value: T
  peek: () => T
  subscribe: (heard: (value: T) => void) => () => void
}

/** A window on a part of a value: written to, it changes that part alone. */
export function partOf<T>(read: () => T, write: (value: T) => void): Writable<T> {
  const now = computed(read)
  return {
    get value() {
      return now.value
    },
    set value(next) {
      write(next)
    },
    peek: () => now.peek(),
    subscribe: (heard) => now.subscribe(heard),
  }
}

const kept = remembered<Charts | null>('charts', null)
// Before there could be several charts, the parts of the only one were remembered one by one.
const market0 = remembered<Market>('market', { exchange: 'SP', symbol: 'SPX', interval: '1d' })
const type0 = remembered<ChartType>('chart.type', 'candles')
const scale0 = remembered<OneChart['scale']>('chart.scale', 'linear')
const volume0 = remembered('chart.volume', true)
const trades0 = remembered('chart.trades', true)
const studies0 = remembered<readonly Study[]>('chart.studies', [])

const now = computed<Charts>(() => {
  const stored = kept.value
  if (stored && Array.isArray(stored.all) && stored.all.some(({ id }) => id === stored.active)) return stored
  const first: OneChart = {
    id: 'c1',
    market: market0.value,
    type: type0.value,
    scale: scale0.value,
    volume: volume0.value,
    trades: trades0.value,
    studies: studies0.value,
  }
  return { shape: '1', links: ['crosshair'], active: first.id, script: first.id, all: [first] }
})

export const charts = partOf<Charts>(
  () => now.value,
  (next) => (kept.value = next),
)
export const links = computed(() => charts.value.links)
/** Ids of the charts that the grid has places for. */
export const placed = sameWords(() => {
  const { shape, all } = charts.value
  return all.slice(0, placesOf(shape)).map(({ id }) => id)
})
export const activeId = computed(() => charts.value.active)
export const scriptId = computed(() => {
  const { script, active } = charts.value
  return placed.value.includes(script) ? script : active
})

const chartIn = ({ all }: Charts, id: string): OneChart => all.find((one) => one.id === id) ?? all[0]!

/** A field of a chart; the active one without an id. */
export function fieldOf<F extends Exclude<keyof OneChart, 'id'>>(
  field: F,
  id?: string,
): Writable<OneChart[F]> {
  return partOf(
    () => chartIn(charts.value, id ?? charts.value.active)[field],
    (value) => changeChart(id ?? charts.peek().active, { [field]: value }),
  )
}

/** The market on the active chart; at first the built-in S&P 500 bars. */
export const market = linked(fieldOf('market'))
export const scriptMarket = computed(() => chartIn(charts.value, scriptId.value).market)

export function changeChart(id: string, change: Partial<OneChart>): void {
  const before = charts.peek()
  charts.value = { ...before, all: before.all.map((one) => (one.id === id ? { ...one, ...change } : one)) }
}

/** A symbol or interval that is linked changes on every chart. */
function linked(own: Writable<Market>): Writable<Market> {
  return partOf(
    () => own.value,
    (next) => {
      const before = charts.peek()
      const shared = {
        ...(before.links.includes('symbol') && { exchange: next.exchange, symbol: next.symbol }),
        ...(before.links.includes('interval') && { interval: next.interval }),
      }
      charts.value = {
        ...before,
        all: before.all.map((one) => {
          const wanted = one.id === before.active ? next : { ...one.market, ...shared }
          // A new object would count as a new market, and the bars would be fetched again.
          return one.id !== before.active && isSameMarket(wanted, one.market)
            ? one
            : { ...one, market: wanted }
        }),
      }
    },
  )
}

/** Another shape of the grid: charts that come show what the active one does, without its indicators. */
export function setShape(shape: GridShape): void {
  const before = charts.peek()
  const places = placesOf(shape)
  const active = chartIn(before, before.active)
  let { all } = before
  // The active one stays in sight.
  if (all.indexOf(active) >= places) {
    const others = all.filter((one) => one !== active)
    all = [...others.slice(0, places - 1), active, ...others.slice(places - 1)]
  }
  charts.value = { ...before, shape, all: filled(all, places, active) }
}

/** As many charts as there are places, and at most eight. */
export function filled(all: readonly OneChart[], places: number, like: OneChart): readonly OneChart[] {
  const grown = [...all].slice(0, CHARTS_MAX)
  for (let n = 1; grown.length < places; n++) {
    const id = `c${n}`
    if (!grown.some((one) => one.id === id)) grown.push({ ...like, id, studies: [] })
  }
  return grown
}

export function setLink(link: ChartLink, on: boolean): void {
  const before = charts.peek()
  const others = before.links.filter((one) => one !== link)
  charts.value = { ...before, links: on ? [...others, link] : others }
  // From now on they are the same; so they begin with the active one's.
  if (on && (link === 'symbol' || link === 'interval')) market.value = market.peek()
}

/** The chart `by` places on, round and round. */
export function neighbourOf(id: string, by: number): string {
  const ids = placed.peek()
  return ids[(ids.indexOf(id) + by + ids.length) % ids.length] ?? id
}

/** The same array as long as the words in it are the same. */
function sameWords(read: () => readonly string[]): ReadonlySignal<readonly string[]> {
  const text = computed(() => JSON.stringify(read()))
  return computed(() => JSON.parse(text.value) as readonly string[])
}
