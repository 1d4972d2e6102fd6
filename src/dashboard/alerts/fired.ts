// The toasts of alerts that fired. They look like nothing else, say what has happened, and stay until they are closed.

import type { Firing } from '../../wire/alert.ts'
import { marketText, quantity } from '../format.ts'
import { showOnChart } from '../frame/show-on-chart.ts'
import { timezone } from '../settings.ts'
import { toast } from '../ui/ui.tsx'
import { side } from '../workspace.ts'
import { barText } from './alert-model.ts'

/** When many fire together, this many are told one by one. */
const TOLD_MAX = 3
const TOGETHER_MS = 200

class Fired {
  #waiting: Firing[] = []

  add(firing: Firing): void {
    this.#waiting.push(firing)
    if (this.#waiting.length === 1) setTimeout(() => this.#tell(), TOGETHER_MS)
  }

  #tell(): void {
    const all = this.#waiting
    this.#waiting = []
    // It is loaded when it is needed: few pages see an alert fire.
    void import('./announce.ts').then(({ announce }) => announce(all)).catch(() => undefined)
    const rest = all.length - TOLD_MAX
    if (rest > 0)
      toast(`${rest} more ${rest === 1 ? 'alert' : 'alerts'} fired`, {
        tone: 'alert',
        action: { text: 'Show the alerts', run: () => (side.value = 'alerts') },
      })
    for (const firing of all.slice(-TOLD_MAX))
      toast(firing.message, {
        tone: 'alert',
        detail: `${marketText(firing)} · close ${quantity(firing.price)}${barText(firing, timezone.peek())}`,
        action: { text: 'Show on the chart', run: () => showOnChart(firing, firing.barTime) },
      })
  }
}

const fired = new Fired()
export const tellFired = (firing: Firing): void => fired.add(firing)
