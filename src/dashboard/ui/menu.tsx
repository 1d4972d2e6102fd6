// A button that opens a menu of actions. Arrow keys move in it; Escape or a click elsewhere closes it.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import s from './menu.module.css'
import { Button } from './ui.tsx'

interface MenuItem {
  readonly text: string
  readonly note?: string
  readonly icon?: IconName
  readonly keys?: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly run: () => void
}

interface MenuProps {
  readonly label: string
  readonly icon?: IconName
  readonly items: readonly (MenuItem | '-')[]
  readonly size?: 'small'
  readonly variant?: 'quiet'
  /** Text on the button; without one, the label is its tooltip. */
  readonly children?: ComponentChildren
}

export function Menu({ label, icon = 'more', items, size, variant = 'quiet', children }: MenuProps) {
  const [open, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    anchor.current?.querySelector('button')?.focus()
  }

  useLayoutEffect(() => {
    if (!open || !list.current || !anchor.current) return
    const at = anchor.current.getBoundingClientRect()
    const { offsetWidth: width, offsetHeight: height } = list.current
    const below = at.bottom + 4
    const top = below + height > innerHeight - 8 ? Math.max(8, at.top - height - 4) : below
    list.current.style.top = `${top}px`
    // Without room to the right, align its right edge with the button's.
    const left = at.left + width > innerWidth - 8 ? at.right - width : at.left
    list.current.style.left = `${Math.max(8, left)}px`
    list.current.querySelector<HTMLElement>('[role=menuitem]:not(:disabled)')?.focus()
  }, [open])

  useEffect(() => {
    if (!open) return undefined
    const outside = (event: Event) => {
      const target = event.target as Node
      if (!list.current?.contains(target) && !anchor.current?.contains(target)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault()
      event.stopPropagation()
      close()
      return
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const all = [...(list.current?.querySelectorAll<HTMLElement>('[role=menuitem]:not(:disabled)') ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    all[(at + step + all.length) % all.length]?.focus()
  }

  return (
    <span ref={anchor} style={{ display: 'inline-flex' }}>
      <Button
        variant={variant}
        {...(size && { size })}
        icon={icon}
        {...(children ? {} : { label })}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {children}
      </Button>
      {open && (
        <div ref={list} class={s.menu} role="menu" aria-label={label} onKeyDown={onKeyDown}>
          {items.map((item, i) =>
            item === '-' ? (
              <div key={i} class={s.line} role="separator" />
            ) : (
              <button
                key={i}
                type="button"
                role="menuitem"
                class={s.item}
                tabIndex={-1}
                disabled={item.disabled ?? false}
                data-danger={item.danger ?? false}
                onClick={() => {
                  close()
                  item.run()
                }}
              >
                {item.icon ? <Icon name={item.icon} /> : <span />}
                <span>
                  {item.text}
                  {item.note && <small>{item.note}</small>}
                </span>
                {item.keys && <kbd>{item.keys}</kbd>}
              </button>
            ),
          )}
        </div>
      )}
    </span>
  )
}
