// The alerts that stand as lines on the charts: asked for when the first chart shows them, kept up to date, and made, moved
// and deleted as steps that can be undone.

import { effect, signal } from '@preact/signals'
import type { Alert } from '../../wire/alert.ts'
import type { Answer, Args } from '../../wire/operations.ts'
import { ApiError, call } from '../api-client.ts'
import { timeline } from '../chart/undo.ts'
import type { Market } from '../charts.ts'
import { onLive } from '../live.ts'
import { toastError } from '../ui/ui.tsx'
import { isOn, levelsOf, nameText, type AlertLevel } from './alert-model.ts'
import { tellArmed } from './silence.ts'

/** Counts up when an alert was created or changed, so that lists load again. */
export const alertsChanged = signal(0)

/** All alerts of the user, whatever their state; null = not loaded yet. */
const known = signal<readonly Alert[] | null>(null)

export interface AlertLine extends AlertLevel {
  readonly key: string
  readonly alert: Alert
}

/** The lines of a symbol, at every interval: those of alerts that wait. */
export const linesOn = ({ exchange, symbol }: Market): readonly AlertLine[] =>
  (known.value ?? []).flatMap((alert) =>
    alert.exchange === exchange && alert.symbol === symbol && isOn(alert)
      ? levelsOf(alert).map((level) => ({ ...level, key: `${alert.id} ${level.field}`, alert }))
      : [],
  )

/** When a server that was too busy to answer, or away, is asked again. */
const RETRY_MS = 5000

/** Loads the alerts once for all charts, and keeps them up to date as long as any chart shows them. */
class Following {
  #charts = 0
  #stop: () => void = () => undefined
  #asked = 0
  /** The question that what is shown answers. */
  #shown = 0
  #changes = 0
  #changing = 0
  #again: ReturnType<typeof setTimeout> | undefined

