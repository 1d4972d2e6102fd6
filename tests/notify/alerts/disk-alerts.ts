// Alerts, their queue of looks and the bars they look at, on a real disk: what the benches of alerts have in common.

import { Alerts, type AlertDeps } from '../../../src/notify/alerts/alerts.ts'
import { LookQueue } from '../../../src/notify/alerts/look-queue.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { BarCache } from '../../../src/market/bar-cache.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { lmdbBars } from '../../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../../src/store/lmdb.ts'

interface DiskAlerts {
  readonly path: string
  readonly clock: Clock
  readonly barMs: number
  readonly runScript?: (kv: Kv, bars: BarCache) => AlertDeps['runScript']
  readonly deliver?: (kv: Kv, newId: AlertDeps['newId']) => AlertDeps['deliver']
}

export function openAlerts({ path, clock, barMs, runScript, deliver }: DiskAlerts) {
  const kv = lmdbKv({ path })
  const cache = new BarCache(lmdbBars(kv))
  const newId = idSource({
    clock,
    random: { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) },
  })
  let fired = 0
  const alerts = new Alerts({
    kv,
    clock,
    newId,
    bars: (series, range) => cache.look(series, range),
    source: (series) => cache.source(series),
    resolve: async (_userId, series) => series,
    requireStored: async () => {},
    closesAt: async () => (time) => time + barMs,
    runScript: runScript?.(kv, cache) ?? (() => Promise.reject(new Error('no scripts here'))),
    deliver: deliver?.(kv, newId) ?? (async () => []),
    log: silentLog,
    fired: (firings) => (fired += firings.length),
    alertsMax: 0,
    ownsReceiver: async () => true,
    ownsChannel: async () => true,
    wrongInput: async () => null,
    lookAtEnd: () => {},
  })
  const looks = new LookQueue({
    clock,
    log: silentLog,
    notes: () => cache.store.notes(),
    clear: (note) => cache.store.clearNote(note),
    unsettled: () => alerts.unsettledSeries(),
    async *forming() {},
    lanes: alerts.lanes,
  })
  return { kv, cache, alerts, looks, fired: () => fired }
}
