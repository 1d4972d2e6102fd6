// The drawings of the charted symbols: shown at once, sent soon, undoable, and updated when another tab draws.
//
// A change is applied here and noted as pending for its drawing. Pending changes are sent together, and stay in the browser
// until the server has them, so that neither a reload nor a lost connection loses a line.

import { computed, signal, type Signal } from '@preact/signals'
import { onceEach } from '../../lib/memo.ts'
import type { Drawing } from '../../wire/drawing.ts'
import { ApiError, call, isAway } from '../api-client.ts'
import { timeline } from '../chart/undo.ts'
import { type Named } from '../format.ts'
import { market } from '../charts.ts'
import { onLive } from '../live.ts'
import { isStillOwn, nameOf, remembered, stored } from '../settings.ts'
import { merged, withChanges, withOwn, withoutSent, type Changes, type Pending } from './pending.ts'
import { toastError } from '../ui/ui.tsx'

const PENDING = 'drawings.pending'
const SEND_AFTER_MS = 400
const RETRY_MS = [2000, 5000, 15_000, 60_000]

const keyOf = ({ exchange, symbol }: Named): string => JSON.stringify([exchange, symbol])
const marketOf = (key: string): Named => {
  const [exchange, symbol] = JSON.parse(key) as [string, string]
  return { exchange, symbol }
}

/** The drawings of one symbol. */
export class Sheet {
  /** Those further back come first, so that the last one is painted over the others. */
  readonly drawings = signal<readonly Drawing[]>([])
  readonly #key: string
  /** How many charts show it. */
  #opened = 0
  #close: () => void = () => undefined

  constructor(key: string) {
    this.#key = key
  }

