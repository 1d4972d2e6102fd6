// How people are told: a firing, or what became true in a scan, becomes entries for receivers and channels and a letter in
// the commit that has it, and the loops that send these run here.

import { users } from '../people/accounts/accounts.ts'
import type { Alert, Firing } from '../notify/alerts/alert.ts'
import { createAlertLinks } from '../notify/channels/alert-links.ts'
import { Channels } from '../notify/channels/channels.ts'
import type { ChartNotice, PictureLook } from '../notify/channels/kind.ts'
import { createChannelDeliverer } from '../notify/channels/deliver.ts'
import { createPushSigner } from '../notify/channels/push-keys.ts'
import { createChartPictures, type ChartPictureDeps } from './chart-pictures.ts'
import type { Shards } from '../lib/shards.ts'
import { Mail } from '../notify/mail/mail.ts'
import type { ScanWatch } from '../work/scans/records.ts'
import type { Scan } from '../work/scans/scans.ts'
import type { News } from '../work/scans/watch.ts'
import type { Changes, Tx } from '../store/transaction.ts'
import { Outbox } from '../notify/webhooks/deliveries.ts'
import { createWebhookDeliverer } from '../notify/webhooks/post.ts'
import { Receivers } from '../notify/webhooks/receivers.ts'
import type { FeatureDeps } from './features.ts'
import type { ForwardRun } from '../work/forward/records.ts'
import type { ForwardOrder } from '../wire/forward-run.ts'
import {
  chartNotice,
  firedEvent,
  firedNotice,
  letterText,
  newsEvent,
  newsText,
  orderEvent,
} from './messages.ts'

/** The most conditions becoming true in one scan at one moment that are reported. */
const TOLD_MAX = 50

/** As it stands in a letter. */
type LetterPicture = ChartNotice & Pick<PictureLook, 'theme'>

interface TellingOptions {
  /** What of the sending this server does. */
  readonly shards: Shards
  /** Whether a firing was acknowledged, so that its escalation is not sent. */
  readonly isAcknowledged: (tx: Tx, firingId: string) => Promise<boolean>
  readonly look: ChartPictureDeps['look']
}

