// Lines, labels, boxes, tables, polylines, linefills: objects with a life, so that a replay can show them as they were.
//
// A drawing is a plain object whose own fields are Pine's arguments by Pine's names, as they are at the end. Beside them it
// knows the bars it was created and deleted on, and what its fields were before they were changed: `changes` has an
// entry for each bar something changed on, with the old values. To see a drawing as it was at the end of bar b, undo
// the entries of later bars, latest first (`drawingAt`).
//
// Only so many of a kind are shown (`max_lines_count` and its kin); the oldest go when there are more (L16). What is deleted on
// the bar it was made on was never to be seen and is not kept. A script that draws again on every bar would keep
// everything it ever drew, so of deleted drawings the latest 5,000 to 10,000 are kept, fewer where they have long texts
// or many points, and of one drawing's changes the latest 500 to 1,000.

import type { Limits } from './limits.ts'

export type DrawingKind = 'line' | 'label' | 'box' | 'table' | 'polyline' | 'linefill'

/** How many more than asked for there may be before the oldest go. */
const SPARE = 5
const NOTHING: ReadonlySet<unknown> = new Set()
const DELETED_MAX = 5000
/** Roughly how many letters deleted drawings may take in an answer; 5,000 plain ones take a tenth of it. */
const DELETED_LETTERS = 16_000_000
/**
 * Roughly how many letters each of these takes in an answer: a drawing without its texts and points, a change, a point, a
 * table's cell.
 */
const PLAIN_LETTERS = 250
const CHANGE_LETTERS = 40
const POINT_LETTERS = 50
const CELL_LETTERS = 250
const CHANGES_MAX = 1000

/** A point of a polyline, or what sets a corner; `index` or `time` is used, by `xloc`. */
export class ChartPoint {
  time: number
  index: number
  price: number
  constructor(time: number, index: number, price: number) {
    this.time = time
    this.index = index
    this.price = price
  }
}

/** What was in the fields named until `bar`, on which they changed. */
type DrawingChange = { bar: number } & Record<string, unknown>

interface Life {
  readonly createdBar: number
  /** -1 = still there at the end. */
  deletedBar: number
  /** In the order of bars. One that never changed has the list that all such have. */
  changes: readonly DrawingChange[]
}

export const UNCHANGED: readonly DrawingChange[] = []

export interface Line extends Life {
  readonly kind: 'line'
  x1: number
  y1: number
  x2: number
  y2: number
  xloc: string | null
  extend: string | null
  color: number
  style: string | null
  width: number
  readonly force_overlay: boolean
}
export interface Label extends Life {
  readonly kind: 'label'
  x: number
  y: number
  text: string | null
  xloc: string | null
  yloc: string | null
  color: number
  style: string | null
  textcolor: number
  size: string | number | null
  textalign: string | null
  tooltip: string | null
  text_font_family: string | null
  text_formatting: string | null
  readonly force_overlay: boolean
}
export interface Box extends Life {
  readonly kind: 'box'
  left: number
  top: number
  right: number
  bottom: number
  border_color: number
  border_width: number
  border_style: string | null
  extend: string | null
  xloc: string | null
  bgcolor: number
  text: string | null
  text_size: string | number | null
  text_color: number
  text_halign: string | null
  text_valign: string | null
  text_wrap: string | null
  text_font_family: string | null
  text_formatting: string | null
  readonly force_overlay: boolean
}
export interface Cell {
  readonly text: string | null
  readonly width: number
  readonly height: number
  readonly text_color: number
  readonly text_halign: string | null
  readonly text_valign: string | null
  readonly text_size: string | number | null
  readonly bgcolor: number
  readonly tooltip: string | null
  readonly text_font_family: string | null
  readonly text_formatting: string | null
}
export interface Table extends Life {
  readonly kind: 'table'
  position: string | null
  readonly columns: number
  readonly rows: number
  bgcolor: number
  frame_color: number
  frame_width: number
  border_color: number
  border_width: number
  readonly force_overlay: boolean
  /** By row × columns + column. The map is copied before the first change on a bar; cells are replaced whole. */
  cells: Map<number, Cell>
  /** Each [from column, from row, to column, to row]. */
  merged: readonly (readonly number[])[]
}
export interface Polyline extends Life {
  readonly kind: 'polyline'
  readonly points: readonly ChartPoint[]
  readonly curved: boolean
  readonly closed: boolean
  readonly xloc: string | null
  readonly line_color: number
  readonly fill_color: number
  readonly line_style: string | null
  readonly line_width: number
  readonly force_overlay: boolean
}
export interface Linefill extends Life {
  readonly kind: 'linefill'
  readonly line1: Line | null
  readonly line2: Line | null
  color: number
}

export type Drawing = Line | Label | Box | Table | Polyline | Linefill

/** The drawings of one run. Fields are plain data: a snapshot copies them. */
export class Drawings {
  /** In the order in which they were made, with those that were deleted since. */
  items: Drawing[] = []
  /** Those that are there, by kind, oldest first. */
  alive: Record<DrawingKind, Drawing[]> = {
    line: [],
    label: [],
    box: [],
    table: [],
    polyline: [],
    linefill: [],
  }
  /** How many of `items` are deleted, and roughly how many letters they take in an answer. */
  deleted = 0
  deletedLetters = 0
  readonly most: Readonly<Record<DrawingKind, number>>

