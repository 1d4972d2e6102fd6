// Trades on the chart: an arrow at each fill, a line from entry to exit in the colour of its result, and beside the arrows what
// the order was called, its size, and at the exit the profit.
//
// From afar there are no labels, and of two that would lie on each other only one: that of the trade that is lit, or else of
// the earlier one.

import type { Bars } from '../../market/bars.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { exitName, money } from '../format.ts'
import { faded, type LegendRoom, type Paint } from './paint.ts'
import { LABEL_SIZE, textWidth } from './text-width.ts'

/** The trades of a run, placed on the chart's bars. */
export interface TradeMarks {
  readonly trades: readonly ReportTrade[]
  /** The chart's bar that is the run's first. */
  readonly base: number
  readonly currency: string
}

export interface TradeState {
  /** Trade numbers. */
  readonly hovered: number | null
  readonly marked: number | null
  /** The last bar that a replay shows; Infinity without one. */
  readonly cut: number
  /** Where no label may lie. */
  readonly legend: LegendRoom | null
}

/** CSS pixels from bar to bar below which trades have no lines, and no labels. */
const [LINES_FROM, LABELS_FROM] = [1.2, 2.5]
const LINE_HEIGHT = 13
const NAME_MOST = 18

/** One end of a trade, as it is drawn. */
type Fill = ReturnType<typeof fillsOf>[number]
export interface Line {
  readonly text: string
  readonly tone: 'text' | 'muted' | 'up' | 'down'
}
type Box = Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>

export function drawTrades(paint: Paint, marks: TradeMarks, bars: Bars, state: TradeState): void {
  const { ctx, hr, spacing } = paint
  const { base, currency } = marks
  if (spacing < 0.25 * hr) return
  const isLit = ({ n }: ReportTrade) => n === state.hovered || n === state.marked
  const until = Math.min(paint.to, state.cut)
  const inView = marks.trades.filter(
    (one) => base + one.exitBar >= paint.from && base + one.entryBar <= until,
  )
  if (spacing > LINES_FROM * hr)
    for (const trade of inView)
      if (base + trade.exitBar <= state.cut) drawLine(paint, trade, base, isLit(trade))
  const fills = [...inView.filter(isLit), ...inView.filter((trade) => !isLit(trade))]
    .flatMap((trade) => fillsOf(trade, base))
    .filter(({ bar }) => bar >= paint.from && bar <= until && bar < bars.length)
  const { part, right } = state.legend ?? { part: 0, right: 0 }
  const placed: Box[] = [{ left: 0, right: right * hr, top: 0, bottom: part * paint.height }]
  /** How far arrows and labels reach from each side of a bar already, CSS pixels. */
  const stacks = new Map<string, number>()
  for (const fill of fills) {
    const key = `${fill.bar}${fill.isBuy ? 'b' : 's'}`
    const used = stacks.get(key) ?? 0
    stacks.set(key, used + drawFill(paint, bars, fill, used, { currency, placed }))
  }
  ctx.textAlign = 'start'
}

/** A trade that is still open has no exit yet. */
function fillsOf(trade: ReportTrade, base: number) {
  const isLong = trade.side === 'long'
  const entry = { trade, bar: base + trade.entryBar, isBuy: isLong, isEntry: true }
  const exit = { trade, bar: base + trade.exitBar, isBuy: !isLong, isEntry: false }
  return trade.status === 'closed' ? [entry, exit] : [entry]
}

/** Four digits tell sizes apart, and whole contracts have all of theirs; the list of trades has every decimal. */
const SIZE = new Intl.NumberFormat('en-US', {
  maximumFractionDigits: 0,
  maximumSignificantDigits: 4,
  roundingPriority: 'morePrecision',
})

/** What stands at both ends of a trade. */
export function tradeLines(trade: ReportTrade, currency: string) {
  const [gain, loss] = trade.side === 'long' ? (['+', '−'] as const) : (['−', '+'] as const)
  const named = (name: string): Line => ({
    text: name.length > NAME_MOST ? `${name.slice(0, NAME_MOST - 1)}…` : name,
    tone: 'text',
  })
  const sized = (sign: string): Line => ({ text: `${sign}${SIZE.format(trade.qty)}`, tone: 'muted' })
  const profit = money(trade.profit, currency, { plus: true })
  const made: Line = { text: profit, tone: trade.profit >= 0 ? 'up' : 'down' }
  return {
    entryLines: [named(trade.entryComment || trade.entryId), sized(gain)],
    exitLines: [named(exitName(trade)), sized(loss), made],
  }
}

