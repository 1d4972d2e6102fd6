// Studies: the scripts on a chart beside the one in the editor. There may be any number, each with its own inputs, style
// and visibility.
//
// The studies on each chart are remembered. Each runs again when its inputs, the market or the newest bar change, a few at a
// time. The last good result of each stays on screen until the next one is ready.

import { computed, effect, signal } from '@preact/signals'
import { memoOf, onceEach, whileSame } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'
import { ApiError, call } from '../api-client.ts'
import type { Cell } from '../chart/cell.ts'
import { activeCell, cellOf } from '../chart/chart-state.ts'
import { marksOf, type RunMarks } from '../chart/marks.ts'
import type { ShownBars } from '../chart/scene.ts'
import { fieldOf, isSameMarket, placed, type Market, type Study } from '../charts.ts'
import { runBars } from '../run-script.ts'
import { unreachable } from '../session.ts'
import { remembered } from '../settings.ts'
import { messageOf, toast } from '../ui/ui.tsx'
import type { Track } from '../../wire/track.ts'
import {
  isStudyPlot,
  withoutPlots,
  offeredTo,
  readersOf,
  runInputs,
  type OfferedPlot,
  type Values,
} from './plot-sources.ts'
import { styled } from './plot-styles.ts'

interface Result {
  /** The key of the inputs that it is the result of. */
  readonly key: string
  readonly title: string
  /** Of its inputs, by title; missing where it could not run. */
  readonly values?: Readonly<Record<string, unknown>>
  readonly market: Market
  readonly tracks: readonly Track[]
  readonly problem: string | null
  /** The server could not be reached: it runs again once it can. */
  readonly isAway?: boolean
}

/** A study in the form that the chart draws. */
export interface Layer {
  readonly study: Study
  readonly title: string
  /** Of the inputs that it ran with, by title. */
  readonly values: Readonly<Record<string, unknown>>
  /** null = it is hidden, has not run yet, or failed. */
  readonly marks: RunMarks | null
  /** The name of the pane that it was put into; null = its plots are where the script has them. */
  readonly pane: string | null
  readonly problem: string | null
  readonly running: boolean
}

const STUDIES_MAX = 25
const AT_ONCE = 3
const DELAY_MS = 60

/** Those of the active chart, from top to bottom. */
export const studies = fieldOf('studies')
/** The study whose settings are open. */
export const settingsOf = signal('')
/** Results by chart and study. */
const results = signal<Readonly<Record<string, Result>>>({})
const runningKeys = signal<ReadonlySet<string>>(new Set())

export const placeOf = (cell: Cell, study: Study): string => `${cell.id}/${study.id}`

/** A study on a chart has run. */
export function answered(place: string, result: Result): void {
  results.value = { ...results.peek(), [place]: result }
}

/** The studies of a chart as it draws them. */
export const layersOf = memoOf((cell: Cell) =>
  computed(() => inPanes(cell.studies.value.map((study) => layerOf(cell, study)))),
)
/** Those of the active chart. */
export const layers = computed(() => layersOf(activeCell.value).value)

function layerOf(cell: Cell, study: Study): Layer {
  const chart = cell.shown.value
  const place = placeOf(cell, study)
  const result = results.value[place]
  const here =
    chart && result && isSameMarket(result.market, chart.market) && isVisible(study, chart.market.interval)
  return {
    study,
    title: result?.title || study.shortName,
    values: result?.values ?? {},
    marks: here && result.problem === null ? marksAt(place)(result, chart.bars, study.plots) : null,
    pane: null,
    problem: result?.problem ?? null,
    running: runningKeys.value.has(place),
  }
}

/** Made again only if tracks, bars or style have changed; by the study's place. */
const marksAt = onceEach(() =>
  whileSame(({ tracks, title }: Result, bars: Bars, plots: Study['plots']) =>
    styled(marksOf(title, tracks, bars), plots),
  ),
)

