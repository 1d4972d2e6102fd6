// The symbols that are drawn over a chart: put on, changed, taken off, and their bars fetched and followed.

import type { Bars } from '../../market/bars.ts'
import { nameOf, intervalText, type Named } from '../format.ts'
import { computed, effect, signal, untracked } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { COMPARED_MAX, type Compared } from '../charts.ts'
import { onLive } from '../live.ts'
import { toast } from '../ui/ui.tsx'
import { loadBars } from './bars.ts'
import { symbols, type Cell } from './cell.ts'
import { factsOf, isPartOf } from './made-markets.ts'
import { intervalsOf } from './chart-state.ts'
import { words } from '../../lib/words.ts'

/** In the order in which a button goes through them. */
export const COMPARE_SCALES = ['percent', 'own', 'price'] as const satisfies readonly Compared['scale'][]

/** Colours that are told apart on both themes. */
const COLORS = words('#ff9800 #2196f3 #e040fb #00bcd4 #ffc107 #8bc34a #f06292 #9575cd #4db6ac #a1887f')
const FOLLOW_MS = 500

export function addCompared(cell: Cell, { exchange, symbol }: Named): void {
  const now = cell.compared.peek() ?? []
  if (now.some((one) => nameOf(one) === nameOf({ exchange, symbol }))) return
  if (now.length >= COMPARED_MAX) return toast(`A chart can have at most ${COMPARED_MAX} symbols over it.`)
  const color = COLORS.find((one) => !now.some((other) => other.color === one)) ?? COLORS[0]
  cell.compared.value = [...now, { exchange, symbol, scale: 'percent', color, hidden: false }]
  // Symbols are compared by how far each has moved, so their scale is in per cent.
  if (cell.scale.peek() === 'linear') cell.scale.value = 'percent'
}

export function changeCompared(cell: Cell, of: Named, change: Partial<Compared>): void {
  cell.compared.value = (cell.compared.peek() ?? []).map((one) =>
    nameOf(one) === nameOf(of) ? { ...one, ...change } : one,
  )
}

export function removeCompared(cell: Cell, of: Named): void {
  const left = (cell.compared.peek() ?? []).filter((one) => nameOf(one) !== nameOf(of))
  cell.compared.value = left
  if (left.length === 0 && cell.scale.peek() === 'percent') cell.scale.value = 'linear'
}

/** Fetches the bars of the symbols over a chart, at its interval, and again when some of them change. */
export function useCompared(cell: Cell): void {
  useEffect(() => {
    const round = signal(0)
    let timer: ReturnType<typeof setTimeout> | undefined
    const wanted = computed(() =>
      JSON.stringify([cell.market.value.interval, (cell.compared.value ?? []).map(nameOf)]),
    )
    let loading: Promise<unknown> = Promise.resolve()
    const stop = effect(() => {
      void [wanted.value, round.value]
      const abort = new AbortController()
      loading = untracked(() => loadCompared(cell, abort.signal))
      return () => abort.abort()
    })
    const stopLive = onLive('bars', (bars) => {
      if (!(cell.compared.peek() ?? []).some((one) => isPartOf(bars, one))) return
      // Bars that come faster than answers must not put these off for ever.
      timer ??= setTimeout(async () => {
        await loading
        timer = undefined
        round.value++
      }, FOLLOW_MS)
    })
    return () => {
      stop()
      stopLive()
      clearTimeout(timer)
    }
  }, [])
}

/** Resolves when all of them are there, or why they are not. */
function loadCompared(cell: Cell, signal: AbortSignal): Promise<unknown> {
  const { interval } = cell.market.peek()
  const loads = (cell.compared.peek() ?? []).map(async ({ exchange, symbol }) => {
    const name = nameOf({ exchange, symbol })
    const put = (bars: Bars | Error) => {
      if (!signal.aborted) cell.comparedBars.value = { ...cell.comparedBars.peek(), [name]: bars }
    }
    const facts = factsOf(symbols.peek() ?? [], { exchange, symbol })
    if (facts && !intervalsOf(facts).includes(interval))
      put(new Error(`There are no bars of ${name} for ${intervalText(interval)}.`))
    else
      await loadBars({ exchange, symbol, interval }, signal, put).catch((error: unknown) =>
        put(error instanceof Error ? error : new Error(String(error))),
      )
  })
  return Promise.all(loads)
}
