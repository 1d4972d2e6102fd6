// A row or a column of buttons that is a single stop for Tab; the arrow keys move within it, as in WAI-ARIA's toolbars.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface ToolbarProps {
  readonly label: string
  readonly vertical?: boolean
  readonly class?: string | undefined
  /** Called first; answers whether it handled the key. */
  readonly onKey?: (event: KeyboardEvent, on: HTMLElement) => boolean
  readonly children: ComponentChildren
}

export function Toolbar({ label, vertical = false, class: more, onKey, children }: ToolbarProps) {
  const bar = useRef<HTMLDivElement>(null)
  const stops = () => [
    ...(bar.current?.querySelectorAll<HTMLElement>('button:not(:disabled), input, select, textarea') ?? []),
  ]
  // Buttons come and go, and one of them always has to be the stop.
  useLayoutEffect(() => {
    const all = stops()
    const stop = all.find((one) => one.tabIndex === 0 && one === document.activeElement) ?? all[0]
    for (const one of all) one.tabIndex = one === stop ? 0 : -1
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const all = stops()
    const now = all.indexOf(event.target as HTMLElement)
    const isTyping = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement
    if (now < 0 || isTyping) return
    const [back, on] = vertical ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight']
    const step = event.key === on ? 1 : event.key === back ? -1 : 0
    if (step !== 0) {
      const next = all[(now + step + all.length) % all.length]!
      for (const one of all) one.tabIndex = one === next ? 0 : -1
      next.focus()
    } else if (!onKey?.(event, all[now]!)) return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      ref={bar}
      class={more}
      role="toolbar"
      aria-label={label}
      aria-orientation={vertical ? 'vertical' : 'horizontal'}
      onKeyDown={onKeyDown}
    >
      {children}
    </div>
  )
}
