// One watchlist as a group of markets: its rows, and a menu to rename, export and delete it.

import { useState } from 'preact/hooks'
import { apiUrl, call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { Confirm } from '../frame/page.tsx'
import { navigate } from '../router.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Menu } from '../ui/menu.tsx'
import { Empty, Field } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { AddSymbol } from '../watchlists/add-symbol.tsx'
import { changeList, forget, type Watchlist } from '../watchlists/lists.ts'
import { WatchlistRows } from '../watchlists/watchlist-table.tsx'
import s from './markets.module.css'

const NAME_FIELDS = bodyFields('POST /api/platform/watchlists/import')

interface ListProps {
  readonly list: Watchlist
  /** It was made just now: symbols come next. */
  readonly isNew: boolean
}

export function ListOfSymbols({ list, isNew }: ListProps) {
  const [open, setOpen] = useState<'rename' | 'delete' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <div class={s.head}>
        <div>
          <h2>{list.name}</h2>
          <p class="muted">Changed {ago(list.updatedAt)}</p>
        </div>
        <Menu
          label="More for this list"
          items={[
            { text: 'Rename', icon: 'code', run: () => setOpen('rename') },
            { text: 'Export as CSV', icon: 'download', run: () => download(list) },
            '-',
            { text: 'Delete', icon: 'trash', danger: true, run: () => setOpen('delete') },
          ]}
        />
      </div>
      {list.items.length === 0 ? (
        <Empty title="An empty list">Type a symbol below, or import a file.</Empty>
      ) : (
        <WatchlistRows list={list} wide />
      )}
      <AddSymbol list={list} isNext={isNew} />
      {open === 'rename' && (
        <NameDialog
          title="Rename"
          name={list.name}
          onClose={close}
          onName={(name) => changeList(list.id, { name })}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={`Delete “${list.name}”?`}
          action="Delete list"
          onClose={close}
          onConfirm={async () => {
            await call('DELETE /api/platform/watchlists/{id}', { path: { id: list.id } })
            forget(list.id)
            navigate('/markets')
          }}
        >
          {list.items.length === 0
            ? 'It is empty.'
            : list.items.length === 1
              ? 'Its symbol is forgotten; the bars stay.'
              : `Its ${count(list.items.length)} symbols are forgotten; their bars stay.`}
        </Confirm>
      )}
    </>
  )
}

function download({ id, name }: Watchlist): void {
  const link = document.createElement('a')
  link.href = apiUrl(`/api/platform/watchlists/${id}/export`).href
  link.download = `${name}.csv`
  link.click()
}

interface NameDialogProps {
  readonly title: string
  readonly name: string
  readonly onName: (name: string) => Promise<void>
  readonly onClose: () => void
}

export function NameDialog({ title, name, onName, onClose }: NameDialogProps) {
  const form = useForm({
    wire: NAME_FIELDS,
    start: { name },
    async send(values) {
      await onName(values.name.trim())
      onClose()
    },
  })
  return (
    <FormDialog
      of={form}
      title={title}
      action={name === '' ? 'Create' : 'Save'}
      onClose={onClose}
      width={400}
    >
      <Field label="Name" autofocus {...form.field('name')} />
    </FormDialog>
  )
}
