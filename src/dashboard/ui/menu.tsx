// Menus: a button that opens a list of actions, and the list by itself where a place is clicked. Arrow keys move in it; Escape
// or a click elsewhere closes it. It is drawn above everything.

import { type ComponentChildren, type RefObject, Fragment } from 'preact'
import { useSignal, type Signal } from '@preact/signals'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'
import s from './menu.module.css'
import { Button, cx, toastError } from './ui.tsx'

/** What can be done. As a button, its note is the tooltip. */
export interface MenuItem {
  readonly text: string
  readonly note?: string
  /** What a screen reader calls its button, where the text does not say of what it is. */
  readonly label?: string
  /** What stands at the end of its line, such as its keys. */
  readonly hint?: string
  readonly icon?: IconName
  /** Whether it is the one that is chosen of its kind. */
  readonly checked?: boolean
  /** Whether it is on, whatever the others are. */
  readonly on?: boolean
  /** Its name stands above the first of a section. */
  readonly section?: string
  readonly primary?: boolean
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly run: () => void
}
/** `icon`: '' = none. */
export const item = (
  text: string,
  icon: IconName | '',
  run: () => void,
  more: Partial<MenuItem> = {},
): MenuItem => ({ text, run, ...(icon && { icon }), ...more })

/** `-` = a line between two groups; what is false is left out. */
export type MenuItems = readonly (MenuItem | '-' | '' | false | null | undefined)[]

/** A menu that is open: where its button stood, and what it offers. */
export interface OpenMenu {
  readonly as: string
  readonly box: DOMRect
  readonly shown: MenuItems
}

interface MenuProps {
  readonly label: string
  /** A function is asked when the menu is opened. */
  readonly items: MenuItems | (() => MenuItems | Promise<MenuItems>)
  readonly icon?: IconName
  readonly size?: 'small'
  /** In the bar of a chart, where a button is as high as the bar. */
  readonly bar?: boolean
  readonly class?: string | undefined
  /** Keeps it open, under a name, where its button is drawn anew in another place while it is. */
  readonly kept?: { readonly open: Signal<OpenMenu | null>; readonly as: string }
  /** What stands on the button; without it, the label is its tooltip. */
  readonly children?: ComponentChildren
}

export function Menu(menu: MenuProps) {
  const { label, icon = 'more', items, size, bar = false, kept, children } = menu
  const anchor = useRef<HTMLSpanElement>(null)
  const own = useSignal<OpenMenu | null>(null)
  const { open: state, as } = kept ?? { open: own, as: '' }
  const open = state.value?.as === as ? state.value : null
  const id = useId()
  const toggle = () => {
    if (open) {
      state.value = null
      return
    }
    const box = anchor.current!.getBoundingClientRect()
    const show = (shown: MenuItems) => {
      state.value = { as, box, shown }
    }
    const found = typeof items === 'function' ? items() : items
    if (found instanceof Promise) found.then(show, toastError)
    else show(found)
  }
  const props = {
    'aria-haspopup': 'menu',
    'aria-expanded': open !== null,
    'aria-controls': open ? id : undefined,
    onClick: toggle,
  } as const
  return (
    <>
      <span ref={anchor} class={cx(s.anchor, menu.class)}>
        {bar ? (
          <button
            {...props}
            type="button"
            class={s.bar}
            aria-label={label}
            title={label}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowDown') return
              event.preventDefault()
              toggle()
            }}
          >
            {children}
          </button>
        ) : (
          <Button
            {...props}
            variant="quiet"
            {...(size && { size })}
            icon={icon}
            {...(!children && { label })}
          >
            {children}
          </Button>
        )}
      </span>
      {open && (
        <MenuList
          id={id}
          label={label}
          owner={anchor}
          items={open.shown}
          x={open.box.left}
          right={open.box.right}
          y={open.box.bottom + 4}
          above={open.box.top - 4}
          onClose={(refocus) => {
            state.value = null
            if (refocus) anchor.current?.querySelector('button')?.focus()
          }}
        />
      )}
    </>
  )
}

interface Place {
  readonly x: number
  readonly y: number
  /** Where its right edge is if there is no room to the right of `x`. */
  readonly right?: number
  /** Where it ends if there is more room above what it belongs to than below. */
  readonly above?: number
}

interface MenuListProps extends Place {
  /** The button that it belongs to, which closes it by itself. */
  readonly owner?: RefObject<HTMLElement | null>
  readonly id?: string
  readonly label: string
  readonly items: MenuItems
  readonly onClose: (refocus: boolean) => void
}

export function MenuList({ id, label, items, owner, onClose, ...place }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = list.current!
    element.showPopover()
    putAt(element, place)
    return closing(element, owner, onClose)
  }, [])
  // Where one has a sign before it, the words of all stand below each other.
  const isMarked = items.some(
    (one) => one && one !== '-' && (one.icon ?? one.on ?? one.checked) !== undefined,
  )
  let section: string | undefined
  return (
    <div ref={list} id={id} class={s.menu} popover="manual" role="menu" aria-label={label}>
      {items.map((item, i) => {
        if (!item) return null
        if (item === '-') return <div key={i} class={s.line} role="separator" />
        const head = item.section !== section && item.section
        section = item.section
        return (
          <Fragment key={i}>
            {head && (
              <div class={s.head} role="presentation">
                {head}
              </div>
            )}
            <Item item={item} isMarked={isMarked} onClose={onClose} />
          </Fragment>
        )
      })}
    </div>
  )
}

interface ItemProps {
  readonly item: MenuItem
  readonly isMarked: boolean
  readonly onClose: (refocus: boolean) => void
}

function Item({ item, isMarked, onClose }: ItemProps) {
  const ticked = item.on ?? item.checked
  return (
    <button
      type="button"
      class={s.item}
      role={ticked === undefined ? 'menuitem' : item.on === undefined ? 'menuitemradio' : 'menuitemcheckbox'}
      aria-checked={ticked}
      tabIndex={-1}
      disabled={item.disabled ?? false}
      data-danger={item.danger ?? false}
      onClick={() => {
        onClose(true)
        item.run()
      }}
    >
      {isMarked && (
        <span class={s.mark}>
          {item.icon ? <Icon name={item.icon} /> : ticked && <Icon name="check" size={14} />}
        </span>
      )}
      <span class={s.text}>
        {item.text}
        {item.note && <small>{item.note}</small>}
      </span>
      {item.hint && <kbd>{item.hint}</kbd>}
    </button>
  )
}

/** The page's policy forbids inline styles in markup, but allows setting them through the object model. */
function putAt(element: HTMLElement, { x, y, right = innerWidth - 8, above = 0 }: Place): void {
  const { width, height } = element.getBoundingClientRect()
  const left = x + width > innerWidth - 8 ? right - width : x
  element.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 8))}px`
  const instead = above - height >= 8 ? above - height : Math.max(8, innerHeight - height - 8)
  element.style.top = `${y + height <= innerHeight - 8 ? y : instead}px`
}

/** Moves the focus by keys, and closes. The returned function ends that. */
function closing(
  element: HTMLElement,
  owner: RefObject<HTMLElement | null> | undefined,
  onClose: (refocus: boolean) => void,
): () => void {
  const buttons = () => [...element.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)')]
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
    const target = event.target as Node
    if (!element.contains(target) && !owner?.current?.contains(target)) onClose(false)
  }
  element.addEventListener('keydown', onKey)
  document.addEventListener('pointerdown', onDown, true)
  // The keys go with the element.
  return () => document.removeEventListener('pointerdown', onDown, true)
}