/** Says where each is drawn. What is drawn over the price goes to the pane of the study whose plot it reads. */
export function inPanes(all: readonly Layer[]): readonly Layer[] {
  const chosen = ({ study, marks }: Layer, depth = 0): string | null => {
    const { pane } = study
    if (pane === 'price') return 'price'
    if (pane === 'own') return study.id
    const overlays = marks?.panes.every(({ name }) => name === 'price') ?? false
    const wanted = pane || (overlays ? Object.values(study.inputs).find(isStudyPlot)?.study : undefined)
    const other = wanted === undefined ? undefined : all.find((one) => one.study.id === wanted)
    return other && other.study.id !== study.id && depth < all.length ? home(other, depth + 1) : null
  }
  const home = (layer: Layer, depth: number): string => {
    const isOwn = layer.marks?.panes.some(({ name }) => name !== 'price') ?? false
    return chosen(layer, depth) ?? (isOwn ? layer.study.id : 'price')
  }
  return all.map((layer) => ({ ...layer, pane: chosen(layer) }))
}

const isVisible = ({ hidden, intervals }: Study, interval: string): boolean =>
  !hidden && (intervals === null || intervals.includes(interval))

/** How the next study of a script begins, by the script; what is the same as in the script is left out. */
const defaults = remembered<Readonly<Record<string, Pick<Study, 'inputs' | 'plots' | 'intervals' | 'pane'>>>>(
  'studies.defaults',
  {},
)
const nameOfScript = ({ from, name }: Pick<Study, 'from' | 'name'>): string => from || name

/** The next study of its script begins as this one is now. What it has of other studies on the chart is left out. */
export function keepAsDefault(study: Study): void {
  const { intervals, plots, pane = '' } = study
  const inputs = withoutPlots(study.inputs)
  const kept = { inputs, plots, intervals, pane: ['price', 'own'].includes(pane) ? pane : '' }
  defaults.value = { ...defaults.peek(), [nameOfScript(study)]: kept }
  toast(`${study.shortName} begins like this from now on.`)
}

/** Puts a script on the chart; refused with a toast if the chart holds as many as it can. */
export function addStudy(
  study: Pick<Study, 'name' | 'shortName' | 'source' | 'from'> & Partial<Pick<Study, 'inputs'>>,
): void {
  if (studies.peek().length >= STUDIES_MAX)
    return toast(`A chart holds ${STUDIES_MAX} indicators. Take one off first.`, { tone: 'down' })
  const id = `s${crypto.getRandomValues(new Uint32Array(2)).join('')}`
  const own = defaults.peek()[nameOfScript(study)]
  const fresh: Study = { inputs: {}, hidden: false, intervals: null, plots: {}, ...own, ...study, id }
  studies.value = [...studies.peek(), fresh]
}

export function changeStudy(id: string, change: Partial<Study>): void {
  studies.value = studies.peek().map((one) => (one.id === id ? { ...one, ...change } : one))
}

export function removeStudy(id: string): void {
  const before = studies.peek()
  const gone = before.find((one) => one.id === id)
  const readers = readersOf(id, before).map(({ shortName }) => shortName)
  if (gone && readers.length > 0)
    toast(`${gone.shortName} was read by ${readers.join(', ')}: choose another source there, or undo.`)
  studies.value = before.filter((one) => one.id !== id)
  const { [`${activeCell.peek().id}/${id}`]: _gone, ...others } = results.peek()
  results.value = others
}

/** The plots of other studies on a chart that a study's source inputs may read; '' = the editor's script. */
export function plotsFor(cell: Cell, id: string): readonly OfferedPlot[] {
  return offeredTo(id, cell.studies.value, (of) =>
    (results.value[`${cell.id}/${of}`]?.tracks ?? []).flatMap((track) =>
      track.kind === 'plot' ? [track.title] : [],
    ),
  )
}

/** Moves a study up or down among the others: the order of panes, and of what is drawn over what. */
export function moveStudy(id: string, by: 1 | -1): void {
  const list = studies.peek()
  const at = list.findIndex((one) => one.id === id)
  const [one, other] = [list[at], list[at + by]]
  if (one && other) studies.value = list.with(at, other).with(at + by, one)
}

