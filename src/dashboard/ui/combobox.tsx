// A field above the list of what it finds: arrow keys choose there, Enter takes it.

import type { InputHTMLAttributes } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface ComboboxProps extends Omit<InputHTMLAttributes, 'list' | 'type'> {
  /** The id of the list; its options are `LIST-0`, `LIST-1`, … */
  readonly list: string
  readonly found: number
  readonly at: number
  readonly onMove: (at: number) => void
  readonly onText: (text: string) => void
  readonly onEnter: () => void
}

export function Combobox({ list, found, at, onMove, onText, onEnter, ...rest }: ComboboxProps) {
  const field = useRef<HTMLInputElement>(null)
  // It may have the letter already that opened it: further letters are appended, however soon they come.
  useLayoutEffect(() => field.current?.setSelectionRange(1e4, 1e4), [])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      const next = Math.max(0, Math.min(found - 1, at + step))
      onMove(next)
      document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') onEnter()
    else return
    event.preventDefault()
  }
  return (
    <input
      {...rest}
      ref={field}
      role="combobox"
      aria-expanded={found > 0}
      aria-controls={list}
      aria-activedescendant={at < found ? `${list}-${at}` : undefined}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  )
}
