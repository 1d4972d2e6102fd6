// The two series of a fresh Chartroom: real bars to try a strategy on before anything is imported.
//
// They come with npm packages (see NOTICE) and are built into the executable as text. This half megabyte is read only if
// the series are missing, since every start would wait for it.

import { type SeriesKey, seriesKey } from './bar-store.ts'
import { type ImportResult, type ImportTarget, readBars, storeBars } from './import.ts'
import type { SymbolInfo } from './symbol.ts'
import { defaultSymbol } from './symbols.ts'

interface Sample {
  readonly key: SeriesKey
  readonly text: () => Promise<{ default: string }>
  readonly symbol: SymbolInfo
}

const SAMPLES: readonly Sample[] = [
  {
    key: seriesKey('SP', 'SPX', '1d'),
    text: () => import('../../node_modules/vega-datasets/data/sp500-2000.csv', { with: { type: 'text' } }),
    symbol: { ...defaultSymbol('SP', 'SPX'), description: 'S&P 500 Index' },
  },
  {
    key: seriesKey('NASDAQ', 'AAPL', '1d'),
    text: () => import('@observablehq/sample-datasets/aapl.csv', { with: { type: 'text' } }),
    symbol: { ...defaultSymbol('NASDAQ', 'AAPL'), description: 'Apple Inc.' },
  },
]

/** Stores the missing ones of: S&P 500 daily 2000 to 2020 as SP:SPX, and Apple daily 2013 to 2018 as NASDAQ:AAPL. */
export async function loadSamples(target: ImportTarget): Promise<ImportResult[]> {
  const loaded: ImportResult[] = []
  for (const { key, text, symbol } of SAMPLES) {
    if (await target.store.info(key)) continue
    if (!(await target.store.symbol(key.exchange, key.symbol))) await target.store.putSymbol(symbol)
    const bars = await readBars([Buffer.from((await text()).default)], { symbol })
    loaded.push(await storeBars(target, key, bars))
  }
  return loaded
}
