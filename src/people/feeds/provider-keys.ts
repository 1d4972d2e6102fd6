// Keys of providers that need one: sealed where they are stored, and shown to nobody afterwards.
//
// The keys are the server's, as the series that are kept fresh with them are, so owner and admins give them. An exchange that
// several providers have is asked of the one whose key was given last, and of one without a key where none was given.

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
import type { StoreDeps } from '../../store/owned.ts'

/** Seals with the instance's key; `server/features.ts` hands over the one of webhooks and channels. */
export interface Sealer {
  seal(text: string, boundTo: string): Promise<string>
  open(sealed: string, boundTo: string): Promise<string>
}

export interface ProviderKeysDeps extends StoreDeps {
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

interface Made extends StoredKey {
  readonly provider: Provider
  readonly list: SymbolList | null
}

/** In place of what is sealed. */
const LOST = ''

const keyOf = (provider: string): Key => ['provider-keys', provider]
/** What a header can hold, and nobody's key lacks. */
const KEY_FORM = /^[\x21-\x7e]{4,200}$/

export class ProviderKeys {
  readonly #deps: ProviderKeysDeps
  readonly #chosen: ChosenProviders
  #made: ReadonlyMap<string, Made> = new Map()
  #stored: ReadonlyMap<string, StoredKey> = new Map()
  #loaded: Promise<void> | null = null

  constructor(deps: ProviderKeysDeps) {
    this.#deps = deps
    this.#chosen = new ChosenProviders(deps)
  }

  async #read(): Promise<void> {
    this.#stored = new Map(await Array.fromAsync(storedKeys(this.#deps.kv)))
    const next = new Map<string, Made>()
    for (const one of KEYED_PROVIDERS) {
      const { name } = one
      const record = this.#stored.get(name)
      const before = this.#made.get(name)
      // The one that counts its requests goes on counting.
      if (record && before?.sealed === record.sealed) next.set(name, before)
      else if (record) {
        const opened = await this.#open(name, record)
        if (opened) next.set(name, { ...one.make(opened), ...record })
      }
    }
    this.#made = next
  }

  async #open(name: string, { sealed }: StoredKey): Promise<Credentials | null> {
    const { box, log } = this.#deps
    try {
      return JSON.parse(await box.open(sealed, keyName(name))) as Credentials
    } catch {
      log('warn', `the key of ${name} cannot be read: it has to be given again`)
      return null
    }
  }

  /** At the start, and when another server has changed one. */
  async reload(): Promise<void> {
    const before = this.#made
    this.#loaded = this.#read()
    await this.ready()
    for (const { name } of KEYED_PROVIDERS)
      if (before.get(name) !== this.#made.get(name)) this.#deps.changed(name)
  }

  async ready(): Promise<void> {
    try {
      await (this.#loaded ??= this.#read())
    } catch (error) {
      this.#loaded = null
      throw error
    }
  }

  /** Which provider is asked for an exchange's symbols. Keys count once `ready` has resolved. */
  of(exchange: string): Provider | null {
    const own = [...this.#made.values()]
      .filter(({ provider }) => provider.exchanges.includes(exchange))
      .sort((a, b) => b.setAt - a.setAt)
    return own[0]?.provider ?? freeProviderOf(exchange)
  }

  lists(): readonly SymbolList[] {
    return [...this.#made.values()].flatMap(({ list }) => list ?? [])
  }

  async list(): Promise<ProviderInfo[]> {
    await this.ready()
    const asked = ({ name, exchanges }: Pick<ProviderInfo, 'name' | 'exchanges'>) =>
      exchanges.filter((exchange) => this.of(exchange)?.name === name)
    const free = { needsKey: false, needsSecret: false, keySetAt: null, isLost: false, limits: null }
    return [
      ...PROVIDERS.map(({ name, exchanges }) => ({
        name,
        exchanges,
        ...free,
        asked: asked({ name, exchanges }),
      })),
      ...KEYED_PROVIDERS.map(({ name, exchanges, needsSecret, limits }) => ({
        name,
        exchanges,
        needsKey: true,
        needsSecret,
        keySetAt: this.#stored.get(name)?.setAt ?? null,
        isLost: this.#stored.has(name) && !this.#made.has(name),
        limits,
        asked: asked({ name, exchanges }),
      })),
    ]
  }

  /** Answers the provider's name as it is written. Throws Problem 404 and 422. Whoever gives a key chooses the provider. */
  async give(provider: string, { key, secret }: Credentials): Promise<string> {
    const { kv, clock, box } = this.#deps
    const { name, needsSecret } = requireKeyed(provider)
    if (!KEY_FORM.test(key))
      throw invalidField('/key', 'invalid', 'A key is 4 to 200 letters, digits and signs, without spaces.')
    if (needsSecret !== (secret !== '') || (secret !== '' && !KEY_FORM.test(secret)))
      throw invalidField(
        '/secret',
        'invalid',
        needsSecret
          ? `${name} gives a secret with each key: 4 to 200 letters, digits and signs, without spaces.`
          : `${name} gives no secret with its keys. Leave it out.`,
      )
    const sealed = await box.seal(JSON.stringify({ key, secret }), keyName(name))
    const record: StoredKey = { sealed, setAt: clock.now() }
    await this.#chosen.choose(name)
    await transact(kv, () => ({ sets: [{ key: keyOf(name), value: JSON.stringify(record) }] }))
    await this.reload()
    return name
  }

  /** Answers whether there was one. */
  async remove(provider: string): Promise<boolean> {
    const { kv } = this.#deps
    const key = keyOf(requireKeyed(provider).name)
    const isThere = (await kv.get(key)) !== null
    if (isThere) await transact(kv, () => ({ deletes: [key] }))
    await this.reload()
    return isThere
  }
}

function requireKeyed(name: string): KeyedProvider {
  const one = KEYED_PROVIDERS.find((keyed) => keyed.name.toLowerCase() === name.toLowerCase())
  if (one) return one
  const names = KEYED_PROVIDERS.map((keyed) => keyed.name)
  throw new Problem(404, 'provider_not_found', `Keys can be given for ${names.join(', ')}.`)
}

const keyName = (provider: string): string => `provider key ${provider}`

async function* storedKeys(kv: Kv): AsyncGenerator<[provider: string, key: StoredKey]> {
  for (const { key, value } of await kv.list({ prefix: ['provider-keys'] }, { limit: 100 }))
    yield [String(key[1]), JSON.parse(value) as StoredKey]
}

/** What is sealed, and the name that it is bound to; without those that are lost already. */
export async function* sealedKeys(kv: Kv): AsyncGenerator<{ readonly id: string; readonly sealed: string }> {
  for await (const [provider, { sealed }] of storedKeys(kv))
    if (sealed !== LOST) yield { id: keyName(provider), sealed }
}

/** They were sealed with a key that is gone: they have to be given again. */
export async function loseKeys(kv: Kv): Promise<void> {
  for await (const [provider, stored] of storedKeys(kv))
    await kv.commit({
      sets: [{ key: keyOf(provider), value: JSON.stringify({ ...stored, sealed: LOST }) }],
    })
}
