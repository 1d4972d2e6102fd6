// Importing files of bars. Each is looked at first, and how it would be read is shown before anything is stored.

import { useSignalEffect } from '@preact/signals'
import type { ComponentProps } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { showsClock } from '../chart/bars.ts'
import { count, counted, intervalText, percent, time } from '../format.ts'
import { type FileMarket, marketOfFile } from '../../market/files/file-market.ts'
import { normalizeInterval } from '../../market/interval.ts'
import { Form, useForm, type FormOf } from '../ui/form.tsx'
import { Field, messageOf, Progress, Said, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import {
  checkSums,
  type FileHints,
  importBarsFile,
  type Imported,
  inspectBarsFile,
  type Inspected,
  isCheckSum,
  isLookedAtInPart,
  NO_HINTS,
  withoutFlags,
} from './bar-files.ts'
import { DropZone } from '../frame/drop-zone.tsx'
import { pageStyles as p, useLoad, type Loaded } from '../frame/page.tsx'
import type { MovedFile } from '../../market/files/moving-in.ts'
import { dropped } from './dropped.ts'
import { MovedIn, movedIn } from './moving-in.tsx'
import s from './markets.module.css'
import { showOnChart } from '../frame/show-on-chart.ts'
import { buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

const SERIES_BODY = bodyFields('POST /api/platform/bars/fetch')

interface Upload {
  readonly key: number
  /** Of those that came together. */
  readonly isFirst: boolean
  readonly file: File
  /** '' if no check sum came with it. */
  readonly sha256: string
}

export function ImportBars({ onImported }: { readonly onImported: () => void }) {
  const [files, setFiles] = useState<readonly Upload[]>([])
  const next = useRef(1)
  const [moves, setMoves] = useState<readonly MovedFile[]>([])
  const add = async (given: readonly File[]) => {
    const added = await movedIn(given, (row) => setMoves((before) => [...before, row]))
    const sums = await checkSums(added)
    const uploads = added
      .filter((file) => !isCheckSum(file))
      .map((file, i) => ({ key: next.current++, isFirst: i === 0, file, sha256: sums.get(file.name) ?? '' }))
    setFiles((before) => [...before, ...uploads])
  }
  // Also those that were dropped elsewhere on the page, which led here.
  useSignalEffect(() => {
    const files = dropped.value
    if (files.length === 0) return
    dropped.value = []
    void add(files)
  })
  const head = useRef<HTMLHeadingElement>(null)
  return (
    <section>
      <h2 ref={head} tabIndex={-1}>
        Import bars
      </h2>
      <p>
        Files of bars or trades as TradingView, Binance, Kraken, HistData, Dukascopy, MetaTrader, Stooq and
        Yahoo write them, Parquet and Arrow; also in zip, gzip or zstd. How each is read is shown first. One
        wrong row and nothing of the file is stored. Bars that are here already are replaced. What else
        TradingView lets you export moves in here, too: watchlists, alerts and their log, Pine files, in a
        folder or a zip.
      </p>
      <DropZone
        accept=".csv,.txt,.pine,.xlsx,.json,.parquet,.arrow,.feather,.zip,.gz,.zst,.checksum,text/csv,application/json"
        multiple
        onFiles={(added) => void add(added)}
      >
        <strong>Drop files here, or anywhere</strong>
        <span>up to 512 MB each</span>
      </DropZone>
      <MovedIn rows={moves} />
      {files.map((upload) => (
        <ImportFile
          key={upload.key}
          upload={upload}
          onImported={onImported}
          onClose={() => {
            setFiles((before) => before.filter(({ key }) => key !== upload.key))
            // The button that was pressed is gone with its file.
            head.current?.focus()
          }}
        />
      ))}
    </section>
  )
}

interface ImportFileProps {
  readonly upload: Upload
  readonly onImported: () => void
  readonly onClose: () => void
}

/** The file is below what was read before it, and the button that was pressed is gone once it is stored. */
function useFocusOn(isIts: boolean, done: Imported | null) {
  const head = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isIts) return
    head.current?.focus({ preventScroll: true })
    head.current?.scrollIntoView({ block: 'start' })
  }, [done])
  return head
}