function drawLine({ ctx, x, y, hr, theme }: Paint, trade: ReportTrade, base: number, isLit: boolean): void {
  const color = trade.profit >= 0 ? theme.up : theme.down
  const ends = [
    [x(base + trade.entryBar), y(trade.entryPrice)],
    [x(base + trade.exitBar), y(trade.exitPrice)],
  ] as const
  ctx.lineCap = 'round'
  ctx.strokeStyle = isLit ? color : faded(color, 0.65)
  ctx.lineWidth = Math.max(1, Math.floor((isLit ? 2.5 : 1.5) * hr))
  ctx.setLineDash(trade.status === 'open' ? [3 * hr, 4 * hr] : isLit ? [] : [5 * hr, 4 * hr])
  ctx.beginPath()
  ctx.moveTo(...ends[0])
  ctx.lineTo(...ends[1])
  ctx.stroke()
  ctx.setLineDash([])
  if (isLit)
    for (const [across, down] of ends) {
      ctx.fillStyle = theme.surface
      ctx.beginPath()
      ctx.arc(across, down, 4.5 * hr, 0, Math.PI * 2)
      ctx.fill()
      ctx.stroke()
    }
  ctx.lineCap = 'butt'
}

/** Answers how far arrow and label reach, CSS pixels. */
function drawFill(
  paint: Paint,
  bars: Bars,
  fill: Fill,
  used: number,
  { currency, placed }: { readonly currency: string; readonly placed: Box[] },
): number {
  const { ctx, x, y, hr, vr, theme, spacing } = paint
  const { trade, bar, isBuy, isEntry } = fill
  const way = isBuy ? 1 : -1
  const tip = y((isBuy ? bars.low : bars.high)[bar]!) + way * (5 + used) * vr
  const across = x(bar)
  const size = Math.max(3.5, Math.min(6, spacing / hr / 1.6))
  ctx.fillStyle = isEntry ? (isBuy ? theme.accent : theme.down) : theme.muted
  ctx.beginPath()
  ctx.moveTo(across, tip)
  ctx.lineTo(across + size * hr, tip + way * size * 1.5 * vr)
  ctx.lineTo(across - size * hr, tip + way * size * 1.5 * vr)
  ctx.closePath()
  ctx.fill()
  const arrow = size * 1.5 + 4
  if (spacing < LABELS_FROM * hr) return arrow
  const { entryLines, exitLines } = tradeLines(trade, currency)
  const lines = isEntry ? entryLines : exitLines
  const isLabelled = drawLabel(paint, lines, { across, edge: tip + way * arrow * vr, way }, placed)
  return arrow + (isLabelled ? lines.length * LINE_HEIGHT + 4 : 0)
}

/** Writes lines away from an edge, unless others are there already or some would be cut off; answers whether it did. */
function drawLabel(
  { ctx, hr, vr, width, height, theme }: Paint,
  lines: readonly Line[],
  { across, edge, way }: { readonly across: number; readonly edge: number; readonly way: 1 | -1 },
  placed: Box[],
): boolean {
  const half = (Math.max(...lines.map(({ text }) => textWidth(text, theme.font))) / 2 + 3) * hr
  const far = edge + way * lines.length * LINE_HEIGHT * vr
  const [top, bottom] = [Math.min(edge, far), Math.max(edge, far)]
  const box = { left: across - half, right: across + half, top, bottom }
  if (box.left < 0 || box.right > width || box.top < 0 || box.bottom > height) return false
  if (placed.some((one) => areOver(one, box))) return false
  placed.push(box)
  ctx.font = `${LABEL_SIZE * vr}px ${theme.font}`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  ctx.lineJoin = 'round'
  ctx.lineWidth = 3 * hr
  ctx.strokeStyle = faded(theme.surface, 0.85)
  for (const [n, { text, tone }] of lines.entries()) {
    const at = edge + way * (n + 0.5) * LINE_HEIGHT * vr
    // Over candles it stays legible.
    ctx.strokeText(text, across, at)
    ctx.fillStyle = theme[tone]
    ctx.fillText(text, across, at)
  }
  return true
}

const areOver = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

/** The trade whose line or arrow is nearest to a point and within a few pixels, as last painted; null = none. */
export function tradeNear(paint: Paint, marks: TradeMarks, cut: number, x: number, y: number) {
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
