// Dialogs opened by a call, from wherever something asks for one: `openDialog((close) => <Rename onClose={close} />)`.
// They belong to the page on which they were opened, and go with it.

import { effect, signal } from '@preact/signals'
import { Fragment, type ComponentChildren } from 'preact'
import { path } from '../router.ts'

type Made = (close: () => void) => ComponentChildren
const opened = signal<readonly Made[]>([])

export function openDialog(made: Made): void {
  opened.value = [...opened.peek(), made]
}

const close = (made: Made): void => {
  opened.value = opened.peek().filter((one) => one !== made)
}

// At once, so that a dialog may be opened on the page that was just gone to.
effect(() => {
  void path.value
  opened.value = []
})

export function Dialogs() {
  return (
    <>
      {opened.value.map((made) => (
        <Fragment key={made}>{made(() => close(made))}</Fragment>
      ))}
    </>
  )
}
