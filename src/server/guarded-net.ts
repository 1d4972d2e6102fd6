// The network as others are asked over it whose addresses are settings, or come from whom the settings name: an identity
// provider, and the list of releases. The same rules hold for them as for webhooks: only public addresses by https, unless
// WEBHOOK_ALLOW opens others, and then by http too.

import { lookup } from 'node:dns/promises'
import { parseAllowList, permittedAddresses } from '../notify/webhooks/address.ts'
import type { PostDeps } from '../notify/webhooks/post.ts'
import { createSend, NO_REPLY } from '../notify/webhooks/send.ts'
import type { AskProvider } from '../people/accounts/openid.ts'
import type { Config } from './config.ts'

/** More than the keys and addresses of any provider, or the files of a release. */
const ANSWER_BYTES = 512 * 1024
const BUDGET_MS = 8000

export type GuardedNet = Pick<PostDeps, 'allow' | 'resolve' | 'send'>

/** Asks an address as a whole: no redirect is followed, and an answer is 512 kB at most. Rejects if there is none. */
export function askGuarded({ allow, resolve, send }: GuardedNet): AskProvider {
  return async (address, { method, headers, body }) => {
    const url = new URL(address)
    let reply = NO_REPLY
    for (const one of await permittedAddresses(url, allow, resolve)) {
      reply = await send({
        url,
        method: method === 'POST' ? 'POST' : 'GET',
        address: one,
        headers,
        body: new TextEncoder().encode(body ?? ''),
        budgetMs: BUDGET_MS,
        excerptBytes: ANSWER_BYTES,
      })
      if (reply.failure !== 'connection_refused') break
    }
    if (reply.status === 0) throw new Error(`${url.host} gave no answer (${reply.failure ?? 'network'})`)
    // Who asks for the type is told JSON; whether it is shows when it is read.
    return new Response(reply.excerpt, {
      status: reply.status,
      headers: { 'content-type': 'application/json' },
    })
  }
}

/** Every address that a host has. */
export const resolve = async (host: string): Promise<string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address)

export const netOf = ({ WEBHOOK_ALLOW }: Pick<Config, 'WEBHOOK_ALLOW'>): GuardedNet => ({
  allow: parseAllowList(WEBHOOK_ALLOW.join(',')),
  resolve,
  send: createSend(),
})
