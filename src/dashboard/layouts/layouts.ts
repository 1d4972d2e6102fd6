// The layout of the charts: kept on the server under a name, saved while one works, opened on any machine.

import { batch, computed, effect, signal } from '@preact/signals'
import type { StreamEvents } from '../../wire/event.ts'
import type { Layout, LayoutChart } from '../../wire/layout.ts'
import { ApiError, call, isAway } from '../api-client.ts'
import { showMarket } from '../chart/chart-state.ts'
import { CHART_TYPES } from '../chart/draw-bars.ts'
import { charts, filled, type Charts, type OneChart } from '../charts.ts'
import { openScript } from '../editor/documents.ts'
import { onLive } from '../live.ts'
import { isStillOwn, remembered } from '../settings.ts'
import { placesOf } from './places.ts'
import { toastError } from '../ui/ui.tsx'
import { script } from '../workspace.ts'

interface Open {
  /** Empty = none is open, and nothing is saved to the server. */
  readonly id: string
  readonly name: string
  /** Its `updatedAt` when it was read or saved here; absent in what an older version has kept. */
  readonly at?: number
}
export const openLayout = remembered<Open>('layout', { id: '', name: '' })

/** The open layout as another tab or machine has left it meanwhile: nothing is saved before one of both is chosen. */
export const changedElsewhere = signal<Layout | null>(null)

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
  const ids = placed.map(({ id }) => id)
  const placeOf = (id: string) => Math.max(0, ids.indexOf(id))
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

const chartToWire = ({ id: _id, market, boxes, heights, ...rest }: OneChart): WireChart => ({
  ...market,
  ...rest,
  ...(boxes && { boxes }),
  ...(heights && { heights }),
})

function chartFromWire(id: string, chart: WireChart): OneChart {
  const { exchange, symbol, interval, type: name, boxes, heights, compared = [] } = chart
  const { scale, volume, trades, studies } = chart
  // A newer version may have stored a type that this one does not know.
  const type = CHART_TYPES.find((one) => one === name) ?? 'candles'
  const own = { id, market: { exchange, symbol, interval }, type, scale, volume, trades, studies, compared }
  return { ...own, ...(boxes && { boxes }), ...(heights && { heights }) }
}

function fromWire(chart: LayoutChart): Charts {
  const { shape, active, script: scripted, links, others } = chart.grid ?? ALONE
  const stored = [...others.slice(0, active), chart, ...others.slice(active)].map((one, i) =>
    chartFromWire(`c${i + 1}`, one),
  )
  const own = stored[Math.min(active, stored.length - 1)]!
  const all = filled(stored, placesOf(shape), own)
  return { shape, links, active: own.id, script: (stored[scripted] ?? own).id, all }
}
const ALONE = { shape: '1', active: 0, script: 0, links: ['crosshair'], others: [] } as const

export async function saveAs(name: string): Promise<void> {
  const { layout } = await call('POST /api/platform/layouts', { body: { name, chart: current.peek() } })
  openLayout.value = { id: layout.id, name: layout.name, at: layout.updatedAt }
}

export async function rename(name: string): Promise<void> {
  const { id } = openLayout.peek()
  try {
    setSeen((await changeLayout(id, { name }, seenOf(id))).layout)
  } catch (error) {
    if (isChanged(error)) void compare(id).catch(toastError)
    throw error
  }
}

export async function remove(id: string): Promise<void> {
  await call('DELETE /api/platform/layouts/{id}', { path: { id } })
  if (isOpen(id)) closeLayout()
}

/** Puts the charts as they were left. */
export function show({ id, name, chart, updatedAt }: Layout): void {
  const { scriptId } = chart
  const at = script.peek().id
  const comes = scriptId !== null && scriptId !== at
  batch(() => {
    openLayout.value = { id, name, at: updatedAt }
    changedElsewhere.value = null
    const next = fromWire(chart)
    charts.value = next
    awaited.value = comes ? { at, scriptId } : null
    showMarket(next.all.find((one) => one.id === next.active)!.market)
  })
  if (comes) openScript(scriptId).catch(toastError)
}

const isOpen = (id: string): boolean => openLayout.peek().id === id
/** The version of a layout that is open here; undefined if it is not. */
const seenOf = (id: string): number | undefined => (isOpen(id) ? openLayout.peek().at : undefined)

