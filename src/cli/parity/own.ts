// Cases in our own layout: lists.json, micro.json, ta.json and other.json beside the files they name.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReportTrade } from '../../wire/report.ts'
import { calendarOf } from '../../market/calendar.ts'
import { normalizeInterval, parseInterval } from '../../market/interval.ts'
import { resample } from '../../market/resample.ts'
import {
  checkColumns,
  type ColumnSpec,
  type ParityCase,
  requestFor,
  type SymbolFacts,
  symbolOf,
  type CaseVerdict,
} from './case.ts'
import { barsOf, readBars, type ListRow, rowsOf } from './files.ts'

export function ownCases(dir: string): ParityCase[] {
  return [...listCases(dir), ...microCases(dir), ...columnCases(dir, 'ta'), ...columnCases(dir, 'other')]
}

interface ListCase {
  readonly id: string
  readonly pine: string
  readonly bars: string
  readonly expected: string
  readonly expected_series?: string
  readonly syminfo: SymbolFacts
}

function listCases(dir: string): ParityCase[] {
  const file = join(dir, 'lists.json')
  if (!existsSync(file)) return []
  const { lists } = JSON.parse(readFileSync(file, 'utf8')) as { lists: readonly ListCase[] }
  return lists.map((list) => ({
    suite: 'lists',
    id: list.id,
    request: requestFor(
      readFileSync(join(dir, list.pine), 'utf8'),
      readBars(join(dir, list.bars)),
      symbolOf(list.syminfo),
      list.syminfo.interval ?? '60',
    ),
    check: ({ trades, positions }) => {
      const verdict = checkList(rowsOf(join(dir, list.expected)), trades)
      if (!list.expected_series || verdict.first !== null) return verdict
      const series = rowsOf(join(dir, 'lists/slippage_pyramiding_series.csv'))
      const wrong = series.findIndex(
        (row, i) => Math.abs(Number(row['position_size']) - (positions[i] ?? NaN)) > 1e-6,
      )
      return wrong < 0 ? verdict : { ...verdict, first: `position_size differs on bar ${wrong}` }
    },
  }))
}

function checkList(expected: readonly ListRow[], found: readonly ReportTrade[]): CaseVerdict {
  const rows = expected.filter((row) => row['open'] !== '1')
  const trades = found.filter((trade) => trade.status === 'closed')
  let exact = 0
  let first: string | null = null
  for (let i = 0; i < Math.max(rows.length, trades.length); i++) {
    const difference = listDifference(rows[i], trades[i])
    if (difference === null) exact++
    else first ??= `trade ${i + 1}: ${difference}`
  }
  return { exact, total: rows.length, first }
}

function listDifference(row: ListRow | undefined, trade: ReportTrade | undefined): string | null {
  if (!row) return `extra trade at ${new Date(trade!.entryTime).toISOString()}`
  if (!trade) return 'missing'
  const number = (name: string) => Number(row[name])
  const say = (name: string, got: unknown) => `${name} ${row[name]} expected, ${String(got)} found`
  const near = (a: number, b: number, slack: number) => Math.abs(a - b) <= slack
  if (row['side'] !== trade.side) return say('side', trade.side)
  if (number('entry_time') !== trade.entryTime) return say('entry_time', trade.entryTime)
  if (number('exit_time') !== trade.exitTime) return say('exit_time', trade.exitTime)
  if (!near(number('entry_price'), trade.entryPrice, 1e-8)) return say('entry_price', trade.entryPrice)
  if (!near(number('exit_price'), trade.exitPrice, 1e-8)) return say('exit_price', trade.exitPrice)
  const entrySignal = trade.entryComment || trade.entryId
  if (row['entry_signal'] !== entrySignal) return say('entry_signal', entrySignal)
  const exitSignal = trade.exitComment || trade.exitId
  if (row['exit_signal'] !== exitSignal) return say('exit_signal', exitSignal)
  if (!near(number('qty'), trade.qty, 1e-6 * Math.max(1, number('qty')))) return say('qty', trade.qty)
  const digits = /\.(\d+)/.exec(row['profit'] ?? '')?.[1]?.length ?? 0
  if (!near(number('profit'), trade.profit, 0.51 * 10 ** -digits)) return say('profit', trade.profit)
  return null
}