export function createTelling(deps: FeatureDeps, { shards, isAcknowledged, look }: TellingOptions) {
  const { kv, clock, random, newId, log, box, webhookAllow: allow, resolve, publicUrl = null } = deps
  const posting = { clock, box, allow, resolve, send: deps.send, userAgent: `Chartroom/${deps.version}` }
  const spread = () => (random.bytes(1)[0] ?? 0) / 256
  const pushSigner = createPushSigner({ kv, clock, box, publicUrl })
  const links = createAlertLinks({ clock, box, publicUrl })
  const pictures = createChartPictures({
    clock,
    box,
    pool: deps.pool,
    look,
    symbol: (exchange, symbol, owner) => deps.bars.symbol(exchange, symbol, owner),
    notice: (id) => channels.notice(id),
  })
  const notifying = {
    ...posting,
    newId,
    publicUrl,
    tools: { signer: pushSigner, random, links, pictures },
    isAcknowledged,
  }
  const outbox = new Outbox({ kv, clock, newId })
  const receivers = new Receivers({ kv, clock, random, newId, box, allow, resolve })
  const channels: Channels = new Channels({ kv, ...notifying })
  const mail = new Mail({
    kv,
    clock,
    newId,
    transport: deps.mailTransport,
    async pictureOf(picture) {
      const { theme, ...notice } = picture as LetterPicture
      const made = await pictures.of(notice, { theme, zone: 'UTC' })
      return 'png' in made ? made.png : null
    },
    log,
    shards,
  })
  const deliverer = createWebhookDeliverer({ kv, log, spread, shards, ...posting })
  const notifier = createChannelDeliverer({ kv, log, spread, shards, ...notifying })

  /** Letters to a user; none if the account is gone. */
  async function lettersTo(
    tx: Tx,
    userId: string,
    subject: string,
    each: readonly { readonly text: string; readonly chart?: ChartNotice }[],
  ): Promise<Changes[]> {
    const user = await users(kv).at(tx).get(userId)
    if (!user) return []
    const { id: ownerId, email: to, mailPicture: theme = 'dark' } = user
    return each.map(({ text, chart }) => {
      const picture: LetterPicture | null = chart && theme !== 'off' ? { ...chart, theme } : null
      return mail.enqueue({ ownerId, to, subject, text, ...(picture && { picture }) })
    })
  }

  /** The address that pauses an alert; null if nobody knows where this server is. */
  const pauseUrl = async ({ id }: Alert, firing: Firing) =>
    publicUrl ? links.url(await links.token('pause', id, firing.id, firing.firedAt)) : null

  /** What is committed together with firings of an alert. */
  async function ofFirings(tx: Tx, alert: Alert, firings: readonly Firing[]): Promise<Changes[]> {
    const { ownerId, channelIds = [], escalation = null } = alert
    const changes: Changes[] = []
    if (alert.channels.includes('webhook')) {
      const events = firings.map((firing) => firedEvent(alert, firing))
      changes.push(...(await outbox.enqueue(tx, ownerId, 'alert.triggered', events, alert.webhookIds)))
    }
    if (alert.channels.includes('email')) {
      const texts = await Promise.all(
        firings.map(async (firing) => ({
          text: letterText(publicUrl, alert, firing, await pauseUrl(alert, firing)),
          chart: chartNotice(alert, firing),
        })),
      )
      changes.push(...(await lettersTo(tx, ownerId, `Alert: ${alert.name}`, texts)))
    }
    const told = firings.map((firing) => ({ firing, notice: firedNotice(publicUrl, alert, firing) }))
    if (channelIds.length > 0) changes.push(...(await channels.enqueue(tx, ownerId, channelIds, told)))
    if (escalation) {
      const later = told.flatMap(({ firing: { escalatesAt }, notice }) => {
        const title = `Not acknowledged: ${notice.title}`
        return escalatesAt === undefined ? [] : [{ notice: { ...notice, title }, escalatesAt }]
      })
      changes.push(...(await channels.enqueue(tx, ownerId, [escalation.channelId], later)))
    }
    return changes
  }

  /** What is committed together with what became true in a watched scan. */
  async function ofNews(
    tx: Tx,
    scan: Scan,
    { channels, webhookIds }: ScanWatch,
    news: readonly News[],
  ): Promise<Changes[]> {
    const changes: Changes[] = []
    if (channels.includes('webhook')) {
      const events = news.slice(0, TOLD_MAX).map((one) => newsEvent(scan, one, newId('fir')))
      changes.push(...(await outbox.enqueue(tx, scan.userId, 'alert.triggered', events, webhookIds)))
    }
    if (channels.includes('email'))
      changes.push(
        ...(await lettersTo(tx, scan.userId, `Scan: ${scan.name}`, [{ text: newsText(scan, news) }])),
      )
    return changes
  }

  /** `events` are the last of those that the run has counted. */
  const ofOrders = (tx: Tx, run: ForwardRun, events: readonly ForwardOrder[]): Promise<Changes[]> =>
    outbox.enqueueAll(
      tx,
      run.userId,
      events.map((event, i) => ({
        event: event.event,
        data: orderEvent(run, event, run.events - events.length + i + 1),
      })),
    )

  return {
    outbox,
    receivers,
    channels,
    mail,
    links,
    pictures,
    pushSigner,
    ofFirings,
    ofNews,
    ofOrders,
    wakeDeliveries: (ownerId: string) => deliverer.wake(ownerId),
    wakeNotifications: (ownerId: string) => notifier.wake(ownerId),
    /** Tells the loops that there is something to send for a user. */
    wake(userId: string) {
      deliverer.wake(userId)
      notifier.wake(userId)
      mail.wake()
    },
    /** Removes what was sent long ago. */
    async purge() {
      await outbox.purge()
      await channels.purge()
      await mail.purge()
    },
    /** Sends until the signal aborts, and ends what is on its way. */
    run: (signal: AbortSignal) =>
      Promise.all([deliverer.run(signal), notifier.run(signal), mail.run(signal)]),
  }
}
