// The page: a script on the left, what it does on the right; on a phone one above the other.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addCommands } from '../dashboard/commands.ts'
import { mountCodeEditor, type CodeEditor } from '../dashboard/editor/code-editor.ts'
import { InputFields } from '../dashboard/editor/input-fields.tsx'
import { count, intervalText, time as timeText } from '../dashboard/format.ts'
import { Overview } from '../dashboard/report/overview.tsx'
import { Performance } from '../dashboard/report/performance.tsx'
import { Properties } from '../dashboard/report/properties.tsx'
import { TradesDrawer } from '../dashboard/report/trades-drawer.tsx'
import { theme, themeChoice } from '../dashboard/settings.ts'
import { copyText } from '../dashboard/ui/copy-text.ts'
import { Logo } from '../dashboard/ui/logo.tsx'
import { Button, cx, Empty, Progress, Select, Tabs, Toasts } from '../dashboard/ui/ui.tsx'
import {
  bottom,
  diagnostics,
  inputs,
  outrun,
  run,
  runProblem,
  runProgress,
  running,
  script,
  setInputs,
} from '../dashboard/workspace.ts'
import { Chart } from './chart.tsx'
import { LinkError } from './link.ts'
import s from './playground.module.css'
import {
  addressNow,
  checked,
  chooseSeries,
  notice,
  NOTICES,
  openFile,
  openStarter,
  ownSeries,
  reading,
  runNow,
  SERIES,
  series,
  STARTERS,
  stopRun,
} from './state.ts'

export function Page() {
  const [over, setOver] = useState(false)
  useEffect(
    () =>
      addCommands([
        { id: 'script:run', title: 'Run', section: 'Script', keys: 'Mod+Enter', run: () => void runNow() },
      ]),
    [],
  )
  return (
    <div
      class={s.page}
      data-tab={bottom.value}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.relatedTarget) setOver(false)
      }}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer?.files[0]
        if (file) void openFile(file)
      }}
    >
      <Bar />
      <Script />
      <main class={s.chart}>
        <Chart />
        {running.value && (
          <div class={s.progress}>
            <Progress fraction={runProgress.value} label={doing()} />
          </div>
        )}
      </main>
      <Results />
      {over && <div class={s.drop}>Drop a CSV file of bars, or a .pine script: it stays in this page.</div>}
      <Toasts />
    </div>
  )
}

const doing = () => (reading.value === null ? 'The script is running' : `${reading.value} is being read`)

function Bar() {
  const picker = useRef<HTMLInputElement>(null)
  const own = ownSeries.value
  const options = own ? [...SERIES, own] : SERIES
  const share = async () => {
    try {
      copyText(await addressNow(), 'The link is copied, and stands in the address bar.')
    } catch (error) {
      if (!(error instanceof LinkError)) throw error
      notice.value = error.message
    }
  }
  return (
    <header class={s.bar}>
      <h1 class={s.brand}>
        <Logo /> <span>Chartroom</span> <span class={cx('muted', s.wide)}>playground</span>
      </h1>
      <Select
        label="Series"
        hideLabel
        value={series.value.id}
        options={options.map(({ id, name }) => [id, name] as const)}
        onChange={chooseSeries}
      />
      <Button icon="upload" label="Your bars: open a file" onClick={() => picker.current?.click()}>
        <span class={s.wide}>Your bars</span>
      </Button>
      <input
        ref={picker}
        class="visually-hidden"
        type="file"
        accept=".csv,.txt,.json,.pine"
        tabIndex={-1}
        aria-label="File of bars"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0]
          currentTarget.value = ''
          if (file) void openFile(file)
        }}
      />
      <span class={s.space} />
      {running.value ? (
        <Button icon="close" onClick={stopRun}>
          Stop
        </Button>
      ) : (
        <Button variant="primary" icon="play" title="Run (Ctrl Enter)" onClick={() => void runNow()}>
          Run
        </Button>
      )}
      <Button icon="external" label="Share by a link" onClick={() => void share()}>
        <span class={s.wide}>Share</span>
      </Button>
      <Button
        variant="quiet"
        icon={theme.value === 'dark' ? 'sun' : 'moon'}
        label={theme.value === 'dark' ? 'Light theme' : 'Dark theme'}
        onClick={() => (themeChoice.value = theme.value === 'dark' ? 'light' : 'dark')}
      />
    </header>
  )
}

/** A number that is typed digit by digit is one change. */
const INPUT_DELAY_MS = 120

function Script() {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | null>(null)
  const soon = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    editor.current = mountCodeEditor(host.current!, {
      text: script.value.source,
      onChange: (source) => (script.value = { ...script.value, source }),
    })
    return () => editor.current?.destroy()
  }, [])
  // "Open the script", below what has no trades; not when the page opens.
  const opened = useRef(false)
  useSignalEffect(() => {
    if (bottom.value === 'script' && opened.current) editor.current?.focus()
    opened.current = true
  })
  useSignalEffect(() => editor.current?.setText(script.value.source))
  useSignalEffect(() => editor.current?.setProblems(diagnostics.value))
  const known = STARTERS.find(({ source }) => source === script.value.source)
  const list = checked.value?.inputs ?? []
  return (
    <section class={s.script} aria-label="Script">
      <div class={s.scriptHead}>
        <Select
          label="Script"
          hideLabel
          value={known?.name ?? ''}
          options={[
            ...(known ? [] : [['', 'Your script'] as const]),
            ...STARTERS.map(({ name }) => [name, name] as const),
          ]}
          onChange={(name) => {
            const one = STARTERS.find((starter) => starter.name === name)
            if (one) openStarter(one)
          }}
        />
        <span class={cx('muted', s.hint)}>
          {outrun.value ? 'changed since the run' : 'Ctrl Enter runs it'}
        </span>
      </div>
      <div ref={host} class={s.editor} />
      <Problems onJump={(line, column) => editor.current?.jumpTo(line, column)} />
      {list.length > 0 && (
        <details class={s.inputs}>
          <summary>
            {count(list.length)} input{list.length === 1 ? '' : 's'}
          </summary>
          <InputFields
            list={list}
            values={inputs.value}
            onChange={(change) => {
              setInputs(change(inputs.peek()))
              clearTimeout(soon.current)
              soon.current = setTimeout(() => void runNow(), INPUT_DELAY_MS)
            }}
          />
        </details>
      )}
    </section>
  )
}

