// Time, na and timeframe.change() against TradingView's own values: the scripts of `../shared/parity/other` are run and every
// plotted value has to be TradingView's.

import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'

import { emptyBars } from '../../../src/market/bars.ts'
import type { SymbolInfo } from '../../../src/market/symbol.ts'
import { runScript, SYMBOL } from './script.ts'

interface Case {
  readonly file: string
  readonly pine: string
  readonly bars: number
  readonly columns: Readonly<Record<string, { readonly expr: string }>>
  readonly syminfo: { readonly timezone: string; readonly session?: string }
}

const folder = ['../../../../shared/parity', '../../../../../shared/parity']
  .map((path) => `${import.meta.dir}/${path}`)
  .find((path) => existsSync(`${path}/other.json`))

if (folder === undefined) console.log('library: ../shared/parity is absent, its cases do not run')
else
  describe("TradingView's values", () => {
    const cases: Record<string, Case> =
      folder === undefined ? {} : JSON.parse(readFileSync(`${folder}/other.json`, 'utf8'))
    for (const [name, each] of Object.entries(cases))
      test(name, () => {
        const [header = [], ...rows] = readFileSync(`${folder}/${each.file}`, 'utf8')
          .trim()
          .split(/\r?\n/)
          .map((line) => line.split(','))
        const column = (title: string) => rows.map((row) => Number(row[header.indexOf(title)]))
        const bars = emptyBars(rows.length)
        for (const field of ['time', 'open', 'high', 'low', 'close', 'volume'] as const)
          bars[field].set(column(field))
        const symbol: SymbolInfo = {
          ...SYMBOL,
          timezone: each.syminfo.timezone,
          session: each.syminfo.session === undefined ? '24x7' : '1700-1700',
        }
        const source = readFileSync(`${folder}/${each.pine}`, 'utf8').split('\n')
        const { plots } = runScript(source.slice(2).join('\n'), { bars, symbol, interval: '5m' })
        for (const [title, { expr }] of Object.entries(each.columns)) {
          const ours = plots[title] ?? []
          const wrong = column(title).findIndex((value, i) => !Object.is(value, ours[i] ?? Number.NaN))
          expect({ expr, bar: wrong, value: plots[title]?.[wrong] }).toEqual({
            expr,
            bar: -1,
            value: undefined,
          })
        }
      })
  })
