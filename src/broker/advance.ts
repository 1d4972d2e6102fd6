// A run that continues bar by bar: its results on the newest bars, and the state to keep so that the next ones cost as
// little.
//
// State is kept from before the newest bar. That bar may be forming, or may be the last one known, which a script can tell
// (barstate.islast). So it is run at each look and never kept; when the next bar comes it is run once more, as a bar of the
// past. So kept state always leads to the results of a run over all bars, and an alert's answer does not depend on whether
// anything was kept. If a bar still to come may change the past (a look ahead into a day that is not over), the state from
// before that is kept.

import { type Bars, columnsOf } from '../market/bars.ts'
import type { AlertEvent } from '../language/environment.ts'
import type { Fills } from './emulator/ledger.ts'
import { SeriesNeeded } from '../language/runtime/runtime.ts'
import { labelOf } from './emulator/ledger.ts'
import type { Backtest, BacktestRequest, SeriesName, Snapshot } from './backtest.ts'
import { openBacktest } from './run.ts'

/** A run's state after its first `position` bars. It has results from bar `told` on. */
export interface KeptState extends Snapshot {
  readonly position: number
  readonly told: number
  /** What the state was made from: if any of it has changed, the state is useless. */
  readonly basis: readonly Basis[]
}

/** The first `count` bars of a series, identified by their content; -1 = there was no such series. */
interface Basis {
  /** null = the chart's own, `finer` = the bar magnifier's. */
  readonly name: SeriesName | 'finer' | null
  readonly count: number
  /** One hash for each block of bars; the last block may be short. */
  readonly hashes: readonly bigint[]
}

const HASHED_BARS = 4096

export interface Advanced {
  /** Results begin at this bar. */
  readonly from: number
  /** By title, in the order in which the script plots them; the first value belongs to bar `from`. */
  readonly plots: readonly (readonly [title: string, values: Float64Array])[]
  readonly alerts: readonly AlertEvent[]
  readonly fills: readonly FillEvent[]
  /** The state to keep in place of the old one; null = keep the old one. */
  readonly kept: KeptState | null
}

interface FillEvent {
  readonly bar: number
  readonly id: string
  readonly price: number
}

/** Kept state also has results for this many bars before the newest, since an alert may have last looked a little earlier. */
const TOLD_BARS = 64

/**
 * Continues from `kept` to the newest of the request's bars, and answers results from `from` on. State is not used if it
 * lacks those results or was made from other bars; `trusted` means that the bars are known to be the same. Throws what
 * `runBacktest` throws.
 */
export function advance(
  request: BacktestRequest,
  kept: KeptState | null,
  from: number,
  { trusted = false } = {},
): Advanced {
  const newest = request.bars.length - 1
  const usable =
    kept !== null && kept.told <= from && kept.position <= newest && isOf(request, kept, trusted)
      ? kept
      : null
  const asked = new Map<string, SeriesName>()
  for (const { name } of usable?.basis ?? [])
    if (name !== null && name !== 'finer') asked.set(name.join(' '), name)
  const open = () => {
    const backtest = openBacktest({
      ...request,
      stepwise: true,
      series: (...name) => {
        asked.set(name.join(' '), name)
        return request.series(...name)
      },
    })
    if (usable) backtest.restore(usable)
    return backtest
  }
  const backtest = open()
  const told = Math.max(0, Math.min(from, newest - TOLD_BARS))
  backtest.advance(newest)
  const settled = Math.min(newest, backtest.unsettledFrom)
  const next =
    settled <= (usable?.position ?? 0) ? null : keep(settled === newest ? backtest : open(), settled, told)
  backtest.advance(newest + 1)
  const answer = said(backtest, from)
  // All of it has been copied.
  backtest.run.release(true)
  backtest.broker.release()
  return {
    from,
    ...answer,
    kept: next && { ...next, basis: basisOf(request, settled, [...asked.values()], usable) },
  }
}

/** Whether the state was made from what the request has. */
function isOf(request: BacktestRequest, { basis }: KeptState, trusted: boolean): boolean {
  return basis.every(({ name, count, hashes }) => {
    if (name === null && trusted) return true
    const bars = barsOf(request, name)
    if (count < 0 || bars === null) return count < 0 && bars === null
    return bars.length >= count && hashesOf(bars, count, []).every((hash, i) => hash === hashes[i])
  })
}

/** All bars of other series except the last one, which no kept state has seen (see `Feed`). */
function basisOf(
  request: BacktestRequest,
  position: number,
  asked: readonly SeriesName[],
  before: KeptState | null,
): readonly Basis[] {
  const of = (name: Basis['name']): Basis => {
    const bars = barsOf(request, name)
    const count = name === null ? position : (bars?.length ?? 0) - 1
    const known = name === null ? before?.basis.find((one) => one.name === null) : undefined
    // Whole blocks do not change, so a new bar costs one block and not all of them.
    const whole = known?.hashes.slice(0, Math.floor(known.count / HASHED_BARS)) ?? []
    return { name, count, hashes: bars ? hashesOf(bars, count, whole) : [] }
  }
  return [null, ...(request.finer ? ['finer' as const] : []), ...asked].map(of)
}

function barsOf(request: BacktestRequest, name: Basis['name']): Bars | null {
  if (name === null) return request.bars
  if (name === 'finer') return request.finer?.bars ?? null
  const series = request.series(...name)
  if (series === undefined) throw new SeriesNeeded(...name)
  return series?.bars ?? null
}

/** Hashing 5,000 bars takes 20 us. */
function hashesOf(bars: Bars, count: number, known: readonly bigint[]): bigint[] {
  const hashes = [...known]
  for (let at = known.length * HASHED_BARS; at < count; at += HASHED_BARS) {
    let hash = 0n
    for (const column of columnsOf(bars))
      hash = Bun.hash.wyhash(column.subarray(at, Math.min(count, at + HASHED_BARS)), hash)
    hashes.push(hash)
  }
  return hashes
}

function keep(backtest: Backtest, position: number, told: number): Omit<KeptState, 'basis'> {
  backtest.advance(position)
  const from = Math.min(told, Math.max(0, position - TOLD_BARS))
  return { ...backtest.essence(position - from), position, told: from }
}

function said({ run, broker }: Backtest, from: number): Omit<Advanced, 'from' | 'kept'> {
  return {
    plots: run.plotsFrom(from),
    alerts: run.alerts.filter(({ bar }) => bar >= from),
    fills: fillsFrom(broker.position.fills, from),
  }
}

function fillsFrom(fills: Fills, from: number): FillEvent[] {
  const found: FillEvent[] = []
  for (let k = fills.count - 1; k >= 0 && fills.bar[k]! >= from; k--)
    found.push({ bar: fills.bar[k]!, id: labelOf(fills, k).id, price: fills.price[k]! })
  return found.reverse()
}

/** The size of the state in bytes. */
export function sizeOf({ run, broker }: KeptState): number {
  return run.byteLength + broker.byteLength
}
