// A text input that tells what was typed once it is left. What is rendered meanwhile, as when an answer comes, takes nothing of it
// away.

import { h, type InputHTMLAttributes } from 'preact'
import { useState } from 'preact/hooks'

interface TypedInputProps extends Omit<InputHTMLAttributes, 'value' | 'onInput' | 'onChange' | 'onBlur'> {
  readonly value: string
  readonly list?: string | undefined
  readonly onTyped: (text: string) => void
}

export function TypedInput({ value, onTyped, ...rest }: TypedInputProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const told = (tell: (text: string) => void) => (event: Event) =>
    tell((event.currentTarget as HTMLInputElement).value)
  const props = {
    ...rest,
    value: typed ?? value,
    onInput: told(setTyped),
    onChange: told(onTyped),
    onBlur: () => setTyped(null),
  }
  return h('input', props as object)
}
