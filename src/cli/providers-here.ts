// The providers of bars and of symbols as a server on the same data asks them: with the keys that were given to it.

import { existsSync, readFileSync } from 'node:fs'
import { ProviderKeys, sealedKeys } from '../people/feeds/provider-keys.ts'
import type { Http } from '../market/providers/provider.ts'
import { keyPath } from '../server/config.ts'
import type { Kv } from '../store/kv.ts'
import { createSecretBox } from '../notify/webhooks/secret-box.ts'
import type { CommandContext } from './command.ts'
import { configOf } from './data.ts'

/** undefined: no key was given, or none can be read. */
export async function providersWithKeys(
  { clock, random, environment, warn }: CommandContext,
  flags: Parameters<typeof configOf>[1],
  kv: Kv,
): Promise<ProviderKeys | undefined> {
  const path = keyPath(configOf(environment, flags))
  const [first] = await Array.fromAsync(sealedKeys(kv))
  if (!first) return undefined
  if (!existsSync(path)) {
    warn(`The keys of providers cannot be read without ${path}, so providers without a key are asked.`)
    return undefined
  }
  const box = await createSecretBox(readFileSync(path), (count) => random.bytes(count))
  const keys = new ProviderKeys({
    kv,
    clock,
    log: (_level, message) => warn(message),
    box,
    changed: () => {},
  })
  await keys.ready()
  return keys
}

/** The longest wait for a provider's page. */
const HTTP_TIMEOUT_MS = 20_000

export const defaultHttp: Http = (url, signal, body, headers) =>
  fetch(url, {
    headers: {
      'user-agent': 'Mozilla/5.0 (compatible; Chartroom)',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { method: 'POST', body }),
    signal: AbortSignal.any([AbortSignal.timeout(HTTP_TIMEOUT_MS), ...(signal ? [signal] : [])]),
  })
