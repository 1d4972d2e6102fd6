// The layout of the chart: kept on the server under a name, saved as one goes on, opened on any machine.

import { computed, effect } from '@preact/signals'
import type { Layout, LayoutChart } from '../../wire/layout.ts'
import { ApiError, call } from '../api-client.ts'
import { chartType, priceScale, showMarket, showTrades, showVolume } from '../chart/chart-state.ts'
import { CHART_TYPES } from '../chart/draw-bars.ts'
import { openScript } from '../editor/documents.ts'
import { remembered } from '../settings.ts'
import { studies } from '../studies/studies.ts'
import { toastError } from '../ui/ui.tsx'
import { market, script } from '../workspace.ts'

/** The layout that is open; an empty id = none: nothing is saved to the server. */
export const openLayout = remembered('layout', { id: '', name: '' })

const SAVE_AFTER_MS = 1500

/** The chart as it is now. */
const current = computed<LayoutChart>(() => ({
  ...market.value,
  type: chartType.value,
  scale: priceScale.value,
  volume: showVolume.value,
  trades: showTrades.value,
  scriptId: script.value.id,
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

/** Puts the chart as it was left. */
export function show({ id, name, chart }: Layout): void {
  const { exchange, symbol, interval, type, scale, volume, trades, scriptId } = chart
  openLayout.value = { id, name }
  chartType.value = CHART_TYPES.find((one) => one === type) ?? chartType.peek()
  priceScale.value = scale
  showVolume.value = volume
  showTrades.value = trades
  studies.value = chart.studies
  showMarket({ exchange, symbol, interval })
  if (scriptId !== null && scriptId !== script.peek().id) openScript(scriptId).catch(toastError)
}

/** Saves the open layout when the chart has stayed the same for a moment; the returned function ends that. */
export function saveAsOneGoes(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let saved = { id: '', text: '' }
  const save = async () => {
    const { id } = openLayout.peek()
    const chart = current.peek()
    const text = JSON.stringify(chart)
    if (id === '' || (saved.id === id && saved.text === text)) return
    try {
      await call('PATCH /api/platform/layouts/{id}', { path: { id }, body: { chart } })
      saved = { id, text }
    } catch (error) {
      // Deleted on another machine: what is on the chart stays, and belongs to no layout.
      if (error instanceof ApiError && error.status === 404) openLayout.value = { id: '', name: '' }
    }
  }
  const stop = effect(() => {
    const text = JSON.stringify(current.value)
    const { id } = openLayout.value
    clearTimeout(timer)
    // What was just opened or made is what the server has.
    if (saved.id !== id) saved = { id, text }
    else timer = setTimeout(() => void save(), SAVE_AFTER_MS)
  })
  return () => {
    stop()
    clearTimeout(timer)
    void save()
  }
}
