// The view on screen, for those who move it: the replay, keys, and clicks in lists. It stands apart from the chart, which loads
// the bar and the replay when they are first needed: they could not ask the chart for it without importing what imports them.

import { toastError } from '../ui/ui.tsx'
import { shown } from './chart-state.ts'
import type { ChartView } from './view.ts'

let onScreen: ChartView | null = null
export const chartView = (): ChartView | null => onScreen
export function putOnScreen(view: ChartView | null): void {
  onScreen = view
}

export function takePicture(): void {
  if (!onScreen || !shown.value) return
  const [picture, chart] = [onScreen.picture(), shown.value]
  import('./picture.ts').then(({ savePicture }) => savePicture(picture, chart)).catch(toastError)
}
