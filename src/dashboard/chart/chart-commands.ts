// The commands of the chart, which come a moment after it.

import { batch } from '@preact/signals'
import { activeId, charts, neighbourOf, placed, setLink, setShape } from '../charts.ts'
import type { Command } from '../commands.ts'
import { drawingBar } from '../settings.ts'
import { toastError } from '../ui/ui.tsx'
import { askAlert } from './ask-alert.ts'
import {
  activate,
  activeCell,
  comparing,
  goToDate,
  hover,
  maximised,
  priceScale,
  shown,
  showTrades,
  showVolume,
  stepInterval,
  studyDialog,
  symbolSearch,
} from './chart-state.ts'
import { GRID_NAMES, LINKS, SHAPES } from '../layouts/grids.ts'
import { chartView, focusChart, takePicture } from './on-screen.ts'

function compare(): void {
  batch(() => {
    comparing.value = true
    symbolSearch.value = ''
  })
}

const severalCharts = (): boolean => placed.peek().length > 1

function goToChart(by: number): void {
  activate(neighbourOf(activeId.peek(), by))
  // Right after drawing: the next key may open a dialog, and a frame later this would take the focus away from it.
  queueMicrotask(focusChart)
}

const section = 'Chart' as const
export const COMMANDS: readonly Command[] = [
  { id: 'chart:symbol', title: 'Change symbol', section, keys: '/', run: () => (symbolSearch.value = '') },
  {
    id: 'chart:compare',
    title: 'Compare with another symbol',
    section,
    keys: 'Alt+C',
    run: compare,
  },
  { id: 'chart:studies', title: 'Indicators', section, keys: 'Alt+I', run: () => (studyDialog.value = '') },
  {
    id: 'chart:fullscreen',
    title: 'Whole screen on or off',
    section,
    keys: 'Alt+Enter',
    run: toggleFullScreen,
  },
  {
    id: 'chart:next',
    title: 'Next chart',
    section,
    keys: 'Alt+N',
    when: severalCharts,
    run: () => goToChart(1),
  },
  {
    id: 'chart:previous',
    title: 'Previous chart',
    section,
    keys: 'Alt+Shift+N',
    when: severalCharts,
    run: () => goToChart(-1),
  },
  {
    id: 'chart:maximise',
    title: 'Only this chart, or all of them',
    section,
    keys: 'Alt+M',
    when: severalCharts,
    run: () => (maximised.value = !maximised.value),
  },
  ...SHAPES.map((shape) => ({
    id: `chart:grid:${shape}`,
    title: `Charts: ${GRID_NAMES[shape].toLowerCase()}`,
    section,
    run: () => setShape(shape),
  })),
  ...LINKS.map(([link, name]) => ({
    id: `chart:link:${link}`,
    title: `${name} the same on all charts, or not`,
    section,
    when: severalCharts,
    run: () => setLink(link, !charts.peek().links.includes(link)),
  })),
  { id: 'chart:finer', title: 'Finer interval', section, keys: ',', run: () => stepInterval(-1) },
  { id: 'chart:coarser', title: 'Coarser interval', section, keys: '.', run: () => stepInterval(1) },
  { id: 'chart:date', title: 'Go to date', section, keys: 'Alt+G', run: goToDate },
  {
    id: 'chart:reset',
    title: 'Reset the view',
    section,
    keys: 'Alt+R',
    run: () => chartView()?.camera.toEnd(),
  },
  { id: 'chart:fit', title: 'Show all bars', section, keys: 'Alt+F', run: () => chartView()?.camera.fit() },
  {
    id: 'chart:log',
    title: 'Logarithmic scale',
    section,
    keys: 'Alt+L',
    run: () => (priceScale.value = priceScale.value === 'log' ? 'linear' : 'log'),
  },
  {
    id: 'chart:percent',
    title: 'Scale in per cent',
    section,
    keys: 'Alt+P',
    run: () => (priceScale.value = priceScale.value === 'percent' ? 'linear' : 'percent'),
  },
  {
    id: 'chart:drawings',
    title: 'Show or hide the drawing tools',
    section,
    run: () => (drawingBar.value = !drawingBar.value),
  },
  { id: 'chart:picture', title: 'Save a picture of the chart', section, keys: 'Alt+S', run: takePicture },
  {
    id: 'chart:volume',
    title: 'Show or hide volume',
    section,
    run: () => (showVolume.value = !showVolume.value),
  },
  {
    id: 'chart:trades',
    title: 'Show or hide trades',
    section,
    run: () => (showTrades.value = !showTrades.value),
  },
  {
    id: 'chart:alert',
    title: 'Alert at the crosshair',
    section: 'Alerts',
    keys: 'Alt+A',
    run: () => {
      const bars = shown.value?.bars
      const at = hover.value?.price ?? bars?.close[bars.length - 1]
      if (at !== undefined) askAlert(activeCell.peek(), at)
    },
  },
]

/** Shows the chart with its bars and drawers on the whole screen, without the browser around it. */
function toggleFullScreen(): void {
  const change = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen()
  change.catch(toastError)
}
