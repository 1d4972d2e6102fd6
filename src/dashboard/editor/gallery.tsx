// The dialog that opens a script in the editor: the caller's own, those of others, Chartroom's examples, and drafts.

import { useState } from 'preact/hooks'
import { ago } from '../format.ts'
import { Segments } from '../ui/segments.tsx'
import { EXAMPLES, useStored, type ListedStudy } from '../studies/catalogue.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useClose } from '../ui/dialogs.tsx'
import { Badge, Empty, Field } from '../ui/ui.tsx'
import { drafts, openDraft } from './documents.ts'
import s from './editor.module.css'

const SHELVES = { mine: 'Mine', public: 'Public', examples: 'Examples', drafts: 'Drafts' } as const
export type Shelf = keyof typeof SHELVES
const EMPTY: Readonly<Record<Shelf, string>> = {
  mine: 'Scripts you save are listed here.',
  public: 'Scripts that people on this server publish are listed here.',
  examples: '',
  drafts: 'A script that was not saved is kept here when another one is opened in its place.',
}

type Row = Pick<ListedStudy, 'id' | 'name' | 'words' | 'edit'> & { readonly badge: string }

const rowOf = (one: ListedStudy): Row => ({ ...one, badge: one.kind })

export function OpenScripts({ first }: { readonly first: Shelf }) {
  const close = useClose()
  const [shelf, setShelf] = useState(first)
  const [filter, setFilter] = useState('')
  const stored = useStored()
  const of = (group: string) => stored.filter((one) => one.group === group).map(rowOf)
  const rows: Readonly<Record<Shelf, readonly Row[]>> = {
    mine: of('Yours').map((row) => ({ ...row, words: '' })),
    public: of('Public'),
    examples: EXAMPLES.map(rowOf),
    drafts: drafts.value.map((one) => ({
      id: String(one.at),
      name: one.name.trim() || 'Untitled script',
      badge: 'not saved',
      words: ago(one.at),
      edit: () => openDraft(one),
    })),
  }
  const shown = rows[shelf].filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()))
  return (
    <Dialog title="Open a script" width={640}>
      <Segments label="Which scripts" value={shelf} options={SHELVES} onChange={setShelf} />
      <Field label="Filter" value={filter} onInput={setFilter} autofocus />
      {shown.length === 0 ? (
        <Empty title={rows[shelf].length === 0 ? 'Nothing here yet' : 'No match'}>{EMPTY[shelf]}</Empty>
      ) : (
        <div class={s.picker}>
          {shown.map(({ id, name, badge, words, edit }) => (
            <button
              key={id}
              type="button"
              onClick={() => {
                close()
                edit()
              }}
            >
              <span>{name}</span>
              <Badge>{badge}</Badge>
              <small class="muted">{words}</small>
            </button>
          ))}
        </div>
      )}
    </Dialog>
  )
}
