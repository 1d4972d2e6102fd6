// What the page shows, and what its buttons do: the script, the series it runs on, and the last run.
//
// The dashboard's own signals hold them, since its components read those; here they are filled by the worker.

import { batch, effect, signal } from '@preact/signals'
import type { Checked } from '../engine/engine.ts'
import type { Market } from '../engine/market.ts'
import { cutText } from '../lib/text-cut.ts'
import { type PackedDays, unpacked } from '../market/packed-days.ts'
import { decodeColumns } from '../wire/columns.ts'
import type { Report } from '../wire/report.ts'
import type { Diagnostic } from '../wire/script.ts'
import type { Track } from '../wire/track.ts'
import { changeChart } from '../dashboard/charts.ts'
import { cellOf, markedTrade } from '../dashboard/chart/chart-state.ts'
import { symbols } from '../dashboard/chart/cell.ts'
import {
  bottom,
  diagnostics,
  inputs,
  keepInputsOf,
  run,
  runProblem,
  runProgress,
  running,
  script,
} from '../dashboard/workspace.ts'
import type { Early } from './early.ts'
import type { Refusal } from './engine-client.ts'
import { LinkError, linkOf, sharedIn, sharedOf, type Shared } from './link.ts'
import { madeUp } from './samples.ts'

export interface NamedMarket {
  readonly id: string
  readonly name: string
  readonly market: Market
}

export interface Starter {
  readonly name: string
  readonly source: string
}

/** Of an element that holds JSON. */
const dataOf = (id: string): unknown => JSON.parse(document.getElementById(id)?.textContent ?? 'null')

const packs = dataOf('series') as readonly PackedDays[]
export const STARTERS = dataOf('scripts') as readonly Starter[]
/** The licence texts of what is in the page. */
export const NOTICES = dataOf('notices') as string
const MADE_UP = { id: 'made-up', name: 'A made-up coin, hourly' }
/** All series that are in the page. */
export const SERIES: readonly { readonly id: string; readonly name: string }[] = [
  ...packs.map(({ id, name }) => ({ id, name })),
  MADE_UP,
]

const engine = (globalThis as Early).chartroomEngine!

export const series = signal<NamedMarket>(sample(SERIES[0]!.id))
/** A file that was dropped, to come back to. */
export const ownSeries = signal<NamedMarket | null>(null)
/** The last text that compiled, whose inputs stay while the next one is being written. */
export const checked = signal<Checked | null>(null)
/** What happened to a link or a file, in a sentence. */
export const notice = signal<string | null>(null)
/** The file that is being read; null while a script runs. */
export const reading = signal<string | null>(null)

export const CHART = 'c1'
const RUN_MS = 30_000
const CHECK_DELAY_MS = 250
const FILE_MAX = 64 << 20
const SCRIPT_MAX = 1 << 20

function sample(id: string): NamedMarket {
  const pack = packs.find((one) => one.id === id)
  return pack ? { id, name: pack.name, market: unpacked(pack) } : { ...MADE_UP, market: madeUp(7) }
}

export function chooseSeries(id: string): void {
  const own = ownSeries.peek()
  show(own?.id === id ? own : sample(id))
  void runNow()
}

function show(next: NamedMarket): void {
  const { bars, symbol, interval } = next.market
  const market = { exchange: symbol.exchange, symbol: symbol.symbol, interval }
  batch(() => {
    series.value = next
    run.value = null
    markedTrade.value = null
    // The dashboard lists symbols with what is stored of them.
    symbols.value = [
      {
        ...symbol,
        series: [{ interval, count: bars.length, first: bars.time[0]!, last: bars.time.at(-1)! }],
      },
    ] as never
    changeChart(CHART, { market, studies: [] })
    cellOf(CHART).shown.value = { market, bars, isAll: true }
  })
}