const PROBLEMS_MAX = 20

function Problems({ onJump }: { readonly onJump: (line: number, column: number) => void }) {
  const all = diagnostics.value
  if (all.length === 0) return null
  return (
    <ul class={s.problems} aria-label="Problems">
      {all.slice(0, PROBLEMS_MAX).map(({ severity, line, column, message, hint }, i) => (
        <li key={i}>
          <button type="button" data-severity={severity} onClick={() => onJump(line, column)}>
            <span class="num muted">
              {line}:{column}
            </span>
            <span>
              {message} {hint && <span class="muted">{hint}</span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

const TABS = [
  ['script', 'Script', 'code'],
  ['report', 'Report', 'report'],
  ['trades', 'Trades', 'list'],
  ['figures', 'Figures', 'tune'],
  ['properties', 'Settings', 'settings'],
] as const
type Tab = (typeof TABS)[number][0]

function Results() {
  const [more, setMore] = useState<Tab | null>(null)
  // The dashboard's lists and charts open `report` and `trades` by themselves.
  useSignalEffect(() => {
    if (bottom.value !== '') setMore(null)
  })
  const narrow = useNarrow()
  const wanted = more ?? (bottom.value as Tab)
  const tab = wanted === 'script' && !narrow ? 'report' : wanted
  const choose = (next: Tab) => {
    const isOwn = next === 'figures' || next === 'properties'
    setMore(isOwn ? next : null)
    bottom.value = isOwn ? '' : next
  }
  return (
    <section class={s.results} aria-label="Results" data-tab={tab}>
      <h2 class="visually-hidden">Results</h2>
      <Tabs
        label="Results"
        tabs={TABS.filter(([id]) => narrow || id !== 'script')}
        active={tab}
        onSelect={choose}
      >
        <Span />
      </Tabs>
      <Notices />
      <div class={s.result} role="tabpanel" tabIndex={0} aria-label={TABS.find(([id]) => id === tab)?.[1]}>
        {tab !== 'script' && <Result tab={tab} />}
      </div>
    </section>
  )
}

/** What it ran on. */
function Span() {
  const { bars, symbol, interval } = series.value.market
  const day = (i: number) => timeText(bars.time[i], symbol.timezone, false)
  return (
    <span class={cx('muted', s.span)}>
      {count(bars.length)} bars of {intervalText(interval)}, {day(0)} to {day(bars.length - 1)}
    </span>
  )
}

function Notices() {
  const problem = runProblem.value
  const before = run.value === null ? '' : ' What is shown is of the run before.'
  const text = notice.value ?? (problem === null ? null : `${problem.message}${before}`)
  if (text === null) return null
  return (
    <div class={s.notice} role="alert">
      <span>{text}</span>
      <Button
        variant="quiet"
        size="small"
        icon="close"
        label="Dismiss"
        onClick={() => {
          if (notice.value === null) runProblem.value = null
          else notice.value = null
        }}
      />
    </div>
  )
}

function Result({ tab }: { readonly tab: Tab }) {
  const current = run.value
  if (!current)
    return (
      <Empty title={running.value ? `${doing()}…` : 'Nothing has run yet'}>
        {running.value
          ? 'Stop ends it.'
          : runProblem.value === null
            ? 'Press Run.'
            : `What is wrong stands above${diagnostics.value.length > 0 ? ', and at its line in the script' : ''}.`}
      </Empty>
    )
  if (tab === 'trades') return <TradesDrawer />
  if (tab === 'figures') return <Performance run={current} />
  if (tab === 'properties')
    return (
      <>
        <Properties report={current.report} />
        <About />
      </>
    )
  return <Overview run={current} />
}

function About() {
  return (
    <section class={s.about}>
      <h3>About this page</h3>
      <p>
        What you write, open and run stays in it. Charts are drawn with{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">
          TradingView
        </a>{' '}
        Lightweight Charts™. Pine Script and TradingView are trademarks of TradingView, Inc. Chartroom is
        compatible with Pine Script and is not made, endorsed or supported by TradingView, Inc.
      </p>
      <details>
        <summary>Licences of what is in it</summary>
        <pre tabIndex={0}>{NOTICES}</pre>
      </details>
    </section>
  )
}

function useNarrow(): boolean {
  const query = matchMedia('(max-width: 860px)')
  const [narrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const heard = () => setNarrow(query.matches)
    query.addEventListener('change', heard)
    return () => query.removeEventListener('change', heard)
  }, [])
  return narrow
}
