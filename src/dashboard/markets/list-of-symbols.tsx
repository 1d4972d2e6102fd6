// One watchlist as a group of markets: its rows, and a menu to rename, export and delete it.

import { call } from '../api-client.ts'
import { ago, count } from '../format.ts'
import { navigate } from '../router.ts'
import { openDialog } from '../ui/dialogs.tsx'
import { FormDialog, useForm } from '../ui/form.tsx'
import { item, Menu } from '../ui/menu.tsx'
import { Empty, Field } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { AddSymbol } from '../watchlists/add-symbol.tsx'
import { forget, rename, type Watchlist } from '../watchlists/lists.ts'
import { WatchlistRows } from '../watchlists/watchlist-table.tsx'
import s from './markets.module.css'
import { downloadItem, deletion } from '../ui/buttons.tsx'

const NAME_FIELDS = bodyFields('POST /api/platform/watchlists/import')

/** `isNew`: it was made just now, and symbols come next. */
export function ListOfSymbols({ list, isNew }: { readonly list: Watchlist; readonly isNew: boolean }) {
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
            item('Rename', 'code', () => askForName(list)),
            downloadItem('Export as CSV', `/api/platform/watchlists/${list.id}/export`),
            '-',
            deletion(deletionOf(list)),
          ]}
        />
      </div>
      {list.items.length === 0 ? (
        <Empty title="An empty list">Type a symbol below, or import a file.</Empty>
      ) : (
        <WatchlistRows list={list} wide />
      )}
      <AddSymbol list={list} isNext={isNew} />
    </>
  )
}

const askForName = ({ id, name }: Watchlist): void => openNaming('Rename', name, (to) => rename(id, to))

const deletionOf = ({ id, name, items: { length } }: Watchlist) => ({
  title: `Delete “${name}”?`,
  text:
    length === 0
      ? 'It is empty.'
      : length === 1
        ? 'Its symbol is forgotten; the bars stay.'
        : `Its ${count(length)} symbols are forgotten; their bars stay.`,
  action: 'Delete list',
  async run() {
    await call('DELETE /api/platform/watchlists/{id}', { path: { id } })
    forget(id)
    navigate('/markets')
  },
})

export const openNaming = (title: string, name: string, onName: NameDialogProps['onName']): void =>
  openDialog(<NameDialog title={title} name={name} onName={onName} />)

interface NameDialogProps {
  readonly title: string
  readonly name: string
  readonly onName: (name: string) => Promise<void>
}

function NameDialog({ title, name, onName }: NameDialogProps) {
  const form = useForm({ wire: NAME_FIELDS, start: { name }, send: (values) => onName(values.name.trim()) })
  return (
    <FormDialog of={form} title={title} action={name === '' ? 'Create' : 'Save'} width={400}>
      <Field label="Name" autofocus {...form.field('name')} />
    </FormDialog>
  )
}
