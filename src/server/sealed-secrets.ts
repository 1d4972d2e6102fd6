// What is sealed with the instance key in the whole database: the secrets of webhooks, channels and bridges, and providers' keys.

import { bridges } from '../notify/bridges/bridge.ts'
import { channelCollection } from '../notify/channels/channel.ts'
import { loseKeys, sealedKeys } from '../people/feeds/provider-keys.ts'
import type { Clock } from '../lib/clock.ts'
import type { Kv } from '../store/kv.ts'
import { receiverCollection } from '../notify/webhooks/receivers.ts'
import type { SecretBox } from '../notify/webhooks/secret-box.ts'

export interface SealedCount {
  readonly webhooks: number
  readonly channels: number
  readonly bridges: number
  /** Providers with a key. */
  readonly providers: number
}

async function* webhooksOf(kv: Kv) {
  for await (const { id, disabledReason, sealedSecret } of receiverCollection(kv).each())
    yield { id, disabledReason, sealed: sealedSecret }
}

async function* channelsOf(kv: Kv) {
  for await (const { id, disabledReason, sealedSecrets, secrets } of channelCollection(kv).each())
    // One that has no secrets loses nothing with the key.
    if (secrets.length > 0) yield { id, disabledReason, sealed: sealedSecrets }
}

async function* bridgesOf(kv: Kv) {
  for await (const { id, disabledReason, sealed } of bridges(kv).each()) yield { id, disabledReason, sealed }
}

async function* providersOf(kv: Kv) {
  for await (const { id, sealed } of sealedKeys(kv)) yield { id, sealed, disabledReason: null }
}

/** Whether this box opens the secrets in the database; null if there are none. */
export async function opensSecrets(kv: Kv, box: SecretBox): Promise<boolean | null> {
  for (const all of [webhooksOf, channelsOf, bridgesOf, providersOf])
    for await (const { id, disabledReason, sealed } of all(kv))
      if (disabledReason !== 'secret_lost')
        return box.open(sealed, id).then(
          () => true,
          () => false,
        )
  return null
}

/** How many webhooks, channels and bridges of all users have secrets, and of how many providers there are keys. */
export async function countSealed(kv: Kv): Promise<SealedCount> {
  const counts = { webhooks: 0, channels: 0, bridges: 0, providers: 0 }
  for await (const _ of webhooksOf(kv)) counts.webhooks++
  for await (const _ of channelsOf(kv)) counts.channels++
  for await (const _ of bridgesOf(kv)) counts.bridges++
  for await (const _ of providersOf(kv)) counts.providers++
  return counts
}

/** The key that sealed the secrets is lost: disables all that have some until their owners give new ones. */
export async function markSecretsLost(kv: Kv, clock: Clock): Promise<SealedCount> {
  const lost = () => ({ status: 'disabled', disabledReason: 'secret_lost', updatedAt: clock.now() }) as const
  const webhooks = await Array.fromAsync(webhooksOf(kv), ({ id }) => id)
  for (const id of webhooks)
    await receiverCollection(kv).update(id, (before) => ({
      ...before,
      ...lost(),
      sealedOldSecret: null,
      oldSecretUntil: null,
    }))
  const channels = await Array.fromAsync(channelsOf(kv), ({ id }) => id)
  for (const id of channels) await channelCollection(kv).update(id, (before) => ({ ...before, ...lost() }))
  const sealed = await Array.fromAsync(bridgesOf(kv), ({ id }) => id)
  for (const id of sealed) await bridges(kv).update(id, (before) => ({ ...before, ...lost() }))
  const providers = await Array.fromAsync(providersOf(kv))
  await loseKeys(kv)
  return {
    webhooks: webhooks.length,
    channels: channels.length,
    bridges: sealed.length,
    providers: providers.length,
  }
}