  begin(): () => void {
    if (this.#charts++ === 0) this.#follow()
    return () => {
      if (--this.#charts === 0) this.#stop()
    }
  }

  #follow(): void {
    const load = () => void this.#load()
    const stopChanged = effect(() => {
      void alertsChanged.value
      load()
    })
    const stopLive = onLive('firing', load, load)
    this.#stop = () => {
      stopChanged()
      stopLive()
      clearTimeout(this.#again)
    }
  }

  /** A change was shown here and sent: answers that may be from before it are not shown. Returned: the server has answered. */
  changing(): () => void {
    this.#changes++
    this.#changing++
    return () => {
      this.#changing--
      alertsChanged.value++
    }
  }

  async #load(): Promise<void> {
    const mine = ++this.#asked
    const changes = this.#changes
    clearTimeout(this.#again)
    try {
      const { alerts } = await call('GET /api/platform/alerts')
      // One that was overtaken by another answer, or asked for before a change, is older than what is shown.
      if (mine < this.#shown || changes !== this.#changes || this.#changing > 0) return
      this.#shown = mine
      known.value = alerts
    } catch {
      // Until then the lines stay as they were. Who has begun to follow may have none yet.
      if (mine === this.#asked && this.#charts > 0)
        this.#again = setTimeout(() => void this.#load(), RETRY_MS)
    }
  }
}
const following = new Following()
/** Keeps the alerts up to date until the returned function is called. */
export const followAlerts = (): (() => void) => following.begin()

const replace = (id: string, by: Alert | null): void => {
  const all = known.peek() ?? []
  if (by === null) known.value = all.filter((one) => one.id !== id)
  else if (all.some((one) => one.id === id)) known.value = all.map((one) => (one.id === id ? by : one))
  else known.value = [by, ...all]
}

/** The alert with a level moved. The server names those without a name of their own by their levels, and so does this. */
export const atPrice = (alert: Alert, field: AlertLevel['field'], price: number): Alert => ({
  ...alert,
  [field]: price,
  name: alert.name.replace(String(alert[field]), String(price)),
})

/** The alerts are loaded again in either case: after a refusal the charts have to show what the server still has. */
function sent(request: Promise<unknown>): void {
  request.catch(toastError).finally(following.changing())
}

/** Moves a line of an alert to another price, as one step. */
export function moveLine({ alert, field, price }: AlertLine, to: number): void {
  if (to === price) return
  const put = (at: number) => {
    const now = known.peek()?.find(({ id }) => id === alert.id)
    if (now) replace(alert.id, atPrice(now, field, at))
    sent(call('PATCH /api/platform/alerts/{id}', { path: { id: alert.id }, body: { [field]: at } }))
  }
  put(to)
  timeline.add({ undo: () => put(price), redo: () => put(to) })
}

/** Makes an alert and deletes it, again and again: each time it has another id. */
function stepsOf(body: Body, id = '') {
  return {
    async make() {
      const made = await create(body)
      id = made.alert.id
      return made
    },
    remove() {
      replace(id, null)
      sent(call('DELETE /api/platform/alerts/{id}', { path: { id } }))
    },
  }
}

/** Deletes an alert as one step: undone, it is made again, and waits as if it had just been set. */
export function deleteAlert(alert: Alert): void {
  const { make, remove } = stepsOf(bodyOf(alert), alert.id)
  remove()
  timeline.add({ undo: () => sent(make()), redo: remove })
}

/** Sets an alert on the price crossing a level. It is told in the same way as the user's newest alert. */
export function addAlertAt(market: Market, price: number): void {
  const newest = (known.peek() ?? []).toSorted((a, b) => b.createdAt - a.createdAt)[0]
  const { make, remove } = stepsOf({
    ...market,
    kind: 'price',
    op: 'crossing',
    price,
    channels: [...(newest?.channels ?? ['email' as const])],
    webhookIds: [...(newest?.webhookIds ?? [])],
    channelIds: [...(newest?.channelIds ?? [])],
  })
  make().then(({ alert, warnings }) => {
    alertsChanged.value++
    void tellArmed(`Alert is on: ${nameText(alert)}`, alert, warnings)
    timeline.add({ undo: remove, redo: () => sent(make()) })
  }, toastError)
}

type Body = Args<'POST /api/platform/alerts'>['body']

/** What it was to be told by may be gone since. It is told in the ways that are left then, or else by mail. */
async function create(body: Body): Promise<Answer<'POST /api/platform/alerts'>> {
  try {
    const made = await call('POST /api/platform/alerts', { body })
    replace(made.alert.id, made.alert)
    return made
  } catch (error) {
    const less = error instanceof ApiError ? withoutGone(body, error.fields) : null
    if (!less) throw error
    return create(less)
  }
}

/** The alert without the first way that a refusal calls unknown; null if it calls none so. */
function withoutGone(body: Body, fields: ApiError['fields']): Body | null {
  const path = fields.find(({ code }) => code === 'not_found')?.path ?? ''
  const [, way, i] = /^\/(webhookIds|channelIds|escalation)\/(\w+)$/.exec(path) ?? []
  if (way === undefined) return null
  if (way === 'escalation') return { ...body, escalation: null }
  const without = (ids: readonly string[] = []) => ids.filter((_, at) => at !== Number(i))
  const webhookIds = way === 'webhookIds' ? without(body.webhookIds) : [...(body.webhookIds ?? [])]
  const channelIds = way === 'channelIds' ? without(body.channelIds) : [...(body.channelIds ?? [])]
  // Without any that was chosen it would be all webhooks.
  const areGone = way === 'webhookIds' && webhookIds.length === 0
  const channels = body.channels.filter((one) => one !== 'webhook' || !areGone)
  const isTold = channels.length > 0 || channelIds.length > 0
  return { ...body, webhookIds, channelIds, channels: isTold ? channels : ['email'] }
}

const bodyOf = ({
  id: _id,
  state: _state,
  problem: _problem,
  firings: _firings,
  lastFiredAt: _lastFiredAt,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  op,
  ...fields
}: Alert): Body => ({
  ...fields,
  ...(op !== null && { op }),
  channels: [...fields.channels],
  webhookIds: [...fields.webhookIds],
  channelIds: [...fields.channelIds],
})
