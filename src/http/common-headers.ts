// Headers that every answer of the API carries.

import type { Peer } from './peer.ts'

const COMMON = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const
const HTTPS = { ...COMMON, 'strict-transport-security': 'max-age=31536000' } as const
const [PLAIN_HEADERS, HTTPS_HEADERS] = [new Headers(COMMON), new Headers(HTTPS)]

/** What they are made of: which request it is, and how it came. */
interface Visited {
  readonly requestId: string
  readonly peer: Pick<Peer, 'https'>
}

export function addCommonHeaders<To extends object>(to: To, { requestId, peer }: Visited) {
  return Object.assign(to, peer.https ? HTTPS : COMMON, { 'x-request-id': requestId })
}

export function commonHeaders({ requestId, peer }: Visited): Headers {
  const headers = new Headers(peer.https ? HTTPS_HEADERS : PLAIN_HEADERS)
  headers.set('x-request-id', requestId)
  return headers
}
