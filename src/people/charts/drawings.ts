// Drawings on charts: a sheet for each symbol that a user drew on, changed drawing by drawing.
//
// A sheet is one record: it is read at once, and a change of many drawings (undoing "remove all") is one commit. Two tabs
// that draw at the same time each send only their changes, so neither loses what the other drew.

import { Listeners } from '../../lib/listeners.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { marketName } from '../../lib/market-name.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { StoreDeps } from '../../store/owned.ts'
import { decide } from '../../store/transaction.ts'
import { DRAWING_TOOLS, DRAWINGS_MAX, type Drawing } from '../../wire/drawing.ts'

/** The limit for one symbol's drawings, in bytes of UTF-8. */
const SHEET_BYTES = 512 * 1024
const SHEETS_PER_USER = 2000

export interface Sheet {
  /** Owner and symbol, which have one sheet. */
  readonly id: string
  readonly ownerId: string
  readonly exchange: string
  readonly symbol: string
  /** Grows with every change, even across a time without a sheet. */
  readonly revision: number
  /** The last one is in front. */
  readonly drawings: readonly Drawing[]
  readonly updatedAt: number
}

interface Market {
  readonly exchange: string
  readonly symbol: string
}

export class Drawings {
  readonly #deps: StoreDeps
  readonly #sheets: Collection<Sheet>
  readonly #listeners = new Listeners<[sheet: Sheet]>()

  constructor(deps: StoreDeps) {
    this.#deps = deps
    this.#sheets = collection<Sheet>(deps.kv, 'drawings', {
      indexes: { owner: (sheet) => [sheet.ownerId, sheet.exchange, sheet.symbol] },
      counts: {
        owner: { of: (sheet) => [sheet.ownerId], max: SHEETS_PER_USER, noun: 'symbols with drawings' },
      },
    })
  }

  /** The sheet of a symbol; an empty one if the user drew nothing. */
  async of(ownerId: string, market: Market): Promise<Sheet> {
    const none = blank(ownerId, market)
    return (await this.#sheets.get(none.id)) ?? none
  }

  markets(ownerId: string, options: PageOptions): Promise<Page<Sheet>> {
    return this.#sheets.list('owner', [ownerId], { ...options, reverse: false })
  }

  /** Puts and removes drawings in one commit. Throws Problem 422 that names the drawing that is refused. */
  async change(
    ownerId: string,
    market: Market,
    { put, remove }: { readonly put: readonly Drawing[]; readonly remove: readonly string[] },
  ): Promise<Sheet> {
    for (const [i, drawing] of put.entries()) checkDrawing(drawing, i)
    const none = blank(ownerId, market)
    const sheets = this.#sheets
    const sheet = await decide<Sheet>(this.#deps.kv, async (tx) => {
      const before = await sheets.at(tx).stored(none.id)
      const drawings = changed(before?.record.drawings ?? [], put, remove)
      const now = this.#deps.clock.now()
      const revision = Math.max((before?.record.revision ?? 0) + 1, now)
      const after = { ...none, drawings, revision, updatedAt: now }
      if (!before) return [after, drawings.length > 0 ? sheets.insert(after) : []]
      return [after, drawings.length > 0 ? sheets.replace(before, after) : sheets.remove(before)]
    })
    this.#listeners.tell(sheet)
    return sheet
  }

  /** Another process has changed a sheet. */
  async heard(id: string): Promise<void> {
    const sheet = await this.#sheets.get(id)
    if (sheet) this.#listeners.tell(sheet)
  }

  onChange(listener: (sheet: Sheet) => void): () => void {
    return this.#listeners.add(listener)
  }
}

function blank(ownerId: string, market: Market): Sheet {
  const exchange = marketName(market.exchange)
  const symbol = marketName(market.symbol)
  const id = JSON.stringify([ownerId, exchange, symbol])
  return { id, ownerId, exchange, symbol, revision: 0, drawings: [], updatedAt: 0 }
}

/** A changed drawing keeps its place among the others. */
function changed(before: readonly Drawing[], put: readonly Drawing[], remove: readonly string[]): Drawing[] {
  const gone = new Set(remove)
  const byId = new Map(before.filter(({ id }) => !gone.has(id)).map((drawing) => [drawing.id, drawing]))
  for (const drawing of put) byId.set(drawing.id, drawing)
  const drawings = [...byId.values()]
  const full = (message: string) => new Problem(422, 'quota_exceeded', message)
  if (drawings.length > DRAWINGS_MAX)
    throw full(`A symbol can have at most ${DRAWINGS_MAX} drawings. Remove some first.`)
  if (Buffer.byteLength(JSON.stringify(drawings)) > SHEET_BYTES)
    throw full('The drawings on a symbol can take at most 512 kB. Remove some first.')
  return drawings
}

function checkDrawing({ tool, points }: Drawing, at: number): void {
  const [least, most] = DRAWING_TOOLS[tool]
  if (points.length >= least && points.length <= most) return
  const wanted = least === most ? `${least}` : `${least} to ${most}`
  throw invalidField(
    `/put/${at}/points`,
    'points',
    `Expected ${wanted} ${wanted === '1' ? 'point' : 'points'} of a drawing with the tool ${tool}.`,
  )
}
