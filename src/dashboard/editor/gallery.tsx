// The dialog that opens a script: Chartroom's examples, the caller's own scripts, those of others, and drafts.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { attempt, Segments, Show, useLoad } from '../frame/page.tsx'
import { Badge, Dialog, Empty, Field } from '../ui/ui.tsx'
import { drafts, openCopy, openDraft, openScript } from './documents.ts'
import s from './editor.module.css'
import { SAMPLES } from './samples.ts'

export function Gallery({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Examples" onClose={onClose} width={860}>
      <p class="muted">Complete, commented strategies to read, change and run. Opening one makes a copy.</p>
      <div class={s.samples}>
        {SAMPLES.map((sample) => (
          <button
            key={sample.name}
            type="button"
            class={s.sample}
            onClick={() => {
              onClose()
              openCopy(sample.name, sample.source)
            }}
          >
            <span>
              {sample.name}
              {sample.kind === 'indicator' && <Badge>Indicator</Badge>}
            </span>
            <p>{sample.about}</p>
          </button>
        ))}
      </div>
    </Dialog>
  )
}

export function OpenScripts({ onClose }: { readonly onClose: () => void }) {
  const [shelf, setShelf] = useState<'mine' | 'public' | 'drafts'>('mine')
  const [filter, setFilter] = useState('')
  const feed = shelf === 'public' ? 'public' : 'mine'
  const list = useLoad((signal) => call('GET /api/platform/scripts', { query: { feed }, signal }), [feed])
  const wanted = (name: string) => name.toLowerCase().includes(filter.toLowerCase())
  return (
    <Dialog title="Open a script" onClose={onClose} width={560}>
      <Segments
        label="Whose scripts"
        value={shelf}
        options={[
          ['mine', 'Mine'],
          ['public', 'Public'],
          ['drafts', 'Drafts'],
        ]}
        onChange={setShelf}
      />
      <Field label="Filter" value={filter} onInput={setFilter} autofocus />
      {shelf === 'drafts' ? (
        <Drafts wanted={wanted} onClose={onClose} />
      ) : (
        <Show of={list}>
          {({ scripts }) => {
            const shown = scripts.filter((one) => wanted(one.name))
            if (shown.length === 0)
              return (
                <Empty title={scripts.length === 0 ? 'Nothing here yet' : 'No match'}>
                  {feed === 'mine'
                    ? 'Scripts you save are listed here.'
                    : 'Scripts that people on this server publish are listed here.'}
                </Empty>
              )
            return (
              <div class={s.picker}>
                {shown.map((one) => (
                  <button
                    key={one.id}
                    type="button"
                    onClick={() => {
                      onClose()
                      attempt(openScript(one.id))
                    }}
                  >
                    <span>{one.name}</span>
                    <Badge>{one.kind}</Badge>
                    <small class="muted">
                      {one.mine ? '' : `${one.author} · `}
                      {ago(one.updatedAt)}
                    </small>
                  </button>
                ))}
              </div>
            )
          }}
        </Show>
      )}
    </Dialog>
  )
}

interface DraftsProps {
  readonly wanted: (name: string) => boolean
  readonly onClose: () => void
}

/** Unsaved texts whose place in the editor another script has taken. */
function Drafts({ wanted, onClose }: DraftsProps) {
  const shown = drafts.value.filter((one) => wanted(one.name))
  if (shown.length === 0)
    return (
      <Empty title={drafts.value.length === 0 ? 'No drafts' : 'No match'}>
        A script that was not saved is kept here when another one is opened in its place.
      </Empty>
    )
  return (
    <div class={s.picker}>
      {shown.map((one) => (
        <button
          key={one.at}
          type="button"
          onClick={() => {
            onClose()
            openDraft(one)
          }}
        >
          <span>{one.name.trim() || 'Untitled script'}</span>
          <Badge tone="warn">not saved</Badge>
          <small class="muted">{ago(one.at)}</small>
        </button>
      ))}
    </div>
  )
}
