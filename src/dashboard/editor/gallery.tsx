// Where scripts come from: the examples that Chartroom brings, and one's own and others' stored ones.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago } from '../format.ts'
import { attempt, Segments, Show, useLoad } from '../frame/page.tsx'
import { Badge, Dialog, Empty, Field } from '../ui/ui.tsx'
import { openCopy, openScript } from './documents.ts'
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
  const [feed, setFeed] = useState<'mine' | 'public'>('mine')
  const [filter, setFilter] = useState('')
  const list = useLoad((signal) => call('GET /api/platform/scripts', { query: { feed }, signal }), [feed])
  return (
    <Dialog title="Open a script" onClose={onClose} width={560}>
      <Segments
        label="Whose scripts"
        value={feed}
        options={[
          ['mine', 'Mine'],
          ['public', 'Public'],
        ]}
        onChange={setFeed}
      />
      <Field label="Filter" value={filter} onInput={setFilter} autofocus />
      <Show of={list}>
        {({ scripts }) => {
          const shown = scripts.filter((one) => one.name.toLowerCase().includes(filter.toLowerCase()))
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
    </Dialog>
  )
}
