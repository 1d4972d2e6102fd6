// The network as an identity provider is asked over it, and the provider that the settings name.
//
// Its addresses come from the operator and from the provider itself, but the same rules hold for them as for webhooks: only
// public addresses by https, unless WEBHOOK_ALLOW opens others, and then by http too.

import { IdentityProvider, type AskProvider, type OpenIdDeps } from '../people/accounts/openid.ts'
import { permittedAddresses } from '../notify/webhooks/address.ts'
import type { PostDeps } from '../notify/webhooks/post.ts'
import { NO_REPLY } from '../notify/webhooks/send.ts'
import type { Config } from './config.ts'

/** More than the keys and addresses of any provider. */
const ANSWER_BYTES = 512 * 1024
const BUDGET_MS = 8000

type OpenIdNet = Pick<PostDeps, 'allow' | 'resolve' | 'send'>

export function askProvider({ allow, resolve, send }: OpenIdNet): AskProvider {
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
    // The package asks for the type; whether it is JSON shows when it is read.
    return new Response(reply.excerpt, {
      status: reply.status,
      headers: { 'content-type': 'application/json' },
    })
  }
}

/** null: the settings name none. */
export function identityProviderOf(
  config: Config,
  net: OpenIdNet,
  deps: Pick<OpenIdDeps, 'clock' | 'log'>,
): IdentityProvider | null {
  if (config.OIDC_ISSUER === null) return null
  return new IdentityProvider({
    ...deps,
    ask: askProvider(net),
    settings: {
      issuer: config.OIDC_ISSUER,
      clientId: config.OIDC_CLIENT_ID,
      clientSecret: config.OIDC_CLIENT_SECRET === '' ? null : config.OIDC_CLIENT_SECRET,
      name: config.OIDC_NAME === '' ? new URL(config.OIDC_ISSUER).hostname : config.OIDC_NAME,
      scopes: [...new Set(['openid', ...config.OIDC_SCOPES])],
      groupsClaim: config.OIDC_GROUPS_CLAIM,
      groups: config.OIDC_GROUPS,
      adminGroups: config.OIDC_ADMIN_GROUPS,
      signUpOpen: config.OIDC_SIGNUP === 'open',
    },
  })
}