function ImportFile({ upload: { file, sha256, isFirst }, onImported, onClose }: ImportFileProps) {
  const [sent, setSent] = useState<number | null>(null)
  const [done, setDone] = useState<Imported | null>(null)
  const [hints, setHints] = useState(NO_HINTS)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const head = useFocusOn(isFirst || done !== null, done)
  const form = useForm({
    wire: SERIES_BODY,
    start: shown(marketOfFile(file.name)),
    async send(market) {
      abort.current = new AbortController()
      setSent(0)
      try {
        setDone(await importBarsFile(file, market, { ...hints, sha256 }, setSent, abort.current.signal))
        onImported()
      } catch (failure) {
        if (!(failure instanceof DOMException)) throw failure
      } finally {
        setSent(null)
      }
    },
  })
  // How it would be read, looked up again whenever the user says something else about it.
  const inspection = useLoad((signal) => inspectBarsFile(file, hints, signal), [file, hints])
  useEffect(() => {
    // What was typed meanwhile counts more than what the file says, and so does what is sent already.
    if (inspection.data && !form.changed && !form.busy && !done) form.change(shown(inspection.data.market))
  }, [inspection.data])
  const { busy, values: market } = form
  return (
    <Form
      of={form}
      label={file.name}
      action="Import"
      variant="primary"
      class={s.file}
      disabled={market.symbol === '' || market.exchange === ''}
      beside={
        <>
          {buttons([item('Remove', '', onClose)], 'quiet')}
          {market.exchange === '' && (
            <span class="muted">Which exchange is it from? Any short name will do for bars of your own.</span>
          )}
        </>
      }
      foot={
        done ? (
          <div class={p['formFoot']}>
            {buttons([item('Show on the chart', 'candles', () => showOnChart(stored(market)))], 'small')}
            {buttons([item('Close', '', onClose)], 'small quiet')}
          </div>
        ) : busy ? (
          <Sending name={file.name} sent={sent} onCancel={() => abort.current?.abort()} />
        ) : undefined
      }
    >
      <div ref={head} class={s.fileHead} tabIndex={-1}>
        <strong>{file.name}</strong>
        <span class="muted num">{sizeText(file.size)}</span>
      </div>
      {done ? (
        <Done done={done} />
      ) : (
        <LookedAt file={file} inspection={inspection} form={form} hints={hints} onHints={setHints} />
      )}
    </Form>
  )
}

function Sending({ name, sent, onCancel }: { name: string; sent: number | null; onCancel: () => void }) {
  const isSending = sent !== null && sent < 1
  return (
    <>
      <Progress
        fraction={isSending ? sent : null}
        label={isSending ? `Sending ${name}` : `Storing the bars of ${name}`}
      />
      <div class={p['formFoot']}>
        {buttons([item('Cancel', '', onCancel)], 'small')}
        <span class="muted" role="status">
          {isSending ? `Sending, ${percent(sent, { places: 0 })}` : 'Storing'}
        </span>
      </div>
    </>
  )
}

function Done({ done }: { readonly done: Imported }) {
  // What is warned of is not said once more.
  const warned = new Set(done.warnings?.map(({ message }) => message))
  const findings = done.read.findings.filter((one) => !warned.has(`${one.message}: ${one.done}.`))
  return (
    <>
      <div class={p['note']} data-tone="up" role="status">
        {count(done.rows)} rows read: {count(done.inserted)} new bars, {count(done.updated)} replaced.
      </div>
      {done.plots.length > 0 && (
        <div class={p['note']}>
          The plots {done.plots.slice(0, PLOTS_SHOWN).join(', ')}
          {done.plots.length > PLOTS_SHOWN && ` and ${count(done.plots.length - PLOTS_SHOWN)} more`} are kept
          with the bars: <em>Compare</em> in the report of a run on them holds them against its own.
        </div>
      )}
      {done.warnings?.map(({ code, message }) => (
        <div key={code} class={p['note']} data-tone="warn">
          <p>{withoutFlags(message)}</p>
        </div>
      ))}
      <Reading read={{ ...done.read, findings }} />
    </>
  )
}

interface LookedAtProps {
  readonly file: File
  readonly inspection: Loaded<Inspected>
  readonly form: FormOf<FileMarket>
  readonly hints: FileHints
  readonly onHints: (hints: FileHints) => void
}

/** How a file would be read, and what it is of. */
function LookedAt({ file, inspection: { data: found, error }, form, hints, onHints }: LookedAtProps) {
  return (
    <>
      {/* Before what comes and goes, which would move a field from under whoever types. */}
      <div class={p['row']}>
        <Field label="Exchange" disabled={form.busy} {...form.field('exchange')} />
        <Field label="Symbol" disabled={form.busy} {...form.field('symbol')} />
        <Field label="Interval" disabled={form.busy} {...form.field('interval')} />
      </div>
      <Hints hints={hints} onChange={onHints} />
      {error !== null ? (
        // Beside its name: what else is on the page goes on.
        <div class={p['note']} data-tone="down" role="alert">
          <strong>This file cannot be imported</strong>
          <p>
            <Said text={withoutFlags(messageOf(error))} />
          </p>
        </div>
      ) : found ? (
        <Preview found={found} isWhole={!isLookedAtInPart(file)} />
      ) : (
        <Progress fraction={null} label={`Looking at ${file.name}`} />
      )}
    </>
  )
}

/** With the interval as it stands everywhere else: 1D. */
const shown = (market: FileMarket): FileMarket => ({ ...market, interval: intervalText(market.interval) })
const stored = ({ exchange, symbol, interval }: FileMarket): FileMarket => ({
  exchange: exchange.trim().toUpperCase(),
  symbol: symbol.trim().toUpperCase(),
  interval: normalizeInterval(interval) ?? interval,
})

