// Alerts on drawings: a level is watched as a price, but a sloping line by a script that knows the line, since its price
// differs on every bar.

import type { Drawing } from '../../wire/drawing.ts'
import { toastError } from '../ui/ui.tsx'
import { alertAt, market, side, type AlertWish } from '../workspace.ts'
import LINE_SCRIPT from './drawn-line.pine' with { type: 'text' }
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

/** Its title. */
const SCRIPT_NAME = 'Distance to a drawn line'

/**
 * The one script for all such alerts of a user, which is stored with the first of them and gets the line by its inputs. It plots
 * the close minus the line's price, which crosses zero where the close crosses the line. The line runs from bar to bar as it is
 * drawn, so a weekend takes no room.
 */
async function lineScript(): Promise<string> {
  const { asSubject, storedId } = await import('../research/subject.ts')
  return storedId(asSubject({ id: '', name: SCRIPT_NAME, kind: 'indicator', source: LINE_SCRIPT }))
}
