// What an author publishes of a stored backtest: its figures, trades and curve, with the bars they were made on.
//
// A snapshot is read by people who must not learn how the script works. So it is put together from fields that are named here,
// never by leaving fields out of the report: one that is added to the report later stays private until somebody decides.

import { thinned } from '../../lib/thinned.ts'
import { ofKind } from '../../lib/of-kind.ts'
import { BAR_FIELDS } from '../../market/bars.ts'
import { PUBLISHED_FIELDS, type Snapshot } from '../../wire/idea.ts'
import type { Report } from '../../wire/report.ts'
import type { Track } from '../../wire/track.ts'
import { AnswerScales, type TextBytes } from './answer.ts'
import type { PublishJob } from './job.ts'
import { storedValue } from './stored-text.ts'
import type { Desk } from './desk.ts'

/** The newest are published: 20,000 bars are 1.3 MB of JSON, and more than a page shows at once. */
const BARS_MAX = 20_000
const TRADES_MAX = 5000
/** A curve is drawn on some thousand pixels. */
const POINTS_MAX = 4000
const BYTES_MAX = 64 * 2 ** 20

/** The snapshot's JSON text. */
export async function publishJob({ bars }: PublishJob, { host, used }: Desk): Promise<TextBytes> {
  const report = (await storedValue(host, 'report')) as Report
  const tracks = (await storedValue(host, 'tracks')) as readonly Track[]
  const from = Math.max(0, bars.length - BARS_MAX)
  const columns = BAR_FIELDS.map((field) => [field, Array.from(bars[field].subarray(from, bars.length))])
  const snapshot = {
    ...published(report),
    curve: curveOf(tracks),
    bars: Object.fromEntries(columns) as Snapshot['bars'],
    barsFrom: from,
  }
  return new AnswerScales(BYTES_MAX, used).bytes([JSON.stringify(snapshot satisfies Snapshot)])
}

function published(report: Report): Omit<Snapshot, 'curve' | 'bars' | 'barsFrom'> {
  const { title, pineVersion, kind, declaration } = report.script
  const trades = report.trades ?? []
  return {
    ...pick(report, PUBLISHED_FIELDS),
    script: { title, pineVersion, kind, declaration },
    trades: trades.slice(-TRADES_MAX),
    tradeCount: trades.length,
  }
}

/** The curve of equity, of which no peak and no trough is lost. */
function curveOf(tracks: readonly Track[]): Snapshot['curve'] {
  const columnOf = (kind: 'time' | 'equity' | 'buyhold' | 'drawdown') => ofKind(tracks, kind)?.data ?? []
  const [time, equity, buyHold, drawdown] = [
    columnOf('time'),
    columnOf('equity'),
    columnOf('buyhold'),
    columnOf('drawdown'),
  ]
  const shown = thinned(equity, POINTS_MAX)
  const of = (column: readonly (number | null)[]) => shown.map((i) => column[i] ?? null)
  return {
    time: shown.map((i) => time[i] ?? 0),
    equity: of(equity),
    buyHold: of(buyHold),
    drawdown: of(drawdown),
  }
}

function pick<T, const K extends readonly (keyof T)[]>(from: T, names: K): Pick<T, K[number]> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K[number]>
}
