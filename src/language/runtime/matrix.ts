// Matrices as scripts hold them: elements row after row in one array, so that a row is a stretch of it.

import { changesPast, noSuchLine, resizesRow, tooLarge } from '../messages/failing.ts'
import { PastArray, PineArray } from './collections.ts'
import type { Allowance } from './limits.ts'
import { COLLECTION, SLOT } from './sizes.ts'

export class PineMatrix<T = unknown> {
  rows: number
  columns: number
  items: T[]
  /** What an element that is not there answers, as in PineArray. */
  readonly na: T
  readonly budget: Allowance

  constructor(rows: number, columns: number, items: T[], na: T, budget: Allowance) {
    const { collectionSize } = budget
    if (items.length > collectionSize) throw tooLarge('matrix', items.length, collectionSize)
    budget.take(COLLECTION + SLOT * items.length)
    this.rows = rows
    this.columns = columns
    this.items = items
    this.na = na
    this.budget = budget
  }

  /** An na index does not end the script: there is na, and nothing to be set. [measured on TradingView by PyneCore] */
  get(row: number, column: number): T {
    // Nearly all are whole numbers of a line that there is, which asking one by one took twice as long to find.
    const r = row | 0
    const c = column | 0
    if (r === row && c === column && r >= 0 && r < this.rows && c >= 0 && c < this.columns)
      return this.items[r * this.columns + c]!
    if (Number.isNaN(row) || Number.isNaN(column)) return this.na
    return this.items[this.row(row) * this.columns + this.column(column)]!
  }

  set(row: number, column: number, value: T): void {
    if (Number.isNaN(row) || Number.isNaN(column)) return
    this.items[this.row(row) * this.columns + this.column(column)] = value
  }

  /** The matrix itself, to be changed. */
  changed(): this {
    return this
  }

  rowValues(row: number): T[] {
    return this.items.slice(row * this.columns, (row + 1) * this.columns)
  }

  columnValues(column: number): T[] {
    const values: T[] = []
    for (let at = column; at < this.items.length; at += this.columns) values.push(this.items[at]!)
    return values
  }

  array(values: T[]): PineArray<T> {
    return new PineArray(values, this.na, this.budget)
  }

  derive<U>(rows: number, columns: number, items: U[], na: U): PineMatrix<U> {
    return new PineMatrix(rows, columns, items, na, this.budget)
  }

  /** `spare`: a matrix that nobody has any more, to be used again. */
  transpose(spare: PineMatrix<T> | null = null): PineMatrix<T> {
    const { rows, columns, items } = this
    const again = spare !== this && spare?.items.length === items.length ? spare : null
    // A copy is made in one go, for numbers as numbers; array by array it was a tenth as fast.
    const turned = again?.items ?? items.slice()
    for (let row = 0, from = 0; row < rows; row++)
      for (let at = row; at < turned.length; at += rows) turned[at] = items[from++]!
    if (again === null) return this.derive(columns, rows, turned, this.na)
    again.rows = columns
    again.columns = rows
    return again
  }

  copy(): PineMatrix<T> {
    return this.derive(this.rows, this.columns, this.items.slice(), this.na)
  }

  /** Puts another content in place. */
  become(rows: number, columns: number, items: T[]): void {
    const { collectionSize } = this.budget
    if (items.length > collectionSize) throw tooLarge('matrix', items.length, collectionSize)
    this.budget.take(SLOT * items.length)
    this.rows = rows
    this.columns = columns
    this.items = items
  }

  /** Row `index` of `count` rows; the next free one is allowed when `inserting`. */
  row(index: number, inserting = false): number {
    return line('row', index, this.rows, inserting)
  }

  column(index: number, inserting = false): number {
    return line('column', index, this.columns, inserting)
  }
}

/** A matrix as a bar left it, which `x[1]` answers: nothing changes it (L13). */
export class PastMatrix<T = unknown> extends PineMatrix<T> {
  override set(): never {
    throw changesPast('matrix')
  }
  override changed(): never {
    throw changesPast('matrix')
  }
}

/**
 * A row that `for … in` gives: the matrix's own elements, so that what is written to it is written to the matrix (L19). It keeps its
 * size, since the rows of a matrix are alike. A matrix whose lines are added, removed or sorted meanwhile gets other elements, and the
 * row keeps those that it had.
 */
export class MatrixRow<T = unknown> extends PineArray<T> {
  override insert(): never {
    throw resizesRow()
  }
  override remove(): never {
    throw resizesRow()
  }
  override clear(): never {
    throw resizesRow()
  }
  override append(): never {
    throw resizesRow()
  }
  override slice(from: number, to: number): PineArray<T> {
    const { items, na, budget, from: start, count } = super.slice(from, to)
    return new MatrixRow(items, na, budget, this, start, count)
  }
}

export function rowReference<T>(matrix: PineMatrix<T>, row: number): PineArray<T> {
  const { items, na, budget, columns } = matrix
  const Row = matrix instanceof PastMatrix ? PastArray : MatrixRow
  // A view is one by having a parent; the elements are the matrix's.
  return new Row(items, na, budget, new PineArray<T>([], na, budget), row * columns, columns)
}

function line(what: 'row' | 'column', index: number, count: number, inserting: boolean): number {
  const place = Math.trunc(index)
  if (place >= 0 && (inserting ? place <= count : place < count)) return place
  throw noSuchLine(what, index, count)
}
