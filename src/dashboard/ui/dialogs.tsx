// Dialogs opened by a call, from wherever something asks for one: `openDialog(<Rename />)`.
// They belong to the page on which they were opened, and go with it.

import { effect, signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { path } from '../router.ts'

type Close = (isSent?: boolean) => void
/** Of the dialog that is being put on the page, whose parts take it at once. A context says the same in 400 bytes. */
let closing: Close = () => {}
/** What closes the dialog that it is called in; with true once its form was sent. */
export const useClose = (): Close => useRef(closing).current

interface Opened {
  readonly dialog: JSX.Element
  readonly onSent: (() => void) | undefined
}
const opened = signal<readonly Opened[]>([])

/** `onSent`: what follows once the form in it was sent. */
export function openDialog(dialog: JSX.Element, onSent?: () => void): void {
  opened.value = [...opened.peek(), { dialog, onSent }]
}

function close(one: Opened, isSent = false): void {
  opened.value = opened.peek().filter((other) => other !== one)
  if (isSent) one.onSent?.()
}

// At once, so that a dialog may be opened on the page that was just gone to.
effect(() => {
  void path.value
  opened.value = []
})

function Shown({ one }: { readonly one: Opened }) {
  closing = (isSent) => close(one, isSent)
  return one.dialog
}

export const Dialogs = () => (
  <>
    {opened.value.map((one) => (
      <Shown key={one} one={one} />
    ))}
  </>
)
