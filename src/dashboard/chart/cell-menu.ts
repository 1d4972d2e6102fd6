// The menu of a place on a chart.

import { keysShown } from '../commands.ts'
import { price } from '../format.ts'
import { copyText } from '../ui/copy-text.ts'
import { toastError } from '../ui/ui.tsx'
import { alertAt, bottom, side } from '../workspace.ts'
import { onTick, type Cell } from './cell.ts'
import { mainOf } from './cell-scene.ts'
import { dateDialog } from './chart-state.ts'
import type { MenuItem } from './menu.tsx'
import { takePicture } from './on-screen.ts'

/** `at`: the price there; null = it is a place without one, as in the pane of an oscillator. */
export function contextItems(cell: Cell, at: number | null, bar: number | null): readonly MenuItem[] {
  const shownPrice = at === null ? '' : price(at, cell.mintick.value)
  return [
    ...(at === null
      ? []
      : [
          {
            id: 'alert-here',
            text: `Alert when ${cell.market.value.symbol} crosses ${shownPrice}`,
            icon: 'bell' as const,
            run: () => {
              import('../alerts/on-charts.ts').then(
                ({ addAlertAt }) => addAlertAt(cell.market.peek(), onTick(cell, at)),
                toastError,
              )
            },
          },
          {
            id: 'alert',
            text: `Alert at ${shownPrice}…`,
            hint: keysShown('chart:alert'),
            icon: 'bell' as const,
            run: () => askAlert(cell, at),
          },
          {
            id: 'copy',
            text: `Copy ${shownPrice}`,
            icon: 'copy' as const,
            run: () => copyText(String(at), `Copied ${shownPrice}`),
          },
        ]),
    {
      id: 'reset',
      text: 'Reset the view',
      hint: keysShown('chart:reset'),
      icon: 'expand',
      run: () => cell.view.peek()?.camera.toEnd(),
    },
    {
      id: 'date',
      text: 'Go to date…',
      hint: keysShown('chart:date'),
      icon: 'clock',
      run: () => (dateDialog.value = true),
    },
    {
      id: 'picture',
      text: 'Save a picture',
      hint: keysShown('chart:picture'),
      icon: 'camera',
      run: takePicture,
    },
    { id: 'replay', text: 'Replay from here', icon: 'replay', run: () => replayFrom(cell, bar) },
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

export function askAlert(cell: Cell, at: number): void {
  alertAt.value = { market: cell.market.value, price: onTick(cell, at) }
  side.value = 'alerts'
}
