// The reference of the API: every operation with what it takes, answers and refuses, and a form that sends it.
//
// It is made from the OpenAPI document, which is made from the schemas that the server checks by.

import { useEffect, useMemo, useState } from 'preact/hooks'
import { apiUrl } from '../api-client.ts'
import { base } from '../base.ts'
import { href } from '../router.ts'
import { CodeBlock, Page, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { Markdown } from '../ui/markdown-view.tsx'
import { Badge, Button, cx, Field } from '../ui/ui.tsx'
import {
  addressOf,
  anchorOf,
  curlOf,
  exampleOf,
  fieldsOf,
  found,
  groupsOf,
  expanded,
  typeText,
  type FieldRow,
  type Group,
  type OpenApi,
  type Operation,
} from './openapi.ts'
import s from './reference.module.css'

export function Reference({ resource }: { readonly resource?: string }) {
  const loaded = useLoad(async (signal) => {
    const answer = await fetch(apiUrl('/api/openapi.json'), { signal })
    return expanded((await answer.json()) as OpenApi)
  }, [])
  return (
    <Page
      title="API reference"
      {...(resource !== undefined && { back: ['/reference', 'All resources'] as const })}
      about={
        <>
          Also as an <a href={`${base}/api/openapi.json`}>OpenAPI document</a>, and as clients in one file for{' '}
          <a href={`${base}/api/client.ts`}>TypeScript</a> and <a href={`${base}/api/client.py`}>Python</a>.
        </>
      }
    >
      <Show of={loaded}>{(described) => <Contents described={described} resource={resource} />}</Show>
    </Page>
  )
}

const slug = (name: string): string => name.toLowerCase().replace(/[^a-z]+/g, '-')

function Contents({ described, resource }: { described: OpenApi; resource: string | undefined }) {
  const [words, setWords] = useState('')
  const groups = useMemo(() => groupsOf(described), [described])
  const shown = groups.find(({ name }) => slug(name) === resource)
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [resource])
  return (
    <div class={s.columns} data-open={shown !== undefined}>
      <nav class={s.list} aria-label="Operations">
        <Field
          label="Find"
          type="search"
          value={words}
          onInput={setWords}
          placeholder="alerts, POST, /bars"
        />
        {found(groups, words).map((group) => (
          <GroupLinks key={group.name} group={group} open={words !== '' || group.name === shown?.name} />
        ))}
      </nav>
      <div class={s.body}>
        {shown ? (
          <>
            <h2>{shown.name}</h2>
            {shown.operations.map((operation) => (
              <OperationView key={anchorOf(operation)} operation={operation} described={described} />
            ))}
          </>
        ) : (
          <Markdown text={described.info.description} />
        )}
      </div>
    </div>
  )
}

