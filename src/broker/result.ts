// The result of a backtest, for the bars done so far: report, tracks, and both as texts or columns.

import { jsonPieces } from '../lib/json-pieces.ts'
import { lazily } from '../lib/memo.ts'
import { sha256 } from '../lib/sha256.ts'
import type { ScriptRun } from '../language/environment.ts'
import type { Program } from '../language/2-check/program.ts'
import type { Bars } from '../market/bars.ts'
import type { Rows } from '../wire/columns.ts'
import type { Report, ReportOrder, ReportTrade } from '../wire/report.ts'
import type { Track } from '../wire/track.ts'
import type { BacktestRequest, BacktestResult } from './backtest.ts'
import type { BrokerEmulator } from './emulator/broker.ts'
import type { BrokerSettings, DeclarationArgs } from './emulator/settings.ts'
import { ENGINE } from './engine.ts'
import type { Results } from './report/build.ts'
import { barsHash, canonicalJson, sidesHash } from './report/hash.ts'
import { unfilled } from './report/unfilled.ts'
import { momentsOfEquity } from './statistics/moments.ts'
import { buildTracks, columnTracks, trackTexts, type StrategyTracks } from './tracks.ts'

/** A run as far as it came. */
export interface Ran {
  readonly request: BacktestRequest
  readonly program: Program
  /** The arguments of the declaration, after replacements. */
  readonly args: DeclarationArgs
  readonly settings: BrokerSettings
  readonly bars: Bars
  /** The bars read by request.* and for currency rates, which also determine the numbers. */
  readonly read: ReadonlyMap<string, Bars>
  readonly run: ScriptRun
  readonly broker: BrokerEmulator
  readonly warnings: Report['warnings']
  readonly timings: Report['timings']
}

export function resultOf(ran: Ran, found: Results): BacktestResult {
  const { request, program, args, settings, bars, run, broker } = ran
  const ranOnAll = bars === request.bars
  const hash = (ranOnAll ? request.barsHash : null) ?? barsHash(bars)
  let trades: readonly ReportTrade[] | null = null
  let orders: readonly ReportOrder[] | null = null
  let isReleased = false
  const kept = () => {
    if (isReleased) throw new Error('This result was released, so its lists and tracks are gone.')
    return found
  }
  const report = reportOf(ran, found, hash, {
    trades: () => (trades ??= [...kept().trades()]),
    orders: () => (orders ??= [...kept().orders()]),
  })
  /** The report with other lists in their places. Its own lists are not read, since that would make all their objects. */
  const reportWith = (lists: Readonly<Record<'trades' | 'orders', object>>) =>
    Object.fromEntries(
      (Object.keys(report) as (keyof Report)[]).map((name) => [
        name,
        name === 'trades' || name === 'orders' ? lists[name] : report[name],
      ]),
    )
  let orderColumns: Rows | null = null
  let areGiven = false
  const strategy: StrategyTracks | null =
    program.declaration.kind === 'strategy'
      ? {
          get columns() {
            return kept().columns
          },
          orders: () => orders ?? kept().orders(),
          get orderColumns() {
            return (orderColumns ??= kept().orderColumns())
          },
          get resting() {
            return broker.restingOrders()
          },
          first: found.first,
          initialCapital: settings.initialCapital,
        }
      : null
  const drawn = { run, bars, overlay: args['overlay'] === true, strategy }
  let tracks: readonly Track[] | null = null
  const { all } = found.figures
  const hasTraded = all.trades + all.openTrades > 0
  return {
    report,
    barsHash: ranOnAll ? hash : null,
    moments: () => (hasTraded ? momentsOfEquity(kept().columns.equity, settings.initialCapital) : null),
    curve: () => (hasTraded ? curveOf(kept().columns.equity, settings.initialCapital) : null),
    get tracks() {
      return (tracks ??= kept() && buildTracks(drawn))
    },
    reportTexts: () => jsonPieces(reportWith({ trades: kept().trades(), orders: kept().orders() })),
    trackTexts: (kinds) => kept() && trackTexts(drawn, kinds),
    columns(kinds = null) {
      orderColumns ??= kept().orderColumns()
      areGiven = true
      return {
        report: reportWith({ trades: kept().tradeColumns(), orders: orderColumns }),
        tracks: columnTracks(drawn, kinds),
      }
    },
    release() {
      if (isReleased) return
      isReleased = true
      found.release()
      broker.releaseResting()
      if (!areGiven) run.release(true)
    },
  }
}

function reportOf(
  ran: Ran,
  found: Results,
  hash: string,
  lists: { readonly trades: () => readonly ReportTrade[]; readonly orders: () => readonly ReportOrder[] },
): Report {
  const { request, program, args, settings, bars, run } = ran
  const { symbol } = request
  const title = text(args['title'])
  // A run that goes on may read more.
  const read = new Map(ran.read)
  const ofAll = lazily(() => reportHash({ ...ran, read }, hash))
  return {
    version: 1,
    engine: ENGINE,
    ...(request.asOf !== undefined && { asOf: request.asOf }),
    get hash() {
      return ofAll()
    },
    script: {
      title,
      shorttitle: text(args['shorttitle']) || title,
      pineVersion: program.version,
      kind: program.declaration.kind,
      overlay: args['overlay'] === true,
      declaration: args,
    },
    inputs: run.inputs,
    symbol: symbol.symbol,
    exchange: symbol.exchange,
    interval: request.interval,
    currency: settings.currency,
    timezone: symbol.timezone,
    mintick: symbol.mintick,
    pointvalue: symbol.pointValue,
    range: {
      from: bars.time[0] ?? null,
      to: bars.time[bars.length - 1] ?? null,
      bars: bars.length,
    },
    ...found.figures,
    get trades() {
      return lists.trades()
    },
    get orders() {
      return lists.orders()
    },
    warnings: [
      ...ran.warnings,
      ...run.warnings,
      ...unfilled(ran.broker, bars, settings.currency, symbol.symbol),
    ],
    logs: run.logs,
    alerts: run.alerts,
    timings: ran.timings,
  }
}

function reportHash({ request, args, settings, bars, read, run }: Ran, hash: string): string {
  const sides = sidesHash(request.source, [bars, ...read.values()])
  return sha256(
    canonicalJson({
      source: request.source,
      inputs: run.inputs,
      symbol: request.symbol,
      interval: request.interval,
      barsHash: hash,
      finer: settings.barMagnifier && request.finer ? barsHash(request.finer.bars) : null,
      series: Object.fromEntries(Array.from(read, ([name, others]) => [name, barsHash(others)])),
      settings: args,
      engine: ENGINE,
      ...(sides !== null && { sides }),
    }),
  )
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const CURVE_POINTS = 24

/** null where it is no number: a strategy may begin with nothing. */
function curveOf(equity: ArrayLike<number>, initial: number): number[] | null {
  const points = Math.min(CURVE_POINTS, equity.length)
  const curve = Array.from({ length: points }, (_, i) => {
    const bar = Math.floor(((i + 1) * equity.length) / points) - 1
    return Math.round((equity[bar]! / initial) * 1e4) / 1e4
  })
  return curve.every(Number.isFinite) ? curve : null
}
