// The view on screen, for code that moves it: the replay, keys, and clicks in lists. It is separate from the chart, which
// loads its bar and the replay on first use: they would have to import the chart, which imports them.

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
