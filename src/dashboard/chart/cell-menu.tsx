// The menu of a place on a chart.

import { keysShown } from '../commands.ts'
import { price } from '../format.ts'
import { copyText } from '../ui/copy-text.ts'
import { toastError } from '../ui/ui.tsx'
import { bottom } from '../workspace.ts'
import { askAlert } from './ask-alert.ts'
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
  return <MenuList label="Chart" items={contextItems(cell, at, bar)} x={x} y={y} onClose={onClose} />
}

/** `at`: the price there; null = it is a place without one, as in the pane of an oscillator. */
function contextItems(cell: Cell, at: number | null, bar: number | null): readonly MenuItem[] {
  const shownPrice = at === null ? '' : price(at, cell.mintick.value)
  return [
    ...(at === null
      ? []
      : [
          item(`Alert when ${cell.market.value.symbol} crosses ${shownPrice}`, 'bell', () => {
            import('../alerts/on-charts.ts').then(
              ({ addAlertAt }) => addAlertAt(cell.market.peek(), onTick(cell, at)),
              toastError,
            )
          }),
          item(`Alert at ${shownPrice}…`, 'bell', () => askAlert(cell, at), {
            hint: keysShown('chart:alert'),
          }),
          item(`Copy ${shownPrice}`, 'copy', () => copyText(String(at), `Copied ${shownPrice}`)),
        ]),
    item('Reset the view', 'expand', () => cell.view.peek()?.camera.toEnd(), {
      hint: keysShown('chart:reset'),
    }),
    item('Go to date…', 'clock', goToDate, { hint: keysShown('chart:date') }),
    item('Save a picture', 'camera', takePicture, { hint: keysShown('chart:picture') }),
    item('Replay from here', 'replay', () => replayFrom(cell, bar)),
  ]
}

/** Replays the run on the chart if it has trades, otherwise the market alone. */
function replayFrom(cell: Cell, bar: number | null): void {
  bottom.value = 'replay'
  const hasTrades = (mainOf(cell)?.trades.trades.length ?? 0) > 0
  import('../replay/replay-session.ts')
    .then(({ begin }) => begin(hasTrades ? 'backtest' : 'market', { at: bar }))
    .catch(toastError)
}
