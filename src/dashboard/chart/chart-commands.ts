// The commands of the chart, which come a moment after it.

import { activeId, charts, neighbourOf, placed, setLink, setShape } from '../charts.ts'
import { commandOf, turns, type Command } from '../commands.ts'
import { drawingBar } from '../settings.ts'
import { toastError } from '../ui/ui.tsx'
import { alertAt, side } from '../workspace.ts'
import { onTick, type Cell } from './cell.ts'
import {
  activate,
  activeCell,
  compare,
  hover,
  maximised,
  shown,
  showTrades,
  showVolume,
  stepInterval,
  studyDialog,
  symbolSearch,
  turnsScale,
} from './chart-state.ts'
import { GRID_NAMES, LINKS, SHAPES } from '../layouts/grids.ts'
import { chartView, focusChart, goToDate, takePicture } from './on-screen.ts'

/** Opens the form of an alert at a price, and beside the chart the list that it will stand in. */
export function askAlert(cell: Cell, at: number): void {
  alertAt.value = { market: cell.market.value, price: onTick(cell, at) }
  side.value = 'alerts'
}

const severalCharts = (): boolean => placed.peek().length > 1

function goToChart(by: number): void {
  activate(neighbourOf(activeId.peek(), by))
  // Right after drawing: the next key may open a dialog, and a frame later this would take the focus away from it.
  queueMicrotask(focusChart)
}

const does = commandOf('Chart')

export const COMMANDS: readonly Command[] = [
  does('chart:symbol', 'Change symbol', '/', () => (symbolSearch.value = '')),
  does('chart:compare', 'Compare with another symbol', 'Alt+C', compare),
  does('chart:studies', 'Indicators', 'Alt+I', () => (studyDialog.value = '')),
  does('chart:fullscreen', 'Whole screen on or off', 'Alt+Enter', toggleFullScreen),
  does('chart:next', 'Next chart', 'Alt+N', () => goToChart(1), severalCharts),
  does('chart:previous', 'Previous chart', 'Alt+Shift+N', () => goToChart(-1), severalCharts),
  does('chart:maximise', 'Only this chart, or all of them', 'Alt+M', turns(maximised), severalCharts),
  ...SHAPES.map((shape) =>
    does(`chart:grid:${shape}`, `Charts: ${GRID_NAMES[shape].toLowerCase()}`, '', () => setShape(shape)),
  ),
  ...LINKS.map(([link, name]) => {
    const run = () => setLink(link, !charts.peek().links.includes(link))
    return does(`chart:link:${link}`, `${name} the same on all charts, or not`, '', run, severalCharts)
  }),
  does('chart:finer', 'Finer interval', ',', () => stepInterval(-1)),
  does('chart:coarser', 'Coarser interval', '.', () => stepInterval(1)),
  does('chart:date', 'Go to date', 'Alt+G', goToDate),
  does('chart:reset', 'Reset the view', 'Alt+R', () => chartView()?.camera.toEnd()),
  does('chart:fit', 'Show all bars', 'Alt+F', () => chartView()?.camera.fit()),
  does('chart:log', 'Logarithmic scale', 'Alt+L', turnsScale('log')),
  does('chart:percent', 'Scale in per cent', 'Alt+P', turnsScale('percent')),
  does('chart:drawings', 'Show or hide the drawing tools', '', turns(drawingBar)),
  does('chart:picture', 'Save a picture of the chart', 'Alt+S', takePicture),
  does('chart:volume', 'Show or hide volume', '', turns(showVolume)),
  does('chart:trades', 'Show or hide trades', '', turns(showTrades)),
  commandOf('Alerts')('chart:alert', 'Alert at the crosshair', 'Alt+A', () => {
    const bars = shown.value?.bars
    const at = hover.value?.price ?? bars?.close[bars.length - 1]
    if (at !== undefined) askAlert(activeCell.peek(), at)
  }),
]

/** Shows the chart with its bars and drawers on the whole screen, without the browser around it. */
function toggleFullScreen(): void {
  const change = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen()
  change.catch(toastError)
}
