// Imports bars: reads the files, checks all of them, then stores them in one write. One wrong row stops the whole import.
//
// How the files were read and what is odd about the bars is known before anything is stored: a caller may show it first,
// or ask for nothing else.

import { Problem } from '../lib/problem.ts'
import { BarStage, type Duplicates, type Staged } from './bar-stage.ts'
import { type Bars, emptyBars, sliceBars } from './bars.ts'
import {
  type BarCounts,
  type BarDraft,
  type BarStore,
  owned,
  ownerOf,
  type SeriesInfo,
  seriesKey,
  type SeriesKey,
  type UpsertResult,
} from './bar-store.ts'
import { calendarOf } from './calendar.ts'
import { formatInterval, type Interval, intervalMs, isIntraday, parseInterval } from './interval.ts'
import type { Hints } from './files/dialect/dialect.ts'
import { type Finding, findingOf, type FindingKind, Quality, unknownZone } from './files/quality.ts'
import type { FileFormat } from './files/file-format.ts'
import type { Reading } from './files/stage-files.ts'
import type { NamedFile } from './files/unpack.ts'
import type { SymbolInfo } from './symbol.ts'
import { defaultSymbol, withSymbolFields } from './symbols.ts'
import { words } from '../lib/words.ts'

/** What an import writes to: the store, or the cache in front of it. */
export interface ImportTarget {
  readonly store: Pick<BarStore, 'symbol' | 'putSymbol' | 'info'>
  upsert(key: SeriesKey, bars: Bars, pieces?: ReadonlySet<number>): Promise<UpsertResult>
  draft(key: SeriesKey): BarDraft
}