function setSeen({ id, name, updatedAt }: Layout): void {
  if (isOpen(id)) openLayout.value = { id, name, at: updatedAt }
}

const changeLayout = (
  id: string,
  change: { readonly name: string } | { readonly chart: LayoutChart },
  seen: number | undefined,
  keepalive = false,
) =>
  call('PATCH /api/platform/layouts/{id}', {
    path: { id },
    body: { ...change, ...(seen !== undefined && { seen }) },
    keepalive,
  })

const isChanged = (error: unknown): boolean => error instanceof ApiError && error.status === 409

/** Asks which charts are to stay, if another tab or machine has left others in the layout than there are here. */
async function compare(id: string): Promise<void> {
  const { layout } = await call('GET /api/platform/layouts/{id}', { path: { id } })
  if (!isOpen(id) || layout.updatedAt <= (seenOf(id) ?? 0)) return
  const shown = (chart: LayoutChart) => JSON.stringify([fromWire(chart), chart.scriptId])
  if (shown(layout.chart) === shown(current.peek())) return setSeen(layout)
  changedElsewhere.value = layout
  // What the browser remembers of the other tab's version would pass for this one's after a reload.
  openLayout.value = { ...openLayout.peek() }
}

/** The charts that are here take the place of what another tab or machine has saved. */
export function keepThese(): void {
  const layout = changedElsewhere.peek()
  if (!layout) return
  batch(() => {
    setSeen(layout)
    changedElsewhere.value = null
  })
}

/** The charts stay as they are, and belong to no layout. */
export function closeLayout(): void {
  batch(() => {
    openLayout.value = { id: '', name: '' }
    changedElsewhere.value = null
  })
}

type Unsaved = Pick<Layout, 'id' | 'chart'>

/** Saves the open layout when the chart has not changed for a moment; the returned function ends that. */
export function saveAsOneGoes(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let unsaved: Unsaved | null = null
  let last = { id: '', text: '' }
  let sending = 0
  let sent: Promise<void> = Promise.resolve()
  const send = async (one: Unsaved, leaving: boolean) => {
    const { id, chart } = one
    // The version that a request before this one makes is not known yet.
    const seen = leaving && sending > 0 ? undefined : seenOf(id)
    sending++
    try {
      const keepalive = leaving && JSON.stringify(chart).length < LAST_WORDS_MAX
      setSeen((await changeLayout(id, { chart }, seen, keepalive)).layout)
    } catch (error) {
      if (isAway(error)) {
        // Changes that were made since then are newer, and stay.
        unsaved ??= one
        timer = setTimeout(save, RETRY_MS)
      } else if (error instanceof ApiError && error.status === 404) {
        // It was deleted on another machine.
        if (isOpen(id)) closeLayout()
      } else if (isChanged(error)) await compare(id).catch(toastError)
      else toastError(error)
    } finally {
      sending--
    }
  }
  const save = () => {
    clearTimeout(timer)
    const one = unsaved
    unsaved = null
    if (one) sent = sent.then(() => send(one, false))
  }
  const stop = effect(() => {
    const chart = current.value
    const { id } = openLayout.value
    const text = JSON.stringify(chart)
    if (changedElsewhere.value) {
      // Whatever is chosen is saved: it may be what is here now.
      unsaved = null
      last = { id, text: '' }
      return
    }
    // A layout that was just opened or made equals the server's; changes of the previous one are sent at once.
    if (last.id !== id) save()
    else if (last.text !== text && id !== '') {
      unsaved = { id, chart }
      clearTimeout(timer)
      timer = setTimeout(save, SAVE_AFTER_MS)
    }
    last = { id, text }
  })
  const look = () => {
    const { id } = openLayout.peek()
    // Where it cannot be read, the next change says why.
    if (id !== '') sent = sent.then(() => compare(id)).catch(() => undefined)
  }
  look()
  const heard = ({ id, updatedAt }: StreamEvents['layout']) => {
    sent = sent.then(() => {
      if (updatedAt > (seenOf(id) ?? Infinity)) look()
    })
  }
  const stopHearing = onLive('layout', heard, look)
  // A change right before the tab is closed has to reach other machines as well.
  const onLeave = () => {
    if (unsaved && isStillOwn()) void send(unsaved, true)
    unsaved = null
  }
  addEventListener('pagehide', onLeave)
  return () => {
    removeEventListener('pagehide', onLeave)
    stopHearing()
    stop()
    save()
  }
}
