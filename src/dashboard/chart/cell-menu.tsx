// The menu of a place on a chart.

import { keysShown } from '../commands.ts'
import { price } from '../format.ts'
import { copyText } from '../ui/copy-text.ts'
import { attempt } from '../frame/page.tsx'
import { bottom } from '../workspace.ts'
import { askAlert } from './chart-commands.ts'
import { onTick, type Cell } from './cell.ts'
import { mainOf } from './cell-scene.ts'
import { item, MenuList, type MenuItem } from '../ui/menu.tsx'
import { goToDate, takePicture } from './on-screen.ts'

/** Where a menu was asked for, on the page and among the bars. */
export interface Place {
  readonly x: number
  readonly y: number
  /** Null where there is none, as in the pane of an oscillator. */
  readonly price: number | null
  readonly bar: number | null
}

interface PlaceMenuProps {
  readonly cell: Cell
  readonly place: Place
  readonly onClose: (refocus: boolean) => void
}

export function PlaceMenu({ cell, place: { x, y, price: at, bar }, onClose }: PlaceMenuProps) {
  const keys = (id: string) => ({ hint: keysShown(`chart:${id}`) })
  const items = [
    ...(at === null ? [] : priceItems(cell, at)),
    item('Reset the view', 'expand', () => cell.view.peek()?.camera.toEnd(), keys('reset')),
    item('Go to date…', 'clock', goToDate, keys('date')),
    item('Save a picture', 'camera', takePicture, keys('picture')),
    item('Replay from here', 'replay', () => replayFrom(cell, bar)),
  ]
  return <MenuList label="Chart" items={items} x={x} y={y} onClose={onClose} />
}

function priceItems(cell: Cell, at: number): readonly MenuItem[] {
  const shown = price(at, cell.mintick.value)
  const addAlert = async () => {
    const { addAlertAt } = await import('../alerts/on-charts.ts')
    addAlertAt(cell.market.peek(), onTick(cell, at))
  }
  return [
    item(`Alert when ${cell.market.value.symbol} crosses ${shown}`, 'bell', () => attempt(addAlert())),
    item(`Alert at ${shown}…`, 'bell', () => askAlert(cell, at), { hint: keysShown('chart:alert') }),
    item(`Copy ${shown}`, 'copy', () => copyText(String(at), `Copied ${shown}`)),
  ]
}

/** Replays the run on the chart if it has trades, otherwise the market alone. */
function replayFrom(cell: Cell, bar: number | null): void {
  bottom.value = 'replay'
  const hasTrades = (mainOf(cell)?.trades.trades.length ?? 0) > 0
  const begin = import('../replay/replay-session.ts')
  attempt(begin.then((replay) => replay.begin(hasTrades ? 'backtest' : 'market', { at: bar })))
}