  constructor(limits: Limits, declaration: Readonly<Record<string, number | string | boolean | null>> = {}) {
    const asked = (name: string, highest: number) => {
      const value = declaration[name]
      return Math.max(0, Math.min(typeof value === 'number' ? value : 50, highest, limits.drawingsPerKind))
    }
    this.most = {
      line: asked('max_lines_count', 500),
      label: asked('max_labels_count', 500),
      box: asked('max_boxes_count', 500),
      polyline: asked('max_polylines_count', 100),
      linefill: limits.drawingsPerKind,
      table: limits.drawingsPerKind,
    }
  }

  /** `held`: what variables of the script hold, which stays; asked only when there are too many. */
  add<D extends Drawing>(drawing: D, held: () => ReadonlySet<unknown> = () => NOTHING): D {
    this.items.push(drawing)
    const alive = this.alive[drawing.kind]
    alive.push(drawing)
    const most = this.most[drawing.kind]
    const spare = drawing.kind === 'table' || drawing.kind === 'linefill' ? 0 : SPARE
    if (alive.length > most + spare) this.#collect(alive, most, drawing, held())
    return drawing
  }

  /** Deletes the oldest that nothing holds, until there are no more than `most`. */
  #collect(alive: Drawing[], most: number, newest: Drawing, held: ReadonlySet<unknown>): void {
    let at = 0
    while (alive.length > most && at < alive.length - 1) {
      const oldest = alive[at]!
      if (held.has(oldest)) at++
      else this.remove(oldest, newest.createdBar)
    }
  }

  /** Has no effect on a drawing that is already deleted. */
  remove(drawing: Drawing, bar: number): void {
    if (drawing.deletedBar !== -1) return
    drawing.deletedBar = bar
    const alive = this.alive[drawing.kind]
    alive.splice(alive.indexOf(drawing), 1)
    if (drawing.createdBar === bar) {
      this.items.splice(this.items.lastIndexOf(drawing), 1)
      return
    }
    this.deleted++
    this.deletedLetters += lettersOf(drawing)
    if (this.deleted > 2 * DELETED_MAX || this.deletedLetters > 2 * DELETED_LETTERS) forgetOldest(this)
  }

  /** Changes a field on a bar, and keeps what it was. */
  set<D extends Drawing, Field extends keyof D & string>(
    drawing: D,
    field: Field,
    value: D[Field],
    bar: number,
  ): void {
    const before = drawing[field]
    if (drawing.deletedBar !== -1 || Object.is(before, value)) return
    if (drawing.createdBar !== bar) {
      let last = drawing.changes.at(-1)
      if (last?.bar !== bar) {
        last = { bar }
        // The empty one may be of others, too, also after a snapshot was read.
        const changes = drawing.changes.length === 0 ? [] : (drawing.changes as DrawingChange[])
        if (changes.length >= CHANGES_MAX) changes.splice(0, CHANGES_MAX / 2)
        changes.push(last)
        drawing.changes = changes
      }
      if (!Object.hasOwn(last, field)) Object.assign(last, { [field]: before })
    }
    drawing[field] = value
  }
}

/** Forgets what no script can see: deleted drawings, and former states of others. */
export function forgetPast(drawings: Drawings): void {
  drawings.items = drawings.items.filter((drawing) => drawing.deletedBar === -1)
  drawings.deleted = 0
  drawings.deletedLetters = 0
  for (const drawing of drawings.items) drawing.changes = UNCHANGED
}

/** Keeps the latest half of the deleted drawings, by their number or by their letters. */
function forgetOldest(drawings: Drawings): void {
  let { deleted, deletedLetters } = drawings
  drawings.items = drawings.items.filter((drawing) => {
    if (drawing.deletedBar === -1 || (deleted <= DELETED_MAX && deletedLetters <= DELETED_LETTERS))
      return true
    deleted--
    deletedLetters -= lettersOf(drawing)
    return false
  })
  drawings.deleted = deleted
  drawings.deletedLetters = deletedLetters
}

/** Roughly how many letters a drawing takes in an answer. It never changes for a deleted drawing. */
function lettersOf(drawing: Drawing): number {
  let letters = PLAIN_LETTERS + CHANGE_LETTERS * drawing.changes.length
  if (drawing.kind === 'polyline') letters += POINT_LETTERS * drawing.points.length
  if (drawing.kind === 'table')
    for (const cell of drawing.cells.values()) letters += CELL_LETTERS + textsOf(cell)
  return letters + textsOf(drawing) + drawing.changes.reduce((sum, change) => sum + textsOf(change), 0)
}

function textsOf(fields: object): number {
  const length = (text: unknown) => (typeof text === 'string' ? text.length : 0)
  return ('text' in fields ? length(fields.text) : 0) + ('tooltip' in fields ? length(fields.tooltip) : 0)
}

/** What a drawing looked like at the end of a bar; null where it was not there. */
export function drawingAt<D extends Drawing>(drawing: D, bar: number): D | null {
  if (drawing.createdBar > bar || (drawing.deletedBar !== -1 && drawing.deletedBar <= bar)) return null
  const then = { ...drawing }
  for (const { bar: changedBar, ...before } of drawing.changes.toReversed()) {
    if (changedBar <= bar) break
    Object.assign(then, before)
  }
  return then
}
