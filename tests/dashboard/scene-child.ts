// Runs in a blank page: one chart with the store behind it, which is told what has arrived in whatever order a test deals, and
// tells what the library holds and what is painted.

import { effect } from '@preact/signals'
import { attachDrawings } from '../../src/dashboard/drawings/attach.ts'
import { sheetOf } from '../../src/dashboard/drawings/sheet.ts'
import { symbols } from '../../src/dashboard/chart/cell.ts'
import { barsCame } from '../../src/dashboard/chart/cell-bars.ts'
import { sceneOf } from '../../src/dashboard/chart/cell-scene.ts'
import { cellOf } from '../../src/dashboard/chart/chart-state.ts'
import { ChartView } from '../../src/dashboard/chart/view.ts'
import { isSameMarket, market, type Market, type Study } from '../../src/dashboard/charts.ts'
import { answered, placeOf } from '../../src/dashboard/studies/studies.ts'
import { run, type ShownRun } from '../../src/dashboard/workspace.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, sliceBars, type Bars } from '../../src/market/bars.ts'
import type { SymbolFacts } from '../../src/wire/bars.ts'
import type { Drawing } from '../../src/wire/drawing.ts'
import type { Track } from '../../src/wire/track.ts'

const DAY = 86_400_000
const SPX: Market = { exchange: 'SP', symbol: 'SPX', interval: '1d' }

/** Some hundred days of 2018 that wander, of which the newest third comes first. */
interface Data {
  readonly all: Bars
  readonly newest: Bars
  readonly trackA: readonly Track[]
  readonly trackB: readonly Track[]
  readonly shown: ShownRun
}
function dataOf(count: number): Data {
  const all = emptyBars(count)
  for (let i = 0; i < count; i++) {
    const middle = 100 + 20 * Math.sin(i / 40) + 5 * Math.sin(i / 7)
    all.time[i] = Date.UTC(2018, 0, 1) + i * DAY + 14 * 3_600_000
    all.open[i] = middle
    all.close[i] = middle + Math.cos(i)
    all.high[i] = middle + 3
    all.low[i] = middle - 3
    all.volume[i] = 1000 + (i % 50)
  }
  const newest = sliceBars(all, count - Math.floor(count / 3), count)
  const plot = (pane: string, color: string, of: (close: number) => number) =>
    [
      { kind: 'time', id: 'time', data: [...newest.time] },
      {
        kind: 'plot',
        id: 'p',
        title: 'P',
        pane,
        overlay: pane === 'price',
        zorder: 1,
        color,
        data: [...newest.close].map(of),
      },
    ] as unknown as readonly Track[]
  const [entryBar, exitBar] = [newest.length - 6, newest.length - 2]
  const trade = {
    n: 1,
    side: 'long',
    status: 'closed',
    qty: 2,
    profit: 4,
    entryBar,
    exitBar,
    entryPrice: newest.close[entryBar],
    exitPrice: newest.close[exitBar],
    entryId: 'In',
    exitId: 'Out',
    entryComment: '',
    exitComment: '',
  }
  const report = { ...SPX, script: { title: 'Cross', shorttitle: '' }, currency: 'USD', trades: [trade] }
  return {
    all,
    newest,
    trackA: plot('own', '#FF9800FF', (close) => close % 3),
    trackB: plot('own', '#2962FFFF', (close) => close % 10),
    shown: {
      id: null,
      name: 'Cross',
      report,
      tracks: plot('price', '#9C27B0FF', (close) => close + 2),
    } as unknown as ShownRun,
  }
}

const study = (id: string): Study => ({
  id,
  name: id,
  shortName: id,
  source: '',
  from: '',
  inputs: {},
  hidden: false,
  intervals: null,
  plots: {},
})
const [A, B] = [study('a'), study('b')]
const cell = cellOf('c1')
cell.studies.value = [A, B]

