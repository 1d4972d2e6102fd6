// Alerts, and the ways in which people are told of them.

import { Backoff, untilDone } from '../lib/backoff.ts'
import { calendarOf } from '../market/calendar.ts'
import { parseInterval } from '../market/interval.ts'
import { requireStored, resolveSeries } from '../market/seen-bars.ts'
import type { Alert, Firing } from '../notify/alerts/alert.ts'
import { Alerts, type AlertDeps } from '../notify/alerts/alerts.ts'
import type { WatchedSeries } from '../notify/alerts/mark.ts'
import { placedOf, type Source } from '../notify/bridges/bridges.ts'
import { Problem } from '../lib/problem.ts'
import type { ForwardRun } from '../work/forward/records.ts'
import { LookQueue } from '../notify/alerts/look-queue.ts'
import { Inboxes } from '../notify/channels/inboxes.ts'
import type { LiveBars } from '../people/feeds/live-bars.ts'
import type { Scripts } from '../people/scripts/scripts.ts'
import { KeptRuns } from '../work/workers/kept-runs.ts'
import type { Texts } from '../work/workers/texts.ts'
import { alertScripts } from './alert-scripts.ts'
import type { Wiring } from './feature-deps.ts'
import { testNotice } from './messages.ts'
import { createTapped } from './tapped.ts'
import { Telling } from './telling.ts'

/** What alerts need of scripts. */
interface Written {
  readonly scripts: Scripts
  readonly texts: Texts
}

/** `fired` is called for every firing after its commit. */
export function notifyOf(
  deps: Wiring,
  live: LiveBars,
  written: Written,
  forwardRun: (userId: string, id: string) => Promise<ForwardRun>,
  fired: (firing: Firing) => void,
) {
  const { clock, bars } = deps
  const telling: Telling = new Telling(deps, {
    isAcknowledged: (tx, id) => alerts.isAcknowledged(tx, id),
    look: (key, range) => live.look(key, range),
    source: (userId, id) =>
      sourceOf(
        id,
        () => forwardRun(userId, id),
        () => alerts.get(userId, id),
      ),
    closesAt: ({ seriesOwner: owner, ...series }) => closesAt(deps, { ...series, owner }),
    async opensAt({ exchange, symbol, seriesOwner }, time) {
      return calendarOf(await bars.symbol(exchange, symbol, seriesOwner)).opensFrom(time)
    },
  })
  const { bridges, receivers, channels, links, mail, outbox, pushSigner } = telling
  const alerts: Alerts = alertsOf(deps, live, written, telling, {
    lookAtEnd: (closing) => looks.lookAtEnd(closing),
    fired(firings) {
      for (const { ownerId } of firings) telling.wake(ownerId)
      for (const firing of firings) fired(firing)
    },
  })
  const looks: LookQueue = new LookQueue({
    ...deps,
    notes: () => bars.store.notes(),
    clear: (note) => bars.store.clearNote(note),
    unsettled: () => alerts.unsettledSeries(),
    forming: () => alerts.formingBars(),
    lanes: alerts.lanes,
    stirred: live,
  })
  live.onStirred(() => looks.stirred())
  bars.onChange(() => looks.wake())
  deps.during((_, sending) => telling.run(sending))
  deps.during((signal) => looks.run(signal))
  deps.during((signal) =>
    untilDone(clock, new Backoff(deps, 'tidying up alerts'), signal, () => alerts.sweep()),
  )
  return {
    telling,
    alerts,
    bridges,
    looks,
    receivers,
    channels,
    mail,
    outbox,
    pushSigner,
    tapped: createTapped(alerts, links),
    pictureOf: (token: string) => telling.pictures.open(token),
    inboxes: new Inboxes({
      ...deps,
      channels,
      forwarded: (ownerId) => telling.wakeNotifications(ownerId),
    }),
    testNotice: (name: string) => testNotice(deps.publicUrl ?? null, name, clock.now()),
    wakeDeliveries: (ownerId: string) => telling.wakeDeliveries(ownerId),
    wakeNotifications: (ownerId: string) => telling.wakeNotifications(ownerId),
    wakeOrders: (ownerId: string) => telling.wakeOrders(ownerId),
  }
}

/** What a bridge is of; null if the user has no such forward run, nor such an alert. */
async function sourceOf(
  id: string,
  run: () => Promise<ForwardRun>,
  alert: () => Promise<Alert>,
): Promise<Source | null> {
  if (id.startsWith('al_')) {
    const found = await ifThere(alert())
    if (!found) return null
    const { exchange, symbol, interval, seriesOwner } = found
    return { exchange, symbol, interval, seriesOwner, position: null, placed: [] }
  }
  const found = await ifThere(run())
  if (!found) return null
  const { exchange, symbol, interval, seriesOwner, position, waiting } = found
  return { exchange, symbol, interval, seriesOwner, position, placed: placedOf(waiting) }
}

/** null for what is not there, or is somebody else's. */
const ifThere = <T>(asked: Promise<T>): Promise<T | null> =>
  asked.catch((error: unknown) => {
    if (error instanceof Problem && error.status === 404) return null
    throw error
  })

async function closesAt({ bars }: Wiring, series: WatchedSeries): Promise<(time: number) => number> {
  const interval = parseInterval(series.interval)
  const calendar = calendarOf(await bars.symbol(series.exchange, series.symbol, series.owner))
  return (time) => (interval ? calendar.period(time, interval).end : time)
}

function alertsOf(
  deps: Wiring,
  live: LiveBars,
  { scripts, texts }: Written,
  telling: Telling,
  after: Pick<AlertDeps, 'lookAtEnd' | 'fired'>,
): Alerts {
  const { bars } = deps
  return new Alerts({
    ...deps,
    bars: (key, range) => live.look(key, range),
    source: (key) => live.source(key),
    resolve: (userId, series) => resolveSeries(bars, userId, series),
    requireStored: (userId, { exchange, symbol, interval }) =>
      requireStored(bars, userId, { exchange, symbol, interval }),
    closesAt: (series) => closesAt(deps, series),
    ownsReceiver: (ownerId, id) => telling.receivers.has(ownerId, id),
    ownsChannel: (ownerId, id) => telling.channels.has(ownerId, id),
    async wrongInput(userId, scriptId, names) {
      const script = await ifThere(scripts.read(scriptId, userId))
      if (!script) return 'missing'
      if (names.length === 0) return null
      // What else is wrong, or that nobody has time now, its first look tells.
      return texts.wrongInput(userId, script.source, names).catch((error: unknown) => {
        if (error instanceof Problem) return null
        throw error
      })
    },
    runScript: alertScripts(deps, scripts, new KeptRuns(deps.pool)),
    deliver: (tx, alert, firings) => telling.ofFirings(tx, alert, firings),
    ...after,
  })
}
