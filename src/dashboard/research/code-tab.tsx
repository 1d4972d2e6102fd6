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
import s from './research.module.css'
import type { Subject, TabProps } from './subject.ts'
import { market } from '../workspace.ts'
import { putOnChart } from './subject-menu.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

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
    <Section class={p['section']} title="Inputs">
      <DataTable
        label="Inputs"
        rows={list}
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
    </Section>
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
  const versions = () => attempt(openScript(id), () => openDialog(<Versions id={id} />))
  useEffect(() => (host.current ? mountCodeReader(host.current, source.trimEnd()) : undefined), [source])
  return (
    <section class={p['section']}>
      <div class={s.sourceHead}>
        <h2>Source</h2>
        <span class="muted">{count(source.trimEnd().split('\n').length)} lines</span>
        <span class={p['actions']}>
          {buttons(
            [
              stored?.mine && stored.revision > 1 && item('Versions', 'clock', versions),
              item('Copy', 'copy', () => copyText(source)),
            ],
            'small',
          )}
        </span>
      </div>
      <div ref={host} class={s.source} data-editor="pine" />
    </section>
  )
}

function RunButton({ subject }: { readonly subject: Subject }) {
  const { symbol, interval } = market.value
  if (subject.kind === 'draft' || subject.kind === 'library') return null
  const text = `${subject.kind === 'strategy' ? 'Run on' : 'Put on'} ${symbol} ${intervalText(interval)}`
  return (
    <p class={p['actions']} style={{ marginTop: '16px' }}>
      {buttons([item(text, 'play', () => attempt(putOnChart(subject)), { primary: true })])}
    </p>
  )
}
