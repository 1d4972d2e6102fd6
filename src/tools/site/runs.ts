// What the first page shows is run by the engine when the site is built, over the sample bars that Chartroom comes with.

import { readFileSync } from 'node:fs'
import { barsFromCsv, run, sweep } from '../../engine/engine.ts'
import { moneyText } from './words.ts'
import { root } from './documents.ts'
import type { Markup } from './html.ts'
import { chart, heatMap } from './pictures.ts'

const SHOWN_BARS = 200
const FAST = [20, 30, 40, 50, 60, 70, 80]
const SLOW = [100, 120, 140, 160, 180, 200, 220, 240]

export interface ShownRun {
  readonly file: string
  readonly source: string
  readonly chart: Markup
  readonly figures: readonly (readonly [name: string, value: string, tone: '' | 'up' | 'down'])[]
  readonly market: string
}

const scriptOf = (file: string) => readFileSync(`${root}/data/samples/${file}`, 'utf8')
const dayOf = (time: number) =>
  new Date(time).toLocaleString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The strategy that the playground opens with, over all of Apple's bars. */
export async function shownRun(): Promise<ShownRun> {
  const file = 'supertrend.pine'
  const source = scriptOf(file)
  const csv = readFileSync(`${root}/node_modules/@observablehq/sample-datasets/aapl.csv`)
  const market = await barsFromCsv(csv, { symbol: 'NASDAQ:AAPL' })
  const { report, tracks } = run(source, market)
  const { bars } = market
  const lines = (['up', 'down'] as const).flatMap((name) =>
    tracks.flatMap((track) =>
      track.kind === 'plot' && track.title.toLowerCase() === name ? [{ name, data: track.data }] : [],
    ),
  )
  const equity = tracks.flatMap((track) => (track.kind === 'equity' ? track.data : []))
  const { summary } = report
  const span = `${dayOf(bars.time[0]!)} to ${dayOf(bars.time.at(-1)!)}`
  return {
    file,
    source,
    market: `Apple, daily, ${span}`,
    chart: chart({
      bars,
      from: bars.length - SHOWN_BARS,
      lines,
      equity,
      trades: report.trades.map((trade) => ({
        ...trade,
        exitBar: trade.status === 'open' ? null : trade.exitBar,
      })),
      label: `Apple by day: candles, the Supertrend line, the strategy's trades and its equity`,
    }),
    figures: [
      [
        'Net profit',
        `${moneyText(summary.netProfit)} ${report.currency}`,
        summary.netProfit >= 0 ? 'up' : 'down',
      ],
      ['Trades', String(summary.trades), ''],
      ['Winners', shareText(summary.winRate), ''],
      ['Profit factor', summary.profitFactor?.toFixed(2) ?? 'none', ''],
      ['Largest drawdown', shareText(summary.maxDrawdownPct), ''],
    ],
  }
}

const shareText = (share: number | null) => (share === null ? 'none' : `${(share * 100).toFixed(1)}%`)

export interface ShownSweep {
  readonly map: Markup
  readonly sentence: string
  readonly tried: number
  readonly market: string
}

/** Two averages with 56 choices, and what is left of the best. */
export async function shownSweep(): Promise<ShownSweep> {
  const csv = readFileSync(`${root}/node_modules/vega-datasets/data/sp500-2000.csv`)
  const market = await barsFromCsv(csv, { symbol: 'SP:SPX' })
  const { trials, verdict } = await sweep(scriptOf('sma-cross.pine'), market, {
    space: [
      { input: 'Fast length', values: FAST },
      { input: 'Slow length', values: SLOW },
    ],
    objective: 'sharpe',
  })
  const scores = FAST.flatMap((fast) =>
    SLOW.map((slow) => trials.find(({ choices }) => choices[0] === fast && choices[1] === slow)?.score ?? 0),
  )
  const { bars } = market
  return {
    map: heatMap({
      rows: FAST,
      columns: SLOW,
      scores,
      best: scores.indexOf(Math.max(...scores)),
      name: 'Sharpe ratio a bar by the lengths of the two averages: fast down, slow across',
    }),
    sentence: verdict.sentence,
    tried: trials.length,
    market: `S&P 500, daily, ${dayOf(bars.time[0]!)} to ${dayOf(bars.time.at(-1)!)}`,
  }
}
