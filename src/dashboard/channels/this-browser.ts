// This browser as a channel: it asks its user for permission and subscribes at its maker's push service. The subscription
// becomes the settings of a channel.

import { call } from '../api-client.ts'
import type { Channel } from '../../wire/channel.ts'

/** Why this browser can take no notifications while no page is open; null = it can. */
export function whyNoPush(): string | null {
  if (!isSecureContext)
    return `Browsers take notifications only over https or from the machine itself (localhost). This page came from ${location.origin}. Ask the people who run Chartroom to put it behind https.`
  if (!('serviceWorker' in navigator)) return 'This window allows no service workers, as private windows do.'
  if (!('PushManager' in window))
    return 'This browser has no push service. On an iPhone or iPad, put Chartroom on the home screen first (Share, Add to Home Screen) and open it there.'
  return null
}

/** The public key of this browser's subscription, by which its channel is recognised; null = it has none. */
export async function ownKey(): Promise<string | null> {
  if (whyNoPush() !== null) return null
  const registration = await navigator.serviceWorker.getRegistration()
  const subscription = await registration?.pushManager.getSubscription()
  return subscription?.toJSON().keys?.['p256dh'] ?? null
}

export const isOfThisBrowser = ({ kind, settings }: Channel, own: string | null): boolean =>
  kind === 'push' && own !== null && plain(settings['p256dh'] ?? '') === plain(own)

const plain = (key: string) => key.replace(/=+$/, '')

/** Asks, subscribes, and answers the settings. Call it while the click that asked for it still counts. */
export async function subscribed(): Promise<Record<string, string>> {
  const reason = whyNoPush()
  if (reason !== null) throw new Error(reason)
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error(
      'The browser does not let this page show notifications. Allow them beside the address, and try again.',
    )
  const { publicKey } = await call('GET /api/platform/channels/push-key')
  const { pushManager } = await navigator.serviceWorker.ready
  // A subscription that was made with another server's key is of no use here.
  await (await pushManager.getSubscription())?.unsubscribe()
  const subscription = await pushManager
    .subscribe({ userVisibleOnly: true, applicationServerKey: publicKey })
    .catch(() => {
      throw new Error(
        'The push service of this browser cannot be reached or is switched off, as in private windows. Choose ntfy above instead: its app on the phone needs none.',
      )
    })
  const { endpoint = '', keys = {} } = subscription.toJSON()
  return { endpoint, p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' }
}

/** Ends the subscription: nothing is shown here any more. */
export async function unsubscribe(): Promise<void> {
  if (whyNoPush() !== null) return
  const registration = await navigator.serviceWorker.getRegistration()
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}

/** `Firefox on Windows`, by what it says of itself. */
export function browserName(agent: string, unknown = 'Browser'): string {
  const first = (names: readonly (readonly [RegExp, string])[]) =>
    names.find(([pattern]) => pattern.test(agent))?.[1]
  const browser = first([
    [/Edg\//, 'Edge'],
    [/OPR\//, 'Opera'],
    [/Firefox\//, 'Firefox'],
    [/Chrom(e|ium)\//, 'Chrome'],
    [/Safari\//, 'Safari'],
    [/^curl\//, 'curl'],
  ])
  const system = first([
    [/Android/, 'Android'],
    [/iPhone/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Windows/, 'Windows'],
    [/Mac OS/, 'Mac'],
    [/CrOS/, 'ChromeOS'],
    [/Linux/, 'Linux'],
  ])
  return [browser ?? unknown, system].filter(Boolean).join(' on ')
}
