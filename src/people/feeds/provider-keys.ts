// Keys of providers that need one: sealed where they are stored, and shown to nobody afterwards.
//
// The keys are the server's, as the series that are kept fresh with them are, so owner and admins give them. An exchange that
// several providers have is asked of the one whose key was given last, and of one without a key where none was given.

import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import type { SymbolList } from '../../market/listings/listing.ts'
import { providerOf as freeProviderOf, PROVIDERS } from '../../market/providers/fetch-bars.ts'
import type { Credentials, KeyedProvider } from '../../market/providers/keyed/keyed-provider.ts'
import { KEYED_PROVIDERS } from '../../market/providers/keyed/keyed-providers.ts'
import type { Provider } from '../../market/providers/provider.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { transact } from '../../store/transaction.ts'
import { ChosenProviders } from './chosen-providers.ts'

/** Seals with the instance's key; `server/features.ts` hands over the one of webhooks and channels. */
export interface Sealer {
  seal(text: string, boundTo: string): Promise<string>
  open(sealed: string, boundTo: string): Promise<string>
}

export interface ProviderKeysDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly log: Log
  readonly box: Sealer
  /** Another key is used from now on. */
  readonly changed: (provider: string) => void
}

interface StoredKey {
  readonly sealed: string
  readonly setAt: number
}

export interface ProviderInfo {
  readonly name: string
  readonly exchanges: readonly string[]
  readonly needsKey: boolean
  readonly needsSecret: boolean
  /** null = the key is missing. `lost`: it was sealed with a key of the server that is gone. */
  readonly keySetAt: number | null
  readonly isLost: boolean
  readonly limits: string | null
  /** Of its exchanges, those that are asked of it and of no other. */
  readonly asked: readonly string[]
}

interface Made {
  readonly provider: Provider
  readonly list: SymbolList | null
  readonly setAt: number
  readonly sealed: string
}

/** In place of what is sealed. */
const LOST = ''

const keyOf = (provider: string): Key => ['provider-keys', provider]
/** What a header can hold, and nobody's key lacks. */
const KEY_FORM = /^[\x21-\x7e]{4,200}$/

export type ProviderKeys = ReturnType<typeof createProviderKeys>

