// What is kept of a forward run: its record, its script, the bars as it saw them, and what became of its orders.

import { recordsOf } from '../jobs/records.ts'
import type { Key, Kv } from '../../store/kv.ts'
import type { ForwardOrder, ForwardRun as ForwardRunWire } from '../../wire/forward-run.ts'
import type { BareOrder } from './foreseen.ts'

export interface ForwardRun extends Omit<ForwardRunWire, 'provisional'> {
  /** Missing in those that were begun before there was a choice. */
  readonly provisional?: boolean
  readonly userId: string
  readonly seriesOwner: string
  /** What was told of the bar that is not over. */
  readonly foreseen?: readonly BareOrder[]
  /** The turns of a user's runs are numbered: that in which it took up bars last. Missing where there was none since. */
  readonly turn?: number
  /** The turn in which it began to be run from its first bar, until that has led to a step. A server may not live so long. */
  readonly begun?: number
  /** How many events there are of its orders. */
  readonly events: number
  /** Of the newest bar; missing before there was one. */
  readonly close?: number
  /** The day of the newest bar, in days since 1970 in UTC, and the equity that it began with. */
  readonly day?: { readonly date: number; readonly equity: number }
}

/** A bar as `rowsOf` has it. */
export type TapeRow = readonly number[]

/** The most forward runs of a user. */
const RUNS_MAX = 50
/** A page of the tape is written again with each bar: some 6 kB. */
const PAGE_ROWS = 100
/** The newest events of orders that are answered. */
export const ORDERS_MAX = 5000

export const forwardRuns = recordsOf<ForwardRun>('forward-runs', RUNS_MAX, { unfinished: 'running' })

export const scriptKey = (id: string): Key => ['forward-script', id]
const tapeKey = (id: string, page: number): Key => ['forward-tape', id, page]
const eventKey = (id: string, event: number): Key => ['forward-event', id, event]
/** All that is stored beside the record. */
export const keptOf = (id: string): readonly Key[] => [
  ['forward-script', id],
  ['forward-tape', id],
  ['forward-event', id],
]

/** What to write for a tape whose rows from `from` on are new. */
export function tapeSets(id: string, rows: readonly TapeRow[], from: number) {
  const sets: { readonly key: Key; readonly value: string }[] = []
  for (let page = Math.floor(from / PAGE_ROWS); page * PAGE_ROWS < rows.length; page++) {
    const text = JSON.stringify(rows.slice(page * PAGE_ROWS, (page + 1) * PAGE_ROWS))
    sets.push({ key: tapeKey(id, page), value: text })
  }
  return sets
}

/** The first `length` bars of a tape. */
export async function tapeOf(kv: Kv, id: string, length: number): Promise<TapeRow[]> {
  const rows: TapeRow[] = []
  for (let page = 0; rows.length < length; page++) {
    const entry = await kv.get(tapeKey(id, page))
    if (!entry) break
    rows.push(...(JSON.parse(entry.value) as TapeRow[]))
  }
  return rows.slice(0, length)
}

export function eventSets(id: string, from: number, events: readonly ForwardOrder[]) {
  return events.map((event, i) => ({ key: eventKey(id, from + i), value: JSON.stringify(event) }))
}

export async function eventsOf(kv: Kv, { id, events }: ForwardRun): Promise<ForwardOrder[]> {
  const from = Math.max(0, events - ORDERS_MAX)
  const keys = Array.from({ length: events - from }, (_, i) => eventKey(id, from + i))
  const found: ForwardOrder[] = []
  for (let at = 0; at < keys.length; at += PAGE_ROWS)
    for (const entry of await kv.getMany(keys.slice(at, at + PAGE_ROWS)))
      if (entry) found.push(withStatus(JSON.parse(entry.value) as StoredOrder))
  return found
}

type StoredOrder = BareOrder & Partial<Pick<ForwardOrder, 'status'>>

/** Those that were stored without a status are of closed bars. */
const withStatus = (order: StoredOrder): ForwardOrder => ({ ...order, status: order.status ?? 'final' })
