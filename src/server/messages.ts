// What receivers, channels, and letters say: the texts and events of firings, of finished runs, and of watched scans.

import type { Alert, Firing, ToldFiring } from '../notify/alerts/alert.ts'
import type { Bridge } from '../notify/bridges/bridge.ts'
import { hasHappened, isUnnamed } from '../notify/alerts/message.ts'
import { CHANNEL_OPERATORS, MOVE_OPERATORS } from '../notify/alerts/condition.ts'
import { PLAIN, type ChartNotice, type Notice } from '../notify/channels/kind.ts'
import type { ForwardRun } from '../work/forward/records.ts'
import type { Run } from '../work/runs/records.ts'
import type { Scan } from '../work/scans/scans.ts'
import type { News } from '../work/scans/watch.ts'
import type { ReceiverData } from '../wire/event.ts'
import type { ForwardOrder } from '../wire/forward-run.ts'
import type { ReportSummary } from '../wire/report.ts'

/** How many markets a letter names. */
const NAMED_MAX = 200

/** `data` of the event backtest.reportReady. */
export function reportReadyEvent(
  run: Run & { readonly summary: ReportSummary },
): ReceiverData['backtest.reportReady'] {
  const { id, name, symbol, interval, summary } = run
  return { backtestId: id, name, symbol, interval, ...summary }
}

/** What channels say of a firing; `publicUrl` is where browsers reach the server, null = not known. */
export function firedNotice(publicUrl: string | null, alert: Alert, firing: Firing): Notice {
  const { symbol, exchange, interval } = alert
  const path = chartPath(alert)
  const happened = hasHappened(alert)
  const title = isUnnamed(alert) ? happened : alert.name
  // An alert without a message of its own says its name, which does not say what happened; a script's has nothing else.
  const isOwn = firing.message !== alert.name
  const said = isOwn ? firing.message : alert.op === null ? title : happened
  const market = `${exchange}:${symbol} ${interval}, close ${firing.price}`
  return {
    title,
    text: said === title ? market : `${said}\n${market}`,
    url: publicUrl && publicUrl + path,
    path,
    at: firing.firedAt,
    ...chartNotice(alert, firing),
    alertId: alert.id,
    ...(alert.escalation && { escalates: true }),
  }
}

const chartPath = ({ exchange, symbol, interval }: Alert): string =>
  `/chart/${encodeURIComponent(`${exchange}:${symbol}`)}/${interval}`

/** What a picture of a firing is made of. */
export function chartNotice(alert: Alert, firing: Firing): ChartNotice {
  const { symbol, exchange, interval, seriesOwner: owner } = alert
  const { id: firingId, price, barTime } = firing
  return { symbol, exchange, interval, price, firingId, chart: { owner, barTime, levels: levelsOf(alert) } }
}

/** The prices that an alert waits for: none if it compares something else than a price, or how far that has moved. */
function levelsOf({ kind, op, price, price2 }: Alert): readonly number[] {
  if (kind !== 'price' || op === null || MOVE_OPERATORS.includes(op)) return []
  return [price, CHANNEL_OPERATORS.includes(op) ? price2 : null].filter((level) => level !== null)
}

/** What a channel says when its owner presses test, at `at` (ms). */
export function testNotice(publicUrl: string | null, name: string, at: number): Notice {
  return {
    title: 'Test from Chartroom',
    text: `The channel ${name} works: alerts that name it arrive here.`,
    url: publicUrl,
    path: '/alerts/channels',
    at,
    ...PLAIN,
    symbol: 'TEST',
  }
}

/** What channels say where a receiver has something else than the strategy whose orders a bridge sends it. */
export function differenceNotice(
  publicUrl: string | null,
  { name, symbol, exchange, interval }: Bridge,
  text: string,
  at: number,
): Notice {
  const path = '/alerts/broker'
  const url = publicUrl && publicUrl + path
  return { title: `Position differs: ${name}`, text, url, path, at, ...PLAIN, symbol, exchange, interval }
}

/** `data` of the event alert.triggered. */
export function firedEvent(alert: Alert, firing: ToldFiring): ReceiverData['alert.triggered'] {
  const { id: alertId, name, symbol, exchange, interval, kind, op, price, price2, percent } = alert
  const { id: firingId, price: close, message, plot, value } = firing
  const source = { alertId, firingId, name, symbol, exchange, interval }
  const [barTime, firedAt] = [isoOf(firing.barTime), isoOf(firing.firedAt)]
  return { ...source, kind, op, price, price2, percent, barTime, close, plot, value, message, firedAt }
}

const isoOf = (time: number): string => new Date(time).toISOString()

/** The letter of a firing, with the addresses of its chart and of what pauses the alert if `publicUrl` is known. */
export function letterText(
  publicUrl: string | null,
  alert: Alert,
  firing: Firing,
  pauseUrl: string | null,
): string {
  return [
    firing.message,
    '',
    `${alert.exchange}:${alert.symbol} ${alert.interval}, close ${firing.price}`,
    `Bar of ${isoOf(firing.barTime)}, fired ${isoOf(firing.firedAt)}`,
    `Alert ${alert.id}`,
    ...(publicUrl === null ? [] : ['', `Open the chart: ${publicUrl}${chartPath(alert)}`]),
    ...(pauseUrl === null ? [] : [`Pause it: ${pauseUrl}`]),
  ].join('\n')
}

/** `data` of the event alert.triggered, for a watched scan. */
export function newsEvent(
  { id: alertId, name, interval }: Scan,
  { exchange, symbol, condition, time, close, at }: News,
  firingId: string,
): ReceiverData['alert.triggered'] {
  const source = { alertId, firingId, name, symbol, exchange, interval }
  const waitsFor = { kind: 'script', op: null, price: null, price2: null, percent: null } as const
  const message = `${condition}: ${exchange}:${symbol}`
  return { ...source, ...waitsFor, ...NO_PLOT, barTime: isoOf(time), close, message, firedAt: isoOf(at) }
}

const NO_PLOT = { plot: null, value: null }

/** The letter of what became true in a watched scan. */
export function newsText({ id, name, interval }: Scan, news: readonly News[]): string {
  const left = news.length - NAMED_MAX
  return [
    `What became true in the scan ${name}, ${interval}:`,
    '',
    ...news
      .slice(0, NAMED_MAX)
      .map(
        ({ exchange, symbol, condition, close, time }) =>
          `${exchange}:${symbol}  ${condition}, close ${close}, bar of ${isoOf(time)}`,
      ),
    ...(left > 0 ? [`… and ${left} more`] : []),
    '',
    `Scan ${id}`,
  ].join('\n')
}

/** `data` of the events about orders; `sequence`: which of the run's events it is, from 1. */
export function orderEvent(
  { id: forwardRunId, name, exchange, symbol, interval }: ForwardRun,
  { event: _event, time, ...order }: ForwardOrder,
  sequence: number,
): ReceiverData['order.filled'] {
  return { forwardRunId, sequence, name, exchange, symbol, interval, barTime: isoOf(time), ...order }
}
