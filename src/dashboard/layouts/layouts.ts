// The layout of the chart: stored on the server by name, saved automatically, opened on any machine.

import { batch, computed, effect, signal } from '@preact/signals'
import type { Layout, LayoutChart } from '../../wire/layout.ts'
import { ApiError, call, isAway } from '../api-client.ts'
import { chartType, priceScale, showMarket, showTrades, showVolume } from '../chart/chart-state.ts'
import { CHART_TYPES } from '../chart/draw-bars.ts'
import { openScript } from '../editor/documents.ts'
import { remembered } from '../settings.ts'
import { studies } from '../studies/studies.ts'
import { toastError } from '../ui/ui.tsx'
import { market, script } from '../workspace.ts'

/** The open layout; an empty id = none, and then nothing is saved to the server. */
export const openLayout = remembered('layout', { id: '', name: '' })

const SAVE_AFTER_MS = 1500
const RETRY_MS = 5000

/**
 * The script of the layout that was opened last, until the editor has it: it may be on its way, or never come. `at` is the
 * script that the editor has instead.
 */
const awaited = signal<{ readonly at: string | null; readonly scriptId: string | null } | null>(null)

/** The chart in its present state. */
const current = computed<LayoutChart>(() => ({
  ...market.value,
  type: chartType.value,
  scale: priceScale.value,
  volume: showVolume.value,
  trades: showTrades.value,
  scriptId: awaited.value?.at === script.value.id ? awaited.value.scriptId : script.value.id,
  studies: studies.value,
}))

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

/** Restores the chart as it was left. */
export function show({ id, name, chart }: Layout): void {
  const { exchange, symbol, interval, type, scale, volume, trades, scriptId } = chart
  const at = script.peek().id
  const comes = scriptId !== null && scriptId !== at
  batch(() => {
    openLayout.value = { id, name }
    chartType.value = CHART_TYPES.find((one) => one === type) ?? chartType.peek()
    priceScale.value = scale
    showVolume.value = volume
    showTrades.value = trades
    studies.value = chart.studies
    awaited.value = comes ? { at, scriptId } : null
    showMarket({ exchange, symbol, interval })
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
  const save = async () => {
    clearTimeout(timer)
    if (!unsaved) return
    const sent = unsaved
    unsaved = null
    const { id, chart } = sent
    try {
      await call('PATCH /api/platform/layouts/{id}', { path: { id }, body: { chart } })
    } catch (error) {
      if (isAway(error)) {
        // Changes made since are newer.
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
  return () => {
    stop()
    void save()
  }
}
