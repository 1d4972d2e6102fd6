// What moving one point of a drawing does to the others, for tools whose points are not free.

import type { Drawing } from '../../wire/drawing.ts'
import { rounded } from './placing.ts'
import { timeOfBar, type Anchor, type Spot, type Surface } from './surface.ts'

/** The drawing with a point moved to a place, and the points that go with it. */
export function withPoint(surface: Surface, drawing: Drawing, at: number, anchor: Anchor): Drawing {
  const moved = { ...drawing, points: drawing.points.map((point, i) => (i === at ? anchor : point)) }
  switch (drawing.tool) {
    case 'parallel-channel':
      return at === 2 ? settled(surface, moved) : withWidthOf(surface, drawing, moved)
    case 'long-position':
    case 'short-position':
      return heldPosition(drawing, at, anchor)
    default:
      return moved
  }
}

/**
 * A channel's third point says how far its second line is from the first, wherever along them it was placed; it is kept in
 * the middle of that line. Other drawings stay as they are.
 */
export function settled(surface: Surface, drawing: Drawing): Drawing {
  const [a, b, c] = drawing.points
  if (drawing.tool !== 'parallel-channel' || !a || !b || !c) return drawing
  const [from, to, at] = [spotOf(surface, a), spotOf(surface, b), spotOf(surface, c)]
  const along = to.x === from.x ? 0.5 : (at.x - from.x) / (to.x - from.x)
  return withMiddle(surface, drawing, at.y - (from.y + along * (to.y - from.y)))
}

/** The channel's second line goes along with the first. */
function withWidthOf(surface: Surface, before: Drawing, moved: Drawing): Drawing {
  const [a, b, c] = before.points
  if (!a || !b || !c) return moved
  const width = spotOf(surface, c).y - (spotOf(surface, a).y + spotOf(surface, b).y) / 2
  return withMiddle(surface, moved, width)
}

function withMiddle(surface: Surface, drawing: Drawing, width: number): Drawing {
  const [a, b] = drawing.points.map((point) => spotOf(surface, point))
  if (!a || !b) return drawing
  const price = surface.priceAt((a.y + b.y) / 2 + width)
  const third = { time: timeOfBar(surface, surface.barAt((a.x + b.x) / 2)), price: rounded(price) }
  return Number.isFinite(price) ? { ...drawing, points: [...drawing.points.slice(0, 2), third] } : drawing
}

/** Target and stop end at one time, and neither passes the entry. */
function heldPosition(drawing: Drawing, at: number, { time, price }: Anchor): Drawing {
  const [entry, target, stop] = drawing.points
  if (!entry || !target || !stop) return drawing
  const [lowest, highest] = target.price >= stop.price ? [stop, target] : [target, stop]
  const within = (low: number, high: number) => Math.min(high, Math.max(low, price))
  if (at === 0) {
    const held = { time, price: within(lowest.price, highest.price) }
    return { ...drawing, points: [held, target, stop] }
  }
  const isAbove = (at === 1 ? target : stop) === highest
  const held = isAbove ? within(entry.price, Infinity) : within(-Infinity, entry.price)
  return {
    ...drawing,
    points: [
      entry,
      { time, price: at === 1 ? held : target.price },
      { time, price: at === 2 ? held : stop.price },
    ],
  }
}

const spotOf = ({ x, y }: Surface, { time, price }: Anchor): Spot => ({ x: x(time), y: y(price) })
