// The levels floor traders work out from the period before: a pivot, and resistances and supports around it.
//
// A period begins where `anchor` is true. The formulas are those of TradingView's help page "Pivot Points Standard".

import { invalidArgument, noDevelopingWoodie } from '../../messages/failing.ts'
import type { Budget } from '../../runtime/budget.ts'
import { PineArray } from '../../runtime/collections.ts'
import { type Runtime } from '../../runtime/runtime.ts'
import { fn } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'

const PIVOT_TYPES = ['Traditional', 'Fibonacci', 'Woodie', 'Classic', 'DM', 'Camarilla'] as const
type PivotType = (typeof PIVOT_TYPES)[number]

interface Period {
  open: number
  high: number
  low: number
  close: number
}

/** Writes [P, R1, S1, R2, S2, R3, S3, R4, S4, R5, S5], with na for levels that the type does not have. */
function pivotLevels(type: PivotType, before: Period, openNow: number, levels: number[]): void {
  levels.fill(NaN)
  const { open, high, low, close } = before
  const range = high - low
  const pivot = (high + low + close) / 3
  switch (type) {
    case 'Traditional':
      levels[0] = pivot
      set(levels, 1, pivot * 2 - low, pivot * 2 - high)
      set(levels, 2, pivot + range, pivot - range)
      set(levels, 3, pivot * 2 + (high - 2 * low), pivot * 2 - (2 * high - low))
      set(levels, 4, pivot * 3 + (high - 3 * low), pivot * 3 - (3 * high - low))
      set(levels, 5, pivot * 4 + (high - 4 * low), pivot * 4 - (4 * high - low))
      return
    case 'Fibonacci':
      levels[0] = pivot
      set(levels, 1, pivot + 0.382 * range, pivot - 0.382 * range)
      set(levels, 2, pivot + 0.618 * range, pivot - 0.618 * range)
      set(levels, 3, pivot + range, pivot - range)
      return
    case 'Woodie': {
      const woodie = (high + low + 2 * openNow) / 4
      const r3 = high + 2 * (woodie - low)
      const s3 = low - 2 * (high - woodie)
      levels[0] = woodie
      set(levels, 1, 2 * woodie - low, 2 * woodie - high)
      set(levels, 2, woodie + range, woodie - range)
      set(levels, 3, r3, s3)
      set(levels, 4, r3 + range, s3 - range)
      return
    }
    case 'Classic':
      levels[0] = pivot
      set(levels, 1, 2 * pivot - low, 2 * pivot - high)
      set(levels, 2, pivot + range, pivot - range)
      set(levels, 3, pivot + 2 * range, pivot - 2 * range)
      set(levels, 4, pivot + 3 * range, pivot - 3 * range)
      return
    case 'DM': {
      const x =
        open === close
          ? high + low + 2 * close
          : close > open
            ? 2 * high + low + close
            : 2 * low + high + close
      levels[0] = x / 4
      set(levels, 1, x / 2 - low, x / 2 - high)
      return
    }
    case 'Camarilla': {
      levels[0] = pivot
      for (const [i, part] of [12, 6, 4, 2].entries())
        set(levels, i + 1, close + (1.1 * range) / part, close - (1.1 * range) / part)
      const r5 = (high / low) * close
      set(levels, 5, r5, close - (r5 - close))
    }
  }
}

function set(levels: number[], number: number, resistance: number, support: number): void {
  levels[2 * number - 1] = resistance
  levels[2 * number] = support
}

/** Follows the periods. The levels are those of the last complete period or, if developing, of the present one. */
export class PivotLevels {
  static readonly runtime = true
  private readonly budget: Budget
  private readonly levels = Array.from({ length: 11 }, () => NaN)
  private readonly before: Period = { open: NaN, high: NaN, low: NaN, close: NaN }
  private readonly now: Period = { open: NaN, high: NaN, low: NaN, close: NaN }
  private anchored = false

  constructor({ budget }: Runtime) {
    this.budget = budget
  }

  /** The script may change the array, so each answer is a new one. */
  next(
    type: string | null,
    anchor: boolean | null,
    developing: boolean | null,
    open: number,
    high: number,
    low: number,
    close: number,
  ): PineArray<number> {
    const known = knownType(type, developing === true)
    if (anchor) this.begin(open, high, low)
    else this.widen(open, high, low)
    this.now.close = close
    if (!this.anchored) this.levels.fill(NaN)
    else if (developing) pivotLevels(known, this.now, open, this.levels)
    else pivotLevels(known, this.before, this.now.open, this.levels)
    return new PineArray(this.levels.slice(), NaN, this.budget)
  }

  private begin(open: number, high: number, low: number): void {
    this.anchored = true
    this.before.open = this.now.open
    this.before.high = this.now.high
    this.before.low = this.now.low
    this.before.close = this.now.close
    this.now.open = open
    this.now.high = high
    this.now.low = low
  }

  private widen(open: number, high: number, low: number): void {
    if (this.now.open !== this.now.open) this.now.open = open
    if (!(this.now.high >= high)) this.now.high = high
    if (!(this.now.low <= low)) this.now.low = low
  }
}

function knownType(type: string | null, developing: boolean): PivotType {
  const known = PIVOT_TYPES.find((each) => each === type)
  if (known === undefined)
    throw invalidArgument(
      'type',
      type === null ? null : `"${type}"`,
      'ta.pivot_point_levels',
      `one of ${PIVOT_TYPES.join(', ')}`,
    )
  if (developing && known === 'Woodie') throw noDevelopingWoodie()
  return known
}

export const PIVOT_LEVELS: readonly BuiltinEntry[] = [
  fn(
    'ta.pivot_point_levels',
    'Pivot levels [P, R1, S1, R2, S2, R3, S3, R4, S4, R5, S5] of the period before the last bar on which `anchor` was true; with `developing`, of the period under way.',
    '(series string type, series bool anchor, series bool developing = false) array<float>',
    { state: PivotLevels, implicit: ['open', 'high', 'low', 'close'] },
  ),
]
