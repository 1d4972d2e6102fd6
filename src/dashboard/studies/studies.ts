// Studies: the scripts on the chart beside the one in the editor. There may be any number, each with its own inputs, style
// and visibility.
//
// The studies on the chart are remembered. Each runs again when its inputs, the market or the newest bar change, a few at a
// time. The last good result of each stays on screen until the next one is ready.

import { computed, effect, signal } from '@preact/signals'
import { call } from '../api-client.ts'
import { shown } from '../chart/chart-state.ts'
import { buildScene, type Scene } from '../chart/scene.ts'
import { remembered } from '../settings.ts'
import { runBars } from '../run-script.ts'
import type { Market } from '../workspace.ts'
import type { Track } from '../../wire/track.ts'
import type { Values } from '../editor/inputs-panel.tsx'
import { styled, type PlotStyles } from './plot-styles.ts'

export interface Study {
  readonly id: string
  readonly name: string
  /** The name in the legend. */
  readonly shortName: string
  readonly source: string
  /** Where the source comes from: an indicator of Chartroom, or a stored script. */
  readonly from: string
  /** Values that differ from the script's defaults, by label. */
  readonly inputs: Values
  readonly hidden: boolean
  /** The intervals that it is shown on; null = all. */
  readonly intervals: readonly string[] | null
  readonly plots: PlotStyles
}

interface Result {
  /** The key of the inputs that it is the result of. */
  readonly key: string
  readonly title: string
  readonly market: Market
  readonly tracks: readonly Track[]
  readonly problem: string | null
}

/** A study in the form that the chart draws. */
export interface Layer {
  readonly study: Study
  readonly title: string
  /** null = it is hidden, has not run yet, or failed. */
  readonly scene: Scene | null
  readonly problem: string | null
  readonly running: boolean
}

export const STUDIES_MAX = 25
const AT_ONCE = 3
const DELAY_MS = 60

/** From top to bottom. */
export const studies = remembered<readonly Study[]>('chart.studies', [])
/** The study whose settings are open. */
export const settingsOf = signal('')
const results = signal<Readonly<Record<string, Result>>>({})
const runningIds = signal<ReadonlySet<string>>(new Set())

export const layers = computed<readonly Layer[]>(() => {
  const chart = shown.value
  return studies.value.map((study) => {
    const result = results.value[study.id]
    const here =
      chart && result && isSame(result.market, chart.market) && isVisible(study, chart.market.interval)
    return {
      study,
      title: result?.title || study.shortName,
      scene: here && result.problem === null ? sceneFor(study, result, chart.bars) : null,
      problem: result?.problem ?? null,
      running: runningIds.value.has(study.id),
    }
  })
})

const isSame = (a: Market, b: Market): boolean =>
  a.exchange === b.exchange && a.symbol === b.symbol && a.interval === b.interval

const isVisible = ({ hidden, intervals }: Study, interval: string): boolean =>
  !hidden && (intervals === null || intervals.includes(interval))

type Bars = NonNullable<typeof shown.value>['bars']
/** Makes a scene again only if tracks, bars or style have changed. */
class Scenes {
  readonly #made = new Map<string, { readonly of: readonly unknown[]; readonly scene: Scene }>()

  of(study: Study, result: Result, bars: Bars): Scene {
    const of = [result.tracks, bars, study.plots]
    const known = this.#made.get(study.id)
    if (known?.of.every((part, i) => part === of[i])) return known.scene
    const scene = styled(buildScene(result.title, result.tracks, bars), study.plots)
    this.#made.set(study.id, { of, scene })
    return scene
  }
}
const scenes = new Scenes()
const sceneFor = (study: Study, result: Result, bars: Bars): Scene => scenes.of(study, result, bars)

export function addStudy(study: Pick<Study, 'name' | 'shortName' | 'source' | 'from'>): void {
  const id = `s${crypto.getRandomValues(new Uint32Array(2)).join('')}`
  const fresh: Study = { inputs: {}, hidden: false, intervals: null, plots: {}, ...study, id }
  studies.value = [...studies.peek(), fresh].slice(-STUDIES_MAX)
}

export function changeStudy(id: string, change: Partial<Study>): void {
  studies.value = studies.peek().map((one) => (one.id === id ? { ...one, ...change } : one))
}

export function removeStudy(id: string): void {
  studies.value = studies.peek().filter((one) => one.id !== id)
  const { [id]: _gone, ...others } = results.peek()
  results.value = others
}

/** Moves a study up or down among the others: the order of panes, and of what is drawn over what. */
export function moveStudy(id: string, by: 1 | -1): void {
  const list = [...studies.peek()]
  const at = list.findIndex((one) => one.id === id)
  const other = list[at + by]
  const one = list[at]
  if (!one || !other) return
  list[at] = other
  list[at + by] = one
  studies.value = list
}

/** Runs studies while the chart exists; the returned function ends that. */
export function runStudies(): () => void {
  const runs = new StudyRuns()
  const stop = effect(() => runs.look())
  return () => {
    stop()
    runs.stop()
  }
}

class StudyRuns {
  readonly #current = new Map<string, { readonly key: string; readonly abort: AbortController }>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Reads everything that results depend on, and soon starts the missing runs. */
  look(): void {
    void [studies.value, shown.value, runBars.value]
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#begin(), DELAY_MS)
  }

  stop(): void {
    clearTimeout(this.#timer)
    for (const { abort } of this.#current.values()) abort.abort()
    this.#current.clear()
  }

  #begin(): void {
    const chart = shown.peek()
    if (!chart || chart.bars.length === 0) return
    const wanted = studies
      .peek()
      .filter((one) => isVisible(one, chart.market.interval))
      .map((study) => ({ study, key: keyOf(study, chart) }))
    for (const [id, { key, abort }] of this.#current)
      if (!wanted.some((one) => one.study.id === id && one.key === key)) {
        abort.abort()
        this.#current.delete(id)
      }
    for (const { study, key } of wanted) {
      if (this.#current.size >= AT_ONCE) break
      if (this.#current.has(study.id) || results.peek()[study.id]?.key === key) continue
      void this.#run(study, key, chart.market)
    }
    runningIds.value = new Set(this.#current.keys())
  }

  async #run(study: Study, key: string, market: Market): Promise<void> {
    const abort = new AbortController()
    this.#current.set(study.id, { key, abort })
    const { exchange, symbol, interval } = market
    const { source, inputs, name, shortName } = study
    const done = (result: Pick<Result, 'title' | 'tracks' | 'problem'>) => {
      results.value = { ...results.peek(), [study.id]: { key, market, ...result } }
    }
    try {
      const { result } = await call('POST /api/platform/backtests/preview', {
        body: { name, exchange, symbol, interval, bars: runBars.peek(), source, inputs },
        signal: abort.signal,
      })
      const { shorttitle, title } = result.report.script
      done({ title: shorttitle || title || shortName, tracks: result.tracks, problem: null })
    } catch (error) {
      if (abort.signal.aborted) return
      done({ title: shortName, tracks: [], problem: error instanceof Error ? error.message : String(error) })
    } finally {
      if (this.#current.get(study.id)?.abort === abort) this.#current.delete(study.id)
      this.#begin()
    }
  }
}

/** Everything that a result depends on. The newest bar may still change, so its values are included. */
function keyOf({ source, inputs }: Study, { market, bars }: NonNullable<typeof shown.value>): string {
  const last = bars.length - 1
  const newest = [bars.time[last], bars.high[last], bars.low[last], bars.close[last], bars.volume[last]]
  return JSON.stringify([source, inputs, market, newest, runBars.peek()])
}
