// All watchlists: read, fill, rename, import and export them.

import { useEffect, useState } from 'preact/hooks'
import { apiUrl, call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { Menu } from '../ui/menu.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Button, Empty, Failure, Field, Skeleton } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { AddSymbol } from './add-symbol.tsx'
import {
  changeList,
  choose,
  chosen,
  forget,
  importList,
  listsProblem,
  loadWatchlists,
  watchlists,
  type Watchlist,
} from './lists.ts'
import { Confirm, Page } from '../frame/page.tsx'
import { NoLists } from './watchlist-drawer.tsx'
import { ImportWatchlist } from './watchlist-import.tsx'
import { WatchlistRows } from './watchlist-table.tsx'
import s from './watchlists.module.css'

const NAME_FIELDS = bodyFields('POST /api/platform/watchlists/import')

type Open = 'import' | 'new' | 'rename' | 'delete'

export function Watchlists({ id }: { readonly id?: string }) {
  const [open, setOpen] = useState<Open | null>(null)
  useEffect(() => void loadWatchlists(), [])
  useEffect(() => {
    if (id !== undefined) choose(id)
  }, [id])
  const lists = watchlists.value
  const list = chosen.value
  const close = () => setOpen(null)
  return (
    <Page
      title="Watchlists"
      about="Last price and change come from the bars that are cached here."
      actions={
        <>
          <Button icon="upload" onClick={() => setOpen('import')}>
            Import
          </Button>
          <Button variant="primary" icon="plus" onClick={() => setOpen('new')}>
            New list
          </Button>
        </>
      }
    >
      {lists === null ? (
        listsProblem.value ? (
          <Failure error={listsProblem.value} onRetry={() => void loadWatchlists()} />
        ) : (
          <Skeleton width="50%" />
        )
      ) : !list ? (
        <NoLists onImport={() => setOpen('import')} />
      ) : (
        <div class={s.layout}>
          <nav class={s.lists} aria-label="Watchlists">
            {lists.map((one) => (
              <button key={one.id} type="button" aria-current={one === list} onClick={() => choose(one.id)}>
                {one.name}
                <small>{count(one.items.length)}</small>
              </button>
            ))}
          </nav>
          <section aria-label={list.name}>
            <ListHead list={list} onOpen={setOpen} />
            {list.items.length === 0 ? (
              <Empty title="An empty list">Type a symbol below, or import a file.</Empty>
            ) : (
              <WatchlistRows list={list} wide />
            )}
            <AddSymbol list={list} />
          </section>
        </div>
      )}
      {open === 'import' && <ImportWatchlist onClose={close} />}
      {open === 'new' && (
        <NameDialog
          title="New list"
          name=""
          onClose={close}
          onName={(name) => importList(name, []).then(() => undefined)}
        />
      )}
      {open === 'rename' && list && (
        <NameDialog
          title="Rename"
          name={list.name}
          onClose={close}
          onName={(name) => changeList(list.id, { name })}
        />
      )}
      {open === 'delete' && list && (
        <Confirm
          title={`Delete “${list.name}”?`}
          action="Delete list"
          onClose={close}
          onConfirm={async () => {
            await call('DELETE /api/platform/watchlists/{id}', { path: { id: list.id } })
            forget(list.id)
          }}
        >
          {list.items.length === 0
            ? 'It is empty.'
            : list.items.length === 1
              ? 'Its symbol is forgotten; the bars stay.'
              : `Its ${count(list.items.length)} symbols are forgotten; their bars stay.`}
        </Confirm>
      )}
    </Page>
  )
}

function ListHead({ list, onOpen }: { readonly list: Watchlist; readonly onOpen: (open: Open) => void }) {
  return (
    <div style={{ display: 'flex', alignItems: 'center', gap: '8px', paddingBottom: '8px' }}>
      <div style={{ flex: 1, minWidth: 0 }}>
        <h2>{list.name}</h2>
        <p class="muted">Changed {ago(list.updatedAt)}</p>
      </div>
      <Menu
        label="More for this list"
        items={[
          { text: 'Rename', icon: 'code', run: () => onOpen('rename') },
          {
            text: 'Export as CSV',
            icon: 'download',
            run: () => {
              const link = document.createElement('a')
              link.href = apiUrl(`/api/platform/watchlists/${list.id}/export`).href
              link.download = `${list.name}.csv`
              link.click()
            },
          },
          '-',
          { text: 'Delete', icon: 'trash', danger: true, run: () => onOpen('delete') },
        ]}
      />
    </div>
  )
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
