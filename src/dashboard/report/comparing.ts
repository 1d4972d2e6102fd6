// A list of trades beside the run: what is shown while it is compared, and of which file.

import type { Comparison } from '../../wire/backtest.ts'
import type { Explanation } from '../../wire/explanation.ts'
import type { Answer, Args } from '../../wire/operations.ts'
import type { Held } from './export-held.tsx'

type Operation = 'POST /api/platform/backtests/{id}/compare'
export type ExportBody = NonNullable<Args<Operation>['body']>
export type Compared = Answer<Operation>

export interface Shown {
  readonly busy: boolean
  readonly problem: unknown
  readonly result: Comparison | null
  /** Why rows of the file could not be read, a sentence each. */
  readonly unread: readonly string[]
  readonly held: Held | null
  readonly why: Explanation | 'looking' | null
}

export const NOTHING: Shown = { busy: false, problem: null, result: null, unread: [], held: null, why: null }

type Show = (part: Partial<Shown>) => void

interface Ways {
  readonly ask: (body: ExportBody, explain: boolean, signal: AbortSignal) => Promise<Compared>
  /** Runs the script with what the file sets. */
  readonly rerun: (settings: NonNullable<Compared['settings']>) => Promise<void>
  readonly lookAt: (first: NonNullable<Comparison['firstDivergence']>) => void
  readonly show: (shown: Shown) => void
}

/** Whether the script can be run with what was found. */
export const isRunnable = ({ overrides, inputs, bars, asOf }: Explanation): boolean =>
  Object.keys({ ...overrides, ...inputs }).length > 0 || bars !== null || asOf !== null

/** Of the symbol, which a run does not set. */
const FACTS: readonly string[] = ['mintick', 'pointvalue']

/** One file at a time: a newer one takes all of the one before away, and ends what is under way for it. */
export class Comparing {
  readonly #ways: Ways
  #shown = NOTHING
  #body: ExportBody = {}
  #ending = new AbortController()

  constructor(ways: Ways) {
    this.#ways = ways
  }

  /** `reruns`: how often the script may be run with what the file sets. */
  async compare(body: ExportBody, reruns = 0): Promise<void> {
    this.#ending.abort()
    this.#ending = new AbortController()
    this.#body = body
    const { signal } = this.#ending
    const show: Show = (part) => {
      if (!signal.aborted) this.#ways.show((this.#shown = { ...this.#shown, ...part }))
    }
    show({ ...NOTHING, busy: true })
    try {
      await this.#steps(body, reruns, signal, show)
    } catch (problem) {
      show({ problem, why: null })
    }
    show({ busy: false })
  }

  /** The same file again, beside a run that has changed. */
  again(): Promise<void> {
    return this.compare(this.#body)
  }

  async #steps(body: ExportBody, reruns: number, signal: AbortSignal, show: Show): Promise<void> {
    const answer = await this.#ways.ask(body, false, signal)
    const { comparison, settings, figures, warnings = [] } = answer
    if (signal.aborted) return
    if (reruns > 0 && settings?.differs.some((name) => !FACTS.includes(name))) {
      await this.#ways.rerun(settings)
      if (!signal.aborted) await this.#steps(body, reruns - 1, signal, show)
      return
    }
    const isChart = settings === null && figures !== null
    show({
      busy: false,
      result: isChart ? null : comparison,
      unread: warnings.filter(({ code }) => code === 'unreadable_row').map(({ message }) => message),
      held: figures && { settings, figures },
    })
    const { firstDivergence: first } = comparison
    if (!first) return
    this.#ways.lookAt(first)
    show({ why: 'looking' })
    show({ why: (await this.#ways.ask(body, true, signal)).explanation })
  }
}