/** Most files that are tried first are small, and none is 0.0 MB. */
const sizeText = (bytes: number): string =>
  bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`

/** What the file says of itself. */
function Preview({ found, isWhole }: { readonly found: Inspected; readonly isWhole: boolean }) {
  const { bars } = found
  const clock = showsClock(found.market.interval)
  return (
    <div class={p['note']} role="status" aria-label="How the file is read">
      <Reading read={found.read} />
      <p class="num">
        {isWhole ? '' : 'Beginning: '}
        {counted(found.count, 'bar')}, from {time(found.first, 'UTC', clock)} to{' '}
        {time(found.last, 'UTC', clock)}
        {clock && ' UTC'}. First: open {bars.open[0]}, high {bars.high[0]}, low {bars.low[0]}, close{' '}
        {bars.close[0]}, volume {bars.volume[0]}.
      </p>
    </div>
  )
}

const FILES_SHOWN = 3
const PLOTS_SHOWN = 4
const PLACES_SHOWN = 3

/** How files were read, and what is odd about their bars. */
function Reading({ read: { files, fileCount, findings } }: { readonly read: Inspected['read'] }) {
  return (
    <>
      {files.slice(0, FILES_SHOWN).map((file) => (
        <p key={file.name}>
          {fileCount > 1 && <strong>{file.name}: </strong>}
          {file.text}
        </p>
      ))}
      {fileCount > FILES_SHOWN && <p>… and {count(fileCount - FILES_SHOWN)} more files.</p>}
      {findings.length > 0 && (
        <ul>
          {findings.map(({ kind, message, done, examples }) => (
            <li key={kind}>
              {message}; {withoutFlags(done)}
              {examples.length > 0 && <span class="muted num"> ({placesText(examples)})</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const placesText = (examples: Inspected['read']['findings'][number]['examples']): string =>
  examples
    .slice(0, PLACES_SHOWN)
    .map((one) => `${time(one.time, 'UTC', true)}${one.text === '' ? '' : `: ${one.text}`}`)
    .join('; ')

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
/** Of times that state none. Brokers write the hours of their exchange or of their office. */
const ZONES: readonly [string, string][] = [
  ['', 'What the file says, else UTC'],
  [OWN_ZONE, `${OWN_ZONE}, this browser’s`],
  ...Intl.supportedValuesOf('timeZone')
    .filter((zone) => zone !== OWN_ZONE)
    .map((zone): [string, string] => [zone, zone]),
]

/** What the user may know better than the file. */
function Hints({ hints, onChange }: { hints: FileHints; onChange: (hints: FileHints) => void }) {
  const of = (hint: keyof FileHints, label: string) => ({
    label,
    value: hints[hint],
    onChange: (value: string) => onChange({ ...hints, [hint]: value }),
  })
  const text = (hint: keyof FileHints, label: string, placeholder: string, help: string) => (
    <TextHint {...of(hint, label)} placeholder={placeholder} hint={help} />
  )
  const choice = (hint: keyof FileHints, label: string, options: readonly [string, string][]) => (
    <Select {...of(hint, label)} options={options} />
  )
  return (
    <>
      {choice('timesIn', 'Its times are in', ZONES)}
      <details>
        <summary>Read it differently</summary>
        <div class={p['row']}>
          {choice('dates', 'Dates', [
            ['', 'As found'],
            ['ymd', 'Year, month, day'],
            ['dmy', 'Day, month, year'],
            ['mdy', 'Month, day, year'],
          ])}
          {choice('duplicates', 'Rows of the same time', [
            ['', 'Refuse the file'],
            ['first', 'Keep the first'],
            ['last', 'Keep the last'],
          ])}
          {text('columns', 'Columns', 'time=Date,open=First', 'Which has what, by name or number.')}
          {text('ticker', 'Its rows of', 'All', 'Of a file of several symbols, one.')}
          {choice('dated', 'Bars are dated by', [
            ['', 'As found'],
            ['start', 'Their beginning'],
            ['end', 'Their end'],
          ])}
          {choice('widen', 'Open or close outside of low to high', [
            ['', 'Refuse the file'],
            ['true', 'Widen low and high'],
          ])}
          {text('volumePerBar', 'Volume a bar', 'By time', 'Of trades: bars of so much volume each.')}
        </div>
      </details>
    </>
  )
}

type TextHintProps = Omit<ComponentProps<typeof Field>, 'onInput' | 'onBlur'>

/** The file is looked at again once the field is left. */
function TextHint({ value, onChange, ...field }: TextHintProps & { onChange: (value: string) => void }) {
  const [text, setText] = useState(value)
  const left = () => text.trim() !== value && onChange(text.trim())
  return <Field {...field} value={text} onInput={setText} onBlur={left} />
}
