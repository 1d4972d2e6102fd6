// Requests that the server makes of itself for a caller: the tools of agents, and what an imported file holds.

import { words } from '../lib/words.ts'

/** Answers a request as if it had come over the network. */
export type Handle = (request: Request) => Promise<Response>

/** The headers with the caller's credential, which inner requests carry too. */
export function credentialOf({ headers }: Request): Record<string, string> {
  const kept = words('authorization cookie host origin sec-fetch-site x-forwarded-for x-forwarded-proto')
  return Object.fromEntries(
    kept.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])),
  )
}
