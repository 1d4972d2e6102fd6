// The charts of a grid as tabs, where one of them is shown at a time: a tap or a swipe along them goes to another.

import { intervalText } from '../format.ts'
import { useEffect, useRef } from 'preact/hooks'
import { activeId, neighbourOf } from '../charts.ts'
import s from './chart.module.css'
import { activate, cellOf } from './chart-state.ts'

const SWIPE_PX = 40

export function ChartTabs({ ids }: { readonly ids: readonly string[] }) {
  const from = useRef<number | null>(null)
  const list = useRef<HTMLDivElement>(null)
  const chosenTab = () => list.current?.querySelector<HTMLElement>('[aria-selected=true]')
  useEffect(() => chosenTab()?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [activeId.value])
  const go = (by: number) => {
    activate(neighbourOf(activeId.peek(), by))
    queueMicrotask(() => chosenTab()?.focus())
  }
  return (
    <div
      ref={list}
      class={s.chartTabs}
      role="tablist"
      aria-label="Charts"
      onPointerDown={(event) => (from.current = event.clientX)}
      onPointerUp={(event) => {
        const by = event.clientX - (from.current ?? event.clientX)
        from.current = null
        if (Math.abs(by) >= SWIPE_PX) go(by < 0 ? 1 : -1)
      }}
      onPointerCancel={() => (from.current = null)}
      onKeyDown={(event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
        if (!step) return
        event.preventDefault()
        go(step)
      }}
    >
      {ids.map((id) => {
        const { symbol, interval } = cellOf(id).market.value
        const chosen = activeId.value === id
        return (
          <button
            key={id}
            type="button"
            role="tab"
            aria-selected={chosen}
            tabIndex={chosen ? 0 : -1}
            onClick={() => activate(id)}
          >
            {symbol} <span class="muted">{intervalText(interval)}</span>
          </button>
        )
      })}
    </div>
  )
}
