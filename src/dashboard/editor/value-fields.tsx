// The fields of a form that sets values of a script: a choice, a flag, and a number that may be wrong while it is typed.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { uiStyles } from '../ui/ui.tsx'
import s from './editor.module.css'

export function Choice({
  id,
  value,
  options,
  set,
  disabled = false,
}: {
  readonly id: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
  readonly set: (value: string) => void
  readonly disabled?: boolean
}) {
  return (
    <select
      id={id}
      class={uiStyles['input']}
      value={value}
      disabled={disabled}
      onChange={(event) => set(event.currentTarget.value)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** A row of its own, with its label behind it. */
export function Flag({
  id,
  value,
  set,
  disabled = false,
  children,
}: {
  readonly id: string
  readonly value: boolean
  readonly set: (value: boolean) => void
  readonly disabled?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <div class={s.input} data-kind="bool">
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={disabled}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      {children}
    </div>
  )
}

interface NumberFieldProps {
  readonly id: string
  /** The value as text. */
  readonly shown: string
  readonly value: unknown
  /** The number that a text is, or what is wrong with it. */
  readonly read: (text: string) => number | string
  readonly set: (value: number) => void
  readonly disabled?: boolean
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly step: number | 'any'
}

/** Keeps the typed text until it is a number that is accepted. */
export function NumberField({
  id,
  shown,
  value,
  read,
  set,
  disabled = false,
  min,
  max,
  step,
}: NumberFieldProps) {
  const [text, setText] = useState(shown)
  useEffect(() => {
    if (read(text) !== value) setText(shown)
  }, [value])
  const found = read(text)
  const wrong = typeof found === 'string'
  return (
    <>
      <input
        id={id}
        class={uiStyles['input']}
        type="number"
        value={text}
        disabled={disabled}
        min={min}
        max={max}
        step={step}
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onInput={(event) => {
          const typed = event.currentTarget.value
          setText(typed)
          const next = read(typed)
          if (typeof next === 'number') set(next)
        }}
      />
      {wrong && (
        <span id={`${id}-wrong`} class={s.inputWrong}>
          {found}
        </span>
      )}
    </>
  )
}
