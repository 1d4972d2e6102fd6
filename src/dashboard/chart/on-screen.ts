// The view of the active chart, for those who move it: the replay, keys, and clicks in lists.

import { toastError } from '../ui/ui.tsx'
import { activeCell, shown } from './chart-state.ts'
import type { ChartView } from './view.ts'

export const chartView = (): ChartView | null => activeCell.peek().view.peek()

/** Focuses the active chart, so that keys go to it: call it once that chart is drawn. */
export function focusChart(): void {
  document.querySelector<HTMLElement>(`[data-chart="${activeCell.peek().id}"] [role=application]`)?.focus()
}

export function goToDate(): void {
  import('./date-dialog.tsx').then((dialog) => dialog.openDateDialog(), toastError)
}

export function takePicture(): void {
  const view = chartView()
  if (!view || !shown.value) return
  const chart = shown.value
  Promise.all([import('./picture.ts'), view.picture()])
    .then(([{ savePicture }, picture]) => savePicture(picture, chart))
    .catch(toastError)
}
