// Dialogs opened by a call, from wherever something asks for one: `openDialog((close) => <Rename onClose={close} />)`.
// They belong to the page on which they were opened, and go with it.

import { effect, signal } from '@preact/signals'
import { Fragment, type ComponentChildren } from 'preact'
import { path } from '../router.ts'

type Made = (close: () => void) => ComponentChildren
const opened = signal<readonly { readonly id: number; readonly made: Made }[]>([])
let nextId = 1

export function openDialog(made: Made): void {
  opened.value = [...opened.peek(), { id: nextId++, made }]
}

const close = (id: number): void => {
  opened.value = opened.peek().filter((one) => one.id !== id)
}

// At once, so that a dialog may be opened on the page that was just gone to.
effect(() => {
  void path.value
  opened.value = []
})

export function Dialogs() {
  return (
    <>
      {opened.value.map(({ id, made }) => (
        <Fragment key={id}>{made(() => close(id))}</Fragment>
      ))}
    </>
  )
}
