// Alerts on drawings: a level is watched as a price, but a sloping line by a script that knows the line, since its price
// differs on every bar.

import type { Drawing } from '../../wire/drawing.ts'
import { call } from '../api-client.ts'
import { price as priceText } from '../format.ts'
import { mintick } from '../chart/chart-state.ts'
import { toastError } from '../ui/ui.tsx'
import { alertAt, market, side, type AlertWish } from '../workspace.ts'
import { styleOf } from './drawn.ts'
import { LINE_SCRIPT, SCRIPT_NAME } from './line-script.ts'
import { TOOL_NAMES } from './tools.ts'

type Anchor = Drawing['points'][number]

/** The parts of a drawing that can be watched: a level, or the line through two points. */
export interface Watchable {
  readonly text: string
  readonly price?: number
  readonly line?: {
    readonly from: Anchor
    readonly to: Anchor
    readonly left: boolean
    readonly right: boolean
  }
}

export function watchables(drawing: Drawing): readonly Watchable[] {
  const { tool, points } = drawing
  const [a, b, c] = points
  const style = styleOf(drawing)
  const level = (price: number, name = ''): Watchable => ({
    text: `Alert at ${name}${priceText(price, mintick.peek())}…`,
    price,
  })
  if (!a) return []
  switch (tool) {
    case 'horizontal-line':
    case 'horizontal-ray':
    case 'cross-line':
    case 'price-label':
      return [level(a.price)]
    case 'long-position':
    case 'short-position':
      return b && c
        ? [level(a.price, 'the entry '), level(b.price, 'the target '), level(c.price, 'the stop ')]
        : []
    case 'trend-line':
    case 'ray':
    case 'extended-line':
    case 'arrow':
      return b
        ? [slope('Alert on this line…', a, b, style.extendLeft === true, style.extendRight === true)]
        : []
    case 'parallel-channel': {
      if (!b || !c) return []
      const by = c.price - (a.price + b.price) / 2
      const moved = ({ time, price }: Anchor) => ({ time, price: price + by })
      return [
        slope('Alert on the first line…', a, b, false, true),
        slope('Alert on the second line…', moved(a), moved(b), false, true),
      ]
    }
    case 'fib-retracement':
    case 'fib-extension': {
      const [base, size] =
        tool === 'fib-retracement'
          ? [b?.price ?? a.price, a.price - (b?.price ?? a.price)]
          : [c?.price ?? a.price, (b?.price ?? a.price) - a.price]
      return (style.levels ?? []).map((share) => level(base + size * share, `${share}: `))
    }
    case 'rectangle':
      return b
        ? [level(Math.max(a.price, b.price), 'the top '), level(Math.min(a.price, b.price), 'the bottom ')]
        : []
    default:
      return []
  }
}

/** From the earlier point to the later one; `onFirst` and `onSecond` say whether the drawing extends beyond either point. */
function slope(text: string, first: Anchor, second: Anchor, onFirst: boolean, onSecond: boolean): Watchable {
  return first.time <= second.time
    ? { text, line: { from: first, to: second, left: onFirst, right: onSecond } }
    : { text, line: { from: second, to: first, left: onSecond, right: onFirst } }
}

/** Opens the alert form for a drawing. */
export function askDrawingAlert(of: Drawing, { price, line }: Watchable): void {
  if (line) lineAlert(of, line).then(ask, toastError)
  else if (price !== undefined) ask({ price: price })
}

function ask(wish: AlertWish): void {
  alertAt.value = { market: market.peek(), ...wish }
  side.value = 'alerts'
}

async function lineAlert(of: Drawing, line: NonNullable<Watchable['line']>): Promise<AlertWish> {
  return {
    kind: 'indicator',
    op: 'crossing',
    price: 0,
    name: `${market.peek().symbol} crosses the ${TOOL_NAMES[of.tool].toLowerCase()}`,
    message: '{{ticker}} crosses a drawn line at {{close}}',
    scriptId: await lineScript(),
    inputs: {
      'Time 1': line.from.time,
      'Price 1': line.from.price,
      'Time 2': line.to.time,
      'Price 2': line.to.price,
      'Before the first point': line.left,
      'After the second point': line.right,
    },
  }
}

/** The one script for all such alerts of a user, which is stored with the first of them. */
async function lineScript(): Promise<string> {
  const { scripts } = await call('GET /api/platform/scripts')
  const there = scripts.find(({ name, source }) => name === SCRIPT_NAME && source === LINE_SCRIPT)
  if (there) return there.id
  return (await call('POST /api/platform/scripts', { body: { name: SCRIPT_NAME, source: LINE_SCRIPT } })).id
}
