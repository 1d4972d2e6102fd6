// The page without the server: the service worker that opens it, and the kept answers that it shows then.

import { signal } from '@preact/signals'
import type { OperationName } from '../../wire/operations.ts'
import { base } from '../base.ts'
import { firstPaint } from '../first-paint.ts'
import { currentOwner, lastOwner } from '../settings.ts'
import { trustedScript } from '../trusted-script.ts'
import { navigate } from '../router.ts'
import type { KeptAnswers } from './kept-answers.ts'
import type { ToPage } from './notices.ts'

/** For a moment after a reload the page from before it still counts as open. */
const AGAIN_MS = 3000

const load = () => import('./kept-answers.ts')

/** Whether a browser lets the page be installed and opened without the server: over https and on localhost. */
export const canWorkOffline = (): boolean => isSecureContext && 'serviceWorker' in navigator

/** The browser's offer to install the page, which only Chromium makes. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>
}

export class Offline {
  readonly offer = signal<InstallOffer | null>(null)
  /** Whether this is the window of the installed app. */
  readonly installed = signal(matchMedia('(display-mode: standalone)').matches)
  /** When the oldest of the kept answers on the page was stored; null = all came from the server just now. */
  readonly since = signal<number | null>(null)
  /** Whether a newer version is ready, which a reload would show. */
  readonly newer = signal(false)
  #of: { readonly user: string; readonly kept: Promise<KeptAnswers> } | null = null
  #started = false
  #registered: ServiceWorkerRegistration | null = null

  constructor() {
    addEventListener('beforeinstallprompt', (event) => {
      // The settings offer the installation, so the browser need not.
      event.preventDefault()
      this.offer.value = event as InstallOffer
    })
    addEventListener('appinstalled', () => (this.offer.value = null))
  }

  async install(): Promise<void> {
    await this.offer.peek()?.prompt()
    this.offer.value = null
  }

  /** Registers the service worker once the chart is drawn, since that fetches all code of the page. */
  async start(): Promise<void> {
    if (!canWorkOffline() || this.#started) return
    this.#started = true
    navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<ToPage>) =>
      navigate(data.show),
    )
    await firstPaint
    const registered = await navigator.serviceWorker.register(trustedScript(`${base}/service-worker.js`))
    this.#registered = registered
    const own = document.querySelector('meta[name="build"]')?.getAttribute('content')
    // This page is of the new build already, so the old worker is needed only as long as other pages are open.
    const takeOver = (waiting: ServiceWorker) => {
      if (registered.waiting !== waiting) return
      waiting.postMessage('take over')
      setTimeout(takeOver, AGAIN_MS, waiting)
    }
    const ready = () => {
      const { waiting } = registered
      if (!waiting || !registered.active) return
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = ({ data }) => {
        this.newer.value = data !== own
        if (data === own) takeOver(waiting)
      }
      waiting.postMessage('build', [port2])
    }
    ready()
    registered.addEventListener('updatefound', () =>
      registered.installing?.addEventListener('statechange', ready),
    )
  }

  /** Asks whether there is a newer version: a server that was away may have been replaced. */
  async look(): Promise<void> {
    await this.#registered?.update()
  }

  async keep(operation: OperationName, args: object, answer: object): Promise<void> {
    const user = currentOwner()
    if (!canWorkOffline()) return
    this.since.value = null
    await firstPaint
    const { keyOf } = await load()
    const key = keyOf(operation, args)
    // Nobody is signed in (any more).
    const owner = currentOwner()
    if (key === null || owner === '' || (user !== '' && user !== owner)) return
    await (await this.#keptOf(owner)).put(key, answer)
  }

  async find(operation: OperationName, args: object): Promise<unknown> {
    const user = currentOwner() || lastOwner()
    if (!canWorkOffline() || user === '') return null
    const { keyOf } = await load()
    const key = keyOf(operation, args)
    const found = key === null ? null : await (await this.#keptOf(user)).get(key)
    if (!found) return null
    this.since.value = Math.min(found.at, this.since.peek() ?? Infinity)
    return found.answer
  }

  /** How many answers are kept for the user. */
  async count(): Promise<number> {
    const user = currentOwner()
    return user === '' ? 0 : (await this.#keptOf(user)).count()
  }

  /** Deletes what is kept of everybody, and keeps nothing until somebody signs in. */
  async forget(): Promise<void> {
    this.#of = null
    if (canWorkOffline()) await (await load()).forgetAll().catch(() => undefined)
  }

  #keptOf(user: string): Promise<KeptAnswers> {
    if (this.#of?.user !== user)
      this.#of = { user, kept: load().then(({ KeptAnswers: Kept }) => new Kept(user)) }
    return this.#of.kept
  }
}
