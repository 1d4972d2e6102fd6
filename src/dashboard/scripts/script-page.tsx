// The page of a stored script: what it does, its inputs and its source, and three ways to use it: on the chart, as a copy
// of one's own, or as text.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { download } from '../chart/picture.ts'
import { aboutScript } from '../editor/about-script.ts'
import { mountCodeReader } from '../editor/code-editor.ts'
import { openScript, publishOrNot, type StoredScript } from '../editor/documents.ts'
import type { ScriptInput } from '../editor/input-model.ts'
import { ago, count, intervalText } from '../format.ts'
import { href, navigate } from '../router.ts'
import { visiting } from '../session.ts'
import { copyText } from '../ui/copy-text.ts'
import { Menu } from '../ui/menu.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Badge, Button, toast } from '../ui/ui.tsx'
import { bottom, market } from '../workspace.ts'
import { attempt, Confirm, Page, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import s from './scripts.module.css'
import { KIND_TONES } from './scripts.tsx'

export function ScriptPage({ id }: { readonly id: string }) {
  return <Reader key={id} id={id} />
}

async function onChart(id: string, drawer: 'script' | 'report'): Promise<void> {
  await openScript(id)
  bottom.value = drawer
  navigate('/')
}

/** Stores a private copy and opens it in the editor. */
async function clone({ name, source }: StoredScript): Promise<void> {
  const copy = await call('POST /api/platform/scripts', { body: { name, source, visibility: 'private' } })
  toast('A copy is among your scripts', { tone: 'up' })
  await onChart(copy.id, 'script')
}

function Reader({ id }: { readonly id: string }) {
  const [deleting, setDeleting] = useState(false)
  const loaded = useLoad(
    async (signal) => (await call('GET /api/platform/scripts/{id}', { path: { id }, signal })).script,
    [id],
  )
  const script = loaded.data
  const { symbol, interval } = market.value
  const runs = script !== null && script.kind !== 'draft' && script.kind !== 'library'
  return (
    <Page
      title={script?.name ?? 'Script'}
      {...(visiting() ? {} : { back: ['/scripts', 'Scripts'] as const })}
      about={script && <Byline script={script} />}
      actions={
        script &&
        !visiting() && (
          <>
            {runs && (
              <Button
                variant="primary"
                icon="play"
                onClick={() => attempt(onChart(id, script.kind === 'strategy' ? 'report' : 'script'))}
              >
                Run on {symbol} {intervalText(interval)}
              </Button>
            )}
            {script.mine ? (
              <Button icon="code" onClick={() => attempt(onChart(id, 'script'))}>
                Edit
              </Button>
            ) : (
              <Button icon="copy" onClick={() => attempt(clone(script))}>
                Save a copy
              </Button>
            )}
            <Menu
              label="More for this script"
              items={[
                {
                  text: 'Copy the link',
                  icon: 'external',
                  run: () => copyText(location.origin + href(`/scripts/${id}`), 'Link copied'),
                },
                { text: 'Download', icon: 'download', run: () => save(script) },
                ...(script.mine
                  ? ([
                      {
                        text: script.visibility === 'public' ? 'Make private' : 'Publish',
                        icon: 'user',
                        run: () => attempt(publishOrNot(script).then(loaded.reload)),
                      },
                      '-',
                      { text: 'Delete', icon: 'trash', danger: true, run: () => setDeleting(true) },
                    ] as const)
                  : []),
              ]}
            />
          </>
        )
      }
    >
      <Show of={loaded}>
        {(shown) => (
          <>
            <About source={shown.source} />
            <Inputs source={shown.source} />
            <Source source={shown.source} />
            {deleting && (
              <Confirm
                title={`Delete “${shown.name}”?`}
                action="Delete script"
                onClose={() => setDeleting(false)}
                onConfirm={async () => {
                  await call('DELETE /api/platform/scripts/{id}', { path: { id } })
                  navigate('/scripts')
                }}
              >
                Its versions go with it. Backtests that were run with it stay.
              </Confirm>
            )}
          </>
        )}
      </Show>
    </Page>
  )
}

function Byline({ script }: { readonly script: StoredScript }) {
  const { author, mine, kind, pineVersion, revision, updatedAt, visibility } = script
  return (
    <span class={p['byline']}>
      <span>by {mine ? 'you' : author}</span>
      <Badge tone={KIND_TONES[kind]}>{kind}</Badge>
      {pineVersion !== null && <span>Pine v{pineVersion}</span>}
      <span>version {revision}</span>
      <span>changed {ago(updatedAt)}</span>
      {visibility === 'private' && <Badge tone="warn">private</Badge>}
    </span>
  )
}

function About({ source }: { readonly source: string }) {
  const paragraphs = aboutScript(source)
  if (paragraphs.length === 0) return null
  return (
    <div class={p['prose']}>
      {paragraphs.map((text, i) => (
        <p key={i}>{text}</p>
      ))}
    </div>
  )
}

/** A table row for each input: name, kind, default and bounds. */
function Inputs({ source }: { readonly source: string }) {
  const found = useLoad(
    (signal) => call('POST /api/platform/scripts/check', { body: { source }, signal }),
    [source],
  )
  const list = found.data?.inputs ?? []
  if (list.length === 0) return null
  return (
    <section class={p['section']}>
      <h2>Inputs</h2>
      <DataTable
        label="Inputs"
        rows={list}
        keyOf={(one) => one.label}
        columns={[
          {
            of: 'label',
            head: 'Name',
            look: 'main',
            cell: (one) => (
              <>
                <span>{one.label}</span>
                {one.tooltip !== '' && <span class={p['cellNote']}>{one.tooltip}</span>}
              </>
            ),
          },
          { of: 'kind', head: 'Kind', look: 'muted' },
          { of: 'default', head: 'Default', look: 'date', cell: (one) => valueText(one.default) },
          { of: 'bounds', head: 'May be', look: 'muted', cell: boundsText },
        ]}
      />
    </section>
  )
}

const valueText = (value: unknown): string =>
  value === null || value === '' ? '—' : typeof value === 'string' ? value : JSON.stringify(value)

function boundsText({ minval, maxval, options }: ScriptInput): string {
  if (options) return options.join(', ')
  if (minval !== null && maxval !== null) return `${minval} to ${maxval}`
  if (minval !== null) return `${minval} or more`
  return maxval === null ? '' : `${maxval} or less`
}

function Source({ source }: { readonly source: string }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => (host.current ? mountCodeReader(host.current, source.trimEnd()) : undefined), [source])
  return (
    <section class={p['section']}>
      <div class={s.sourceHead}>
        <h2>Source</h2>
        <span class="muted">{count(source.trimEnd().split('\n').length)} lines</span>
        <Button size="small" icon="copy" onClick={() => copyText(source)}>
          Copy
        </Button>
      </div>
      <div ref={host} class={s.source} data-editor="pine" />
    </section>
  )
}

function save({ name, source }: StoredScript): void {
  const file = name.replace(/[^\w .-]+/g, ' ').trim() || 'script'
  download(new Blob([source], { type: 'text/plain' }), `${file}.pine`)
}
