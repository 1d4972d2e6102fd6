// The drawings of the charted symbol: shown at once, sent soon, undoable, and updated when another tab draws.
//
// A change is applied here and noted as pending for its drawing. Pending changes are sent together, and stay in the browser
// until the server has them, so that neither a reload nor a lost connection loses a line.

import { signal, type Signal } from '@preact/signals'
import type { Drawing } from '../../wire/drawing.ts'
import { call, isAway } from '../api-client.ts'
import { onLive } from '../live.ts'
import { remembered } from '../settings.ts'
import { toastError } from '../ui/ui.tsx'
import { History } from './history.ts'

export interface DrawnMarket {
  readonly exchange: string
  readonly symbol: string
}

/** Changes by id of the drawing; null = removed. */
type Changes = Readonly<Record<string, Drawing | null>>
/** Changes that the server does not have yet, by symbol. */
type Pending = Readonly<Record<string, Changes>>

const SEND_AFTER_MS = 400
const RETRY_MS = [2000, 5000, 15_000, 60_000]

const keyOf = ({ exchange, symbol }: DrawnMarket): string => JSON.stringify([exchange, symbol])

class Sheet {
  /** The drawings of the charted symbol, the front one last. */
  readonly drawings = signal<readonly Drawing[]>([])
  readonly history = new History()
  readonly #outbox = new Outbox()
  #open: DrawnMarket | null = null

  /** Shows the drawings of a symbol from now on, until the returned function is called. */
  open(market: DrawnMarket): () => void {
    const abort = new AbortController()
    const key = keyOf(market)
    this.#open = market
    this.drawings.value = merged([], this.#outbox.of(key))
    this.history.clear()
    const load = () => {
      call('GET /api/platform/drawings', { query: { ...market }, signal: abort.signal }).then(
        ({ drawings, revision }) => {
          this.#outbox.revisions[key] = revision
          this.drawings.value = merged(drawings, this.#outbox.of(key))
        },
        (error: unknown) => {
          if (!abort.signal.aborted && !isAway(error)) toastError(error)
        },
      )
    }
    load()
    this.#outbox.refused = load
    const stop = onLive(
      'drawings',
      (event) => {
        // This tab's own changes come back as events too.
        if (keyOf(event) !== key || event.revision <= (this.#outbox.revisions[key] ?? 0)) return
        this.#outbox.idle().then(load, load)
      },
      load,
    )
    this.#outbox.sendSoon(0)
    return () => {
      abort.abort()
      stop()
      if (this.#open === market) this.#open = null
      this.#outbox.sendSoon(0)
    }
  }

  /** Puts and removes drawings as one undoable step. */
  change(put: readonly Drawing[], remove: readonly string[] = []): void {
    const market = this.#open
    if (!market) return
    const before = new Map(this.drawings.peek().map((one) => [one.id, one]))
    const changes = changesOf(put, remove)
    const back = Object.fromEntries(Object.keys(changes).map((id) => [id, before.get(id) ?? null]))
    const apply = (step: Changes) => {
      if (!this.#open || keyOf(this.#open) !== keyOf(market)) return
      this.#outbox.add(keyOf(market), step)
      this.drawings.value = merged(this.drawings.peek(), step)
    }
    apply(changes)
    this.history.add({ undo: () => apply(back), redo: () => apply(changes) })
  }
}

/** The changes that wait to be sent, and the loop that sends them. */
class Outbox {
  /** The newest revision of each symbol that this tab knows. */
  readonly revisions: Record<string, number> = {}
  /** Called when the server refuses a change, to show the server's drawings again. */
  refused: () => void = () => undefined
  readonly #pending: Signal<Pending> = remembered<Pending>('drawings.pending', {})
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | null = null
  #failures = 0

  of(key: string): Changes {
    return this.#pending.peek()[key] ?? {}
  }

  add(key: string, changes: Changes): void {
    this.#pending.value = { ...this.#pending.peek(), [key]: { ...this.of(key), ...changes } }
    this.sendSoon(SEND_AFTER_MS)
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await this.#sending
  }

  sendSoon(ms: number): void {
    if (Object.keys(this.#pending.peek()).length === 0) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#sending ??= this.#send().finally(() => (this.#sending = null))
    }, ms)
  }

  /** Sends pending changes symbol by symbol. Changes made meanwhile stay pending and are sent next. */
  async #send(): Promise<void> {
    for (const [key, changes] of Object.entries(this.#pending.peek())) {
      const [exchange, symbol] = JSON.parse(key) as [string, string]
      const entries = Object.entries(changes)
      const put = entries.flatMap(([, drawing]) => drawing ?? [])
      const remove = entries.flatMap(([id, drawing]) => (drawing ? [] : [id]))
      try {
        const { revision } = await call('PATCH /api/platform/drawings', {
          body: { exchange, symbol, put, remove },
        })
        this.#failures = 0
        this.revisions[key] = revision
        this.#settle(key, changes)
      } catch (error) {
        if (isAway(error)) {
          const wait = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]!
          setTimeout(() => this.sendSoon(0), wait)
          return
        }
        // The server would refuse it again.
        toastError(error)
        this.#settle(key, changes)
        this.refused()
      }
    }
    this.sendSoon(SEND_AFTER_MS)
  }

  /** Changes that were sent are no longer pending, unless they have changed since. */
  #settle(key: string, sent: Changes): void {
    const { [key]: now = {}, ...others } = this.#pending.peek()
    const left = Object.fromEntries(Object.entries(now).filter(([id, drawing]) => sent[id] !== drawing))
    this.#pending.value = Object.keys(left).length > 0 ? { ...others, [key]: left } : others
  }
}

const changesOf = (put: readonly Drawing[], remove: readonly string[]): Changes =>
  Object.fromEntries([
    ...remove.map((id) => [id, null] as const),
    ...put.map((drawing) => [drawing.id, drawing] as const),
  ])

/** A changed drawing keeps its place among the others. */
function merged(before: readonly Drawing[], changes: Changes): readonly Drawing[] {
  const byId = new Map(before.map((one) => [one.id, one]))
  for (const [id, drawing] of Object.entries(changes))
    if (drawing) byId.set(id, drawing)
    else byId.delete(id)
  return [...byId.values()]
}

const sheet = new Sheet()
export const { drawings, history } = sheet
export const openSheet = (market: DrawnMarket): (() => void) => sheet.open(market)
export const changeDrawings = (put: readonly Drawing[], remove: readonly string[] = []): void =>
  sheet.change(put, remove)
