// Attaches the drawing tools to charts: loaded once one has bars, removed with it.

import { effect, untracked } from '@preact/signals'
import { addCommands, type Command } from '../commands.ts'
import type { Cell } from '../chart/cell.ts'
import { keepSteps } from '../chart/charts-history.ts'
import { timeline } from '../chart/history.ts'
import { focusChart } from '../chart/on-screen.ts'
import type { ChartView } from '../chart/view.ts'
import { followAddress } from '../chart/chart-state.ts'
import { charts, market } from '../charts.ts'
import { openLayout } from '../layouts/layouts.ts'
import { drawables, hasCommands, hideAll, lockAll, magnet, selected, tool } from './drawing-state.ts'
import { DrawingGestures, removeSelected } from './gestures.ts'
import { changeDrawings, drawings, sheetOf } from './sheet.ts'
import { TOOL_GROUPS, TOOL_KEYS, TOOL_NAMES, toolsOf } from './tools.ts'

/**
 * Attaches them to one chart; `onReady` is called once it can be drawn on, and there are commands: what the charts share is
 * attached by an import of its own, which may come later than the first frame here. The returned function removes them.
 */
export function attachDrawings(
  host: HTMLElement,
  view: ChartView,
  cell: Cell,
  onReady: () => void,
): () => void {
  const gestures = new DrawingGestures(host, view, cell)
  let close: (() => void) | undefined
  let shown: unknown
  const stopSheet = effect(() => {
    const sheet = sheetOf(cell.market.value)
    // Another interval of the same symbol shows the same drawings.
    if (sheet === shown) return
    shown = sheet
    close?.()
    close = sheet.open()
  })
  const stopReady = effect(() => {
    if (hasCommands.value && drawables.value.has(gestures)) untracked(onReady)
  })
  return () => {
    stopReady()
    stopSheet()
    close?.()
    gestures.destroy()
  }
}

/** Attaches what all charts share: the commands, the timeline, and the selection, which is of one symbol. */
export function attachTools(): () => void {
  const stopCommands = addCommands(drawingCommands())
  const stopSteps = keepSteps({
    charts,
    timeline,
    now: () => performance.now(),
    layout: () => openLayout.value.id,
    onPut: followAddress,
  })
  const stopSelection = effect(() => {
    void sheetOf(market.value)
    selected.value = []
  })
  hasCommands.value = true
  return () => {
    hasCommands.value = false
    stopCommands()
    stopSteps()
    timeline.clear()
    stopSelection()
    tool.value = null
    selected.value = []
  }
}

/** Whether the focus is outside the editor and fields, where the same keys undo typing. */
const isOutsideText = (): boolean =>
  !document.activeElement?.closest('input, textarea, select, [contenteditable], [data-editor]')

export function drawingCommands(): readonly Command[] {
  const section = 'Drawing'
  return [
    ...TOOL_GROUPS.flatMap(toolsOf).map((name) => ({
      id: `draw:${name}`,
      title: `Draw: ${TOOL_NAMES[name].toLowerCase()}`,
      section: section as 'Drawing',
      ...(TOOL_KEYS[name] !== undefined && { keys: TOOL_KEYS[name] }),
      run: () => {
        tool.value = name
        // The next key is for the chart, wherever the tool was asked for.
        focusChart()
      },
    })),
    {
      id: 'draw:undo',
      title: 'Undo on the chart',
      section,
      keys: 'Mod+Z',
      when: isOutsideText,
      run: () => timeline.undo(),
    },
    {
      id: 'draw:redo',
      title: 'Redo on the chart',
      section,
      keys: 'Mod+Shift+Z',
      also: 'Mod+Y',
      when: isOutsideText,
      run: () => timeline.redo(),
    },
    { id: 'draw:remove', title: 'Remove the selected drawings', section, run: removeSelected },
    {
      id: 'draw:list',
      title: 'List of drawings',
      section,
      run: () => void import('./object-list.tsx').then((list) => list.openObjectList()),
    },
    {
      id: 'draw:hide',
      title: 'Show or hide all drawings',
      section,
      keys: 'Alt+Shift+H',
      run: () => (hideAll.value = !hideAll.value),
    },
    {
      id: 'draw:lock',
      title: 'Lock or unlock all drawings',
      section,
      run: () => (lockAll.value = !lockAll.value),
    },
    { id: 'draw:magnet', title: 'Magnet on or off', section, run: () => (magnet.value = !magnet.value) },
    { id: 'draw:clear', title: 'Remove all drawings of the symbol', section, run: removeAll },
  ]
}

/** Locked drawings stay. The removal can be undone. */
export function removeAll(): void {
  const gone = drawings.peek().filter((one) => !one.locked)
  selected.value = []
  if (gone.length > 0)
    changeDrawings(
      [],
      gone.map(({ id }) => id),
    )
}
