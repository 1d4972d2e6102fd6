// The points that a tool is placed with where the pointer gives fewer, or none.

import type { DrawingTool } from '../../wire/drawing.ts'
import type { Placing } from './positions.ts'
import type { Anchor, Spot, Surface } from './surface.ts'
import { codeOf } from './tools.ts'

/** Places in the middle of the chart for the points of a tool. */
export function middlePlaces(name: DrawingTool, { width, height }: Surface): readonly Spot[] {
  const count = codeOf(name).points || 3
  return Array.from({ length: count }, (_, i) => ({
    x: width * (0.35 + (0.3 * i) / Math.max(1, count - 1)),
    y: height * (i % 2 === 0 ? 0.55 : 0.4),
  }))
}

/** A position is placed by its entry alone, with target and stop at a distance that suits the chart. */
export function expanded(name: DrawingTool, points: readonly Anchor[], surface: Surface): readonly Anchor[] {
  const { expand } = codeOf(name)
  if (!expand) return points
  const seconds = points.map(({ time, price }) => ({ time: time / 1000, price }))
  const context: Placing = {
    barSeconds: surface.barMs / 1000,
    visibleBars: surface.to - surface.from,
    span: Math.abs(surface.priceAt(0) - surface.priceAt(surface.height)),
  }
  return expand(seconds, context).map(({ time, price }) => ({
    time: Math.round(time * 1000),
    price: rounded(price),
  }))
}

/** Prices keep ten digits, since the digits that a pixel adds beyond them are noise. */
export const rounded = (price: number): number => Number(price.toPrecision(10))
