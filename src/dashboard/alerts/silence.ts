// Alerts whose bars do not come: by the newest bar of their series, and by what is known of its feed.

import { signal } from '@preact/signals'
import type { Alert } from '../../wire/alert.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import type { Feed } from '../../wire/feed.ts'
import { feedSilence, silenceText } from '../../market/silence.ts'
import { call } from '../api-client.ts'
import { isSameMarket, type Market } from '../charts.ts'
import { user } from '../session.ts'
import { toast, toastError } from '../ui/ui.tsx'
import { isOn } from './alert-model.ts'

interface Known {
  /** When it was asked for. */
  readonly at: number
  readonly symbols: readonly SymbolFacts[]
  readonly feeds: readonly Feed[]
  readonly providers: readonly { readonly exchanges: readonly string[] }[]
  readonly mails: boolean
}
const known = signal<Known | null>(null)

export async function lookForSilence(): Promise<void> {
  const at = Date.now()
  const [{ symbols }, { feeds, providers }, { mailServer: mails }] = await Promise.all([
    call('GET /api/platform/symbols'),
    call('GET /api/platform/feeds'),
    call('GET /api/platform/alerts/outbox', { query: { limit: 1 } }),
  ])
  if (at >= (known.peek()?.at ?? 0)) known.value = { at, symbols, feeds, providers, mails }
}

/** Asked again while alerts wait: a provider is lost, or comes back, without anybody touching them. */
export const lookAtFeeds = (): void =>
  void call('GET /api/platform/feeds').then(
    ({ feeds }) => (known.value = known.value && { ...known.value, feeds }),
    () => undefined,
  )

/** Whether alerts go out by mail: where the server has none they are only listed. */
export const sendsMail = (): boolean => known.value?.mails !== false

/** Why an alert that is on has nothing to look at; null if it has, or while nobody knows. */
export function silenceOf(alert: Alert): string | null {
  const { exchange, symbol, interval } = alert
  if (known.value === null || !isOn(alert)) return null
  const { at, symbols, feeds } = known.value
  // Bars came since.
  if (alert.lastFiredAt !== null && alert.lastFiredAt > at) return null
  const facts = symbols.find((one) => one.exchange === exchange && one.symbol === symbol)
  const all = facts?.series ?? []
  const own = all.find((series) => series.interval === interval)
  const feed = own?.shared === false ? undefined : feeds.find((one) => isSameMarket(one, alert))
  if (feed && feed.state !== 'stopped') return feedSilence(feed)
  // Bars of other intervals may be made into those of the alert.
  const newest = (own ? [own] : all).map(({ last }) => last)
  return silenceText(alert, newest.length > 0 ? Math.max(...newest) : null, Date.now(), feed?.said ?? null)
}

/** Follows what an alert waits for, where a provider has it that nobody follows yet and the user may. */
export function followOf({ exchange, symbol, interval }: Market): (() => void) | null {
  const { feeds, providers } = known.value ?? { feeds: [], providers: [] }
  const body = { exchange, symbol, interval }
  const isAsked = feeds.some((one) => isSameMarket(one, body) && (one.followed || one.state !== 'stopped'))
  if (isAsked || user.value?.role === 'member') return null
  if (!providers.some(({ exchanges }) => exchanges.includes(exchange))) return null
  return () => void call('POST /api/platform/feeds', { body }).then(lookForSilence).catch(toastError)
}

type Warnings = readonly { readonly code: string; readonly message: string }[]

/**
 * Says that an alert is on, and where no bars come for it why not. Not that there is no mail server: the form and the page
 * Alerts say so, and nobody chose mail where there is none.
 */
export async function tellArmed(text: string, of: Market, warnings: Warnings = []): Promise<void> {
  const silence = warnings.find(({ code }) => code === 'no_new_bars')
  if (!silence) return toast(text, { tone: 'up' })
  await lookForSilence().catch(() => undefined)
  const run = followOf(of)
  toast(`${text}. ${silence.message}`, run ? { action: { text: `Follow ${of.symbol}`, run } } : {})
}
