// The dialog that imports a watchlist: drop a file, check its rows, and import all of them or, if one is wrong, none.

import { useState } from 'preact/hooks'
import { ApiError } from '../api-client.ts'
import { counted } from '../format.ts'
import { DataTable } from '../ui/data-table.tsx'
import { refusalOf } from '../ui/field-words.ts'
import { FormProblem, useForm } from '../ui/form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { useClose } from '../ui/dialogs.tsx'
import { Button, Field, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { importList } from './lists.ts'
import { DropZone } from '../frame/drop-zone.tsx'
import { pageStyles as p } from '../frame/page.tsx'
import { parseWatchlist, type ParsedWatchlist } from '../../market/files/watchlist-text.ts'
import s from './watchlists.module.css'

const SHOWN = 100
const LIST_FIELDS = bodyFields('POST /api/platform/watchlists/import')

export function ImportWatchlist() {
  const close = useClose()
  const [parsed, setParsed] = useState<ParsedWatchlist | null>(null)
  const rows = parsed?.rows ?? []
  const form = useForm({
    wire: LIST_FIELDS,
    start: { name: '' },
    async send({ name }) {
      const items = rows.map(({ symbol, exchange, note }) => ({ symbol, exchange, note }))
      const { list, duplicates } = await importList(name.trim() || 'Watchlist', items)
      const left = duplicates > 0 ? `, ${counted(duplicates, 'duplicate')} left out` : ''
      toast(`${list.items.length} symbols imported${left}`, { tone: 'up' })
    },
  })
  form.sent.current = () => close(true)
  const { error } = form
  const read = (files: File[]) => {
    const [file] = files
    if (!file) return
    form.forgive()
    if (form.values.name === '') form.set('name', file.name.replace(/\.[^.]*$/, '').slice(0, 200))
    void file.text().then((text) => setParsed(parseWatchlist(text)))
  }
  const wrong = new Map<number, string>()
  if (error instanceof ApiError)
    for (const problem of error.fields) {
      const row = /^\/items\/(\d+)/.exec(problem.path)?.[1]
      if (row !== undefined) wrong.set(Number(row), refusalOf(problem))
    }
  const shown = rows.map((row, i) => ({ row, i })).filter(({ i }) => wrong.size === 0 || wrong.has(i))
  return (
    <Dialog
      title="Import a watchlist"
      width={600}
      footer={
        <>
          <Button onClick={() => close()}>Cancel</Button>
          <Button variant="primary" disabled={form.busy || rows.length === 0} onClick={form.submit}>
            Import {rows.length > 0 ? `${rows.length} symbols` : ''}
          </Button>
        </>
      }
    >
      <DropZone accept=".csv,.txt,text/csv,text/plain" onFiles={read}>
        <strong>Drop a file here</strong>
        <span>CSV with symbol, exchange, note, or a .txt that TradingView exported</span>
      </DropZone>
      {parsed?.problem && (
        <div class={p['note']} data-tone="down" role="alert">
          {parsed.problem}
        </div>
      )}
      {rows.length > 0 && (
        <>
          <Field label="Name" {...form.field('name', { required: false })} />
          {wrong.size > 0 ? (
            <div class={p['note']} data-tone="down" role="alert">
              {wrong.size} of {rows.length} rows cannot be read, so nothing was imported. Mend them in the
              file and drop it again.
            </div>
          ) : (
            <FormProblem error={error} shown={() => form.shown} />
          )}
          <div class={s.bad}>
            <DataTable
              label="Rows of the file"
              rows={shown}
              page={SHOWN}
              columns={[
                { of: 'line', head: 'Line', look: 'number', cell: ({ row }) => row.line },
                { of: 'symbol', head: 'Symbol', cell: ({ row }) => row.symbol },
                { of: 'exchange', head: 'Exchange', cell: ({ row }) => row.exchange },
                {
                  of: 'note',
                  head: wrong.size > 0 ? 'What is wrong' : 'Note',
                  tone: ({ i }) => (wrong.has(i) ? 'down' : 'muted'),
                  cell: ({ row, i }) => wrong.get(i) ?? row.note,
                },
              ]}
            />
          </div>
        </>
      )}
    </Dialog>
  )
}
