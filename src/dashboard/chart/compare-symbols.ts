// The symbols that are drawn over a chart: put on, changed, taken off, and their bars fetched and followed.

import { intervalText } from '../format.ts'
import { effect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { COMPARED_MAX, type Compared, type Market } from '../charts.ts'
import { onLive } from '../live.ts'
import { toast } from '../ui/ui.tsx'
import { loadBars } from './bars.ts'
import { symbols, type Cell } from './cell.ts'
import { factsOf, isPartOf } from './made-markets.ts'
import { intervalsOf } from './chart-state.ts'
import { words } from '../../lib/words.ts'

type Named = Pick<Market, 'exchange' | 'symbol'>

export const nameOf = ({ exchange, symbol }: Named): string => `${exchange}:${symbol}`

/** In the order in which a button goes through them. */
export const COMPARE_SCALES = ['percent', 'own', 'price'] as const satisfies readonly Compared['scale'][]

/** Colours that are told apart on both themes. */
const COLORS = words('#ff9800 #2196f3 #e040fb #00bcd4 #ffc107 #8bc34a #f06292 #9575cd #4db6ac #a1887f')
const FOLLOW_MS = 500

export function addCompared(cell: Cell, { exchange, symbol }: Named): void {
  const now = cell.compared.peek() ?? []
  if (now.some((one) => nameOf(one) === nameOf({ exchange, symbol }))) return
  if (now.length >= COMPARED_MAX) {
    toast(`A chart can have at most ${COMPARED_MAX} symbols over it.`)
    return
  }
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
    let key = ''
    let abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = () => {
      abort.abort()
      abort = new AbortController()
      const mine = abort
      const { interval } = cell.market.peek()
      const put = (name: string, bars: Parameters<Parameters<typeof loadBars>[2]>[0] | Error) => {
        if (!mine.signal.aborted) cell.comparedBars.value = { ...cell.comparedBars.peek(), [name]: bars }
      }
      for (const { exchange, symbol } of cell.compared.peek() ?? []) {
        const name = nameOf({ exchange, symbol })
        const facts = factsOf(symbols.peek() ?? [], { exchange, symbol })
        if (facts && !intervalsOf(facts).includes(interval)) {
          put(name, new Error(`There are no bars of ${name} for ${intervalText(interval)}.`))
          continue
        }
        loadBars({ exchange, symbol, interval }, mine.signal, (bars) => put(name, bars)).catch(
          (error: unknown) => put(name, error instanceof Error ? error : new Error(String(error))),
        )
      }
    }
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        load()
      }, FOLLOW_MS)
    }
    const stop = effect(() => {
      const wanted = JSON.stringify([cell.market.value.interval, (cell.compared.value ?? []).map(nameOf)])
      if (wanted === key) return
      key = wanted
      load()
    })
    const stopLive = onLive('bars', ({ exchange, symbol }) => {
      if ((cell.compared.peek() ?? []).some((one) => isPartOf({ exchange, symbol }, one))) soon()
    })
    return () => {
      stop()
      stopLive()
      clearTimeout(timer)
      abort.abort()
    }
  }, [])
}