export interface ImportResult extends BarCounts {
  readonly series: SeriesInfo
  readonly symbol: SymbolInfo
  readonly rows: number
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

/** What was found out about files before their bars are stored. */
export interface ReadFiles extends Reading {
  readonly findings: readonly Finding[]
  /** How many bars there are, and the times of the first and the last. */
  readonly count: number
  readonly first: number
  readonly last: number
  /** The first few bars. */
  readonly sample: Bars
  /** The times of those that files of trades begin and end with, and may have only a piece of. */
  readonly pieces: ReadonlySet<number>
  /** What the bars' distances say; null for fewer than two. */
  readonly spacing: string | null
}

/** What a user may say of files beside their content. All has a default. */
export interface ReadHints extends Hints {
  readonly duplicates?: Duplicates | undefined
  /** Trades are made into bars of so much volume each, and not of the interval, which then only names the series. */
  readonly volumePerBar?: string | undefined
  /** `true`: highs and lows are widened where the open or the close lies outside of them. */
  readonly widen?: string | undefined
}

export interface ReadBarsOptions {
  /** Dates without a time of day mean this symbol's sessions. */
  readonly symbol: SymbolInfo
  /**
   * The series' interval: trades are made into bars of it, and gaps counted in it. If it is missing, trades make minutes,
   * and the distance between bars tells.
   */
  readonly interval?: string | undefined
  /** A file that is said to be JSON is refused if it is not; of others the content tells. */
  readonly format?: FileFormat | undefined
  /** Tells what the content does not. */
  readonly fileName?: string
  readonly hints?: ReadHints
  /** Only the beginning of the file comes. */
  readonly isPart?: boolean
  readonly progress?: ((bytes: number) => void) | undefined
  /** Told of the bytes of files that are not read here, and then thrown as `SetAside`. */
  readonly aside?: ((bytes: number) => void | Promise<void>) | undefined
}

type Input = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Bars that were read and checked. */
interface StagedBars {
  /** Sorted by time: all bars, or those at the end that are not in the draft yet. */
  readonly bars: Bars
  /** The draft with the earlier bars; null if there are none. */
  readonly draft: BarDraft | null
  readonly read: ReadFiles
}

/** Reads and checks bars. `open` makes a draft for bars that should not stay in memory. */
export type StageBars = (
  input: Input,
  options: ReadBarsOptions,
  open: (() => BarDraft) | null,
) => Promise<StagedBars>

/** Reads bars from a file of any format. Throws Problem 422 naming the wrong rows. */
export async function readBars(input: Input, options: ReadBarsOptions): Promise<Bars> {
  return (await stageBars(input, options, null)).bars
}

/** Throws Problem 422 naming the wrong rows. The caller has to discard the drafts. */
export const stageBars: StageBars = (input, options, open) =>
  stageNamed([{ name: options.fileName ?? '', bytes: chunks(input), packing: [] }], options, open)

/** Like `stageBars`, for several files of one series. */
export async function stageNamed(
  files: AsyncIterable<NamedFile> | Iterable<NamedFile>,
  { symbol, interval, hints = {}, isPart = false, format, progress, aside }: ReadBarsOptions,
  open: (() => BarDraft) | null,
): Promise<StagedBars> {
  const step = interval === undefined ? null : parseInterval(interval)
  const volumeBars = hints.volumePerBar !== undefined
  const isOfSessions = step !== null && !isIntraday(step) && !volumeBars
  const stage = new BarStage(open, hints.duplicates, isOfSessions ? calendarOf(symbol) : null)
  if (hints.widen === 'true') stage.widen()
  // A server knows the formats of files only once somebody brings one.
  const { stageFiles } = await import('./files/stage-files.ts')
  const reading = await stageFiles(files, stage, {
    symbol,
    interval: interval ?? '1m',
    hints,
    volumePerBar: hints.volumePerBar,
    isPart,
    format,
    progress,
    aside,
  })
  const staged = await stage.finish()
  const areBars = reading.files.every(({ kind }) => kind === 'bars')
  const dated = datedOf(hints.dated)
  const fitted = volumeBars
    ? { ...staged, findings: [] }
    : await fittedTo(staged, {
        of: step,
        symbol,
        areBars,
        dated: reading.ends?.byEnd ? 'start' : dated,
        open,
        count: stage.added,
      })
  const { bars, draft } = fitted
  const { findings, ...seen } = await looked(bars, draft, stage, options())
  const made = fitted.findings.some(({ kind }) => kind === 'finer_bars')
  return {
    bars,
    draft,
    read: {
      ...reading,
      ...seen,
      // What the first and the last are made of may be a part of what there was.
      pieces: made ? new Set([...stage.pieces, bars.time[0]!, bars.time.at(-1)!]) : stage.pieces,
      findings: [...zoneInDoubt(reading), ...fitted.findings, ...findings],
    },
  }

  function options() {
    const { duplicates, volumePerBar } = hints
    const ofSides = reading.files.some(({ dialect }) => dialect?.columns.side !== undefined)
    const ofVolume = volumePerBar !== undefined
    return { symbol, interval, skipped: reading.skipped, duplicates, ofVolume, ofSides }
  }
}

interface FittingOptions {
  readonly of: Interval | null
  readonly symbol: SymbolInfo
  readonly areBars: boolean
  readonly dated: 'start' | 'end' | undefined
  readonly open: (() => BarDraft) | null
  readonly count: number
}

/** Of a large file, whose bars are in the draft, none can be made of others any more. */
async function fittedTo(staged: Staged, { of, symbol, areBars, dated, open, count }: FittingOptions) {
  const { areDatedByEnd, areFiner, coarserBars, datedByEnd, earlier, fittedBars, standBetween } =
    await import('./files/fitted-bars.ts')
  const beginning = staged.draft === null ? staged.bars : await staged.draft.read({ first: SPACING_BARS })
  const found = inferInterval(beginning)
  // Bars of trades are of the interval, however rarely somebody trades.
  const coarser = areBars && of !== null && found !== null ? coarserBars(beginning, of, found) : []
  const isByEnd =
    areBars && found !== null && isIntraday(found)
      ? dated === undefined
        ? areDatedByEnd(beginning, found)
        : dated === 'end'
      : false
  if (found === null || !isByEnd) return fitted(staged, coarser)
  const moved = await each(staged, open, (bars) => earlier(bars, found))
  return fitted(moved, [...coarser, datedByEnd(count, found)])

  function fitted({ bars, draft }: Staged, findings: readonly Finding[]) {
    if (coarser.length > 0 && coarser[0]!.count === bars.length) return { bars, draft, findings }
    if (draft !== null) {
      if (of !== null && found !== null && areFiner(beginning, of)) throw standBetween(found, of)
      return { bars, draft, findings }
    }
    const fit = fittedBars(bars, { of, found, calendar: calendarOf(symbol), dated })
    return { bars: fit.bars, draft, findings: [...findings, ...fit.findings] }
  }
}

/** Throws Problem 422. */
function datedOf(text: string | undefined): 'start' | 'end' | undefined {
  if (text === undefined || text === 'start' || text === 'end') return text
  throw new Problem(422, 'validation_failed', 'The parameter dated must be start or end.', {
    fields: [{ in: 'query', path: '/dated', code: 'invalid', message: 'must be start or end' }],
  })
}

/** All bars changed; those of a draft are copied into another. */
async function each(
  { bars, draft }: Staged,
  open: (() => BarDraft) | null,
  change: (bars: Bars) => Bars,
): Promise<Staged> {
  if (draft === null || open === null) return { bars: change(bars), draft }
  const copy = open()
  for await (const window of inOrder(emptyBars(0), draft)) await copy.add(change(window))
  return { bars: change(bars), draft: copy }
}

/** Clocks that no file and no user says the zone of: also Kibot's, whose rows others write as well. */
function zoneInDoubt({ files }: Reading): Finding[] {
  const unknown = files.filter(
    ({ dialect }) =>
      dialect !== null &&
      dialect.times !== 'date' &&
      (dialect.zoneBy === 'assumed' || (dialect.zoneBy === 'format' && dialect.origin === 'Kibot')),
  )
  const { origin = null, timezone } = unknown[0]?.dialect ?? {}
  if (timezone === undefined) return []
  const count = unknown.reduce((sum, { rows }) => sum + rows, 0)
  return [unknownZone(count, origin, timezone)]
}

const SAMPLE_BARS = 5
const WINDOW_BARS = 65_536
/** So many bars tell how far apart they are. */
const SPACING_BARS = 5000

/** Looks at all bars in the order of time. */
async function looked(
  bars: Bars,
  draft: BarDraft | null,
  { dropped, widened }: BarStage,
  {
    symbol,
    interval,
    skipped,
    duplicates,
    ofVolume,
    ofSides,
  }: {
    symbol: SymbolInfo
    interval: string | undefined
    skipped: number
    duplicates: Duplicates | undefined
    ofVolume: boolean
    ofSides: boolean
  },
): Promise<Omit<ReadFiles, keyof Reading | 'pieces'>> {
  let quality: Quality | null = null
  let head: Bars | null = null
  let count = 0
  let last = 0
  for await (const window of inOrder(bars, draft)) {
    if (head === null) {
      head = sliceBars(window, 0, SPACING_BARS)
      const step = interval === undefined ? inferInterval(head) : parseInterval(interval)
      quality = step && new Quality(calendarOf(symbol), step, { ofVolume, ofSides })
    }
    quality?.add(window)
    count += window.length
    last = window.time.at(-1) ?? last
  }
  const start: Bars = head ?? bars
  const wide = widened > 0 ? [findingOf('widened', widened)] : []
  const findings = [...(quality?.findings() ?? []), ...sameTimes(dropped, duplicates), ...wide]
  const spacing = inferInterval(start)
  return {
    findings: skipped > 0 ? [...findings, findingOf('empty_row', skipped)] : findings,
    count,
    first: start.time[0] ?? 0,
    last,
    sample: sliceBars(start, 0, SAMPLE_BARS),
    spacing: spacing && formatInterval(spacing),
  }
}

function sameTimes({ count, times }: BarStage['dropped'], kept: Duplicates | undefined): Finding[] {
  if (count === 0) return []
  const examples = times.map((time) => ({ time, text: '' }))
  const finding = findingOf('duplicate', count, examples)
  return [kept === 'first' ? { ...finding, done: 'the first of each time is kept' } : finding]
}

/** All bars by time: those of the draft and those behind or before it. */
async function* inOrder(bars: Bars, draft: BarDraft | null): AsyncGenerator<Bars> {
  if (draft === null) {
    yield bars
    return
  }
  const isBefore = bars.length > 0 && (await draft.read({ first: 1 })).time[0]! > bars.time[0]!
  if (isBefore) yield bars
  for (let from = -8.64e15, isLast = false; !isLast;) {
    const window = await draft.read({ from, first: WINDOW_BARS })
    if (window.length > 0) yield window
    from = (window.time.at(-1) ?? 0) + 1
    isLast = window.length < WINDOW_BARS
  }
  if (!isBefore && bars.length > 0) yield bars
}

async function* chunks(input: Input): AsyncGenerator<Uint8Array> {
  yield* input
}

export interface ImportOptions extends Omit<ReadBarsOptions, 'symbol' | 'interval'> {
  readonly stage?: StageBars
  /** Facts of the symbol that the caller states, such as its session. Throws Problem 422 if they are wrong. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Told how the files were read before anything is stored. */
  readonly onRead?: (read: ReadFiles) => void
}

/** Reads, checks and stores bars. A symbol seen for the first time gets our best guess of its facts. */
export async function importBars(
  target: ImportTarget,
  series: SeriesKey,
  input: Input,
  { onRead, ...options }: ImportOptions = {},
): Promise<ImportResult & { readonly read: ReadFiles }> {
  const { facts = {} } = options
  return withStaged(target, series, input, options, async (key, { bars, draft, read }) => {
    onRead?.(read)
    await draft?.add(bars)
    const { rows, pieces } = read
    const write = () => (draft === null ? target.upsert(key, bars, pieces) : draft.commit(pieces))
    const stored = await described(target, key, bars, rows, write, facts)
    return {
      ...stored,
      read,
      warnings: [...readWarnings(read), ...stored.warnings, ...replacedWarnings(stored, read)],
    }
  })
}

/** Findings that change what the bars mean are warnings, too. */
const TOLD: Readonly<Partial<Record<FindingKind, string>>> = {
  unknown_zone: 'zone_unknown',
  period_end: 'bars_by_end',
  finer_bars: 'finer_bars',
  coarser_bars: 'coarser_bars',
}

/** Hours off are seen by nobody who reads only how many bars there are, nor are bars of another symbol. */
function readWarnings({ findings, doubt, ends }: ReadFiles): ImportResult['warnings'] {
  const told = findings.flatMap(({ kind, message, done }) => {
    const code = TOLD[kind]
    return code === undefined ? [] : [{ code, message: `${message}: ${done}.` }]
  })
  if (ends !== null) {
    const done = ends.byEnd
      ? `each was moved to its beginning, ${ends.byEnd} min earlier`
      : 'how long these last is not certain, so they stay as they are; to move them import them again with dated=end (--dated end)'
    told.push({
      code: 'bars_by_end',
      message: `${ends.origin} dates bars of minutes by their end: ${done}.`,
    })
  }
  if (doubt === null) return told
  const [one, other] = doubt.map((name) => name.split('/').at(-1)?.slice(0, 100))
  const message = `By their names the files may be of different series, such as ${one} and ${other}: they were read as one. If they are not, import them one by one.`
  return [...told, { code: 'names_differ', message }]
}

/** Nobody knows of which trades the stored bars were made. */
function replacedWarnings({ updated }: ImportResult, { files }: ReadFiles): ImportResult['warnings'] {
  if (updated === 0 || files.every(({ kind }) => kind === 'bars')) return []
  const bars = updated === 1 ? 'One bar that was' : `${updated.toLocaleString('en')} bars that were`
  return [
    {
      code: 'bars_replaced',
      message: `${bars} stored already ${updated === 1 ? 'is' : 'are'} now made of these trades alone. A bar that a file begins or ends within stays as it is if it has more. If the trades of a bar lie in several files, import those together, as a folder or an archive.`,
    },
  ]
}

/**
 * Reads and checks bars like `importBars`, and stores nothing. An interval of '' is whatever the bars say; what the import
 * would refuse for coming twice is a finding here.
 */
export async function inspectBars(
  target: ImportTarget,
  series: SeriesKey,
  input: Input,
  options: ImportOptions = {},
): Promise<ReadFiles & Pick<ImportResult, 'warnings' | 'symbol'>> {
  const hints = { ...options.hints, duplicates: options.hints?.duplicates ?? 'last' }
  return withStaged(target, series, input, { ...options, hints }, async (key, { read, bars }) => {
    const symbol = await factsOf(target, key, options.facts ?? {})
    const findings = read.findings.map((one) =>
      one.kind === 'duplicate' && options.hints?.duplicates === undefined ? { ...one, done: UNDECIDED } : one,
    )
    const warnings = [...readWarnings(read), ...hoursWarnings(bars, symbol, key.interval)]
    return { ...read, findings, symbol, warnings }
  })
}

const UNDECIDED = 'an import refuses them unless you say which to keep'

async function withStaged<T>(
  target: ImportTarget,
  { owner = '', exchange, symbol, interval }: SeriesKey,
  input: Input,
  { stage = stageBars, facts = {}, ...options }: ImportOptions,
  use: (key: SeriesKey, staged: StagedBars) => Promise<T>,
): Promise<T> {
  const key = { ...owned(owner), ...seriesKey(exchange, symbol, interval) }
  const drafts: BarDraft[] = []
  const open = () => {
    const draft = target.draft(key)
    drafts.push(draft)
    return draft
  }
  try {
    const known = await factsOf(target, key, facts)
    const given = key.interval === '' ? {} : { interval: key.interval }
    return await use(key, await stage(input, { ...options, symbol: known, ...given }, open))
  } finally {
    // After a commit there is no draft left to discard.
    for (const draft of drafts) await draft.discard()
  }
}

async function factsOf(
  target: ImportTarget,
  key: SeriesKey,
  facts: Readonly<Record<string, unknown>>,
): Promise<SymbolInfo> {
  const known = await knownSymbol(target, key)
  return withSymbolFields(known ?? defaultSymbol(key.exchange, key.symbol), facts)
}

/** Stores bars that are known to be valid; used by imports and providers. */
export function storeBars(
  target: ImportTarget,
  key: SeriesKey,
  bars: Bars,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<ImportResult> {
  return described(target, key, bars, bars.length, () => target.upsert(key, bars), facts)
}

/** Writes, and describes the result. The symbol's facts are guessed from `bars`, which are some of those written. */
async function described(
  target: ImportTarget,
  key: SeriesKey,
  bars: Bars,
  rows: number,
  write: () => Promise<UpsertResult>,
  facts: Readonly<Record<string, unknown>>,
): Promise<ImportResult> {
  const known = await knownSymbol(target, key)
  const symbol = withSymbolFields(known ?? defaultSymbol(key.exchange, key.symbol, bars), facts)
  // The facts of a private series are private too, or they would reveal the symbol to others.
  if (!known || Object.values(facts).some((fact) => fact !== undefined))
    await target.store.putSymbol({ ...symbol, ...owned(ownerOf(key)) })
  const { inserted, updated, change, series } = await write()
  return {
    inserted,
    updated,
    series: series ?? { ...key, count: 0, first: 0, last: 0, change },
    symbol,
    rows,
    warnings: hoursWarnings(bars, symbol, key.interval),
  }
}

/** The facts that were set or guessed before: the owner's own, else everybody's. */
export async function knownSymbol({ store }: ImportTarget, key: SeriesKey): Promise<SymbolInfo | null> {
  const { exchange, symbol } = key
  return (await store.symbol(exchange, symbol, ownerOf(key))) ?? store.symbol(exchange, symbol)
}

/** Fewer hours than a market has that trades around the clock, and more than one that opens twice a day. */
const HOURS_OF_A_SESSION = 18
const BARS_THAT_TELL = 50

/**
 * Warns of bars of an unknown exchange that look as if it has closing hours. We take it to trade around the clock, so its
 * days and hours end too late.
 */
function hoursWarnings(bars: Bars, symbol: SymbolInfo, interval: string): ImportResult['warnings'] {
  const given = parseInterval(interval)
  if (symbol.session !== '24x7' || !given || !isIntraday(given) || bars.length < BARS_THAT_TELL) return []
  if (intervalMs(given) > HOUR) return []
  const hours = new Set<number>()
  const days = new Set<number>()
  for (let i = 0; i < bars.length; i++) {
    const time = bars.time[i] ?? 0
    hours.add(Math.floor((time % DAY) / HOUR))
    days.add(Math.floor(time / DAY))
  }
  if (hours.size > HOURS_OF_A_SESSION || days.size < 3) return []
  return [
    {
      code: 'session_unknown',
      message: `${symbol.exchange}:${symbol.symbol} is taken to trade around the clock, but its bars keep to ${hours.size} hours of the day. State its session and time zone, such as 0930-1600 and America/New_York, or days and hours made of its bars end too late.`,
    },
  ]
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

const COMMON = words('1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 12h 1d 1w 1M 3M 12M')

/** The interval of bars that came without one: the most frequent distance between them; null for fewer than two. */
export function inferInterval(bars: Bars): Interval | null {
  const counts = new Map<number, number>()
  for (let i = 1; i < Math.min(bars.length, 5000); i++) {
    const distance = (bars.time[i] ?? 0) - (bars.time[i - 1] ?? 0)
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])
  if (!most) return null
  const [distance] = most
  // Daily bars may be an hour off, and monthly ones three days.
  const near = COMMON.flatMap((text) => parseInterval(text) ?? []).find(
    (interval) =>
      Math.abs(intervalMs(interval) - distance) <= intervalMs(interval) * (isLong(interval) ? 0.1 : 0),
  )
  if (near) return near
  return distance % 60_000 === 0
    ? parseInterval(`${distance / 60_000}m`)
    : parseInterval(`${distance / 1000}s`)
}

function isLong({ unit }: Interval): boolean {
  return unit === 'd' || unit === 'w' || unit === 'M'
}