interface MicroCase {
  readonly id: string
  readonly pine: string
  readonly syminfo: SymbolFacts
  readonly bars: readonly (readonly number[])[]
  readonly sub_bars: readonly (readonly number[])[] | null
  readonly expected: {
    readonly trades: readonly {
      readonly entry_id: string
      readonly entry_bar: number
      readonly entry_price: number
      readonly exit_id: string | null
      readonly exit_comment: string
      readonly exit_bar: number
      readonly exit_price: number
      readonly size: number
      readonly profit: number
      readonly commission: number
    }[]
    readonly position_size: readonly number[]
  }
}

function microCases(dir: string): ParityCase[] {
  const file = join(dir, 'micro.json')
  if (!existsSync(file)) return []
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly MicroCase[] }
  return cases.map((micro) => {
    const finer = micro.sub_bars && barsOf(micro.sub_bars)
    const symbol = symbolOf(micro.syminfo)
    const timeframe = micro.syminfo.period ?? '1'
    const interval = parseInterval(normalizeInterval(timeframe) ?? timeframe)
    const minute = parseInterval('1m')
    const bars =
      finer && interval && minute ? resample(finer, minute, interval, calendarOf(symbol)) : barsOf(micro.bars)
    return {
      suite: 'micro',
      id: micro.id,
      request: {
        ...requestFor(micro.pine, bars, symbol, timeframe),
        finer: finer && { bars: finer, interval: '1m' },
      },
      check: ({ trades, positions }) => checkMicro(micro, trades, positions),
    }
  })
}

function checkMicro(
  micro: MicroCase,
  found: readonly ReportTrade[],
  positions: readonly number[],
): CaseVerdict {
  const trades = found.filter((trade) => trade.status === 'closed')
  const wanted = micro.expected.trades
  const differences: string[] = []
  for (let i = 0; i < Math.max(wanted.length, trades.length); i++) {
    const [want, got] = [wanted[i], trades[i]]
    if (!want || !got) {
      differences.push(`trade ${i + 1}: ${want ? 'missing' : 'extra'}`)
      continue
    }
    const pairs: [string, number | string, number | string][] = [
      ['entry_id', want.entry_id, got.entryId],
      ['entry_bar', want.entry_bar, got.entryBar],
      ['entry_price', want.entry_price, got.entryPrice],
      ['exit_id', want.exit_id ?? got.exitId, got.exitId],
      ['exit_comment', want.exit_comment, got.exitComment ?? ''],
      ['exit_bar', want.exit_bar, got.exitBar],
      ['exit_price', want.exit_price, got.exitPrice],
      ['size', want.size, got.side === 'long' ? got.qty : -got.qty],
      ['profit', want.profit, got.profit],
      ['commission', want.commission, got.commission],
    ]
    for (const [name, a, b] of pairs)
      if (
        typeof a === 'number' && typeof b === 'number'
          ? !(Math.abs(a - b) <= 1e-8 * Math.max(1, Math.abs(a)))
          : a !== b
      )
        differences.push(`trade ${i + 1}: ${name} ${a} expected, ${b} found`)
  }
  const bar = micro.expected.position_size.findIndex(
    (size, i) => !(Math.abs(size - (positions[i] ?? NaN)) <= 1e-8 * Math.max(1, Math.abs(size))),
  )
  if (bar >= 0)
    differences.push(
      `position_size ${JSON.stringify(micro.expected.position_size)} expected, ${JSON.stringify(positions)} found`,
    )
  return { exact: differences.length === 0 ? 1 : 0, total: 1, first: differences[0] ?? null }
}

interface ColumnCase {
  readonly file: string
  readonly pine: string
  readonly syminfo: SymbolFacts
  readonly columns: Readonly<Record<string, ColumnSpec>>
}

/** The cases of ta.json and other.json: each column has one value a bar. */
function columnCases(dir: string, suite: 'ta' | 'other'): ParityCase[] {
  const file = join(dir, `${suite}.json`)
  if (!existsSync(file)) return []
  const files = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, ColumnCase>>
  return Object.entries(files)
    .filter(([, one]) => typeof one === 'object' && 'pine' in one)
    .map(([id, one]) => ({
      suite,
      id,
      request: requestFor(
        readFileSync(join(dir, one.pine), 'utf8'),
        readBars(join(dir, one.file)),
        symbolOf(one.syminfo),
        one.syminfo.interval ?? '60',
      ),
      check: ({ plots }) => checkColumns(one.columns, rowsOf(join(dir, one.file)), plots),
    }))
}
