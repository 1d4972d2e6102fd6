// An export of the strategy tester beside a run: what it sets, in what the run differs, and which figures agree.

import { lowerBound, type Bars } from '../../market/bars.ts'
import { intervalMs, isIntraday, parseInterval } from '../../market/interval.ts'
import type { Zone } from '../../market/zone.ts'
import type { ExportFigure, ExportSettings } from '../../wire/export.ts'
import type { Report } from '../../wire/report.ts'
import { settingWord } from '../setting-values.ts'
import { wallOf } from './trade-list.ts'
import { figuresIn } from './figures.ts'
import { settingsIn, type Settings } from './properties.ts'
import type { TesterExport } from './read-export.ts'

/** The most bars that a run may ask for. */
const BARS_MAX = 2_000_000
const DAY = 86_400_000

/** Where the range of the export ends on its own clock; undefined if it says none. */
export function untilOf({ properties }: TesterExport): number | undefined {
  return wallOf((properties && settingsIn(properties, {}).range?.to) ?? '')?.wall
}

/** `zone`: the clock of the export. `bars`: those of the run. */
export function heldAgainst(
  exported: TesterExport,
  report: Report,
  bars: Bars,
  zone: Zone,
): { readonly settings: ExportSettings; readonly figures: readonly ExportFigure[] } {
  const set = settingsIn(exported.properties ?? [], report.inputs)
  const held = figuresIn(exported.figures, report)
  const wanted = barsOf(set, report, bars, zone)
  const settings: ExportSettings = {
    ...set,
    bars: wanted,
    differs: differencesOf(set, wanted, report),
    unknown: [...exported.unknown, ...set.unknown, ...held.unknown],
  }
  return { settings, figures: held.figures }
}

/** How many of the newest bars begin where the range does; estimated where the run has no bars to count. */
function barsOf({ range, interval }: Settings, report: Report, bars: Bars, zone: Zone): number | null {
  const from = wallOf(range?.from ?? '')
  const [first, last] = [bars.time[0], bars.time[bars.length - 1]]
  if (!from || first === undefined || last === undefined) return null
  const start = zone.toUtc(from.wall)
  const length = parseInterval(interval ?? report.interval)
  if (!length) return null
  if (interval === null || interval === report.interval) {
    if (start >= first) return Math.max(1, bars.length - lowerBound(bars.time, start))
    // A range of days begins at midnight, and its first bar when the market opens.
    const days = isIntraday(length) ? 1 : 4
    const slack = from.wall % DAY === 0 ? days * DAY : intervalMs(length)
    if (start > first - slack) return bars.length
  }
  return Math.min(BARS_MAX, Math.max(1, Math.ceil((last - start) / intervalMs(length)) + 1))
}

function differencesOf(set: Settings, bars: number | null, report: Report): string[] {
  const { declaration } = report.script
  const asked: Readonly<Record<string, unknown>> = { initial_capital: report.initialCapital, ...declaration }
  const differs = (['exchange', 'symbol', 'interval'] as const).filter(
    (name) => set[name] !== null && set[name] !== report[name],
  )
  const facts = (['mintick', 'pointvalue'] as const).filter(
    (name) => name in set.facts && set.facts[name] !== report[name],
  )
  const inputs = Object.keys(set.inputs).filter((name) => set.inputs[name] !== report.inputs[name])
  const overrides = Object.entries(set.overrides).filter(([name, value]) => !isSame(asked[name], value))
  return [
    ...differs,
    ...(bars !== null && bars !== report.range.bars ? ['bars'] : []),
    ...inputs.map((name) => `input ${name}`),
    ...overrides.map(([name]) => name),
    ...facts,
  ]
}

/** A declaration may say `strategy.cash` for `cash`. */
function isSame(declared: unknown, value: string | number | boolean): boolean {
  return declared === value || (typeof value === 'string' && settingWord(declared, [value]) === value)
}
