// What the lists of channels and of addresses have in common: a row with its log and its deletion, and the log.

import type { ComponentChildren } from 'preact'
import { alertStyles as rows } from '../alerts/alerts-list.tsx'
import { Listed, type LoadPage, type PageOf, usePages } from '../frame/page.tsx'
import { Menu, type MenuItem, type MenuItems } from '../ui/menu.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { buttons, deletion } from '../ui/buttons.tsx'

interface RowProps {
  readonly name: string
  readonly note: ComponentChildren
  readonly side: ComponentChildren
  readonly act: MenuItem
  readonly items: MenuItems
  readonly onDelete: () => Promise<void>
  readonly onDeleteText: string
}

export function Row({ name, note, side, act, items, onDelete, onDeleteText }: RowProps) {
  const goes = { title: `Delete ${name}?`, text: onDeleteText, action: 'Delete', run: onDelete }
  return (
    <li class={rows['row']}>
      <div class={rows['main']}>
        <strong>{name}</strong>
        <span class={rows['note']}>{note}</span>
      </div>
      <div class={rows['side']}>{side}</div>
      <div style={{ display: 'flex', gap: '4px' }}>
        {buttons([act], 'small')}
        <Menu label={`More for ${name}`} items={[...items, '-', deletion(goes)]} />
      </div>
    </li>
  )
}

interface LogProps<N extends string, A extends PageOf<N>> {
  readonly title: string
  readonly label: string
  readonly name: N
  readonly load: LoadPage<A>
  readonly empty: ComponentChildren
  readonly row: (item: A[N][number], reload: () => void) => ComponentChildren
}

/** A dialog that lists what came or was sent, page by page. */
export function LogDialog<N extends string, A extends PageOf<N>>(props: LogProps<N, A>) {
  const { title, label, name, load, empty, row } = props
  const list = usePages(name, load, [])
  return (
    <Dialog title={title}>
      <Listed of={list} label={label} class={rows['list']} empty={empty}>
        {(one) => <li class={rows['row']}>{row(one, list.reload)}</li>}
      </Listed>
    </Dialog>
  )
}
