// About this server: its version, what it is made of, and under which licences.

import { useSignal } from '@preact/signals'
import packageFile from '../../../package.json' with { type: 'json' }
import { base } from '../base.ts'
import { href } from '../router.ts'
import { pageStyles as p, Show, useAnswer } from '../frame/page.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Button } from '../ui/ui.tsx'
import s from './settings.module.css'
import { Section } from '../frame/section.tsx'

const LICENCES: readonly (readonly [name: string, licence: string, what: string])[] = [
  ['elysia', 'MIT', 'HTTP'],
  ['@elysiajs/bearer', 'MIT', 'bearer tokens'],
  ['@elysiajs/cookie', 'MIT', 'cookies'],
  ['@sinclair/typebox', 'MIT', 'schemas'],
  ['lmdb', 'MIT', 'storage'],
  ['minisearch', 'MIT', 'search'],
  ['nodemailer', 'MIT-0', 'mail'],
  ['@simplewebauthn/server', 'MIT', 'passkeys'],
  ['oauth4webapi', 'MIT', 'sign-in by an identity provider'],
  ['jstat', 'MIT', 'the normal distribution'],
  ['hyparquet', 'MIT', 'Parquet files'],
  ['read-excel-file', 'MIT', 'reports as XLSX'],
  ['fflate', 'MIT', 'unpacking them'],
  ['@modelcontextprotocol/sdk', 'MIT', 'assistants'],
  ['preact', 'MIT', 'this page'],
  ['@preact/signals', 'MIT', 'this page'],
  ['@codemirror/view', 'MIT', 'the editor, with its sister packages'],
  ['lightweight-charts', 'Apache-2.0', 'charts; Copyright (c) 2025 TradingView, Inc.'],
  ['openalgo-charts', 'Apache-2.0', 'drawings; Copyright 2026 OpenAlgo'],
  ['@fontsource-variable/inter', 'OFL-1.1', 'the typeface of texts'],
  ['@fontsource-variable/jetbrains-mono', 'OFL-1.1', 'the typeface of numbers and code'],
  ['vega-datasets', 'BSD-3-Clause', 'S&P 500 sample bars'],
  ['@observablehq/sample-datasets', 'ISC', 'Apple sample bars'],
]
const VERSIONS: Readonly<Record<string, string>> = {
  ...packageFile.dependencies,
  ...packageFile.devDependencies,
}

export function About() {
  const health = useAnswer('GET /api/health', {})
  return (
    <>
      <Section title="Chartroom">
        <p>Self-hosted trading analysis: Pine Script backtests, replays, alerts, webhooks.</p>
        <Show of={health}>
          {({ version }) => (
            <dl class={p['facts']}>
              <dt>Version</dt>
              <dd class="num">{version}</dd>
              <dt>Licence</dt>
              <dd>Apache-2.0</dd>
              <dt>API</dt>
              <dd>
                <a href={href('/reference')}>Reference</a> ·{' '}
                <a href={`${base}/api/openapi.json`} target="_blank" rel="noopener">
                  OpenAPI document
                </a>
              </dd>
            </dl>
          )}
        </Show>
        <p class="muted" style={{ marginTop: '16px' }}>
          Charts are drawn with{' '}
          <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
            TradingView
          </a>{' '}
          Lightweight Charts™. Pine Script and TradingView are trademarks of TradingView, Inc. Chartroom is
          compatible with Pine Script and is not made, endorsed or supported by TradingView, Inc.
        </p>
      </Section>
      <Section title="Made with" about="The people who wrote these made it possible.">
        <DataTable
          label="Packages"
          rows={LICENCES}
          columns={[
            { of: 'package', head: 'Package', look: 'main', cell: ([name]) => name },
            { of: 'version', head: 'Version', look: 'date', cell: ([name]) => VERSIONS[name] },
            { of: 'licence', head: 'Licence', cell: ([, licence]) => licence },
            { of: 'what', head: 'For', look: 'muted', cell: ([, , what]) => what },
          ]}
        />
        <Licences />
      </Section>
    </>
  )
}

/** A third of a megabyte, so it is loaded only on request. */
function Licences() {
  const text = useSignal<string | null>(null)
  const problem = useSignal<string | null>(null)
  const load = async () => {
    const response = await fetch(`${base}/api/docs/licenses.txt`).catch(() => null)
    if (response?.ok) text.value = await response.text()
    else problem.value = 'The licence texts could not be loaded. Is the server running?'
  }
  if (text.value !== null)
    return (
      <pre class={s.licenceTexts} tabIndex={0} role="region" aria-label="Licence texts">
        {text}
      </pre>
    )
  return (
    <p>
      <Button onClick={() => void load()}>Show all licence texts</Button>{' '}
      {problem.value !== null && <span role="alert">{problem}</span>}
    </p>
  )
}
