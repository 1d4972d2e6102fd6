// The fields of a form that sets values of a script: a flag, and a number that may be wrong while it is typed.

import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { uiStyles } from '../ui/ui.tsx'
import s from './editor.module.css'

interface FlagProps {
  readonly id: string
  readonly value: boolean
  readonly set: (value: boolean) => void
  readonly disabled?: boolean
  readonly children: ComponentChildren
}

/** A row of its own, with its label behind it. */
export const Flag = ({ id, value, set, disabled = false, children }: FlagProps) => (
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

interface NumberFieldProps extends Pick<InputHTMLAttributes, 'disabled' | 'min' | 'max' | 'step'> {
  readonly id: string
  readonly shown: string
  readonly value: unknown
  /** The number that a text is, or what is wrong with it. */
  readonly read: (text: string) => number | string
  readonly set: (value: number) => void
}

/** Keeps the typed text until it is a number that is accepted. */
export function NumberField({ id, shown, value, read, set, ...rest }: NumberFieldProps) {
  const [text, setText] = useState(shown)
  useEffect(() => {
    if (read(text) !== value) setText(shown)
  }, [value])
  const found = read(text)
  const wrong = typeof found === 'string'
  return (
    <>
      <input
        {...rest}
        id={id}
        class={uiStyles['input']}
        type="number"
        value={text}
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
