// Runs in a blank page: a chart of its own, which is given things in whatever order a test deals, and tells what it shows.

import { emptyBars, sliceBars, type Bars } from '../../src/market/bars.ts'
import { buildScene, stacked } from '../../src/dashboard/chart/scene.ts'
import { ChartView } from '../../src/dashboard/chart/view.ts'
import type { ChartState } from '../../src/dashboard/chart/view-state.ts'
import type { Track } from '../../src/wire/track.ts'

const DAY = 86_400_000
const COUNT = 900
const FIRST = 300

/** Days from 2018 on that wander. */
function days(): Bars {
  const bars = emptyBars(COUNT)
  for (let i = 0; i < COUNT; i++) {
    const middle = 100 + 20 * Math.sin(i / 40) + 5 * Math.sin(i / 7)
    bars.time[i] = Date.UTC(2018, 0, 1) + i * DAY + 3_600_000 * 14
    bars.open[i] = middle
    bars.close[i] = middle + Math.cos(i)
    bars.high[i] = middle + 3
    bars.low[i] = middle - 3
    bars.volume[i] = 1000 + (i % 50)
  }
  return bars
}

const all = days()
const newest = sliceBars(all, COUNT - FIRST, COUNT)

/** An oscillator over the newest bars, in a pane of its own. */
const tracks = [
  { kind: 'time', id: 'time', data: [...newest.time] },
  {
    kind: 'plot',
    id: 'o',
    title: 'O',
    pane: 'own',
    overlay: false,
    zorder: 1,
    color: '#2962FFFF',
    data: Array.from(newest.close, (close) => close % 10),
  },
] as unknown as readonly Track[]

const pieces: Readonly<Record<string, (now: ChartState) => Partial<ChartState>>> = {
  zone: () => ({ zone: 'America/New_York' }),
  preview: ({ bars }) => ({ scene: stacked([{ id: 'own', scene: buildScene('O', tracks, bars) }]) }),
  older: ({ scene }) => ({
    bars: all,
    scene: scene && stacked([{ id: 'own', scene: buildScene('O', tracks, all) }]),
  }),
}

/** The picture of a chart that was given these things in this order, as a data address. */
export async function dealt(order: readonly string[]): Promise<string> {
  const host = document.createElement('div')
  host.style.cssText = 'width: 640px; height: 400px'
  document.body.append(host)
  const nothing = () => undefined
  const view = new ChartView(host, {
    onHover: nothing,
    onClick: nothing,
    onRange: nothing,
    onLayout: nothing,
  })
  // The chart learns how large it is from the browser.
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  view.set({ bars: newest })
  for (const name of order) view.set(pieces[name]!(view.state))
  const picture = (await view.picture()).toDataURL()
  view.destroy()
  host.remove()
  return picture
}
Object.assign(globalThis, { dealt })
