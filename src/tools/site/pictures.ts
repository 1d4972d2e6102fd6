// Pictures of real runs, as SVG in the colours of the theme: shapes stretch with the page, letters and lines do not.

import type { Bars } from '../../market/bars.ts'
import { html, Markup } from './html.ts'

const HEIGHT = 1000
/** Width of a bar in the shapes' own units. */
const STEP = 10

export interface Trade {
  readonly entryBar: number
  readonly entryPrice: number
  readonly exitBar: number | null
  readonly exitPrice: number | null
  readonly profit: number
}

export interface ChartParts {
  readonly bars: Bars
  /** The first bar that is shown. */
  readonly from: number
  readonly lines: readonly { readonly name: 'up' | 'down'; readonly data: readonly (number | null)[] }[]
  readonly trades: readonly Trade[]
  readonly equity: readonly (number | null)[]
  /** What is on it, for who cannot see it. */
  readonly label: string
}

interface Scale {
  (value: number): number
}

/** Candles, the strategy's lines and its trades; the equity below. */
export function chart(parts: ChartParts): Markup {
  const { bars, from, equity } = parts
  const count = bars.length - from
  const prices = scaleOf([...bars.low.subarray(from), ...bars.high.subarray(from)], 40, 690)
  const money = scaleOf(present(equity.slice(from)), 770, 970)
  const grid = niceSteps(prices.least, prices.most, 5)
  const months = monthsOf(bars, from)
  const line = grid.map((price) => `M0 ${prices.at(price)}H${count * STEP}`).join('')
  const column = months.map(({ bar }) => `M${middle(bar - from)} 0V${HEIGHT}`).join('')
  return html`<div class="chart">
    <svg class="plot" role="img" aria-label="${parts.label}">
      <svg viewBox="0 0 ${count * STEP} ${HEIGHT}" preserveAspectRatio="none" width="100%" height="100%">
        <path class="grid" d="${line}${column}M0 735H${count * STEP}" />
        ${candles(bars, from, prices.at)}
        ${parts.lines.map(({ name, data }) => html`<path class="line ${name}" d="${polyline(data.slice(from), prices.at)}" />`)}
        <path class="area" d="${area(equity.slice(from), money.at)}" />
        <path class="line equity" d="${polyline(equity.slice(from), money.at)}" />
      </svg>
      ${parts.trades.filter(({ entryBar }) => entryBar >= from).map((trade) => marked(trade, from, count, prices.at))}
      <text class="name" x="10" y="76.5%">Equity</text>
      ${months.filter((_, i) => i % 2 === 0).map(({ bar, name }) => html`<text class="month" x="${percent((bar - from + 0.5) / count)}" y="99%">${name}</text>`)}
    </svg>
    <svg class="axis" aria-hidden="true">
      ${grid.map((price) => html`<text x="8" y="${percent(prices.at(price) / HEIGHT)}" dy="4">${price}</text>`)}
    </svg>
  </div>`
}

const middle = (i: number) => i * STEP + STEP / 2
const percent = (share: number) => `${(share * 100).toFixed(1)}%`
const present = (values: readonly (number | null)[]) =>
  values.filter((value): value is number => value !== null && !Number.isNaN(value))

function scaleOf(
  values: readonly number[],
  top: number,
  bottom: number,
): { readonly at: Scale; readonly least: number; readonly most: number } {
  const least = Math.min(...values)
  const most = Math.max(...values)
  return {
    least,
    most,
    at: (value) => Math.round(bottom - ((value - least) / (most - least)) * (bottom - top)),
  }
}

function candles(bars: Bars, from: number, y: Scale): Markup {
  const paths = { up: '', down: '' }
  const wicks = { up: '', down: '' }
  for (let i = from; i < bars.length; i++) {
    const [open, close] = [bars.open[i]!, bars.close[i]!]
    const side = close >= open ? 'up' : 'down'
    const x = middle(i - from)
    const top = y(Math.max(open, close))
    wicks[side] += `M${x} ${y(bars.high[i]!)}V${y(bars.low[i]!)}`
    paths[side] += `M${x - 3} ${top}h6v${Math.max(2, y(Math.min(open, close)) - top)}h-6z`
  }
  return html`<path class="wick up" d="${wicks.up}" /><path class="wick down" d="${wicks.down}" />
    <path class="body up" d="${paths.up}" /><path class="body down" d="${paths.down}" />`
}

