// Attaches the drawing tools to charts: loaded once one has bars, removed with it.

import { effect, untracked } from '@preact/signals'
import { addCommands, commandOf, isTyping, turns, type Command } from '../commands.ts'
import type { Cell } from '../chart/cell.ts'
import { keepSteps } from '../chart/charts-undo.ts'
import { timeline } from '../chart/undo.ts'
import { focusChart } from '../chart/on-screen.ts'
import type { ChartView } from '../chart/view.ts'
import { followAddress } from '../chart/chart-state.ts'
import { charts, market } from '../charts.ts'
import { openLayout } from '../layouts/layouts.ts'
import { draft, drawables, hasCommands, hideAll, lockAll, magnet, selected, tool } from './drawing-state.ts'
import { DrawingGestures, removeSelected } from './gestures.ts'
import { drawings, removeDrawings, sheetOf } from './sheet.ts'
import { TOOL_GROUPS, TOOL_KEYS, TOOL_NAMES } from './tools.ts'

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

/** In the editor and fields the same keys undo typing. */
const isOutsideText = (): boolean => !isTyping(document.activeElement)

/** A drawing of which only some points are set is what was done last. */
export const steps = {
  undo: () => (draft.peek() ? (draft.value = null) : timeline.undo()),
  redo: () => timeline.redo(),
}

export function drawingCommands(): readonly Command[] {
  const does = commandOf('Drawing')
  return [
    ...TOOL_GROUPS.flatMap(({ tools }) => tools).map((name) =>
      does(`draw:${name}`, `Draw: ${TOOL_NAMES[name].toLowerCase()}`, TOOL_KEYS[name] ?? '', () => {
        tool.value = name
        // The next key is for the chart, wherever the tool was asked for.
        focusChart()
      }),
    ),
    does('draw:undo', 'Undo on the chart', 'Mod+Z', steps.undo, isOutsideText),
    {
      ...does('draw:redo', 'Redo on the chart', 'Mod+Shift+Z', steps.redo, isOutsideText),
      also: 'Mod+Y',
    },
    does('draw:remove', 'Remove the selected drawings', '', removeSelected),
    does('draw:list', 'List of drawings', '', openList),
    does('draw:hide', 'Show or hide all drawings', 'Alt+Shift+H', turns(hideAll)),
    does('draw:lock', 'Lock or unlock all drawings', '', turns(lockAll)),
    does('draw:magnet', 'Magnet on or off', '', turns(magnet)),
    does('draw:clear', 'Remove all drawings of the symbol', '', removeAll),
  ]
}

const openList = (): void => void import('./object-list.tsx').then((list) => list.openObjectList())

/** Locked drawings stay. The removal can be undone. */
export function removeAll(): void {
  const gone = drawings.peek().filter((one) => !one.locked)
  selected.value = []
  if (gone.length > 0) removeDrawings(gone)
}
