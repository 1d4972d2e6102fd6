// A button with a list below it, usable by arrow keys and closed by Escape or a click elsewhere. Drawn above all panes.

import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from '../ui/icon.tsx'
import { cx, toastError } from '../ui/ui.tsx'
import s from './chart.module.css'

export interface MenuItem {
  readonly id: string
  readonly text: string
  readonly hint?: string
  readonly icon?: IconName
  /** Whether it is the one that is chosen of its kind. */
  readonly checked?: boolean
  /** Whether it is on, whatever the others are. */
  readonly on?: boolean
  readonly section?: string
  readonly run: () => void
}

interface MenuProps {
  readonly label: string
  readonly items: () => readonly MenuItem[] | Promise<readonly MenuItem[]>
  readonly children: ComponentChildren
  readonly class?: string | undefined
}

export function Menu({ label, items, children, class: more }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [at, setAt] = useState<{ box: DOMRect; shown: readonly MenuItem[] } | null>(null)
  const id = useId()
  const toggle = () => {
    const box = button.current?.getBoundingClientRect()
    if (at || !box) return setAt(null)
    const show = (shown: readonly MenuItem[]) => setAt({ box, shown })
    const found = items()
    if (found instanceof Promise) found.then(show, toastError)
    else show(found)
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={cx(s.control, more)}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        aria-controls={at ? id : undefined}
        aria-label={label}
        title={label}
        onClick={toggle}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') {
            event.preventDefault()
            toggle()
          }
        }}
      >
        {children}
      </button>
      {at && (
        <MenuList
          id={id}
          label={label}
          items={at.shown}
          x={at.box.left}
          y={at.box.bottom + 4}
          above={at.box.top - 4}
          onClose={(refocus) => {
            setAt(null)
            if (refocus) button.current?.focus()
          }}
        />
      )}
    </>
  )
}

interface MenuListProps {
  readonly id?: string
  readonly label: string
  readonly items: readonly MenuItem[]
  readonly x: number
  readonly y: number
  /** Where it ends if there is more room above what it belongs to than below. */
  readonly above?: number
  readonly onClose: (refocus: boolean) => void
}

export function MenuList({ id, label, items, x, y, above = 0, onClose }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = list.current!
    // The page's policy forbids inline styles in markup, but allows setting them through the object model.
    const box = element.getBoundingClientRect()
    element.style.left = `${Math.max(4, Math.min(x, innerWidth - box.width - 8))}px`
    const fits = y + box.height <= innerHeight - 8
    const instead = above - box.height >= 8 ? above - box.height : Math.max(8, innerHeight - box.height - 8)
    element.style.top = `${fits ? y : instead}px`
    const buttons = () => [...element.querySelectorAll<HTMLElement>('[role^="menuitem"]')]
    ;(element.querySelector<HTMLElement>('[aria-checked="true"]') ?? buttons()[0])?.focus()
    const onKey = (event: KeyboardEvent) => {
      const all = buttons()
      const now = all.indexOf(document.activeElement as HTMLElement)
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (event.key === 'Escape' || event.key === 'Tab') onClose(true)
      else if (step) all[(now + step + all.length) % all.length]?.focus()
      else if (event.key === 'Home') all[0]?.focus()
      else if (event.key === 'End') all.at(-1)?.focus()
      else return
      event.preventDefault()
      event.stopPropagation()
    }
    const onDown = (event: PointerEvent) => {
      if (!element.contains(event.target as Node)) onClose(false)
    }
    element.addEventListener('keydown', onKey)
    document.addEventListener('pointerdown', onDown, true)
    return () => {
      element.removeEventListener('keydown', onKey)
      document.removeEventListener('pointerdown', onDown, true)
    }
  }, [])
  // Where one has a sign before it, the words of all stand below each other.
  const marked = items.some((item) => item.checked !== undefined || item.on !== undefined || item.icon)
  let section: string | undefined
  return (
    <div ref={list} id={id} class={s.menu} role="menu" aria-label={label}>
      {items.map((item) => {
        const head = item.section !== section && item.section
        const ticked = item.on ?? item.checked
        section = item.section
        return (
          <>
            {head && (
              <div class={s.menuHead} role="presentation">
                {head}
              </div>
            )}
            <button
              key={item.id}
              type="button"
              class={s.menuItem}
              role={
                ticked === undefined
                  ? 'menuitem'
                  : item.on === undefined
                    ? 'menuitemradio'
                    : 'menuitemcheckbox'
              }
              aria-checked={ticked}
              tabIndex={-1}
              onClick={() => {
                onClose(true)
                item.run()
              }}
            >
              {item.icon ? (
                <Icon name={item.icon} />
              ) : (
                marked && <span class={s.menuTick}>{ticked && <Icon name="check" size={14} />}</span>
              )}
              <span>{item.text}</span>
              {item.hint && <span class={s.menuHint}>{item.hint}</span>}
            </button>
          </>
        )
      })}
    </div>
  )
}
