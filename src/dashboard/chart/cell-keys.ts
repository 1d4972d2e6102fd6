// Keys on a chart: letters search a symbol, digits an interval, arrows scroll and zoom.

import { entered, intervalEntry, replayOnChart, symbolSearch } from './chart-state.ts'
import type { Camera } from './camera.ts'

export function onChartKey(event: KeyboardEvent, camera: Camera | undefined): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  // Keys typed in a dialog over the chart belong to the dialog.
  if ((event.target as Element).closest('[role="dialog"], input, textarea, select')) return
  if (!typeAhead(event.key) && !opens(event.key) && !moves(event, camera)) return
  event.preventDefault()
  event.stopPropagation()
}

/** Answers whether the key opens a dialog. */
function opens(key: string): boolean {
  const isReplayKey = replayOnChart.peek() !== null && /^[npb]$/i.test(key)
  // Of any alphabet: a Cyrillic keyboard opens the search, too.
  if (/^\p{L}$/u.test(key) && !isReplayKey) symbolSearch.value = key.toUpperCase()
  else if (/^[0-9]$/.test(key)) intervalEntry.value = key
  else return false
  return true
}

function moves({ key, shiftKey }: KeyboardEvent, camera: Camera | undefined): boolean {
  const isReplay = replayOnChart.peek() !== null
  const step = shiftKey ? 30 : 5
  if (key === 'ArrowLeft' && !isReplay) camera?.scroll(-step)
  else if (key === 'ArrowRight' && !isReplay) camera?.scroll(step)
  else if (key === 'ArrowUp' || key === '+' || key === '=') camera?.zoom(0.8)
  else if (key === 'ArrowDown' || key === '-') camera?.zoom(1.25)
  else if (key === 'End') camera?.toEnd()
  else if (key === 'Home') camera?.fit()
  else return false
  return true
}

/**
 * What follows the first letter or digit may be typed before its dialog is there to receive it: digits, operators and Enter
 * too. False = no dialog is about to open, or the key means nothing to one.
 */
function typeAhead(key: string): boolean {
  const open = [symbolSearch, intervalEntry].find((entry) => entry.peek() !== null)
  const text = open?.peek() ?? ''
  if (!open) return false
  if (key === 'Escape') open.value = null
  else if (key === 'Enter') entered.value = true
  else if (key === 'Backspace') open.value = text.slice(0, -1)
  else if (key.length === 1) open.value = text + (open === symbolSearch ? key.toUpperCase() : key)
  else return false
  if (key !== 'Enter') entered.value = false
  return true
}
