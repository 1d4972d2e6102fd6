// Bars from JSON: a list of objects, a list of lists (as exchanges answer), or columns. All may be under `bars`.

import type { BarStage } from './bar-stage.ts'
import { parseTime } from './bar-time.ts'
import type { Calendar } from './calendar.ts'

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
const SHORT = { time: 't', open: 'o', high: 'h', low: 'l', close: 'c', volume: 'v' } as const

type Record_ = Readonly<Record<string, unknown>>

/** Reads rows into the stage; row 1 is the first bar. */
export function stageJson(value: unknown, stage: BarStage, calendar: Calendar | null): void {
  const bars = isRecord(value) && 'bars' in value ? value['bars'] : value
  if (isRecord(bars)) return stageColumns(bars, stage, calendar)
  if (!Array.isArray(bars)) return stage.fail(1, 'expected a list of bars, or an object of columns')
  for (const [i, bar] of bars.entries()) {
    if (stage.full) return
    const read = readerOf(bar)
    if (read) addRow(stage, i + 1, read, calendar)
    else stage.fail(i + 1, 'expected a bar as an object or a list')
  }
}

function readerOf(bar: unknown): ((index: number) => unknown) | null {
  if (Array.isArray(bar)) return (index) => bar[index]
  if (!isRecord(bar)) return null
  return (index) => {
    const field = FIELDS[index] ?? 'time'
    return bar[field] ?? bar[SHORT[field]]
  }
}

function stageColumns(columns: Record_, stage: BarStage, calendar: Calendar | null): void {
  const lists = FIELDS.map((field) => columns[field] ?? columns[SHORT[field]])
  const [times] = lists
  if (!Array.isArray(times)) return stage.fail(1, 'expected a column time')
  for (const [i, list] of lists.entries()) {
    if (i === 5 && list === undefined) continue
    if (!Array.isArray(list) || list.length !== times.length)
      return stage.fail(1, `expected a column ${FIELDS[i]} as long as time`)
  }
  for (let row = 0; row < times.length && !stage.full; row++)
    addRow(
      stage,
      row + 1,
      (index) => {
        const list: unknown = lists[index]
        return Array.isArray(list) ? list[row] : undefined
      },
      calendar,
    )
}

function addRow(
  stage: BarStage,
  row: number,
  at: (index: number) => unknown,
  calendar: Calendar | null,
): void {
  const volume = at(5)
  stage.add(
    row,
    parseTime(at(0), calendar),
    toNumber(at(1)),
    toNumber(at(2)),
    toNumber(at(3)),
    toNumber(at(4)),
    volume === undefined || volume === null ? 0 : toNumber(volume),
  )
}

/** Exchanges write prices as text. */
function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

function isRecord(value: unknown): value is Record_ {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
