// How a forward run differs from a backtest of the bars as they are stored now.

import type { ForwardOutput } from '../workers/job.ts'
import type { Divergence } from '../../wire/forward-run.ts'
import type { ReportOrder } from '../../wire/report.ts'
import type { TapeRow } from './records.ts'

const SHOWN_BARS = 50
const SHOWN_FILLS = 20

/** The bars of `seen` that are stored otherwise now, and those that were not there. */
export function correctedBars(seen: readonly TapeRow[], stored: readonly TapeRow[]): Divergence['bars'] {
  const now = new Map(stored.map((row) => [row[0], row]))
  const found: Divergence['bars'][number][] = []
  for (const [time, ...values] of seen) {
    const row = now.get(time)
    if (!row) found.push({ time: time!, seen: values, now: null })
    else if (values.some((value, i) => value !== row[i + 1]))
      found.push({ time: time!, seen: values, now: row.slice(1) })
  }
  const known = new Set(seen.map(([time]) => time))
  for (const [time, ...values] of stored)
    if (!known.has(time)) found.push({ time: time!, seen: [], now: values })
  return found.sort((a, b) => a.time - b.time)
}

/** `stored`: how many of its bars are stored now. */
export function divergenceOf(
  own: ForwardOutput,
  again: ForwardOutput,
  corrected: Divergence['bars'],
  stored: number,
): Divergence {
  const onlyForward = without(own.fills, again.fills)
  const onlyBacktest = without(again.fills, own.fills)
  const differing = onlyForward.length + onlyBacktest.length
  const equal = stored > 0 && differing === 0 && own.equity === again.equity
  return {
    equal,
    said:
      stored === 0
        ? 'The bars that it saw are stored no more, so there is nothing to compare it with.'
        : saidOf(equal, corrected.length, differing),
    corrected: corrected.length,
    bars: corrected.slice(0, SHOWN_BARS),
    onlyForward: onlyForward.slice(0, SHOWN_FILLS),
    onlyBacktest: onlyBacktest.slice(0, SHOWN_FILLS),
    equity: own.equity,
    backtestEquity: again.equity,
  }
}

function without(fills: readonly ReportOrder[], others: readonly ReportOrder[]): ReportOrder[] {
  const nameOf = ({ time, id, side, qty, price }: ReportOrder) => JSON.stringify([time, id, side, qty, price])
  const known = new Set(others.map(nameOf))
  return fills.filter((fill) => !known.has(nameOf(fill)))
}

function saidOf(equal: boolean, corrected: number, fills: number): string {
  const bars = `${corrected} ${corrected === 1 ? 'bar was' : 'bars were'} corrected since the run saw ${corrected === 1 ? 'it' : 'them'}`
  if (corrected === 0) return 'A backtest of the stored bars is the same: none was corrected since.'
  if (equal) return `${bars}, and a backtest trades the same all the same.`
  return `${bars}: ${fills} ${fills === 1 ? 'fill differs' : 'fills differ'} in a backtest of today.`
}
