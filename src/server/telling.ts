// How people are told: a firing, or what became true in a scan, becomes entries for receivers and channels and a letter in
// the commit that has it, and the loops that send these run here.

import { users } from '../people/accounts/accounts.ts'
import type { Alert, Firing, ToldFiring } from '../notify/alerts/alert.ts'
import type { Bridge, BridgeOrder } from '../notify/bridges/bridge.ts'
import { Bridges, type BridgeSources } from '../notify/bridges/bridges.ts'
import { createBridgeDeliverer } from '../notify/bridges/deliver.ts'
import { createAlertLinks, type AlertLinks } from '../notify/channels/alert-links.ts'
import type { Channel, ChannelPostDeps, Notification } from '../notify/channels/channel.ts'
import { Channels } from '../notify/channels/channels.ts'
import { createChannelDeliverer } from '../notify/channels/deliver.ts'
import type { ChartNotice, PictureLook } from '../notify/channels/kind.ts'
import { createPushSigner, type PushSigner } from '../notify/channels/push-keys.ts'
import { ChartPictures, type ChartPictureDeps } from './chart-pictures.ts'
import { Mail } from '../notify/mail/mail.ts'
import type { ScanWatch } from '../work/scans/records.ts'
import type { Scan } from '../work/scans/scans.ts'
import type { News } from '../work/scans/watch.ts'
import type { Changes, Tx } from '../store/transaction.ts'
import type { Deliverer } from '../notify/webhooks/deliverer.ts'
import { Outbox, type Delivery } from '../notify/webhooks/deliveries.ts'
import { createWebhookDeliverer } from '../notify/webhooks/post.ts'
import { Receivers, type Receiver } from '../notify/webhooks/receivers.ts'
import { spreadOf, type Wiring } from './feature-deps.ts'
import type { ForwardRun } from '../work/forward/records.ts'
import type { ForwardOrder } from '../wire/forward-run.ts'
import {
  chartNotice,
  differenceNotice,
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

type Answers = Pick<ChannelPostDeps, 'isAcknowledged'> & Pick<ChartPictureDeps, 'look'> & BridgeSources

export class Telling {
  readonly outbox: Outbox
  readonly receivers: Receivers
  readonly channels: Channels
  readonly mail: Mail
  readonly bridges: Bridges
  readonly links: AlertLinks
  readonly pictures: ChartPictures
  readonly pushSigner: PushSigner
  readonly #deps: Wiring
  readonly #publicUrl: string | null
  readonly #deliverer: Deliverer<Receiver, Delivery>
  readonly #notifier: Deliverer<Channel, Notification>
  readonly #broker: Deliverer<Bridge, BridgeOrder>

  constructor(deps: Wiring, { isAcknowledged, look, ...sources }: Answers) {
    const { random, publicUrl = null } = deps
    const userAgent = `Chartroom/${deps.version}`
    const posting = { ...deps, publicUrl, userAgent, spread: spreadOf(deps) }
    this.#deps = deps
    this.#publicUrl = publicUrl
    this.pushSigner = createPushSigner(posting)
    this.links = createAlertLinks(posting)
    this.pictures = new ChartPictures({
      ...deps,
      look,
      symbol: (exchange, symbol, owner) => deps.bars.symbol(exchange, symbol, owner),
      notice: (id) => this.channels.notice(id),
    })
    const tools = { signer: this.pushSigner, random, links: this.links, pictures: this.pictures }
    const notifying = { ...posting, tools, isAcknowledged }
    this.outbox = new Outbox(deps)
    this.receivers = new Receivers(posting)
    this.channels = new Channels(notifying)
    this.mail = new Mail({
      ...deps,
      transport: deps.mailTransport,
      pictureOf: async (picture) => {
        const { theme, ...notice } = picture as LetterPicture
        const made = await this.pictures.of(notice, { theme, zone: 'UTC' })
        return 'png' in made ? made.png : null
      },
    })
    this.#deliverer = createWebhookDeliverer(posting)
    this.#notifier = createChannelDeliverer(notifying)
    const bridging = {
      ...posting,
      ...sources,
      ownsChannel: (ownerId: string, id: string) => this.channels.has(ownerId, id),
      tell: (tx: Tx, bridge: Bridge, text: string) => this.#ofDifference(tx, bridge, text),
    }
    this.bridges = new Bridges(bridging)
    this.#broker = createBridgeDeliverer(bridging)
  }

  /** What is committed together with firings of an alert. */
  async ofFirings(tx: Tx, alert: Alert, firings: readonly ToldFiring[]): Promise<Changes[]> {
    const { outbox, channels, bridges } = this
    const publicUrl = this.#publicUrl
    const { ownerId, channelIds = [], escalation = null } = alert
    const changes = await bridges.ofFirings(tx, alert, firings)
    if (alert.channels.includes('webhook')) {
      const events = firings.map((firing) => firedEvent(alert, firing))
      changes.push(...(await outbox.enqueue(tx, ownerId, 'alert.triggered', events, alert.webhookIds)))
    }
    if (alert.channels.includes('email')) {
      const texts = await Promise.all(
        firings.map(async (firing) => ({
          text: letterText(publicUrl, alert, firing, await this.#pauseUrl(alert, firing)),
          chart: chartNotice(alert, firing),
        })),
      )
      changes.push(...(await this.#lettersTo(tx, ownerId, `Alert: ${alert.name}`, texts)))
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

  /** The address that pauses an alert; null if nobody knows where this server is. */
  async #pauseUrl({ id }: Alert, firing: Firing): Promise<string | null> {
    const token = () => this.links.token('pause', id, firing.id, firing.firedAt)
    return this.#publicUrl ? this.links.url(await token()) : null
  }

  /** Letters to a user; none if the account is gone. */
  async #lettersTo(
    tx: Tx,
    userId: string,
    subject: string,
    each: readonly { readonly text: string; readonly chart?: ChartNotice }[],
  ): Promise<Changes[]> {
    const user = await users(this.#deps.kv).at(tx).get(userId)
    if (!user) return []
    const { id: ownerId, email: to, mailPicture: theme = 'dark' } = user
    return each.map(({ text, chart }) => {
      const picture: LetterPicture | null = chart && theme !== 'off' ? { ...chart, theme } : null
      return this.mail.enqueue({ ownerId, to, subject, text, ...(picture && { picture }) })
    })
  }

  /** What is committed together with what became true in a watched scan. */
  async ofNews(
    tx: Tx,
    scan: Scan,
    { channels, webhookIds }: ScanWatch,
    news: readonly News[],
  ): Promise<Changes[]> {
    const { userId, name } = scan
    const changes: Changes[] = []
    if (channels.includes('webhook')) {
      const events = news.slice(0, TOLD_MAX).map((one) => newsEvent(scan, one, this.#deps.newId('fir')))
      changes.push(...(await this.outbox.enqueue(tx, userId, 'alert.triggered', events, webhookIds)))
    }
    if (channels.includes('email')) {
      const texts = [{ text: newsText(scan, news) }]
      changes.push(...(await this.#lettersTo(tx, userId, `Scan: ${name}`, texts)))
    }
    return changes
  }

  /** `events` are the last of those that the run has counted. */
  async ofOrders(tx: Tx, run: ForwardRun, events: readonly ForwardOrder[]): Promise<Changes[]> {
    const told = events.map((event, i) => ({
      event: event.event,
      data: orderEvent(run, event, run.events - events.length + i + 1),
    }))
    return [
      ...(await this.outbox.enqueueAll(tx, run.userId, told)),
      ...(await this.bridges.ofRun(tx, run, events)),
    ]
  }

  /** What is committed where a bridge finds that the receiver has something else than the strategy: a letter, and its channels. */
  async #ofDifference(tx: Tx, bridge: Bridge, text: string): Promise<Changes[]> {
    const notice = differenceNotice(this.#publicUrl, bridge, text, this.#deps.clock.now())
    return [
      ...(await this.#lettersTo(tx, bridge.ownerId, notice.title, [{ text }])),
      ...(await this.channels.enqueue(tx, bridge.ownerId, bridge.channelIds, [{ notice }])),
    ]
  }

  /** Also where somebody has changed a bridge. */
  wakeOrders(userId: string): void {
    this.#broker.wake(userId)
    this.#notifier.wake(userId)
    this.mail.wake()
  }

  wakeDeliveries(userId: string): void {
    this.#deliverer.wake(userId)
  }

  wakeNotifications(userId: string): void {
    this.#notifier.wake(userId)
  }

  /** Tells the loops that there is something to send for a user. */
  wake(userId: string): void {
    this.wakeDeliveries(userId)
    this.wakeOrders(userId)
  }

  /** Removes what was sent long ago. */
  async purge(): Promise<void> {
    for (const each of [this.outbox, this.channels, this.bridges, this.mail]) await each.purge()
  }

  /** Sends until the signal aborts, and ends what is on its way. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [this.#deliverer, this.#notifier, this.#broker, this.mail].map((each) => each.run(signal)),
    )
  }
}
