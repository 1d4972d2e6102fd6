// Bridges over a store of their own, a strategy whose bars the test deals, and a receiver that misbehaves by a seed. A server
// may die at any request to the store or to the receiver: nothing of it goes on then, and the next one has the store alone.

import { createBridgeDeliverer } from '../../../src/notify/bridges/deliver.ts'
import { bridgeOrders, type Bridge, type BridgeOrder } from '../../../src/notify/bridges/bridge.ts'
import { Bridges, type Source } from '../../../src/notify/bridges/bridges.ts'
import { parseAllowList } from '../../../src/notify/webhooks/address.ts'
import type { Attempt, Reply } from '../../../src/notify/webhooks/send.ts'
import { idSource } from '../../../src/lib/ids.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { transact } from '../../../src/store/transaction.ts'
import type { ForwardOrder, WaitingOrder } from '../../../src/wire/forward-run.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testKv } from '../../store/test-store.ts'

export const HOUR = 3_600_000
export const RUN = 'fwd_1'
export const OK: Reply = { status: 200, retryAfter: null, excerpt: 'ok', failure: null }
export const answer = (status: number, more: Partial<Reply> = {}): Reply => ({ ...OK, status, ...more })
export const broken = (failure: string): Reply => answer(0, { failure, excerpt: '' })

/** mulberry32 */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How many requests a server has left; at none it is dead, and nothing of it is answered any more. */
export class Life {
  #left: number
  readonly #lastTakesEffect: boolean
  constructor(left = Number.POSITIVE_INFINITY, lastTakesEffect = false) {
    this.#left = left
    this.#lastTakesEffect = lastTakesEffect
  }
  end(): void {
    this.#left = 0
  }
  get isOver(): boolean {
    return this.#left <= 0
  }
  async lives<T>(request: () => Promise<T>): Promise<T> {
    if (this.isOver) return new Promise<never>(() => undefined)
    this.#left--
    if (this.isOver && !this.#lastTakesEffect) return new Promise<never>(() => undefined)
    const answer = await request()
    return this.isOver ? new Promise<never>(() => undefined) : answer
  }
}

function mortal(kv: Kv, life: Life): Kv {
  return {
    get: (key) => life.lives(() => kv.get(key)),
    getMany: (keys) => life.lives(() => kv.getMany(keys)),
    versions: (keys) => life.lives(() => kv.versions(keys)),
    list: (selector, options) => life.lives(() => kv.list(selector, options)),
    commit: (commit) => life.lives(() => kv.commit(commit)),
    close: async () => undefined,
  }
}

interface WorldOptions {
  readonly clock?: HandClock
  readonly kv?: Kv
  readonly life?: Life
  readonly source?: Source
  readonly opensAt?: (time: number) => number
}

export const SOURCE: Source = {
  exchange: 'E',
  symbol: 'S',
  interval: '1h',
  seriesOwner: '',
  position: 0,
  placed: [],
}

export function bridgeWorld({
  clock = new HandClock(),
  kv: stored = testKv(),
  life = new Life(),
  source = SOURCE,
  opensAt = (time) => time,
}: WorldOptions = {}) {
  const kv = mortal(stored, life)
  const newId = idSource({
    clock,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
  })
  const sent: { key: string; body: Record<string, unknown>; attempt: Attempt; at: number }[] = []
  const told: string[] = []
  const at = {
    respond: (_sent: (typeof sent)[number]): Reply | Promise<Reply> => OK,
    source,
    resolve: async () => ['93.184.215.14'],
  }
  const deps = {
    kv,
    clock,
    newId,
    box: { seal: async (text: string) => text, open: async (text: string) => text },
    allow: parseAllowList(''),
    resolve: () => at.resolve(),
    userAgent: 'Chartroom/test',
    spread: () => 0.5,
    log: () => undefined,
    source: async (ownerId: string, id: string) =>
      ownerId === 'usr_1' && (id === RUN || id === 'al_1')
        ? { ...at.source, ...(id === 'al_1' && { position: null }) }
        : null,
    ownsChannel: async () => false,
    closesAt: async () => (time: number) => time + HOUR,
    opensAt: async (_: Bridge, time: number) => opensAt(time),
    tell: async (_: unknown, __: Bridge, text: string) => {
      told.push(text)
      return []
    },
    send: (attempt: Attempt) =>
      life.lives(async () => {
        const text = new TextDecoder().decode(attempt.body)
        const one = {
          key: attempt.headers['idempotency-key'] ?? '',
          body: JSON.parse(text) as Record<string, unknown>,
          attempt,
          at: clock.now(),
        }
        sent.push(one)
        return at.respond(one)
      }),
  }
  const bridges = new Bridges(deps)
  const deliverer = createBridgeDeliverer(deps)
  const stop = new AbortController()
  const running = deliverer.run(stop.signal)
  /** Of the strategy, as its run has it. */
  const run = { position: source.position ?? 0, waiting: [] as WaitingOrder[] }
  return {
    at,
    clock,
    bridges,
    sent,
    told,
    kv: stored,
    /** Commits events of the run's orders on a bar that has just closed, with `also` beside them. */
    async bar(
      each: readonly Partial<ForwardOrder>[],
      more: object = {},
      also?: { key: string[]; value: string },
    ) {
      const time = clock.now() - HOUR
      const whole = each.map((event) => ({
        event: 'order.placed' as const,
        time,
        orderId: 'L',
        type: 'market' as const,
        side: 'buy' as const,
        qty: 1,
        price: null,
        status: 'final' as const,
        position: 0,
        comment: null,
        alertMessage: null,
        ...event,
      }))
      for (const { event, status, type, orderId: id, side, qty, position } of whole) {
        if (status === 'provisional') continue
        const others = run.waiting.filter((one) => one.id !== id || one.side !== side)
        if (event === 'order.filled') run.position = position
        const isPlaced = event === 'order.placed' && type === 'market'
        run.waiting = isPlaced ? [...others, { id, type, side, qty, price: null }] : others
      }
      const told = { id: RUN, userId: 'usr_1', equity: 10_000, ...run, ...more }
      await transact(kv, async (tx) => [
        ...(await bridges.ofRun(tx, told, whole)),
        { sets: also ? [also] : [] },
      ])
      deliverer.wake('usr_1')
    },
    wake: () => deliverer.wake('usr_1'),
    async made(fields: Partial<Parameters<Bridges['create']>[1]> = {}, live = true): Promise<Bridge> {
      const body = {
        name: 'mine',
        template: 'generic' as const,
        sourceId: RUN,
        url: 'https://broker.example/in',
      }
      const bridge = await bridges.create('usr_1', { ...body, ...fields })
      return live ? bridges.change('usr_1', bridge.id, { dryRun: false }) : bridge
    },
    async orders(): Promise<readonly BridgeOrder[]> {
      const all = await Array.fromAsync(bridgeOrders(stored).each('owner', ['usr_1']))
      return all.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
    async stop() {
      stop.abort()
      if (!life.isOver) await running
    },
  }
}
