// Trades on the chart: an arrow at each fill, a line from entry to exit in the colour of its result.

import type { Bars } from '../../market/bars.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { quantity } from '../format.ts'
import { faded, type Paint } from './paint.ts'

/** The trades of a run, placed on the chart's bars. */
export interface TradeMarks {
  readonly trades: readonly ReportTrade[]
  /** The chart's bar that is the run's first. */
  readonly base: number
}

export interface TradeState {
  /** Trade numbers. */
  readonly hovered: number | null
  readonly marked: number | null
  /** The last bar that a replay shows; Infinity without one. */
  readonly cut: number
}

/** Draws the trades. On one bar, two fills share a place for arrows; further ones are stacked. */
export function drawTrades(paint: Paint, marks: TradeMarks, bars: Bars, state: TradeState): void {
  const { ctx, x, y, hr, theme, spacing } = paint
  const { base } = marks
  const texts = spacing > 7 * hr
  const stacks = new Map<number, number>()
  if (spacing < 0.25 * hr) return
  ctx.lineCap = 'round'
  for (const trade of marks.trades) {
    const entry = base + trade.entryBar
    const exit = base + trade.exitBar
    if (exit < paint.from || entry > paint.to || entry > state.cut) continue
    const known = exit <= state.cut
    const lit = trade.n === state.hovered || trade.n === state.marked
    const color = trade.profit >= 0 ? theme.up : theme.down
    if (known && spacing > 1.2 * hr) {
      ctx.strokeStyle = lit ? color : faded(color, 0.65)
      ctx.lineWidth = Math.max(1, Math.floor((lit ? 2.5 : 1.5) * hr))
      ctx.setLineDash(trade.status === 'open' ? [3 * hr, 4 * hr] : lit ? [] : [5 * hr, 4 * hr])
      ctx.beginPath()
      ctx.moveTo(x(entry), y(trade.entryPrice))
      ctx.lineTo(x(exit), y(trade.exitPrice))
      ctx.stroke()
      ctx.setLineDash([])
      if (lit) {
        for (const [bar, price] of [
          [entry, trade.entryPrice],
          [exit, trade.exitPrice],
        ] as const) {
          ctx.fillStyle = theme.surface
          ctx.beginPath()
          ctx.arc(x(bar), y(price), 4.5 * hr, 0, Math.PI * 2)
          ctx.fill()
          ctx.stroke()
        }
      }
    }
    const long = trade.side === 'long'
    drawFill(paint, bars, stacks, entry, long, true, texts, [
      trade.entryComment || trade.entryId,
      `${long ? '+' : '−'}${quantity(trade.qty)}`,
    ])
    if (known && trade.status === 'closed')
      drawFill(paint, bars, stacks, exit, !long, false, texts, [
        trade.exitComment || trade.exitId,
        `${long ? '−' : '+'}${quantity(trade.qty)}`,
      ])
  }
  ctx.lineCap = 'butt'
  ctx.textAlign = 'start'
}

function drawFill(
  paint: Paint,
  bars: Bars,
  stacks: Map<number, number>,
  bar: number,
  buy: boolean,
  isEntry: boolean,
  texts: boolean,
  words: readonly string[],
): void {
  const { ctx, x, y, hr, vr, theme } = paint
  const price = (buy ? bars.low : bars.high)[bar]
  if (price === undefined || bar < paint.from || bar > paint.to) return
  const key = buy ? bar : -bar - 1
  const used = stacks.get(key) ?? 0
  const way = buy ? 1 : -1
  const tip = y(price) + way * (5 + used) * vr
  const across = x(bar)
  const size = Math.max(3.5, Math.min(6, paint.spacing / hr / 1.6))
  ctx.fillStyle = isEntry ? (buy ? theme.accent : theme.down) : theme.muted
  ctx.beginPath()
  ctx.moveTo(across, tip)
  ctx.lineTo(across + size * hr, tip + way * size * 1.5 * vr)
  ctx.lineTo(across - size * hr, tip + way * size * 1.5 * vr)
  ctx.closePath()
  ctx.fill()
  let tall = size * 1.5 + 4
  if (texts) {
    ctx.font = `${11 * vr}px ${theme.font}`
    ctx.textAlign = 'center'
    ctx.textBaseline = 'middle'
    const shown = words.map((word) => (word.length > 18 ? `${word.slice(0, 17)}…` : word))
    for (const [n, word] of (buy ? shown : shown.toReversed()).entries()) {
      ctx.fillStyle = n === (buy ? 0 : 1) ? theme.text : theme.muted
      ctx.fillText(word, across, tip + way * (size * 1.5 + 9 + n * 13) * vr)
    }
    tall += 2 * 13 + 4
  }
  stacks.set(key, used + tall)
}

/** The trade whose line or arrow is nearest to a point and within a few pixels, as last painted; null = none. */
export function tradeNear(
  paint: Paint,
  marks: TradeMarks,
  cut: number,
  x: number,
  y: number,
): ReportTrade | null {
  let best: ReportTrade | null = null
  let nearest = 8 * paint.hr
  for (const trade of marks.trades) {
    const [entry, exit] = [marks.base + trade.entryBar, marks.base + trade.exitBar]
    if (exit < paint.from || entry > paint.to || exit > cut) continue
    const [x1, x2] = [paint.x(entry), paint.x(exit)]
    if (x < x1 - nearest || x > x2 + nearest) continue
    const [y1, y2] = [paint.y(trade.entryPrice), paint.y(trade.exitPrice)]
    const along = x2 === x1 ? 0 : Math.max(0, Math.min(1, (x - x1) / (x2 - x1)))
    const away = Math.hypot(x1 + along * (x2 - x1) - x, y1 + along * (y2 - y1) - y)
    if (away < nearest) {
      nearest = away
      best = trade
    }
  }
  return best
}