  /** Follows what the server has for as long as a chart shows it; the returned function says that one no longer does. */
  open(): () => void {
    if (this.#opened++ === 0) this.#close = this.#follow()
    let isOpen = true
    return () => {
      if (isOpen && --this.#opened === 0) this.#close()
      isOpen = false
    }
  }

  #follow(): () => void {
    const abort = new AbortController()
    const key = this.#key
    outbox.readAgain()
    this.#merge([])
    const load = () => {
      const asked = outbox.revisions[key]
      call('GET /api/platform/drawings', { query: marketOf(key), signal: abort.signal }).then(
        ({ drawings, revision }) => {
          const known = outbox.revisions[key]
          // The server took a change of this tab after the request, so the answer may lack that change.
          if (known !== asked && revision < (known ?? 0)) return load()
          outbox.revisions[key] = revision
          this.#merge(drawings)
        },
        (error: unknown) => {
          if (!abort.signal.aborted && !isAway(error)) toastError(error)
        },
      )
    }
    load()
    const stopRefused = outbox.onRefused(key, load)
    const stopOthers = outbox.onOthers(() => this.#merge())
    const stop = onLive(
      'drawings',
      (event) => {
        // This tab's own changes come back as events too.
        if (keyOf(event) !== key || event.revision <= (outbox.revisions[key] ?? 0)) return
        outbox.idle().then(load, load)
      },
      load,
    )
    outbox.sendSoon(0)
    return () => {
      abort.abort()
      stop()
      stopRefused()
      stopOthers()
      outbox.sendSoon(0)
    }
  }

  /** Shows drawings with what the server does not have yet of them. */
  #merge(before = this.drawings.peek()): void {
    this.drawings.value = merged(before, outbox.of(this.#key))
  }

  /** Puts and removes drawings as one undoable step. */
  change(put: readonly Drawing[], remove: readonly string[] = []): void {
    if (this.#opened === 0) return
    const before = new Map(this.drawings.peek().map((one) => [one.id, one]))
    const changes = changesOf(put, remove)
    const back = Object.fromEntries(Object.keys(changes).map((id) => [id, before.get(id) ?? null]))
    const apply = (step: Changes) => {
      outbox.add(this.#key, step)
      this.#merge()
    }
    apply(changes)
    timeline.add({ undo: () => apply(back), redo: () => apply(changes) })
  }
}

/** The changes that wait to be sent, and the loop that sends them. */
class Outbox {
  /** The newest revision of each symbol that this tab knows. */
  readonly revisions: Record<string, number> = {}
  /** Called when the server refuses a change of the symbol, to show the server's drawings again. */
  readonly #refused = new Map<string, () => void>()
  readonly #pending: Signal<Pending> = remembered<Pending>(PENDING, {})
  /** The changes that were made in this tab, as key and id. */
  readonly #own = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #sending: Promise<void> | null = null
  #failures = 0

  /** Reads again what is pending, since other tabs may have written to it. */
  readAgain(): void {
    this.#pending.value = this.#ofAllTabs()
  }

  /** Looks for changes that other tabs have made, which they send themselves; the returned function ends that. */
  onOthers(heard: () => void): () => void {
    const listen = ({ key }: StorageEvent) => {
      if (key !== nameOf(PENDING) || !isStillOwn()) return
      this.readAgain()
      heard()
    }
    addEventListener('storage', listen)
    return () => removeEventListener('storage', listen)
  }

  #ofAllTabs(): Pending {
    const known = this.#pending.peek()
    const kept = stored(PENDING) as Pending | undefined
    return kept ? withOwn(kept, known, (key, id) => this.#own.has(`${key} ${id}`)) : known
  }

  onRefused(key: string, load: () => void): () => void {
    this.#refused.set(key, load)
    return () => this.#refused.delete(key)
  }

  of(key: string): Changes {
    return this.#pending.peek()[key] ?? {}
  }

  add(key: string, changes: Changes): void {
    for (const id of Object.keys(changes)) this.#own.add(`${key} ${id}`)
    this.#pending.value = withChanges(this.#ofAllTabs(), key, changes)
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
      try {
        await this.#sendChanges(key, changes)
        this.#failures = 0
      } catch (error) {
        if (isAway(error)) {
          const wait = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)]!
          setTimeout(() => this.sendSoon(0), wait)
          return
        }
        throw error
      }
    }
    this.sendSoon(SEND_AFTER_MS)
  }

  /** Changes that are refused together are sent again by halves, so that one that is wrong takes no other with it. */
  async #sendChanges(key: string, changes: Changes): Promise<void> {
    const entries = Object.entries(changes)
    const put = entries.flatMap(([, drawing]) => drawing ?? [])
    const remove = entries.flatMap(([id, drawing]) => (drawing ? [] : [id]))
    try {
      const body = { ...marketOf(key), put, remove }
      const { revision } = await call('PATCH /api/platform/drawings', { body })
      this.revisions[key] = revision
      this.#settle(key, changes)
    } catch (error) {
      if (isAway(error)) throw error
      if (entries.length > 1 && error instanceof ApiError && error.status === 422) {
        const half = Math.ceil(entries.length / 2)
        await this.#sendChanges(key, Object.fromEntries(entries.slice(0, half)))
        await this.#sendChanges(key, Object.fromEntries(entries.slice(half)))
        return
      }
      // Sent again, it would be refused again, so it is dropped.
      toastError(error)
      this.#settle(key, changes)
      this.#refused.get(key)?.()
    }
  }

  /** Changes that were sent are no longer pending, unless they have changed since. */
  #settle(key: string, sent: Changes): void {
    const left = withoutSent(this.#ofAllTabs(), key, sent)
    for (const id of Object.keys(sent)) if (!(id in (left[key] ?? {}))) this.#own.delete(`${key} ${id}`)
    this.#pending.value = left
  }
}

const changesOf = (put: readonly Drawing[], remove: readonly string[]): Changes =>
  Object.fromEntries([
    ...remove.map((id) => [id, null] as const),
    ...put.map((drawing) => [drawing.id, drawing] as const),
  ])

const outbox = new Outbox()
const sheets = onceEach((key) => new Sheet(key))
export const sheetOf = (market: Named): Sheet => sheets(keyOf(market))

/** The sheet of the active chart. */
const active = computed(() => sheetOf(market.value))
export const drawings = computed(() => active.value.drawings.value)
export const changeDrawings = (put: readonly Drawing[], remove: readonly string[] = []): void =>
  active.peek().change(put, remove)
/** On the active chart, as one undoable step. */
export const removeDrawings = (gone: readonly Drawing[]): void =>
  changeDrawings(
    [],
    gone.map(({ id }) => id),
  )