const line = (price: number): Drawing => ({
  id: 'd',
  tool: 'horizontal-line',
  points: [{ time: Date.UTC(2018, 5, 1), price }],
  style: {},
})

/** What can arrive for the chart. */
function arrivals({ all, newest, trackA, trackB, shown }: Data): Readonly<Record<string, () => void>> {
  const last = newest.length - 1
  const result = (tracks: readonly Track[], problem: string | null = null) => ({
    key: '',
    title: 'S',
    market: SPX,
    tracks,
    problem,
  })
  return {
    first: () => barsCame(cell, SPX, newest, false),
    older: () => barsCame(cell, SPX, all, true),
    forming: () => {
      const time = newest.time[last]! + DAY
      cell.forming.value = {
        market: SPX,
        bar: { time, open: 101, high: 108, low: 99, close: 107, volume: 500 },
      }
    },
    zone: () => {
      symbols.value = [
        {
          exchange: 'SP',
          symbol: 'SPX',
          timezone: 'America/New_York',
          mintick: 0.05,
          series: [],
        } as unknown as SymbolFacts,
      ]
    },
    studyA: () => answered(placeOf(cell, A), result(trackA)),
    studyB: () => answered(placeOf(cell, B), result(trackB)),
    drawings: () => (sheetOf(SPX).drawings.value = [line(95)]),
    alerts: () => (cell.alerts.value = [{ price: 110, text: '', tone: 'accent' }]),
    trades: () => (run.value = shown),
  }
}

/** What may come in between, and is nothing in the end. */
function noises({ newest, trackB }: Data): readonly (() => void)[] {
  const none = { key: '', title: 'S', market: SPX, tracks: [] }
  return [
    () => answered(placeOf(cell, B), { ...none, problem: 'The server is busy.' }),
    () => (cell.problem.value = new Error('The bars could not be fetched.')),
    // Another tab has drawn something else before.
    () => (sheetOf(SPX).drawings.value = [line(120), { ...line(80), id: 'e' }]),
    // What comes late is of a market that is no longer shown.
    () =>
      answered(placeOf(cell, B), {
        ...none,
        market: { ...SPX, symbol: 'OLD' },
        tracks: trackB,
        problem: null,
      }),
    () => barsCame(cell, { ...SPX, symbol: 'OLD' }, newest, true),
  ]
}

/** As the page does it: the bars of the former market go, and other requests are on their way. */
function show(next: Market): void {
  market.value = next
  if (cell.shown.peek() && !isSameMarket(cell.shown.peek()!.market, next)) cell.shown.value = null
}

function forget(): void {
  show(SPX)
  cell.shown.value = null
  cell.forming.value = null
  cell.problem.value = null
  cell.alerts.value = []
  symbols.value = []
  sheetOf(SPX).drawings.value = []
  run.value = null
  for (const one of [A, B])
    answered(placeOf(cell, one), {
      key: '',
      title: 'S',
      market: { ...SPX, symbol: '' },
      tracks: [],
      problem: null,
    })
}

const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))

class Stage {
  readonly #host = document.createElement('div')
  readonly #view: ChartView
  #stop: () => void = () => undefined

  constructor() {
    this.#host.style.cssText = 'width: 480px; height: 360px'
    document.body.append(this.#host)
    const nothing = () => undefined
    this.#view = new ChartView(this.#host, {
      onHover: nothing,
      onClick: nothing,
      onRange: nothing,
      onLayout: nothing,
      onHeights: nothing,
    })
    attachDrawings(this.#host, this.#view, cell, nothing)
  }

