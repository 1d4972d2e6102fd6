// The layout of the charts: kept on the server under a name, saved while one works, opened on any machine.

import { batch, computed, effect, signal } from '@preact/signals'
import type { Layout, LayoutChart } from '../../wire/layout.ts'
import { ApiError, call, isAway } from '../api-client.ts'
import { showMarket } from '../chart/chart-state.ts'
import { CHART_TYPES } from '../chart/draw-bars.ts'
import { charts, filled, type Charts, type OneChart } from '../charts.ts'
import { openScript } from '../editor/documents.ts'
import { isStillOwn, remembered } from '../settings.ts'
import { placesOf } from './grids.ts'
import { toastError } from '../ui/ui.tsx'
import { script } from '../workspace.ts'

/** The open layout; an empty id = none, and then nothing is saved to the server. */
export const openLayout = remembered('layout', { id: '', name: '' })

const SAVE_AFTER_MS = 1500
const RETRY_MS = 5000
/** Longer layouts are not sent by a page that is being closed: all pages of a browser share 64 kB for such requests. */
const LAST_WORDS_MAX = 30_000

/**
 * The script of the layout that was opened last, until the editor has it: it may be on its way, or never come. `at` is the
 * script that the editor has instead.
 */
const awaited = signal<{ readonly at: string | null; readonly scriptId: string | null } | null>(null)

/** The charts as they are now. */
const current = computed<LayoutChart>(() =>
  toWire(charts.value, awaited.value?.at === script.value.id ? awaited.value.scriptId : script.value.id),
)

/** One chart alone is stored as it was before there could be several. */
function toWire({ shape, links, active, script: scripted, all }: Charts, stored: string | null): LayoutChart {
  const placed = all.slice(0, placesOf(shape))
  const placeOf = (id: string) =>
    Math.max(
      0,
      placed.findIndex((one) => one.id === id),
    )
  const own = { ...chartToWire(placed[placeOf(active)]!), scriptId: stored }
  if (placed.length === 1) return own
  return {
    ...own,
    grid: {
      shape,
      active: placeOf(active),
      script: placeOf(scripted),
      links: [...links],
      others: placed.filter(({ id }) => id !== active).map(chartToWire),
    },
  }
}

type WireChart = NonNullable<LayoutChart['grid']>['others'][number]

const chartToWire = ({ id: _id, market, boxes, ...rest }: OneChart): WireChart => ({
  ...market,
  ...rest,
  ...(boxes && { boxes }),
})

function chartFromWire(id: string, chart: WireChart): OneChart {
  const { exchange, symbol, interval, type, scale, volume, trades, studies, boxes, compared = [] } = chart
  return {
    id,
    market: { exchange, symbol, interval },
    // A newer version may have stored a type that this one does not know.
    type: CHART_TYPES.find((one) => one === type) ?? 'candles',
    scale,
    volume,
    trades,
    studies,
    compared,
    ...(boxes && { boxes }),
  }
}

function fromWire(chart: LayoutChart): Charts {
  const { shape, active, script: scripted, links, others } = chart.grid ?? ALONE
  const stored = [...others.slice(0, active), chart, ...others.slice(active)].map((one, i) =>
    chartFromWire(`c${i + 1}`, one),
  )
  const own = stored[Math.min(active, stored.length - 1)]!
  return {
    shape,
    links,
    active: own.id,
    script: (stored[scripted] ?? own).id,
    all: filled(stored, placesOf(shape), own),
  }
}
const ALONE: NonNullable<LayoutChart['grid']> = {
  shape: '1',
  active: 0,
  script: 0,
  links: ['crosshair'],
  others: [],
}

export async function saveAs(name: string): Promise<void> {
  const { layout } = await call('POST /api/platform/layouts', { body: { name, chart: current.peek() } })
  openLayout.value = { id: layout.id, name: layout.name }
}

export async function rename(name: string): Promise<void> {
  const { id } = openLayout.peek()
  const { layout } = await call('PATCH /api/platform/layouts/{id}', { path: { id }, body: { name } })
  openLayout.value = { id, name: layout.name }
}

export async function remove(id: string): Promise<void> {
  await call('DELETE /api/platform/layouts/{id}', { path: { id } })
  if (openLayout.peek().id === id) openLayout.value = { id: '', name: '' }
}

/** Puts the charts as they were left. */
export function show({ id, name, chart }: Layout): void {
  const { scriptId } = chart
  const at = script.peek().id
  const comes = scriptId !== null && scriptId !== at
  batch(() => {
    openLayout.value = { id, name }
    const next = fromWire(chart)
    charts.value = next
    awaited.value = comes ? { at, scriptId } : null
    showMarket(next.all.find((one) => one.id === next.active)!.market)
  })
  if (comes) openScript(scriptId).catch(toastError)
}

interface Unsaved {
  readonly id: string
  readonly chart: LayoutChart
}

/** Saves the open layout when the chart has not changed for a moment; the returned function ends that. */
export function saveAsOneGoes(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let unsaved: Unsaved | null = null
  let last = { id: '', text: '' }
  const save = async ({ leaving = false } = {}) => {
    clearTimeout(timer)
    if (!unsaved) return
    const sent = unsaved
    unsaved = null
    const { id, chart } = sent
    try {
      const keepalive = leaving && JSON.stringify(chart).length < LAST_WORDS_MAX
      await call('PATCH /api/platform/layouts/{id}', { path: { id }, body: { chart }, keepalive })
    } catch (error) {
      if (isAway(error)) {
        // Changes that were made since then are newer, and stay.
        unsaved ??= sent
        timer = setTimeout(() => void save(), RETRY_MS)
      } else if (error instanceof ApiError && error.status === 404) {
        // It was deleted on another machine: the chart stays as it is, and belongs to no layout.
        if (openLayout.peek().id === id) openLayout.value = { id: '', name: '' }
      } else toastError(error)
    }
  }
  const stop = effect(() => {
    const chart = current.value
    const { id } = openLayout.value
    const text = JSON.stringify(chart)
    // A layout that was just opened or made equals the server's; changes of the previous one are sent at once.
    if (last.id !== id) void save()
    else if (last.text !== text && id !== '') {
      unsaved = { id, chart }
      clearTimeout(timer)
      timer = setTimeout(() => void save(), SAVE_AFTER_MS)
    }
    last = { id, text }
  })
  // A change right before the tab is closed has to reach other machines as well.
  const onLeave = () => {
    if (isStillOwn()) void save({ leaving: true })
  }
  addEventListener('pagehide', onLeave)
  return () => {
    removeEventListener('pagehide', onLeave)
    stop()
    void save()
  }
}
