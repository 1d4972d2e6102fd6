// What is particular to delivering to webhooks: the body is signed, and posted to an address that is checked again.

import type { Clock } from '../../lib/clock.ts'
import { within } from '../../lib/within.ts'
import { parseReceiverUrl, permittedAddresses, type AllowList, type Resolve } from './address.ts'
import { Deliverer, type SendingDeps } from './deliverer.ts'
import { deliveryCollection, type Delivery } from './deliveries.ts'
import type { Claim } from './parcels.ts'
import { receiverCollection, type Receiver } from './receivers.ts'
import type { SecretBox } from './secret-box.ts'
import { NO_REPLY, UnreadableSecret, type Attempt, type Reply, type Send } from './send.ts'
import { serviceSignature, standardSignature } from './signing.ts'

export interface PostDeps {
  readonly clock: Clock
  readonly box: SecretBox
  readonly allow: AllowList
  readonly resolve: Resolve
  readonly send: Send
  /** The User-Agent: product and version. */
  readonly userAgent: string
}

/** Time limits for resolving the name, and for one attempt as a whole. */
const RESOLVE_MS = 5000
const ATTEMPT_MS = 15_000

/** Delivers to webhooks what is in their outbox. */
export function createWebhookDeliverer(deps: PostDeps & SendingDeps) {
  return new Deliverer<Receiver, Delivery>({
    ...deps,
    noun: 'webhook',
    receivers: receiverCollection(deps.kv),
    deliveries: deliveryCollection(deps.kv),
    post: (claim, now) => postSigned(deps, claim, now),
    // Any answer but 2xx may be a receiver that is being mended.
    isFinal: () => false,
    isGone: (_, status) => status === 410,
  })
}

/** Posts a signed delivery. Throws Problem if no address of the receiver is permitted. */
async function postSigned(
  deps: PostDeps,
  { receiver, delivery }: Claim<Receiver, Delivery>,
  now: number,
): Promise<Reply> {
  const body = new TextEncoder().encode(
    JSON.stringify({
      event: delivery.event,
      delivered_at: new Date(now).toISOString(),
      data: delivery.data,
    }),
  )
  return sendTo(deps, receiver.url, now, async () => ({
    method: 'POST',
    headers: await signedHeaders(deps, { receiver, delivery }, now, body),
    body,
  }))
}

/**
 * Sends one request, to the first of the address's hosts that accepts a connection. `made` is asked for it once the
 * address has been checked. Throws Problem if none is permitted.
 */
export async function sendTo(
  { allow, resolve, clock, send }: Pick<PostDeps, 'allow' | 'resolve' | 'clock' | 'send'>,
  address: string,
  now: number,
  made: () => Promise<Pick<Attempt, 'method' | 'headers' | 'body' | 'excerptBytes'>>,
): Promise<Reply> {
  const url = parseReceiverUrl(address, allow)
  const hosts = await within(clock, RESOLVE_MS, permittedAddresses(url, allow, resolve))
  if (hosts === null)
    return { ...NO_REPLY, failure: 'timeout', excerpt: 'The host name was not resolved within 5 s.' }
  const request = await made()
  let answer = NO_REPLY
  // The next host is tried only if this one did not accept a connection.
  for (const host of hosts.slice(0, 4)) {
    // Limited to the whole time of an attempt, even if the clock was set back meanwhile.
    const budgetMs = Math.min(ATTEMPT_MS, now + ATTEMPT_MS - clock.now())
    if (budgetMs <= 0) return { ...NO_REPLY, failure: 'timeout' }
    answer = await send({ url, address: host, ...request, budgetMs })
    if (answer.failure !== 'connection_refused' && answer.failure !== 'network') break
  }
  return answer
}

async function signedHeaders(
  { box, userAgent }: Pick<PostDeps, 'box' | 'userAgent'>,
  { receiver, delivery }: Claim<Receiver, Delivery>,
  now: number,
  body: Uint8Array<ArrayBuffer>,
): Promise<Record<string, string>> {
  const opened = (sealed: string) =>
    box.open(sealed, receiver.id).catch(() => {
      throw new UnreadableSecret('webhook')
    })
  const secret = await opened(receiver.sealedSecret)
  const old = receiver.sealedOldSecret === null ? null : await opened(receiver.sealedOldSecret)
  const overlapping = old !== null && (receiver.oldSecretUntil ?? 0) > now
  const seconds = Math.floor(now / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'X-Service-Signature': serviceSignature(old ?? secret, body),
    'X-Service-Event': delivery.event,
    'X-Service-Attempt': String(delivery.attempts.length + 1),
    'webhook-id': delivery.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': standardSignature(
      overlapping ? [secret, old] : [secret],
      delivery.id,
      seconds,
      body,
    ),
  }
}
