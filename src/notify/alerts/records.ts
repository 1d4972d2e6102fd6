// The collections of alerts and firings, and the indexes by which they are found.

import { collection, type Collection } from '../../store/collection.ts'
import type { Changes, Tx } from '../../store/transaction.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { SCRIPT_KINDS, type Alert, type Firing } from './alert.ts'
import { ceilingKey, levelKey, modeOf } from './levels.ts'
import { seriesParts, type WatchedSeries } from './mark.ts'

export interface AlertRecords {
  readonly alerts: Collection<Alert>
  readonly firings: Collection<Firing>
}

export function alertRecords(kv: Kv, max: number): AlertRecords {
  const alerts = collection<Alert>(kv, 'alerts', {
    indexes: {
      owner: (alert) => [alert.ownerId],
      /** This index and those below hold only alerts that can fire, so bars that no alert waits for cost one look. */
      watching: (alert) => armed(alert) && partsOf(alert),
      scripts: (alert) => (runsScript(alert) ? armed(alert) && partsOf(alert) : null),
      fresh: (alert) =>
        plain(alert, true) && [
          ...partsOf(alert),
          modeOf(alert) === 'close',
          alert.seenBar ?? Number.NEGATIVE_INFINITY,
        ],
      levels: (alert) => plain(alert, false) && inSeries(alert, levelKey(alert)),
      ceilings: (alert) => plain(alert, false) && inSeries(alert, ceilingKey(alert)),
      expiring: (alert) =>
        alert.expiresAt === null ? null : plain(alert, false) && [...partsOf(alert), alert.expiresAt],
    },
    stamped: ['owner'],
    counts: { owner: { of: (alert) => [alert.ownerId], ...(max > 0 && { max }), noun: 'alerts' } },
  })
  const firings = collection<Firing>(kv, 'firings', {
    indexes: { alert: (firing) => [firing.alertId], owner: (firing) => [firing.ownerId] },
  })
  return { alerts, firings }
}

export function seriesOf({ seriesOwner, exchange, symbol, interval }: Alert): WatchedSeries {
  return { owner: seriesOwner, exchange, symbol, interval }
}

export function runsScript(alert: Pick<Alert, 'kind'>): boolean {
  return SCRIPT_KINDS.includes(alert.kind)
}

const partsOf = (alert: Alert) => seriesParts(seriesOf(alert))
const inSeries = (alert: Alert, rest: Key | null) => rest && [...partsOf(alert), ...rest]
// null, and not false, means to an index that the alert is not in it.
const armed = (alert: Alert) => (alert.state === 'active' ? true : null)
const plain = (alert: Alert, fresh: boolean) =>
  !runsScript(alert) && alert.fresh === fresh ? armed(alert) : null

/** What to delete of an alert besides its record, a page at a time; nothing once it is all gone. */
export async function firingsToForget(
  { firings }: AlertRecords,
  tx: Tx,
  alertId: string,
): Promise<Changes[]> {
  const { items } = await firings.at(tx).list('alert', [alertId], { limit: 200 })
  const stored = await firings.at(tx).storedMany(items.map(({ id }) => id))
  return stored.map((firing) => firings.remove(firing))
}
