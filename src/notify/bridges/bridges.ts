// Bridges of users, and the orders that come of what their strategies and alerts do.
//
// An order is written in the commit of the bar or the firing that it comes of, and only then sent: a server that ends in
// between sends it at its next start, under the same key.

import { invalidField, Problem } from '../../lib/problem.ts'
import type { Page, PageOptions, Stored } from '../../store/collection.ts'
import type { Reader } from '../../store/kv.ts'
import { OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { decide, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Bridge as BridgeWire } from '../../wire/bridge.ts'
import type { ForwardOrder, WaitingOrder } from '../../wire/forward-run.ts'
import { ORDER_TEMPLATES, type OrderTemplate } from '../../wire/order-templates.ts'
import { parseReceiverUrl, permittedAddresses } from '../webhooks/address.ts'
import { ACTIVE, disabledBy, forgetOld, freshParcel } from '../webhooks/parcels.ts'
import type { PostDeps } from '../webhooks/post.ts'
import { UnreadableSecret } from '../webhooks/send.ts'
import { checkBody, filledBody, templateOf } from './body.ts'
import {
  bridgeOrders,
  bridges,
  isOfAlert,
  type Bridge,
  type BridgeOrder,
  type PlacedOrder,
} from './bridge.ts'
import { isStopped, secretsOf, stoppedKey, withNotice, type BridgeDeps, type Secrets } from './deliver.ts'
import { aimed, due, expectedOf, orderKey, signed, step, stepOfFiring, tidySum, type Step } from './rules.ts'
import { words } from '../../lib/words.ts'

/** What a bridge is of, as it stands. */
export interface Source {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  readonly seriesOwner: string
  /** Of a strategy; null of an alert. */
  readonly position: number | null
  readonly placed: readonly PlacedOrder[]
}

/** What bridges are of, and the hours of their markets. */
export interface BridgeSources extends Pick<BridgeDeps, 'opensAt'> {
  /** The user's forward run or alert; null if there is none. */
  readonly source: (ownerId: string, id: string) => Promise<Source | null>
  /** Tells when the bar that opens at a given time is over, in UTC ms. */
  readonly closesAt: (bridge: Bridge) => Promise<(time: number) => number>
}

type Deps = RecordDeps &
  Pick<PostDeps, 'box' | 'allow' | 'resolve'> &
  BridgeDeps &
  BridgeSources & { readonly ownsChannel: (ownerId: string, id: string) => Promise<boolean> }

/** What an owner sets, beside the address and the secret. */
const SET = words(
  'name account body honoursKeys dryRun side qty maxPosition maxDayLoss marketHours validSeconds',
  'channelIds',
)

const SIDES = ['side', 'qty'] as const
const NEEDS_SIDE = 'An alert needs a side and a number of contracts.'

const requiredField = (path: string, message: string) => ({
  in: 'body' as const,
  path,
  code: 'required',
  message,
})

/** All that is missing, so that nobody is told of one after the other. */
function missingFields(fields: readonly ReturnType<typeof requiredField>[]): Problem {
  const said = [...new Set(fields.map(({ message }) => message))].join(' ')
  return new Problem(422, 'validation_failed', said, { fields })
}

const isUnsigned = (template: OrderTemplate, secret: string): boolean =>
  secret === '' && template.secret !== undefined && template.required.length > 0

type Fields = Partial<Pick<BridgeWire, (typeof SET)[number]>> & {
  readonly [Field in keyof Secrets]?: string | undefined
}

type Changed = Fields & {
  readonly held?: number | undefined
  readonly status?: Bridge['status'] | undefined
}

/** A forward run after a bar. */
interface Run {
  readonly id: string
  readonly userId: string
  readonly equity: number
  readonly position: number
  readonly waiting: readonly WaitingOrder[]
  /** With how much the day of the newest bar began, UTC; missing before there was one. */
  readonly day?: { readonly date: number; readonly equity: number }
  readonly close?: number
}

interface Fired {
  readonly barTime: number
  readonly firedAt: number
  readonly price: number
  readonly message: string
}

const VALID_SECONDS = 300
const CHANGES_TRIED = 20
const WAITING_AT_MOST = 500

/**
 * Throws Problem 422 for wrong fields, `webhook_url_blocked` and `quota_exceeded`, and 404 `bridge_not_found` for another
 * user's bridge.
 */
export class Bridges extends OwnedRecords<Bridge, Deps> {
  readonly #orders = bridgeOrders(this.deps.kv)

  constructor(deps: Deps) {
    super(deps, bridges(deps.kv), 'bridge_not_found', 'There is no such bridge.')
  }

  async create(
    ownerId: string,
    fields: Fields & Pick<BridgeWire, 'name' | 'template' | 'sourceId'>,
    also?: Also<Bridge>,
  ): Promise<Bridge> {
    const { newId, clock } = this.deps
    const template = ORDER_TEMPLATES[fields.template]
    const { url = template.url, secret = '', sourceId } = fields
    const { position: _, ...market } = await this.#source(ownerId, sourceId)
    const missing = [
      ...(url === undefined ? [requiredField('/url', `Give the address. ${template.urlHint}`)] : []),
      ...(isUnsigned(template, secret)
        ? [requiredField('/secret', `${template.label} needs this: ${template.secret}.`)]
        : []),
      ...(isOfAlert({ sourceId })
        ? SIDES.filter((field) => (fields[field] ?? null) === null).map((field) =>
            requiredField(`/${field}`, NEEDS_SIDE),
          )
        : []),
    ]
    if (url === undefined || missing.length > 0) throw missingFields(missing)
    const id = newId('br')
    const now = clock.now()
    const bridge = await this.#checked({
      id,
      ownerId,
      template: fields.template,
      sourceId,
      account: '',
      body: template.body,
      honoursKeys: template.honoursKeys,
      side: null,
      qty: null,
      maxPosition: null,
      maxDayLoss: null,
      marketHours: false,
      validSeconds: VALID_SECONDS,
      channelIds: [],
      ...given(fields),
      name: fields.name,
      ...market,
      // Nothing is sent until its owner says so.
      dryRun: true,
      ...(await this.#sealed(id, template, { url, secret }, true)),
      expected: 0,
      held: 0,
      assumed: 0,
      goal: 0,
      told: 0,
      position: 0,
      placed: [],
      waitsForFlat: false,
      ...ACTIVE,
      createdAt: now,
      updatedAt: now,
      lastSuccessAt: null,
    })
    const begun = await this.#begun(bridge)
    return this.keep(begun, begun, also)
  }

  async #source(ownerId: string, id: string): Promise<Source> {
    const source = await this.deps.source(ownerId, id)
    if (!source) throw invalidField('/sourceId', 'unknown', 'You have no such forward run or alert.')
    return source
  }

  async #checked(bridge: Bridge): Promise<Bridge> {
    const isAlert = isOfAlert(bridge)
    for (const field of SIDES)
      if (isAlert && bridge[field] === null) throw invalidField(`/${field}`, 'required', NEEDS_SIDE)
    if (isAlert && bridge.maxDayLoss !== null)
      throw invalidField('/maxDayLoss', 'not_permitted', 'An alert has no profit or loss. Leave this out.')
    for (const [i, id] of bridge.channelIds.entries())
      if (!(await this.deps.ownsChannel(bridge.ownerId, id)))
        throw invalidField(`/channelIds/${i}`, 'unknown', 'You have no such channel.')
    checkBody(templateOf(bridge), bridge.body)
    return bridge
  }

  /** A dry run may begin without a network: where its address leads is looked at again when it ends. */
  async #sealed(id: string, template: OrderTemplate, secrets: Secrets, dryRun: boolean) {
    if (isUnsigned(template, secrets.secret))
      throw invalidField('/secret', 'required', `${template.label} needs this: ${template.secret}.`)
    const url = parseReceiverUrl(secrets.url, this.deps.allow)
    await permittedAddresses(url, this.deps.allow, this.deps.resolve, dryRun)
    return {
      sealed: await this.deps.box.seal(JSON.stringify({ ...secrets, url: url.href }), id),
      host: url.host,
    }
  }

  /** As its source stands now. What the strategy has from before is none of the bridge's, until it is flat. */
  async #begun(bridge: Bridge): Promise<Bridge> {
    const source = await this.deps.source(bridge.ownerId, bridge.sourceId)
    if (source === null || source.position === null)
      return { ...bridge, goal: bridge.held, expected: bridge.held }
    const { position, placed } = source
    const expected = expectedOf({ position, placed })
    const waitsForFlat = expected !== 0 && expected !== bridge.held
    return { ...bridge, position, placed, expected, goal: bridge.held, waitsForFlat }
  }

  /** Orders that are settled meanwhile change the bridge too, so it begins again where one was. */
  async change(ownerId: string, id: string, fields: Changed): Promise<Bridge> {
    for (let attempt = 0; attempt < CHANGES_TRIED; attempt++) {
      const before = await this.records.stored(id)
      if (before?.record.ownerId !== ownerId) throw this.notFound()
      const after = await this.#changed(before.record, fields)
      const isSet = fields.held !== undefined && after.goal === before.record.goal
      const done = await decide<Bridge | null>(this.deps.kv, async (tx) => {
        const stored = await this.storedAt(tx, ownerId, id)
        if (stored.version !== before.version) return [null, []]
        const goal = isSet ? tidySum(after.held, await this.#waiting(tx, id)) : after.goal
        const [told, changes] = await withNotice(this.deps, tx, { ...after, goal }, null)
        return [told, [this.records.replace(stored, told), ...changes]]
      })
      if (done) return done
    }
    throw new Problem(409, 'conflict', 'The bridge was changed at the same time. Look at it again.')
  }

  async #changed(before: Bridge, fields: Changed): Promise<Bridge> {
    const { held, status, url, secret } = fields
    const { dryRun = before.dryRun } = fields
    const turned = dryRun !== before.dryRun
    const isNew = url !== undefined || secret !== undefined || (turned && !dryRun)
    const sealed = isNew ? await this.#resealed(before, { url, secret }, dryRun) : null
    const isMended = before.disabledReason === 'secret_lost' && sealed !== null
    if (before.disabledReason === 'secret_lost' && status === 'active' && !isMended)
      throw new Problem(
        409,
        'conflict',
        'The secrets of this bridge are lost. Enter them again, which enables it too.',
      )
    const at = held ?? (turned ? 0 : before.held)
    const after = await this.#checked({
      ...before,
      ...given(fields),
      ...sealed,
      ...((status === 'active' || isMended) && ACTIVE),
      ...(status === 'disabled' && disabledBy(before)),
      ...((turned || held !== undefined) && { held: at, assumed: at, told: 0 }),
      updatedAt: this.deps.clock.now(),
    })
    const begins = turned || (after.status === 'active' && before.status !== 'active')
    return begins ? this.#begun({ ...after, assumed: after.held }) : after
  }

  async #waiting(tx: Tx, id: string): Promise<number> {
    const { items } = await this.#orders.at(tx).list('queue', [id], { limit: WAITING_AT_MOST })
    return items.reduce((sum, order) => tidySum(sum, signed(order)), 0)
  }

  /** Another server is not sent the secret of the one before. */
  async #resealed(
    before: Bridge,
    { url, secret }: { [Field in keyof Secrets]: string | undefined },
    dryRun: boolean,
  ) {
    const template = templateOf(before)
    const kept = await secretsOf(this.deps, before).catch((error: unknown) => {
      if (!(error instanceof UnreadableSecret)) throw error
      return null
    })
    const address = url ?? kept?.url
    if (address === undefined) throw invalidField('/url', 'required', 'The address is lost. Enter it again.')
    const moved = URL.parse(address)?.host !== before.host
    if (
      secret === undefined &&
      kept?.secret !== '' &&
      template.secret !== undefined &&
      (moved || kept === null)
    )
      throw invalidField('/secret', 'required', 'The address is another server now. Enter the secret again.')
    return this.#sealed(before.id, template, { url: address, secret: secret ?? kept?.secret ?? '' }, dryRun)
  }

  /** What is committed with the events of a run's orders. Part of a plan. */
  async ofRun(tx: Tx, run: Run, events: readonly ForwardOrder[]): Promise<Changes[]> {
    const day = run.day
    const isLossy = ({ maxDayLoss }: Bridge) =>
      maxDayLoss !== null && day !== undefined && day.equity - run.equity >= maxDayLoss
    // What a bar that is not over would do is none of a broker's business.
    const final = events.filter(({ status }) => status === 'final' || status === 'confirmed')
    const last = final.at(-1)
    if (!last) return []
    return this.#each(tx, run.userId, run.id, async (first) => {
      const closesAt = await this.deps.closesAt(first)
      let bridge = first
      const orders: BridgeOrder[] = []
      const add = async (made: Step, event: ForwardOrder, name: string) => {
        const { time: barTime, orderId, price, comment, alertMessage } = event
        const nth = orders.filter((one) => one.barTime === barTime && one.orderId === orderId).length
        const key = orderKey(bridge.id, run.id, barTime, name, nth)
        const said = { barTime, orderId, price, comment: comment ?? '', alertMessage: alertMessage ?? '' }
        bridge = await this.#add(orders, made, { ...said, key, close: run.close ?? price }, closesAt(barTime))
      }
      for (const event of final) await add(step(bridge, event, isLossy(bridge)), event, event.orderId)
      // Events do not tell all of what waits, such as two orders of one name.
      const held = { position: run.position, placed: placedOf(run.waiting) }
      const expected = expectedOf(held)
      if (expected !== bridge.expected) await add(aimed(bridge, expected, isLossy(bridge)), last, '')
      return [{ ...bridge, ...held }, orders]
    })
  }

  /** What is committed with firings of an alert, of which it has `count` then. Part of a plan. */
  ofFirings(
    tx: Tx,
    alert: { readonly id: string; readonly ownerId: string; readonly firings: number },
    firings: readonly Fired[],
  ): Promise<Changes[]> {
    return this.#each(tx, alert.ownerId, alert.id, async (first) => {
      const closesAt = await this.deps.closesAt(first)
      let bridge = first
      const orders: BridgeOrder[] = []
      for (const [i, { barTime, firedAt, price, message }] of firings.entries()) {
        const nth = alert.firings - firings.length + i
        const key = orderKey(bridge.id, alert.id, barTime, 'alert', nth)
        const said = { barTime, orderId: 'alert', price: null, comment: message, alertMessage: message }
        // A bar may be looked at long after it was over.
        const since = Math.min(firedAt, closesAt(barTime))
        const after = await this.#add(orders, stepOfFiring(bridge), { ...said, key, close: price }, since)
        // A firing of long ago leaves nothing that is missing at the receiver.
        if (orders.at(-1)?.reason !== 'late') bridge = after
      }
      return [bridge, orders]
    })
  }

  async #each(
    tx: Tx,
    ownerId: string,
    sourceId: string,
    made: (bridge: Bridge) => Promise<readonly [Bridge, readonly BridgeOrder[]]>,
  ): Promise<Changes[]> {
    const read = this.records.at(tx)
    // This count is a check for bridges that are added meanwhile.
    await read.count('owner', [ownerId])
    const { items } = await read.ids('source', [ownerId, sourceId], { limit: 100 })
    const changes: Changes[] = []
    for (const stored of await read.storedMany(items)) {
      if (stored.record.status !== 'active') continue
      const [bridge, orders] = await made(stored.record)
      if (bridge === stored.record && orders.length === 0) continue
      const isOpen = orders.some(({ state }) => state === 'pending')
      const [told, more] = isOpen ? [bridge, []] : await withNotice(this.deps, tx, bridge, null)
      changes.push(
        this.records.replace(stored, told),
        ...orders.map((one) => this.#orders.insert(one)),
        ...more,
      )
    }
    return changes
  }

  /** Adds the order of a step, if there is one: it waits to be sent, or says why it is not. */
  async #add(
    orders: BridgeOrder[],
    { bridge, order }: Step,
    said: Pick<BridgeOrder, 'key' | 'barTime' | 'orderId' | 'price' | 'close' | 'comment' | 'alertMessage'>,
    closedAt: number,
  ): Promise<Bridge> {
    if (order === null) return bridge
    const now = this.deps.clock.now()
    const since = bridge.marketHours ? await this.deps.opensAt(bridge, closedAt) : closedAt
    const isMoved = order.goal !== order.from
    const isOld = now - since > bridge.validSeconds * 1000
    const isLate = isMoved && isOld && isOfAlert(bridge)
    const isDry = isMoved && bridge.dryRun && !isLate
    orders.push({
      ...freshParcel(
        this.deps.newId('bo'),
        { id: bridge.id, ownerId: bridge.ownerId },
        { ...said, ...order },
        now,
      ),
      reason: isLate ? 'late' : isDry ? 'dry_run' : order.reason,
      sourceId: bridge.sourceId,
      since,
      body: null,
      ...((isDry || isLate || !isMoved) && { state: 'cancelled', nextAt: null }),
    })
    // A dry run is as if all were taken.
    return isDry ? { ...bridge, held: order.goal, assumed: order.goal } : bridge
  }

  /** An order that is none: its name says so, and it is for no contracts. A dry run answers what would be sent. */
  async test(bridge: Bridge, also?: Also<BridgeOrder>): Promise<BridgeOrder> {
    const { newId, clock, kv } = this.deps
    if (await isStopped(kv, bridge.ownerId))
      throw new Problem(409, 'conflict', 'All bridges are stopped. Let them go on first.')
    if (bridge.status !== 'active')
      throw new Problem(409, 'conflict', 'The bridge is disabled. Enable it first.')
    const now = clock.now()
    const id = newId('bo')
    const said = {
      orderId: 'TEST',
      price: null,
      close: null,
      comment: 'Test of Chartroom, no order',
      alertMessage: '',
    }
    const order: BridgeOrder = {
      ...freshParcel(id, bridge, { ...said, from: 0, goal: 0, side: 'buy' as const, qty: 0 }, now),
      key: orderKey(bridge.id, bridge.sourceId, now, id, 0),
      barTime: now,
      sourceId: bridge.sourceId,
      reason: 'test',
      since: now,
      body: null,
      ...(bridge.dryRun && { state: 'cancelled' as const, nextAt: null }),
    }
    const whole = { ...order, body: filledBody(bridge, order, now) }
    return decide(kv, async (tx) => [whole, [this.#orders.insert(whole), await also?.(whole, tx)]])
  }

  ordersOf(ownerId: string, options: PageOptions): Promise<Page<BridgeOrder>> {
    return this.#orders.list('owner', [ownerId], options)
  }

  async order(ownerId: string, id: string): Promise<BridgeOrder> {
    return (await this.#orderAt(this.deps.kv, ownerId, id)).record
  }

  async #orderAt(reader: Reader, ownerId: string, id: string): Promise<Stored<BridgeOrder>> {
    const stored = await this.#orders.at(reader).stored(id)
    if (stored?.record.ownerId !== ownerId)
      throw new Problem(404, 'bridge_not_found', 'There is no such order.')
    return stored
  }

  /** Sends an order that was not taken again, with the same key, if the strategy still wants it. */
  resend(ownerId: string, id: string, also?: Also<BridgeOrder>): Promise<BridgeOrder> {
    const { kv, clock } = this.deps
    return decide(kv, async (tx) => {
      const stored = await this.#orderAt(tx, ownerId, id)
      const order = stored.record
      const bridge = await this.storedAt(tx, ownerId, order.receiverId)
      const { assumed, goal, status, dryRun } = bridge.record
      if (status !== 'active' || dryRun)
        throw new Problem(409, 'conflict', 'The bridge sends nothing. Enable it, and end its dry run, first.')
      if (order.state !== 'failed' && order.reason !== 'stopped')
        throw new Problem(409, 'conflict', 'Only an order that was not taken can be sent again.')
      const before = order.reason === 'unsure' ? tidySum(assumed, -signed(order)) : assumed
      if (due({ ...order, goal }, before) === 0)
        throw new Problem(409, 'conflict', 'The strategy does not want this order any more.')
      const now = clock.now()
      const again: BridgeOrder = {
        ...order,
        state: 'pending',
        reason: null,
        nextAt: now,
        since: now,
        goal,
        begunAt: null,
      }
      const freed = this.records.replace(bridge, { ...bridge.record, assumed: before })
      return [again, [this.#orders.replace(stored, again), freed, await also?.(again, tx)]]
    })
  }

  isStopped(ownerId: string): Promise<boolean> {
    return isStopped(this.deps.kv, ownerId)
  }

  async stop(ownerId: string, stopped: boolean): Promise<void> {
    await this.deps.kv.commit({
      sets: [{ key: stoppedKey(ownerId), value: String(stopped) }],
      essential: true,
    })
  }

  purge(): Promise<number> {
    return forgetOld(this.#orders, this.deps.clock)
  }
}

/** What waits at the market. */
export const placedOf = (waiting: readonly WaitingOrder[]): PlacedOrder[] =>
  waiting
    .filter(({ type }) => type === 'market')
    .map(({ id: orderId, side, qty }) => ({ orderId, side, qty }))

const given = (fields: Fields): Partial<Bridge> =>
  Object.fromEntries(SET.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))