/** Runs studies until they are stopped. Those of all charts take turns: the server has a limit of runs for each user. */
export class StudyRuns {
  readonly #current = new Map<string, { readonly key: string; readonly abort: AbortController }>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false
  readonly #stopLooking = effect(() => this.#look())

  /** Reads everything that results depend on, and soon starts the missing runs. */
  #look(): void {
    void [runBars.value, unreachable.value]
    for (const id of placed.value) void [cellOf(id).studies.value, cellOf(id).shown.value]
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#begin(), DELAY_MS)
  }

  stop(): void {
    this.#isOver = true
    this.#stopLooking()
    clearTimeout(this.#timer)
    for (const { abort } of this.#current.values()) abort.abort()
    this.#current.clear()
  }

  #begin(): void {
    // A run that was given up ends after the chart did.
    if (this.#isOver) return
    const wanted = placed.peek().flatMap((id) => wantedOn(cellOf(id)))
    for (const [place, { key, abort }] of this.#current)
      if (!wanted.some((one) => one.place === place && one.key === key)) {
        abort.abort()
        this.#current.delete(place)
      }
    for (const one of wanted) {
      if (this.#current.size >= AT_ONCE) break
      const known = results.peek()[one.place]
      const isDone = known?.key === one.key && !(known.isAway && !unreachable.peek())
      if (this.#current.has(one.place) || isDone) continue
      void this.#run(one)
    }
    runningKeys.value = new Set(this.#current.keys())
  }

  async #run({ study, place, inputs, key, market }: Wanted): Promise<void> {
    const abort = new AbortController()
    this.#current.set(place, { key, abort })
    const { exchange, symbol, interval } = market
    const { source, name, shortName } = study
    const done = (result: Omit<Result, 'key' | 'market'>) => answered(place, { key, market, ...result })
    try {
      if (typeof inputs === 'string') throw new Error(inputs)
      const { result } = await call('POST /api/platform/backtests/preview', {
        body: { name, exchange, symbol, interval, bars: runBars.peek(), source, inputs },
        signal: abort.signal,
      })
      const { script, inputs: values } = result.report
      const title = script.shorttitle || script.title || shortName
      done({ title, values, tracks: result.tracks, problem: null })
    } catch (error) {
      if (abort.signal.aborted) return
      const problem = messageOf(error)
      const isAway = error instanceof ApiError && error.status === 0
      done({ title: shortName, tracks: [], problem, isAway })
    } finally {
      if (this.#current.get(place)?.abort === abort) this.#current.delete(place)
      this.#begin()
    }
  }
}

interface Wanted {
  readonly place: string
  /** As the run takes them; a sentence where there can be no run. */
  readonly inputs: Values | string
  readonly study: Study
  readonly key: string
  readonly market: Market
}

function wantedOn(cell: Cell): readonly Wanted[] {
  const chart = cell.shown.peek()
  if (!chart || chart.bars.length === 0) return []
  const { market } = chart
  return cell.studies
    .peek()
    .filter((one) => isVisible(one, market.interval))
    .map((study) => {
      const inputs = inputsOf(study, cell.studies.peek())
      return { place: placeOf(cell, study), study, inputs, key: keyOf(study, inputs, chart), market }
    })
}

function inputsOf({ id, inputs }: Study, all: readonly Study[]): Values | string {
  try {
    return runInputs(inputs, all, [id])
  } catch (error) {
    return messageOf(error)
  }
}

/** Everything that a result depends on. The newest bar may still change, so its values are included. */
function keyOf({ source }: Study, inputs: Values | string, { market, bars }: ShownBars): string {
  const last = bars.length - 1
  const newest = [bars.time[last], bars.high[last], bars.low[last], bars.close[last], bars.volume[last]]
  return JSON.stringify([source, inputs, market, newest, runBars.peek()])
}
