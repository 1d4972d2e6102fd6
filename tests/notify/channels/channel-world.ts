// Channels with their outbox and deliverer, on a clock that the test turns, and a network that the test plays.

import type { Channel } from '../../../src/notify/channels/channel.ts'
import { Channels } from '../../../src/notify/channels/channels.ts'
import { createChannelDeliverer } from '../../../src/notify/channels/deliver.ts'
import type { Notice, PictureMaker } from '../../../src/notify/channels/kind.ts'
import type { Pace } from '../../../src/notify/channels/pace.ts'
import { idSource } from '../../../src/lib/ids.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { transact, type Tx } from '../../../src/store/transaction.ts'
import { parseAllowList } from '../../../src/notify/webhooks/address.ts'
import type { Attempt, Reply, Send } from '../../../src/notify/webhooks/send.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { testKv } from '../../store/test-store.ts'

export type World = Awaited<ReturnType<typeof world>>

/** What every service takes for its own answer. */
export const TAKEN = JSON.stringify({ ok: true, id: 'x', status: 1, event_id: '$1' })

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

export const NO_PICTURES: PictureMaker = {
  of: async () => ({ why: 'nobody draws here.' }),
  path: async () => '/x.png',
}

export async function world({
  kv = testKv(),
  clock = new HandClock(),
  pictures = NO_PICTURES,
  publicUrl = 'https://room.example',
  send = null,
}: {
  kv?: Kv
  clock?: HandClock
  pictures?: PictureMaker
  publicUrl?: string | null
  send?: Send | null
} = {}) {
  const sent: { at: number; text: string; url: string }[] = []
  const acknowledged = new Set<string>()
  const state = {
    respond: (): Reply => ({ status: 200, retryAfter: null, excerpt: TAKEN, failure: null }),
  }
  const deps = {
    kv,
    clock,
    newId: idSource({ clock, random }),
    // Sealing that needs no other thread, on which the clock could not wait.
    box: { seal: async (text: string) => text, open: async (text: string) => text },
    allow: parseAllowList(''),
    resolve: async () => ['93.184.215.14'],
    userAgent: 'Chartroom/test',
    tools: {
      signer: { authorization: async () => 'vapid' },
      random,
      pictures,
      links: {
        token: async (action: string, alertId: string) => `${action}-${alertId}`,
        url: (token: string) => `https://room.example/tap#${token}`,
      },
    },
    isAcknowledged: async (_tx: Tx, id: string) => acknowledged.has(id),
    publicUrl,
    send: async (attempt: Attempt) => {
      sent.push({ at: clock.now(), text: new TextDecoder().decode(attempt.body), url: attempt.url.href })
      return send ? send(attempt) : state.respond()
    },
  }
  const channels = new Channels(deps)
  const notifier = createChannelDeliverer({ ...deps, spread: () => 0.5, log: () => {} })
  const stop = new AbortController()
  const running = notifier.run(stop.signal)
  const notice = (part: Partial<Notice>): Notice => ({
    title: 'BTC above 70,000',
    text: '',
    url: null,
    at: clock.now(),
    symbol: 'BTCUSDT',
    exchange: 'BINANCE',
    interval: '1h',
    price: 70_001,
    ...part,
  })
  return Object.assign(state, {
    kv,
    clock,
    channels,
    sent,
    acknowledged,
    notice,
    wake: () => notifier.wake('usr_1'),
    ntfy: (pace: Partial<Pace>): Promise<Channel> =>
      channels.create('usr_1', { name: 'phone', kind: 'ntfy', settings: { topic: 'mine' }, ...pace }),
    /** Tells the channels, each as often as it is named. */
    async fire(ids: readonly string[], part: Partial<Notice> = {}, escalatesAt: number | null = null) {
      for (const id of ids)
        await transact(kv, (tx) =>
          channels.enqueue(
            tx,
            'usr_1',
            [id],
            [{ notice: notice(part), ...(escalatesAt !== null && { escalatesAt }) }],
          ),
        )
      notifier.wake('usr_1')
      await clock.settle()
    },
    log: async (id: string) => (await channels.log(id, { limit: 2000 })).items,
    async stop() {
      stop.abort()
      await clock.settle()
      await running
    },
  })
}
