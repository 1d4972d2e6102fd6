// The frame of a dialog: keeps the focus inside while it is open.

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { useClose } from './dialogs.tsx'
import { Button, uiStyles as s } from './ui.tsx'

interface DialogProps {
  readonly title: string
  /** Of one that was not opened by `openDialog`, which closes its own. */
  readonly onClose?: (() => void) | undefined
  readonly children: ComponentChildren
  readonly footer?: ComponentChildren
  readonly width?: number | undefined
}

/** Keeps the focus inside while open, and returns it when closed, which Escape or a click outside does. */
export function Dialog({ title, onClose = useClose(), children, footer, width }: DialogProps) {
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  const close = useRef(onClose)
  close.current = onClose
  // In a layout effect, so that it receives even the first key typed.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null
    const focusable = () => [
      ...(box.current?.querySelectorAll<HTMLElement>(
        'a[href],button:not(:disabled),input,select,textarea,[tabindex="0"]',
      ) ?? []),
    ]
    const first =
      box.current?.querySelector<HTMLElement>('[data-autofocus]') ?? focusable()[1] ?? focusable()[0]
    first?.focus()
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        event.stopPropagation()
        close.current()
      }
      if (event.key !== 'Tab') return
      const all = focusable()
      const edge = event.shiftKey ? all[0] : all.at(-1)
      if (document.activeElement !== edge) return
      event.preventDefault()
      ;(event.shiftKey ? all.at(-1) : all[0])?.focus()
    }
    const element = box.current
    element?.addEventListener('keydown', onKey)
    return () => {
      element?.removeEventListener('keydown', onKey)
      // Not from something that was focused meanwhile, by what closed the dialog.
      const now = document.activeElement
      if (now === document.body || element?.contains(now)) before?.focus()
    }
  }, [])
  return (
    <div class={s.backdrop} onMouseDown={(event) => event.target === event.currentTarget && onClose()}>
      <div
        ref={box}
        class={s.dialog}
        role="dialog"
        aria-modal="true"
        aria-labelledby={id}
        style={width ? { width: `min(${width}px, 100%)` } : undefined}
      >
        <div class={s.dialogHead}>
          <h2 id={id}>{title}</h2>
          <Button variant="quiet" icon="close" label="Close" onClick={() => onClose()} />
        </div>
        <div class={s.dialogBody}>{children}</div>
        {footer && <div class={s.dialogFoot}>{footer}</div>}
      </div>
    </div>
  )
}
