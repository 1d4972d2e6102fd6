// Writes what follows from a verdict besides the alert itself: its firings, and the messages that carry their news.
//
// All of it goes into one commit with the alert, so a crash leaves either all or none.

import type { Log } from '../../lib/log.ts'
import type { Collection } from '../../store/collection.ts'
import type { RecordDeps } from '../../store/owned.ts'
import { decide, type Changes, type Planned, type Tx } from '../../store/transaction.ts'
import type { Alert, Firing, ToldFiring } from './alert.ts'
import type { Fired, Judgement } from './judge.ts'
import { valuesOf } from './mark.ts'
import { fillMessage, hasHappened, isUnnamed } from './message.ts'
import type { ScriptEvents } from './scripts.ts'
import type { View } from './view.ts'

export interface WriteDeps extends RecordDeps {
  readonly log: Log
  readonly records: { readonly firings: Collection<Firing> }
  /** What to commit so that the firings of an alert reach its channels. Part of a transaction's plan. */
  readonly deliver: (tx: Tx, alert: Alert, firings: readonly ToldFiring[]) => Promise<readonly Changes[]>
  /** Called after a commit with firings: wakes the deliveries and tells open dashboards. */
  readonly fired: (firings: readonly Firing[]) => void
}

/** Commits a plan, and tells of the firings that it answers. */
export async function commitFirings(
  { kv, fired }: WriteDeps,
  plan: (tx: Tx) => Promise<readonly [readonly Firing[], Planned]>,
): Promise<void> {
  const firings = await decide(kv, plan)
  if (firings.length > 0) fired(firings)
}

export interface Written {
  readonly changes: readonly Changes[]
  readonly firings: readonly Firing[]
}

/** Part of a transaction's plan. */
export async function written(
  deps: WriteDeps,
  tx: Tx,
  view: View,
  { alert, fired }: Judgement,
  said: Omit<ScriptEvents, 'events'> = { plots: {}, plot: null },
): Promise<Written> {
  const firedAt = deps.clock.now()
  const firings = fired.map((one): Firing => ({
    id: deps.newId('fir'),
    alertId: alert.id,
    ownerId: alert.ownerId,
    symbol: alert.symbol,
    exchange: alert.exchange,
    interval: alert.interval,
    barTime: view.time(one.bar),
    price: view.bars.close[one.bar] ?? Number.NaN,
    message: messageOf(alert, view, one, said.plots),
    firedAt,
    channels: alert.channels,
    ...(alert.escalation && { escalatesAt: firedAt + alert.escalation.minutes * 60_000 }),
  }))
  const { title, plot: values } = alert.kind === 'indicator' ? said : {}
  const told = firings.map((firing, i): ToldFiring => ({
    ...firing,
    plot: title ?? null,
    value: values?.[fired[i]!.bar] ?? null,
  }))
  const delivered = told.length > 0 ? await deps.deliver(tx, alert, told) : []
  return { changes: [...firings.map((firing) => deps.records.firings.insert(firing)), ...delivered], firings }
}

function messageOf(
  alert: Alert,
  { bars }: View,
  { bar, said }: Fired,
  plots: Readonly<Record<string, Float64Array>>,
): string {
  return fillMessage(alert.message || said || (isUnnamed(alert) ? hasHappened(alert) : alert.name), {
    ticker: alert.symbol,
    exchange: alert.exchange,
    interval: alert.interval,
    ...valuesOf(bars, bar),
    price: alert.price,
    name: alert.name,
    plots: Object.fromEntries(
      Object.entries(plots).map(([title, column]) => [title, column[bar] ?? Number.NaN]),
    ),
  })
}
