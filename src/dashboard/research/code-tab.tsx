// The code of a script: what it does, what it has of inputs, its source, and its earlier versions with what changed since.

import { useEffect, useRef } from 'preact/hooks'
import { aboutScript } from '../editor/about-script.ts'
import { mountCodeReader } from '../editor/code-editor.ts'
import type { ScriptInput } from '../editor/input-model.ts'
import { openScript } from '../editor/documents.ts'
import { Versions } from '../editor/versions.tsx'
import { count, intervalText } from '../format.ts'
import { attempt, pageStyles as p, useAnswer } from '../frame/page.tsx'
import { visiting } from '../session.ts'
import { copyText } from '../ui/copy-text.ts'
import { DataTable } from '../ui/data-table.tsx'
import { openDialog } from '../ui/dialogs.tsx'
import { Button } from '../ui/ui.tsx'
import s from './research.module.css'
import type { Subject, TabProps } from './subject.ts'
import { market } from '../workspace.ts'
import { putOnChart } from './subject-menu.ts'

export function CodeTab({ subject }: TabProps) {
  const { source } = subject
  const about = aboutScript(source)
  return (
    <>
      {about.length > 0 && (
        <div class={p['prose']}>
          {about.map((text, i) => (
            <p key={i}>{text}</p>
          ))}
        </div>
      )}
      {!visiting() && <RunButton subject={subject} />}
      <Inputs source={source} />
      <Source subject={subject} />
    </>
  )
}

function Inputs({ source }: { readonly source: string }) {
  const found = useAnswer('POST /api/platform/scripts/check', { body: { source } })
  const list = found.data?.inputs ?? []
  if (list.length === 0) return null
  return (
    <section class={p['section']}>
      <h2>Inputs</h2>
      <DataTable
        label="Inputs"
        rows={list}
        keyOf={(one) => one.label}
        columns={({ own }) => [
          own('label', 'Name', 'main', (one) => (
            <>
              <span>{one.label}</span>
              {one.tooltip !== '' && <span class={p['cellNote']}>{one.tooltip}</span>}
            </>
          )),
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

function Source({ subject: { id, source, stored } }: { readonly subject: Subject }) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => (host.current ? mountCodeReader(host.current, source.trimEnd()) : undefined), [source])
  return (
    <section class={p['section']}>
      <div class={s.sourceHead}>
        <h2>Source</h2>
        <span class="muted">{count(source.trimEnd().split('\n').length)} lines</span>
        <span class={p['actions']}>
          {stored?.mine && stored.revision > 1 && (
            <Button
              size="small"
              icon="clock"
              onClick={() => attempt(openScript(id), () => openDialog(<Versions id={id} />))}
            >
              Versions
            </Button>
          )}
          <Button size="small" icon="copy" onClick={() => copyText(source)}>
            Copy
          </Button>
        </span>
      </div>
      <div ref={host} class={s.source} data-editor="pine" />
    </section>
  )
}

function RunButton({ subject }: { readonly subject: Subject }) {
  const { symbol, interval } = market.value
  if (subject.kind === 'draft' || subject.kind === 'library') return null
  return (
    <p class={p['actions']} style={{ marginTop: '16px' }}>
      <Button variant="primary" icon="play" onClick={() => attempt(putOnChart(subject))}>
        {subject.kind === 'strategy' ? 'Run on' : 'Put on'} {symbol} {intervalText(interval)}
      </Button>
    </p>
  )
}