/** A script is opened, and all else read as bars in the worker. Nothing of a file leaves the page. */
export async function openFile(file: File): Promise<void> {
  if (/\.pine$/i.test(file.name)) return openScript(file)
  if (file.size > FILE_MAX) {
    notice.value = `${file.name} has more than ${FILE_MAX >> 20} MB, which is more than this page reads.`
    return
  }
  const mine = begun(file.name)
  try {
    const bytes = new Uint8Array(await file.arrayBuffer())
    const market = await engine.ask('bars', { file: bytes, fileName: file.name })
    const own = { id: `file:${file.name}`, name: file.name, market }
    ownSeries.value = own
    notice.value = null
    show(own)
    await runNow()
  } catch (error) {
    notice.value = `${file.name}: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    ended(mine)
  }
}

async function openScript(file: File): Promise<void> {
  if (file.size > SCRIPT_MAX)
    notice.value = `${file.name} has more than a megabyte, which is more than a script has.`
  else openStarter({ name: file.name, source: await file.text() })
}

/** What a run found in a text that compiles. A check that ends later knows nothing of it. */
const foundByRun = signal<{ readonly source: string; readonly found: readonly Diagnostic[] } | null>(null)

/** The run or the file that was asked for last; what comes of other runs is not shown. */
const newest = signal(0)

function begun(file: string | null): number {
  batch(() => {
    running.value = true
    reading.value = file
    runProgress.value = null
    runProblem.value = null
  })
  return (newest.value = newest.peek() + 1)
}

function ended(mine: number): void {
  if (mine === newest.peek()) running.value = false
}

export async function runNow(): Promise<void> {
  const { source, name } = script.peek()
  const { market } = series.peek()
  const mine = begun(null)
  try {
    const options = { inputs: inputs.peek(), timeMs: RUN_MS }
    const made = await engine.ask('run', { source, market, options }, (part) => {
      if (mine === newest.peek()) runProgress.value = part
    })
    if (mine !== newest.peek()) return
    const report = JSON.parse(made.report) as Report
    const before = foundByRun.peek()?.found ?? []
    foundByRun.value = null
    batch(() => {
      diagnostics.value = diagnostics.peek().filter((one) => !before.includes(one))
      run.value = {
        id: null,
        name: report.script.title || name,
        source,
        report,
        tracks: decodeColumns(made.tracks) as Track[],
        trials: null,
      }
      if (bottom.peek() === 'script' && innerWidth > 760) bottom.value = 'report'
    })
  } catch (error) {
    if (mine !== newest.peek()) return
    const { diagnostics: found = [] } = error as Partial<Refusal>
    if (found.length > 0) diagnostics.value = found
    foundByRun.value = { source, found }
    runProblem.value = error instanceof Error ? error : new Error(String(error))
  } finally {
    ended(mine)
  }
}

export function stopRun(): void {
  engine.stop('Stopped.')
}

/** A text that changes is checked, and kept for whoever loads the page again, when nobody has typed for a moment. */
export function followScript(): () => void {
  return effect(() => {
    const now = { source: script.value.source, inputs: inputs.value, series: series.value.id }
    const timer = setTimeout(() => {
      keep(now)
      void checkText(now.source)
    }, CHECK_DELAY_MS)
    return () => clearTimeout(timer)
  })
}

/** In the tab's own history: at a server's `/try` there is no storage, and it is gone with the tab. */
function keep(now: Shared): void {
  try {
    history.replaceState(now, '')
  } catch {
    // One that is too long for the browser is not kept.
  }
}

async function checkText(source: string): Promise<void> {
  const found = await engine.ask('check', { source }).catch(() => null)
  if (found === null || script.peek().source !== source) return
  batch(() => {
    if (found.ok) checked.value = found
    const ran = foundByRun.peek()
    const more = found.ok && ran?.source === source ? ran.found : []
    diagnostics.value = [...found.diagnostics, ...more]
    if (found.ok) keepInputsOf(found.inputs)
  })
}

export function openStarter({ name, source }: Starter): void {
  batch(() => {
    script.value = { id: null, name, source }
  })
  void runNow()
}

const sharedNow = (): Shared => ({
  source: script.peek().source,
  inputs: inputs.peek(),
  series: series.peek().id,
})

/** Puts everything into the address, and answers it. Throws LinkError. */
export async function addressNow(): Promise<string> {
  const hash = await linkOf(sharedNow())
  history.replaceState(sharedNow(), '', hash)
  return location.href
}

/** Opens what was kept of this place in the history, or else what the address shares, or else the first example. */
export async function begin(): Promise<void> {
  const { name, source } = STARTERS[0]!
  const shared = await sharedHere()
  await openShared(shared ?? { source, inputs: {}, series: SERIES[0]!.id }, shared ? 'Shared script' : name)
}

/** A link that is opened where the page is already. One that cannot be read leaves everything as it is. */
export async function followLink(): Promise<void> {
  const shared = await sharedHere()
  if (shared !== null) await openShared(shared, 'Shared script')
}

async function sharedHere(): Promise<Shared | null> {
  notice.value = null
  try {
    return sharedOf(history.state) ?? (await sharedIn(location.hash))
  } catch (error) {
    if (!(error instanceof LinkError)) throw error
    notice.value = error.message
    return null
  }
}

async function openShared(shared: Shared, name: string): Promise<void> {
  batch(() => {
    script.value = { id: null, name, source: shared.source, inputs: shared.inputs }
    show(seriesOf(shared))
  })
  await runNow()
}

/** A name comes with a link, so it may be anything. */
const NAME_MAX = 60

/** Says where it has to take another series than the one that was shared. */
function seriesOf({ series: id }: Shared): NamedMarket {
  const first = SERIES[0]!
  const own = ownSeries.peek()
  if (own?.id === id) return own
  if (SERIES.some((one) => one.id === id)) return sample(id)
  const [name = ''] = cutText(id.replace(/^file:/, ''), NAME_MAX)
  if (id.startsWith('file:'))
    notice.value = `The bars of ${name} are not here: neither a link nor a page that is loaded again has them. Drop that file here to run on its bars.`
  else if (name !== '')
    notice.value = `There is no series “${name}” here, so the script runs on ${first.name}.`
  return sample(first.id)
}