/** Pieces from value to value; nothing where there is none. */
function polyline(data: readonly (number | null)[], y: Scale): string {
  let pen = 'M'
  return data
    .map((value, i) => {
      if (value === null || Number.isNaN(value)) {
        pen = 'M'
        return ''
      }
      const point = `${pen}${middle(i)} ${y(value)}`
      pen = 'L'
      return point
    })
    .join('')
}

function area(data: readonly (number | null)[], y: Scale): string {
  return `${polyline(data, y)}V${HEIGHT}H${middle(0)}z`
}

function marked(trade: Trade, from: number, count: number, y: Scale): Markup {
  const x = (bar: number) => percent((bar - from + 0.5) / count)
  const at = (price: number) => percent(y(price) / HEIGHT)
  const entry = html`<svg class="mark" x="${x(trade.entryBar)}" y="${at(trade.entryPrice)}">
    <path class="entry" d="M0 6l6 10h-12z" />
  </svg>`
  if (trade.exitBar === null || trade.exitPrice === null) return entry
  const tone = trade.profit >= 0 ? 'up' : 'down'
  const words = `${trade.profit >= 0 ? '+' : '−'}${Math.abs(trade.profit).toFixed(2)}`
  return html`${entry}<svg class="mark" x="${x(trade.exitBar)}" y="${at(trade.exitPrice)}">
      <path class="exit" d="M0 -6l6 -10h-12z" />
      <text class="${tone}" y="-22" text-anchor="middle">${words}</text>
    </svg>`
}

/** The first bar of each month but the first. */
function monthsOf(bars: Bars, from: number): { readonly bar: number; readonly name: string }[] {
  const months: { bar: number; name: string }[] = []
  for (let bar = from + 1; bar < bars.length; bar++) {
    const [before, date] = [new Date(bars.time[bar - 1]!), new Date(bars.time[bar]!)]
    if (before.getUTCMonth() !== date.getUTCMonth())
      months.push({ bar, name: date.toLocaleString('en-GB', { month: 'short', timeZone: 'UTC' }) })
  }
  return months
}

function niceSteps(least: number, most: number, wanted: number): number[] {
  const raw = (most - least) / wanted
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((one) => one >= raw) ?? raw
  const steps: number[] = []
  for (let at = Math.ceil(least / step) * step; at <= most; at += step) steps.push(at)
  return steps
}

/** Choices of two inputs as a map: a field's colour is the sixth of the range that its score is in. */
export function heatMap({
  rows,
  columns,
  scores,
  best,
  name,
}: {
  readonly rows: readonly number[]
  readonly columns: readonly number[]
  /** By row, then by column. */
  readonly scores: readonly number[]
  readonly best: number
  readonly name: string
}): Markup {
  const least = Math.min(...scores)
  const most = Math.max(...scores)
  const heat = (score: number) => Math.min(5, Math.floor(((score - least) / (most - least)) * 6))
  const field = (score: number, i: number) =>
    html`<td class="h${heat(score)}${i === best ? new Markup(' best') : ''}">${score.toFixed(3)}</td>`
  return html`<table class="heat">
    <caption class="visually-hidden">
      ${name}
    </caption>
    <thead>
      <tr>
        <th scope="col"><span class="visually-hidden">Fast, slow</span></th>
        ${columns.map((value) => html`<th scope="col">${value}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row, r) =>
          html`<tr>
            <th scope="row">${row}</th>
            ${columns.map((_, c) => field(scores[r * columns.length + c]!, r * columns.length + c))}
          </tr> `,
      )}
    </tbody>
  </table>`
}
