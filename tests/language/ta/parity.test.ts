// ta.* against TradingView's own values: the scripts of `../shared/parity/ta` are compiled and run, all bars at once and bar
// by bar, and every plotted value has to be TradingView's.
//
// The files ask for 1e-8. We ask for every digit: all values are the same number, and crossovers hang on the last one.

import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { BAR_FIELDS, type Bars, emptyBars } from '../../../src/market/bars.ts'
import type { SymbolInfo } from '../../../src/market/symbol.ts'
import type { Broker } from '../../../src/language/broker.ts'
import { type CompiledScript, compile } from '../../../src/language/compile.ts'
import type { RunEnvironment } from '../../../src/language/environment.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'

interface Case {
  readonly file: string
  readonly pine: string
  readonly bars: number
  readonly columns: Readonly<Record<string, { readonly expr: string }>>
}

const SYMBOL: SymbolInfo = {
  exchange: 'CAPITALCOM',
  symbol: 'EURUSD',
  description: 'Euro against US dollar',
  type: 'forex',
  currency: 'USD',
  baseCurrency: 'EUR',
  mintick: 0.00001,
  priceScale: 100_000,
  minMove: 1,
  pointValue: 1,
  minQuantity: 0.1,
  timezone: 'America/New_York',
  session: '1700-1700',
  volumeType: 'tick',
}

const folder = `${import.meta.dir}/../../../../shared/parity`
const found = existsSync(`${folder}/ta.json`)

if (!found) console.log('ta: ../shared/parity is absent, its cases do not run')
else
  describe("ta.* has TradingView's values", () => {
    const cases: Record<string, Case> = found ? JSON.parse(readFileSync(`${folder}/ta.json`, 'utf8')) : {}
    for (const [name, each] of Object.entries(cases))
      test(name, () => {
        const rows = readRows(`${folder}/${each.file}`)
        expect(rows).toHaveLength(each.bars)
        const { script, diagnostics } = compile(readFileSync(`${folder}/${each.pine}`, 'utf8'))
        expect(diagnostics).toEqual([])
        const bars = barsOf(rows)
        const atOnce = plotsOf(script, bars, bars.length)
        const oneByOne = plotsOf(script, bars, 1)
        for (const [column, { expr }] of Object.entries(each.columns)) {
          const expected = rows.map((row) => row[column] ?? NaN)
          expect([expr, ...(atOnce.get(column) ?? [])]).toEqual([expr, ...expected])
          expect([expr, ...(oneByOne.get(column) ?? [])]).toEqual([expr, ...expected])
        }
      })
  })

/** The plots of a run that is handed `step` bars at a time, by title. */
function plotsOf(script: CompiledScript | null, bars: Bars, step: number): Map<string, Float64Array> {
  if (script === null) throw new Error('the script does not compile')
  const environment: RunEnvironment = {
    bars,
    symbol: SYMBOL,
    interval: '1h',
    inputs: {},
    // An indicator places no orders: all a run does to its broker is to say which bar it is.
    broker: { bytes: 0, account: { bar: 0 } } as Broker,
    limits: DEFAULT_LIMITS,
    series: () => null,
  }
  const run = script.instantiate(environment)
  for (let end = step; end <= bars.length; end += step) run.advance(end)
  return new Map(run.plots.map(({ title, columns }) => [title, columns['series'] ?? new Float64Array(0)]))
}

type Row = Readonly<Record<string, number>>

function readRows(path: string): Row[] {
  const [head, ...lines] = readFileSync(path, 'utf8').trim().split(/\r?\n/)
  const names = (head ?? '').split(',')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(names.map((name, i) => [name, cells[i] === 'na' ? NaN : Number(cells[i])]))
  })
}

function barsOf(rows: readonly Row[]): Bars {
  const bars = emptyBars(rows.length)
  for (const field of BAR_FIELDS) bars[field].set(rows.map((row) => row[field] ?? NaN))
  return bars
}