  /** The store is empty, and the chart shows whatever was there before. */
  begin(): void {
    this.#stop()
    forget()
    const { scene } = sceneOf(cell)
    this.#stop = effect(() => {
      if (scene.value) this.#view.paint(scene.value)
    })
  }

  /** What the library holds. */
  held(): string {
    const { panes, camera } = this.#view
    return JSON.stringify([
      camera.visible,
      camera.position,
      panes.map(({ name, series }) => [
        name,
        series.data(),
        series.priceScale().options(),
        { ...series.options(), autoscaleInfoProvider: null },
      ]),
    ])
  }

  scroll(bars: number): void {
    this.#view.camera.scroll(bars)
  }

  /** The time at the right edge; null = it is behind the newest bar. */
  async edge(): Promise<number | null> {
    await nextFrame()
    const { camera, scene } = this.#view
    return scene.bars.time[Math.round(camera.visible!.to)] ?? null
  }

  async painted(): Promise<string> {
    await nextFrame()
    const canvas = await this.#view.picture()
    return canvas.toDataURL()
  }
}

export const NAMES = Object.keys(arrivals(dataOf(30)))

/**
 * All orders of all arrivals: for every set of them, and each of them as the last to come, the scene and the library are as
 * they are when they come in the order above. By induction over the sets, no order makes a difference. Answers those that do.
 */
function allOrders(): readonly string[] {
  const stage = new Stage()
  const all = arrivals(dataOf(30))
  const dealt = (names: readonly string[]) => {
    stage.begin()
    for (const name of names) all[name]!()
    return stage.held() + JSON.stringify(sceneOf(cell).scene.value)
  }
  const odd: string[] = []
  for (let set = 1; set < 2 ** NAMES.length; set++) {
    const names = NAMES.filter((_, i) => (set >> i) % 2 === 1)
    const wanted = dealt(names)
    for (const last of names.slice(0, -1)) {
      const order = [...names.filter((name) => name !== last), last]
      if (dealt(order) !== wanted) odd.push(order.join(' → '))
    }
  }
  return odd
}

/** So many orders by chance, with repeats and noise, and perhaps another symbol or interval in between. */
async function someOrders(count: number, seed: number): Promise<readonly string[]> {
  const stage = new Stage()
  const data = dataOf(900)
  const all = arrivals(data)
  const random = seededRandom(seed)
  const shuffled = (names: readonly string[]) => {
    const rest = [...names]
    return names.map(() => rest.splice(random.below(rest.length), 1)[0]!)
  }
  const dealt = async (names: readonly string[]) => {
    stage.begin()
    const made = noises(data)
    for (const name of names) {
      if (name.startsWith('noise')) made[Number(name.slice(5))]!()
      else if (name === 'symbol') show({ ...SPX, symbol: 'OTHER' })
      else if (name === 'interval') show({ ...SPX, interval: '1h' })
      else if (name === 'back') show(SPX)
      else all[name]!()
    }
    return [stage.held(), await stage.painted()] as const
  }
  const [held, painted] = await dealt(NAMES)
  const odd: string[] = []
  for (let n = 0; n < count; n++) {
    const before: string[] = []
    for (let i = random.below(6); i > 0; i--)
      before.push(
        random.below(2) ? `noise${random.below(noises(data).length)}` : NAMES[random.below(NAMES.length)]!,
      )
    if (random.below(3) === 0) before.push(random.below(2) ? 'symbol' : 'interval', 'studyA', 'zone', 'back')
    const order = [...before, ...shuffled(NAMES)]
    const [itsHeld, itsPainted] = await dealt(order)
    if (itsHeld !== held || itsPainted !== painted)
      odd.push(
        `${itsHeld === held ? '' : 'held '}${itsPainted === painted ? '' : 'painted '}${order.join(' → ')}`,
      )
  }
  return odd
}
/** The time at the right edge of a chart that was scrolled by so many bars, after each of these has arrived. */
async function edges(scrolled: number, names: readonly string[]): Promise<readonly (number | null)[]> {
  const stage = new Stage()
  const all = arrivals(dataOf(900))
  stage.begin()
  all['first']!()
  await nextFrame()
  stage.scroll(scrolled)
  const found = [await stage.edge()]
  for (const name of names) {
    all[name]!()
    found.push(await stage.edge())
  }
  return found
}
Object.assign(globalThis, { allOrders, someOrders, edges })