export function createProviderKeys({ kv, clock, log, box, changed }: ProviderKeysDeps) {
  const chosen = new ChosenProviders({ kv, clock })
  let made: ReadonlyMap<string, Made> = new Map()
  let stored: ReadonlyMap<string, StoredKey> = new Map()
  let loaded: Promise<void> | null = null

  async function read(): Promise<void> {
    const entries = await kv.list({ prefix: ['provider-keys'] }, { limit: 100 })
    stored = new Map(entries.map(({ key, value }) => [String(key[1]), JSON.parse(value) as StoredKey]))
    const next = new Map<string, Made>()
    for (const one of KEYED_PROVIDERS) {
      const record = stored.get(one.name)
      const before = made.get(one.name)
      // The one that counts its requests goes on counting.
      if (record && before?.sealed === record.sealed) next.set(one.name, before)
      else if (record) {
        const opened = await open(one.name, record)
        if (opened) next.set(one.name, { ...one.make(opened), setAt: record.setAt, sealed: record.sealed })
      }
    }
    made = next
  }

  async function open(name: string, { sealed }: StoredKey): Promise<Credentials | null> {
    try {
      return JSON.parse(await box.open(sealed, keyName(name))) as Credentials
    } catch {
      log('warn', `the key of ${name} cannot be read: it has to be given again`)
      return null
    }
  }

  /** At the start, and when another server has changed one. */
  async function reload(): Promise<void> {
    const before = made
    loaded = read()
    await ready()
    for (const { name } of KEYED_PROVIDERS) if (before.get(name) !== made.get(name)) changed(name)
  }

  async function ready(): Promise<void> {
    try {
      await (loaded ??= read())
    } catch (error) {
      loaded = null
      throw error
    }
  }

  function of(exchange: string): Provider | null {
    const own = [...made.values()]
      .filter(({ provider }) => provider.exchanges.includes(exchange))
      .sort((a, b) => b.setAt - a.setAt)
    return own[0]?.provider ?? freeProviderOf(exchange)
  }

  function requireKeyed(name: string): KeyedProvider {
    const one = KEYED_PROVIDERS.find((keyed) => keyed.name.toLowerCase() === name.toLowerCase())
    if (one) return one
    const names = KEYED_PROVIDERS.map((keyed) => keyed.name)
    throw new Problem(404, 'provider_not_found', `Keys can be given for ${names.join(', ')}.`)
  }

  return {
    /** Which provider is asked for an exchange's symbols. Keys count once `ready` has resolved. */
    of,
    ready,
    reload,
    lists: (): readonly SymbolList[] => [...made.values()].flatMap(({ list }) => list ?? []),
    async list(): Promise<ProviderInfo[]> {
      await ready()
      const askedOf = (name: string, exchanges: readonly string[]) =>
        exchanges.filter((exchange) => of(exchange)?.name === name)
      return [
        ...PROVIDERS.map(({ name, exchanges }) => ({
          name,
          exchanges,
          needsKey: false,
          needsSecret: false,
          keySetAt: null,
          isLost: false,
          limits: null,
          asked: askedOf(name, exchanges),
        })),
        ...KEYED_PROVIDERS.map(({ name, exchanges, needsSecret, limits }) => ({
          name,
          exchanges,
          needsKey: true,
          needsSecret,
          keySetAt: stored.get(name)?.setAt ?? null,
          isLost: stored.has(name) && !made.has(name),
          limits,
          asked: askedOf(name, exchanges),
        })),
      ]
    },
    /** Answers the provider's name as it is written. Throws Problem 404 and 422. Whoever gives a key chooses the provider. */
    async give(provider: string, { key, secret }: Credentials): Promise<string> {
      const one = requireKeyed(provider)
      const { name } = one
      if (!KEY_FORM.test(key))
        throw invalidField('/key', 'invalid', 'A key is 4 to 200 letters, digits and signs, without spaces.')
      if (one.needsSecret !== (secret !== '') || (secret !== '' && !KEY_FORM.test(secret)))
        throw invalidField(
          '/secret',
          'invalid',
          one.needsSecret
            ? `${name} gives a secret with each key: 4 to 200 letters, digits and signs, without spaces.`
            : `${name} gives no secret with its keys. Leave it out.`,
        )
      const sealed = await box.seal(JSON.stringify({ key, secret }), keyName(name))
      const record: StoredKey = { sealed, setAt: clock.now() }
      await chosen.choose(name)
      await transact(kv, () => ({ sets: [{ key: keyOf(name), value: JSON.stringify(record) }] }))
      await reload()
      return name
    },
    /** Answers whether there was one. */
    async remove(provider: string): Promise<boolean> {
      const { name } = requireKeyed(provider)
      const isThere = (await kv.get(keyOf(name))) !== null
      if (isThere) await transact(kv, () => ({ deletes: [keyOf(name)] }))
      await reload()
      return isThere
    },
  }
}

const keyName = (provider: string): string => `provider key ${provider}`

/** What is sealed, and the name that it is bound to; without those that are lost already. */
export async function* sealedKeys(kv: Kv): AsyncGenerator<{ readonly id: string; readonly sealed: string }> {
  for (const { key, value } of await kv.list({ prefix: ['provider-keys'] }, { limit: 100 })) {
    const { sealed } = JSON.parse(value) as StoredKey
    if (sealed !== LOST) yield { id: keyName(String(key[1])), sealed }
  }
}

/** They were sealed with a key that is gone: they have to be given again. */
export async function loseKeys(kv: Kv): Promise<void> {
  for (const { key, value } of await kv.list({ prefix: ['provider-keys'] }, { limit: 100 }))
    await kv.commit({
      sets: [{ key, value: JSON.stringify({ ...(JSON.parse(value) as StoredKey), sealed: LOST }) }],
    })
}
