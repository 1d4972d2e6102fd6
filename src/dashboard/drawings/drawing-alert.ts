// Alerts on drawings: a level is watched as a price, but a sloping line by a script that knows the line, since its price
// differs on every bar.

import type { Drawing } from '../../wire/drawing.ts'
import { call } from '../api-client.ts'
import { toastError } from '../ui/ui.tsx'
import { alertAt, market, side, type AlertWish } from '../workspace.ts'
import { LINE_SCRIPT, SCRIPT_NAME } from './line-script.ts'
import { TOOL_NAMES } from './tools.ts'
import type { Watchable } from './watchables.ts'

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
