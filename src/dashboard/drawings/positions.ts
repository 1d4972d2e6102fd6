// Long and short positions: an entry with a target and a stop, what they are away from it, and how much to buy or sell so
// that the stop costs the share of the account that is risked.
//
// Their points are the entry, the target and the stop; the last two end the boxes, so they always have one time.

import type { DrawingTool as ToolCode } from 'openalgo-charts/draw'
import type { DrawingTool } from '../../wire/drawing.ts'
import { percent, quantity, ratio } from '../format.ts'
import type { Anchor, Spot } from './surface.ts'

type DrawContext = Parameters<ToolCode['draw']>[0]

export const PROFIT = '#26a69a'
export const LOSS = '#ef5350'
/** The sizes of a label, in CSS pixels. */
const [FONT, PAD, LABEL_HEIGHT, GAP] = [11, 6, 20, 4]
/** How far a new position's target and stop are from its entry: a share of the prices in view, and at most of the entry. */
const [REACH, REACH_MOST] = [0.12, 0.4]
const BARS_SHARE = 0.12

/** What a tool is told of the chart when it completes its points; `span` is from the lowest price in view to the highest. */
export interface Placing {
  readonly barSeconds: number
  readonly visibleBars: number
  readonly span?: number
}

/** The left, the top and the size of a label. */
export interface LabelBox extends Spot {
  readonly width: number
  readonly height: number
}

/**
 * Where the labels of the target, the stop and the entry lie: outside the boxes, and in their middle where there is room,
 * otherwise beside them, so that none covers another. `widths` are those of the texts.
 */
export function labelPlaces(
  [entry, target, stop]: readonly [Spot, Spot, Spot],
  widths: readonly [number, number, number],
  unit: number,
): readonly [LabelBox, LabelBox, LabelBox] {
  const left = Math.min(entry.x, target.x, stop.x)
  const right = Math.max(entry.x, target.x, stop.x)
  const [height, gap] = [LABEL_HEIGHT * unit, GAP * unit]
  const boxed = (width: number, y: number): LabelBox => {
    const wide = width + 2 * PAD * unit
    return { x: (left + right - wide) / 2, y, width: wide, height }
  }
  const outside = (edge: number, other: number) => (edge <= other ? edge - gap - height : edge + gap)
  const targetBox = boxed(widths[0], outside(target.y, stop.y))
  const stopBox = boxed(widths[1], target.y <= stop.y ? stop.y + gap : stop.y - gap - height)
  const centred = boxed(widths[2], entry.y - height / 2)
  // The entry is grabbed at its left end.
  const middle = { ...centred, x: Math.max(centred.x, left + 2 * gap) }
  const hasRoom = [target, stop].every(({ y }) => Math.abs(y - entry.y) >= height / 2)
  const beside = Math.max(right, targetBox.x + targetBox.width, stopBox.x + stopBox.width) + gap
  return [targetBox, stopBox, hasRoom ? middle : { ...middle, x: beside }]
}

function position(id: DrawingTool, isLong: boolean): ToolCode {
  return {
    id,
    name: isLong ? 'Long position' : 'Short position',
    points: 1,
    defaultStyle: { showLabels: true, fillOpacity: 0.16, lineWidth: 1, accountSize: 100_000, risk: 1 },
    expand: ([entry], placing) => (entry ? around(entry, isLong, placing) : []),
    draw: (context) => drawPosition(context, isLong),
    distance(x, y, { pts }) {
      const { left, right, top, bottom } = edgesOf(pts)
      if (pts.length < 3 || x < left || x > right) return null
      return y >= top && y <= bottom ? 0 : Math.min(Math.abs(y - top), Math.abs(y - bottom))
    },
  }
}

/** An entry with target and stop at one distance, which suits what is in view. */
function around(entry: Anchor, isLong: boolean, { barSeconds, visibleBars, span = 0 }: Placing) {
  const away = Math.min(span * REACH, Math.abs(entry.price) * REACH_MOST) || Math.abs(entry.price) * 0.01 || 1
  const time = entry.time + Math.max(5, Math.round(visibleBars * BARS_SHARE)) * barSeconds
  const way = isLong ? 1 : -1
  return [entry, { time, price: entry.price + way * away }, { time, price: entry.price - way * away }]
}

function edgesOf(pts: readonly Spot[]) {
  const [xs, ys] = [pts.map(({ x }) => x), pts.map(({ y }) => y)]
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
  }
}

function drawPosition(context: DrawContext, isLong: boolean): void {
  const { ctx, rc, pts, style } = context
  const [entry, target, stop] = pts
  if (!entry || !target || !stop) return
  const { left, right } = edgesOf(pts)
  for (const [edge, color] of [
    [target, PROFIT],
    [stop, LOSS],
  ] as const) {
    ctx.globalAlpha = style.fillOpacity ?? 0.16
    ctx.fillStyle = color
    ctx.fillRect(left, Math.min(entry.y, edge.y), right - left, Math.abs(edge.y - entry.y))
    ctx.globalAlpha = 1
    level(context, left, right, edge.y, color)
  }
  level(context, left, right, entry.y, style.color)
  if (style.showLabels === false) return
  ctx.font = `${FONT * rc.dpr}px ui-sans-serif, system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = 'middle'
  const texts = textsOf(context, isLong)
  const [a, b, c] = texts.map(({ text }) => ctx.measureText(text).width)
  const places = labelPlaces([entry, target, stop], [a!, b!, c!], rc.dpr)
  for (const [i, { x, y, width, height }] of places.entries()) {
    ctx.fillStyle = texts[i]!.ground
    ctx.beginPath()
    ctx.roundRect(x, y, width, height, 3 * rc.dpr)
    ctx.fill()
    ctx.fillStyle = texts[i]!.ink
    ctx.fillText(texts[i]!.text, x + width / 2, y + height / 2)
  }
}

function level({ ctx, rc, style }: DrawContext, left: number, right: number, y: number, color: string): void {
  const width = Math.max(1, Math.round(style.lineWidth * rc.dpr))
  ctx.fillStyle = color
  ctx.fillRect(left, Math.round(y - width / 2), right - left, width)
}

function textsOf({ drawing, rc, style, formatPrice }: DrawContext, isLong: boolean) {
  const [entry, target, stop] = drawing.points.map(({ price }) => price) as [number, number, number]
  const [gain, loss] = [Math.abs(target - entry), Math.abs(entry - stop)]
  const share = (of: number) => percent(entry === 0 ? null : of / Math.abs(entry))
  const risked = ((style.accountSize ?? 0) * (style.risk ?? 0)) / 100
  // Ten digits are enough, and hide what binary fractions add.
  const size = loss > 0 && risked > 0 ? Number((risked / loss).toPrecision(4)) : 0
  const sized = size > 0 ? ` · Qty ${quantity(size)}` : ''
  const of = (name: string, at: number, away: number) =>
    `${name} ${formatPrice(at)} · ${formatPrice(away)} (${share(away)})`
  const reward = `${isLong ? 'Long' : 'Short'} · Risk/reward ${ratio(loss > 0 ? gain / loss : null)}${sized}`
  return [
    { text: of('Target', target, gain), ground: PROFIT, ink: '#06231f' },
    { text: of('Stop', stop, loss), ground: LOSS, ink: '#2b0706' },
    { text: reward, ground: rc.theme.background, ink: style.color },
  ]
}

export const POSITION_TOOLS = {
  'long-position': position('long-position', true),
  'short-position': position('short-position', false),
} as const
