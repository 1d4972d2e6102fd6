// A replay without its drawing: what was known and true at a cursor that moves over bars which are all loaded.
//
// The chart shows bars up to the cursor; everything else (position, equity, orders that filled and why) is read off the
// run's columns at that bar, so that a step back costs no more than a step forward.

import type { Bars } from '../../market/bars.ts'
import type { Report, ReportOrder, ReportTrade } from '../../wire/report.ts'
import type { Track } from '../../wire/track.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { price as priceText, quantity } from '../format.ts'

/** Position, equity and profit at the close of a bar of the run. */
export function standingAt({ report, tracks, bars, base }: Replayed, bar: number) {
  const close = bars.close[base + bar]
  let [size, cost, openProfit, closedProfit, trades] = [0, 0, 0, 0, 0]
  for (const trade of report.trades) {
    if (trade.entryBar > bar) continue
    if (trade.status === 'closed' && trade.exitBar <= bar) {
      closedProfit += trade.profit
      trades++
      continue
    }
    const sign = trade.side === 'long' ? 1 : -1
    size += sign * trade.qty
    cost += sign * trade.qty * trade.entryPrice
    if (close !== undefined) openProfit += sign * trade.qty * (close - trade.entryPrice) * report.pointvalue
  }
  return {
    /** Signed contracts. */
    position: size,
    averagePrice: size === 0 ? null : cost / size,
    openProfit,
    closedProfit,
    equity: ofKind(tracks, 'equity')?.data[bar] ?? null,
    trades,
  }
}

/** A run, and the bars of the chart that it is replayed on. */
export interface Replayed {
  readonly report: Report
  readonly tracks: readonly Track[]
  readonly bars: Bars
  /** The chart's bar that is the first of the run. */
  readonly base: number
}

/** The fills on one bar, each with the reason why it filled there. */
export const fillsAt = (of: Replayed, bar: number) =>
  of.report.orders.filter((one) => one.bar === bar).map((order) => ({ order, why: reasonOf(order, of) }))

/** The reason as a sentence: which order it was, how long it had waited, and what the bar did. */
function reasonOf(order: ReportOrder, { report, tracks, bars, base }: Replayed): string {
  const at = base + order.bar
  const text = (value: number | undefined) => priceText(value, report.mintick)
  const [open, high, low, close] = [bars.open[at], bars.high[at], bars.low[at], bars.close[at]]
  if (open === undefined || high === undefined || low === undefined || close === undefined) return ''
  const slip = Number(report.script.declaration['slippage'] ?? 0) * report.mintick
  const near = (value: number) => Math.abs(order.price - value) <= slip + report.mintick / 2
  const slipped = slip > 0 ? `, with ${String(report.script.declaration['slippage'])} ticks of slippage` : ''
  if (order.comment === 'Margin call')
    return `The margin no longer covered the position: closed at ${text(order.price)}.`
  const waited = restingAt(tracks, order.bar - 1).filter(
    (one) => one.id === order.id && one.qty > 0 === (order.side === 'buy'),
  )
  const met = waited.find((one) => near(one.price)) ?? waited.find((one) => beyond(one, open))
  if (met) {
    const name = met.type === 'trail' ? 'trailing stop' : met.type
    const rest = `The ${name} at ${text(met.price)}`
    return near(open) && !near(met.price)
      ? `${rest}: the bar opened beyond it, so it filled at the open, ${text(open)}${slipped}.`
      : `${rest} was reached: the bar went from ${text(low)} to ${text(high)}${slipped}.`
  }
  if (near(open))
    return `At the bar’s open, ${text(open)}: a market order, or a price the bar opened beyond${slipped}.`
  if (near(close) && report.script.declaration['process_orders_on_close'] === true)
    return `At the bar’s close, ${text(close)}: orders are processed on close${slipped}.`
  return `Price reached ${text(order.price)} within the bar (${text(low)} to ${text(high)}): a resting limit or stop order${slipped}.`
}

/** Whether the bar opened beyond a level, so that its order fills at the open. */
const beyond = ({ type, qty, price }: Resting, open: number): boolean =>
  (type === 'limit') === qty > 0 ? open <= price : open >= price

/** Orders that wait for the next open. They were placed at this bar's close, so they give nothing away. */
export function waitingAt(of: Replayed, bar: number): readonly ReportOrder[] {
  const { report, tracks, bars, base } = of
  const open = bars.open[base + bar + 1]
  if (open === undefined) return []
  const slip = Number(report.script.declaration['slippage'] ?? 0) * report.mintick + report.mintick / 2
  const resting = new Set(restingAt(tracks, bar).map((one) => one.id))
  return fillsAt(of, bar + 1)
    .map(({ order }) => order)
    .filter(({ comment, id, price }) => {
      return comment !== 'Margin call' && !resting.has(id) && Math.abs(price - open) <= slip
    })
}

type Resting = ReturnType<typeof restingAt>[number]

/** Limits, stops and trailing stops that wait at the close of a bar; the quantity of a sale is negative. */
export function restingAt(tracks: readonly Track[], bar: number) {
  const track = ofKind(tracks, 'resting')
  if (!track) return []
  const { from, to, name, type, price, qty, names, types } = track
  return from.flatMap((placed, i) =>
    placed <= bar && (to[i] === -1 || to[i]! > bar)
      ? { id: names[name[i]!]!, type: types[type[i]!]!, price: price[i]!, qty: qty[i]! }
      : [],
  )
}

export const orderText = (order: ReportOrder): string =>
  `${order.side === 'buy' ? 'Buy' : 'Sell'} ${quantity(order.qty)} ${order.comment || order.id}`

/**
 * The ends of trades up to a bar, which are marks on the timeline. What comes after it is hidden as on the chart: a mark
 * would say that a trade is about to begin or to end, and a colour how.
 */
export function ticksUntil(trades: readonly ReportTrade[], bar: number) {
  return trades.flatMap(({ entryBar, exitBar, status, profit }) => {
    if (entryBar > bar) return []
    const isOver = status === 'closed' && exitBar <= bar
    const tone = isOver ? (profit >= 0 ? ('up' as const) : ('down' as const)) : ('muted' as const)
    const entry = { at: entryBar, isEntry: true, tone }
    return isOver ? [entry, { at: exitBar, isEntry: false, tone }] : [entry]
  })
}

/** The bars on which something happened, sorted and without duplicates. */
export function tradeBars(trades: readonly ReportTrade[]): readonly number[] {
  const bars = trades.flatMap((one) => [one.entryBar, ...(one.status === 'closed' ? [one.exitBar] : [])])
  return [...new Set(bars)].sort((a, b) => a - b)
}

/** The first of `sorted` after `from`, or the last before it; null = none. */
export function neighbour(sorted: readonly number[], from: number, way: 1 | -1): number | null {
  if (way === 1) return sorted.find((bar) => bar > from) ?? null
  return sorted.findLast((bar) => bar < from) ?? null
}

/** The speeds offered, in bars per second. */
export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100] as const