function GroupLinks({ group, open }: { readonly group: Group; readonly open: boolean }) {
  const { name, operations } = group
  const address = href(`/reference/${slug(name)}`)
  return (
    <section>
      <a href={address} class={s.group}>
        {name}
      </a>
      {open && (
        <ul>
          {operations.map((one) => (
            <li key={anchorOf(one)}>
              <a href={`${address}#${anchorOf(one)}`}>
                <Method of={one.method} />
                <span>{one.summary.replaceAll('`', '')}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Method({ of }: { readonly of: string }) {
  return (
    <span class={s.method} data-method={of}>
      {of === 'DELETE' ? 'DEL' : of}
    </span>
  )
}

interface OperationProps {
  readonly operation: Operation
  readonly described: OpenApi
}

function OperationView({ operation, described }: OperationProps) {
  const { method, path, summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json']?.schema
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const answered = answer?.content?.['application/json']?.schema
  return (
    <section class={s.operation} id={anchorOf(operation)}>
      <h3>{summary.replaceAll('`', '')}</h3>
      <div class={s.address}>
        <Method of={method} />
        <code>{path}</code>
      </div>
      {description !== undefined && <Markdown text={description} />}
      <Fields
        title="Parameters"
        rows={parameters.map((one) => ({
          name: one.name,
          type: `${typeText(one.schema)}, in the ${one.in}`,
          bounds: '',
          meaning: one.description ?? '',
          required: one.required ?? false,
          fields: [],
        }))}
      />
      {body && <Fields title="Body" rows={fieldsOf(body, described)} />}
      {answered && <Fields title="Answer" rows={fieldsOf(answered, described)} />}
      <Refusals operation={operation} />
      {method !== 'EVENT' && <Try operation={operation} described={described} />}
    </section>
  )
}

function Fields({ title, rows }: { readonly title: string; readonly rows: readonly FieldRow[] }) {
  if (rows.length === 0) return null
  return (
    <>
      <h4>{title}</h4>
      <FieldList rows={rows} />
    </>
  )
}

function FieldList({ rows }: { readonly rows: readonly FieldRow[] }) {
  return (
    <ul class={s.fields}>
      {rows.map((row) => (
        <li key={row.name}>
          <div>
            <code>{row.name}</code> <span class="muted">{row.type}</span>
            {row.required && <Badge>required</Badge>}
          </div>
          {(row.meaning !== '' || row.bounds !== '') && (
            <p>
              {row.meaning.replaceAll('`', '')} {row.bounds !== '' && <span class="muted">{row.bounds}</span>}
            </p>
          )}
          {row.fields.length > 0 && (
            <details>
              <summary>{row.fields.length} fields</summary>
              <FieldList rows={row.fields} />
            </details>
          )}
        </li>
      ))}
    </ul>
  )
}

function Refusals({ operation: { responses } }: { readonly operation: Operation }) {
  const refusals = Object.entries(responses).filter(([status]) => /^([45]\d\d|default)$/.test(status))
  if (refusals.length === 0) return null
  return (
    <details class={s.refusals}>
      <summary>Refusals</summary>
      <dl>
        {refusals.map(([status, { description }]) => (
          <div key={status}>
            <dt class="num">{status === 'default' ? 'any' : status}</dt>
            <dd>
              <Markdown text={description} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Most of an answer that is shown. */
const SHOWN_MAX = 20_000

function Try({ operation, described }: OperationProps) {
  const { method, parameters = [], requestBody } = operation
  const schema = requestBody?.content['application/json']?.schema
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() => (schema ? pretty(exampleOf(schema, described)) : ''))
  const [token, setToken] = useState('')
  const [outcome, setOutcome] = useState<{ status: number; ms: number; text: string } | null>(null)
  const filled = { values, body }
  const asked = parameters.filter((one) => one.in !== 'header')
  const send = async () => {
    const started = performance.now()
    const response = await fetch(base + addressOf(operation, filled), {
      method,
      headers: {
        ...(schema && { 'content-type': 'application/json' }),
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
      ...(schema && { body }),
    }).catch(() => null)
    if (!response) return setOutcome({ status: 0, ms: 0, text: 'The server does not answer.' })
    const text = await response.text()
    setOutcome({ status: response.status, ms: performance.now() - started, text: readable(text) })
  }
  return (
    <details class={s.try}>
      <summary>Try it</summary>
      <div class={p['form']}>
        {asked.map(({ name, required }) => (
          <Field
            key={name}
            label={required ? `${name} (required)` : name}
            value={values[name] ?? ''}
            onInput={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        {schema && <Field label="Body" rows={8} value={body} onInput={setBody} />}
        <Field
          label="Token"
          value={token}
          onInput={setToken}
          placeholder="crm_pat_…"
          hint="Without one it is sent with your session."
        />
        <div class={p['actions']}>
          <Button variant="primary" onClick={() => void send()}>
            Send {method}
          </Button>
        </div>
        <CodeBlock label="as a command" text={curlOf(operation, filled, location.origin + base)} />
        <div role="status">
          {outcome && (
            <>
              <p class={cx('num', outcome.status >= 200 && outcome.status < 300 ? 'up' : 'down')}>
                {outcome.status || 'No answer'} <span class="muted">in {Math.round(outcome.ms)} ms</span>
              </p>
              <CodeBlock label="answer" text={outcome.text.slice(0, SHOWN_MAX)} />
            </>
          )}
        </div>
      </div>
    </details>
  )
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

function readable(text: string): string {
  try {
    return pretty(JSON.parse(text))
  } catch {
    return text
  }
}
