// The workspace's state: script, last run and open drawers, as signals that every part of the page reads.

import { computed, signal } from '@preact/signals'
import type { Alert } from '../wire/alert.ts'
import type { Script, Diagnostic as ScriptDiagnostic } from '../wire/script.ts'
import type { Report } from '../wire/report.ts'
import type { Trials } from '../wire/trials.ts'
import type { Track } from '../wire/track.ts'
import type { Market } from './charts.ts'
import { remembered } from './settings.ts'

export { market, type Market } from './charts.ts'

export const SIDES = ['watchlists', 'alerts', 'ideas'] as const
export type Side = (typeof SIDES)[number]
/** The drawer on the right; '' = closed, as at first: somebody new has no list to show, and the chart has the room. */
export const side = remembered<Side | ''>('side', '')

export const BOTTOMS = ['script', 'report', 'trades', 'replay', 'deliveries'] as const
export type Bottom = (typeof BOTTOMS)[number]
/** The drawer below the chart; '' = closed. On a phone nobody writes a script first. */
export const bottom = remembered<Bottom | ''>('bottom', innerWidth > 760 ? 'script' : 'report')
export const bottomMaximised = signal(false)

/** The script in the editor. `id` is null until it is saved. */
export interface OpenScript {
  readonly id: string | null
  readonly name: string
  readonly source: string
  /** Values the user gave its inputs, by title. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** Properties: arguments that its runs replace in the declaration. */
  readonly overrides?: Overrides
  /** The day of whose TradingView its runs are; missing = today's. */
  readonly asOf?: string
}
export type Overrides = Readonly<Record<string, number | string | boolean>>
export const script = remembered<OpenScript>('script', { id: null, name: '', source: '' })
const OWN: NonNullable<OpenScript['inputs']> = {}
export const inputs = computed(() => script.value.inputs ?? OWN)
export const setInputs = (next: NonNullable<OpenScript['inputs']>): void => {
  script.value = { ...script.peek(), inputs: next }
}
/** Forgets values of inputs that the script has no longer: a run is refused with one. */
export function keepInputsOf(list: readonly { readonly label: string }[]): void {
  const given = Object.entries(inputs.peek())
  const kept = given.filter(([name]) => list.some(({ label }) => label === name))
  if (kept.length < given.length) setInputs(Object.fromEntries(kept))
}

/** The last run that succeeded; it stays on screen until the next one is done. */
export interface ShownRun {
  /** null for a preview, which the server has not stored: `keptRun()` stores it when something needs its id. */
  readonly id: string | null
  readonly name: string
  /** The source that ran; undefined if it is another user's private script. */
  readonly source?: string | undefined
  readonly report: Report
  readonly tracks: readonly Track[]
  /** How often its script was tried; missing where nobody counts, as in what others shared. */
  readonly trials?: Trials | null
  /** It took the place of a run of the same script as of another day, before a change of TradingView. */
  readonly replaced?: { readonly asOf: string | undefined } | undefined
}
export const run = signal<ShownRun | null>(null)
/** Whether the text in the editor differs from what chart and report show. */
export const outrun = computed(
  () => run.value?.source !== undefined && run.value.source !== script.value.source,
)
export const running = signal(false)
/** Whether the run under way is a preview, which pressing Run replaces by one that is kept. */
export const previewing = signal(false)
/** The last run that the user asked for: when it was done, and whether its report is the one that was there before. */
export const lastDone = signal<{ readonly at: number; readonly isSame: boolean } | null>(null)
/** How far the present run is, from 0 to 1; null = not known. */
export const runProgress = signal<number | null>(null)
export const diagnostics = signal<readonly ScriptDiagnostic[]>([])
/** Why the last run failed, if not because of errors in the script. */
export const runProblem = signal<Error | null>(null)

/** A script or study that a tab, a form or a menu is about, wherever it comes from. */
export interface Subject {
  /** As it stands in addresses: `scr_…`, `library:NAME`, `sample:NAME`, or `editor`. */
  readonly id: string
  readonly name: string
  readonly kind: Script['kind']
  readonly source: string
  /** Values of its inputs other than the script's own. */
  readonly inputs: Readonly<Record<string, unknown>>
  readonly overrides: Overrides
  /** The day of whose TradingView its runs are; missing = today's. */
  readonly asOf?: string
  /** Null where it is not stored as it is here. */
  readonly stored: Script | null
}

/** The values that the form of a new alert starts with. */
export interface AlertWish extends Partial<
  Pick<Alert, 'kind' | 'op' | 'price' | 'percent' | 'bars' | 'name' | 'message' | 'scriptId' | 'inputs'>
> {
  /** That on the active chart if not given. */
  readonly market?: Market
  /** The script or study that is watched. */
  readonly subject?: Subject
  /** One that is changed, instead of a new one. */
  readonly alert?: Alert
}
/** Set to open the form of an alert with these values, on whatever page one is. */
export const alertAt = signal<AlertWish | null>(null)
/** Asks the chart to show this time (UTC ms) and, if given, to light this trade. A new object each time. */
export const lookAt = signal<{ readonly time: number; readonly trade?: number } | null>(null)
/** Asks the editor to put its cursor there. */
export const jumpTo = signal<{ readonly line: number; readonly column: number } | null>(null)
