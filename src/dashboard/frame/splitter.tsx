// The hairline between two panes: drag it, use the arrow keys on it, double click it.

import type { Signal } from '@preact/signals'
import s from './frame.module.css'

interface SplitterProps {
  readonly label: string
  readonly axis: 'x' | 'y'
  /** Size in px of the pane behind the line (right of it, or below it). */
  readonly size: Signal<number>
  readonly min: number
  readonly max: () => number
  readonly onDoubleClick?: () => void
}

export function Splitter({ label, axis, size, min, max, onDoubleClick }: SplitterProps) {
  const set = (value: number) => (size.value = Math.round(Math.max(min, Math.min(max(), value))))
  const onPointerDown = (event: PointerEvent) => {
    event.preventDefault()
    const line = event.currentTarget as HTMLElement
    const start = axis === 'x' ? event.clientX : event.clientY
    const before = size.value
    line.setPointerCapture(event.pointerId)
    const move = (now: PointerEvent) => set(before + start - (axis === 'x' ? now.clientX : now.clientY))
    const done = () => {
      line.removeEventListener('pointermove', move)
      line.removeEventListener('pointerup', done)
      line.removeEventListener('pointercancel', done)
    }
    line.addEventListener('pointermove', move)
    line.addEventListener('pointerup', done)
    line.addEventListener('pointercancel', done)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const grow = axis === 'x' ? 'ArrowLeft' : 'ArrowUp'
    const shrink = axis === 'x' ? 'ArrowRight' : 'ArrowDown'
    if (event.key !== grow && event.key !== shrink) return
    event.preventDefault()
    set(size.value + (event.key === grow ? 16 : -16))
  }
  return (
    <div
      class={s.splitter}
      data-axis={axis}
      role="separator"
      aria-label={label}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={size.value}
      aria-valuemin={min}
      aria-valuemax={max()}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={onDoubleClick}
    />
  )
}
