// Tables of rows. A field's declaration on the wire decides how its column looks and sorts: times as "3 days ago", numbers
// to the right, and its meaning as the head's tooltip. A column that shows something else brings its own cell.
//
// Arrow keys go from row to row within a column. On a phone every row becomes a card: the main cell on top, the others
// below it, each with its head.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ago, count } from '../format.ts'
import s from './data-table.module.css'
import { orderAfterClick, sorted, type Order, type Sortable } from './sorting.ts'
import { Button, cx, Select } from './ui.tsx'
import type { WireField } from './wire-fields.ts'

interface ColumnLook<R> extends Omit<Sortable<R>, 'of'> {
  readonly head: string
  /** The head is only for screen readers, because the cells below speak for themselves. */
  readonly bare?: boolean
  readonly look?: 'main' | 'muted' | 'note' | 'number' | 'date' | 'pin' | 'end' | 'head'
  /** Classes of one row's cell. */
  readonly tone?: (row: R) => string | undefined
  /** The background of one row's cell. */
  readonly ground?: (row: R) => string | undefined
  readonly title?: (row: R) => string | undefined
}
interface FieldColumn<R> extends ColumnLook<R> {
  readonly of: keyof R & string
  readonly cell?: undefined
  /** Shown if the field is null. */
  readonly empty?: string
}
interface OwnColumn<R> extends ColumnLook<R> {
  /** Identifies the column. If it is the name of a field, the field's declaration on the wire applies. */
  readonly of: string
  readonly cell: (row: R) => ComponentChildren
}
export type Column<R> = FieldColumn<R> | OwnColumn<R>

/** A column of numbers, in whose order the rows can be put. */
export const numbers = <R,>(
  of: string,
  head: string,
  value: (row: R) => number | null | undefined,
  shown: (value: number | null | undefined) => string,
): Column<R> => ({ of, head, look: 'number', sort: value, cell: (row) => shown(value(row)) })

/** A column whose cells are made of the whole row. */
export const own = <R,>(
  of: string,
  head: string,
  look: NonNullable<ColumnLook<R>['look']> | '',
  cell: (row: R) => ComponentChildren,
  more: Partial<ColumnLook<R>> = {},
): Column<R> => ({ of, head, ...(look && { look }), cell, ...more })

/** The column of what can be done with a row. */
export const actions = <R,>(head: string, cell: (row: R) => ComponentChildren): Column<R> => ({
  of: head,
  head,
  bare: true,
  look: 'end',
  cell,
})

type Makers<R> = { own: typeof own<R>; actions: typeof actions<R>; numbers: typeof numbers<R> }

export interface DataTableProps<R> {
  readonly label: string
  readonly rows: readonly R[]
  /** Or made by functions that know what a row is. */
  readonly columns: readonly Column<R>[] | ((make: Makers<R>) => readonly Column<R>[])
  /** Names a row that has no `id` and does not keep its place. */
  readonly keyOf?: (row: R) => string
  /** The declarations of the rows' fields on the wire. */
  readonly wire?: Readonly<Record<string, WireField>>
  /** Shown if there are no rows. */
  readonly empty?: ComponentChildren
  /** How many rows are shown at first, and how many more a click brings. */
  readonly page?: number
  /** Loads more rows; set while there are more. */
  readonly onMore?: (() => void) | undefined
  /** The order that rows start in; that in which they are given without it. */
  readonly first?: Order
  /** As `first`, and it stays so until `onOrder`. */
  readonly order?: Order
  /** The parent keeps the order. */
  readonly onOrder?: (order: Order) => void
  /** A checkbox in each row, and one for all that are shown. */
  readonly choice?: Choice<R>
  readonly caption?: ComponentChildren
  /** Figures of a report are read across: they keep their columns on a phone. */
  readonly fixed?: boolean
  readonly class?: string | undefined
}

interface Choice<R> {
  readonly chosen: readonly string[]
  readonly nameOf: (row: R) => string
  readonly onChoose: (keys: readonly string[], on: boolean) => void
}

export function DataTable<R>({ rows, wire = {}, empty, page = 100, ...rest }: DataTableProps<R>) {
  const columns = typeof rest.columns === 'function' ? rest.columns({ own, actions, numbers }) : rest.columns
  const { label, keyOf = idOf, onOrder, onMore, choice, caption, fixed = false } = rest
  const [ownOrder, setOwnOrder] = useState<Order | null>(rest.first ?? null)
  const [shownMax, setShownMax] = useState(page)
  const box = useRef<HTMLDivElement>(null)
  const scrolls = useScrolls(box)
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>
  const order = rest.order ?? ownOrder
  const inOrder = order ? sorted(rows, columns, order) : rows
  const shown = inOrder.slice(0, shownMax)
  const keys = shown.map(keyOf)
  return (
    <>
      {onOrder && <OrderOf columns={columns} wire={wire} order={order} onOrder={onOrder} />}
      <div
        ref={box}
        class={cx(s.scroll, fixed && s.fixed)}
        {...(scrolls && { tabIndex: 0, role: 'region', 'aria-label': label })}
      >
        <table
          class={rest.class ?? s.table}
          aria-label={caption ? undefined : label}
          data-few={shown.length < 6}
          onKeyDown={alongColumn}
        >
          {caption && <caption>{caption}</caption>}
          <thead class={columns.every(({ bare }) => bare) ? 'visually-hidden' : undefined}>
            <tr>
              {choice && (
                <th class={s.pick}>
                  <ChooseAll keys={keys} choice={choice} />
                </th>
              )}
              {columns.map((column) => (
                <Head
                  key={column.of}
                  column={column}
                  field={wire[column.of]}
                  order={order}
                  onOrder={onOrder ?? setOwnOrder}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={keys[i]}>
                {choice && (
                  <td class={s.pick}>
                    <label>
                      <input
                        type="checkbox"
                        aria-label={`Choose ${choice.nameOf(row)}`}
                        checked={choice.chosen.includes(keys[i]!)}
                        onChange={(event) => choice.onChoose([keys[i]!], event.currentTarget.checked)}
                      />
                    </label>
                  </td>
                )}
                {columns.map((column) => (
                  <Cell key={column.of} row={row} column={column} field={wire[column.of]} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(rows.length > shownMax || onMore) && (
        <p class={s.more}>
          <Button
            onClick={() => {
              setShownMax(shownMax + page)
              onMore?.()
            }}
          >
            Show more
          </Button>
        </p>
      )}
    </>
  )
}

/** The numbers behind a picture, folded below it. */
export const Numbers = <R,>(table: DataTableProps<R>) => (
  <details>
    <summary>The numbers</summary>
    <DataTable {...table} page={20} />
  </details>
)

const idOf = (row: unknown, place: number): string => (row as { readonly id?: string }).id ?? String(place)

interface HeadProps<R> {
  readonly column: Column<R>
  readonly field: WireField | undefined
  readonly order: Order | null
  readonly onOrder: (order: Order) => void
}

function Head<R>({ column, field, order, onOrder }: HeadProps<R>) {
  const { of: by, head, bare } = column
  const sortable = isSortable(column, field)
  const on = order?.by === by
  const leastFirst = column.leastFirst ?? field?.kind === 'text'
  return (
    <th
      scope="col"
      class={cx(isRight(column, field) && s.right, column.look === 'main' && s.named)}
      title={field?.meaning}
      aria-sort={sortable ? (on ? (order.down ? 'descending' : 'ascending') : 'none') : undefined}
    >
      {sortable ? (
        <button
          type="button"
          class={s.sort}
          onClick={() => onOrder(orderAfterClick(order, { of: by, leastFirst }))}
        >
          {head}
          <span aria-hidden="true">{on && (order.down ? '↓' : '↑')}</span>
        </button>
      ) : (
        <span class={bare ? 'visually-hidden' : undefined}>{head}</span>
      )}
    </th>
  )
}

const isSortable = <R,>({ sort }: Column<R>, field: WireField | undefined): boolean =>
  sort !== false && (sort !== undefined || SORTED.has(field?.kind ?? ''))

interface OrderProps<R> extends Pick<HeadProps<R>, 'order' | 'onOrder'> {
  readonly columns: readonly Column<R>[]
  readonly wire: Readonly<Record<string, WireField>>
}

/** What heads do by a click, where a phone has none. */
function OrderOf<R>({ columns, wire, order, onOrder }: OrderProps<R>) {
  const those = columns.filter((column) => isSortable(column, wire[column.of]))
  const options = those.flatMap(({ of: by, head, leastFirst = false }) =>
    [!leastFirst, leastFirst].map((down) => [valueOf({ by, down }), `${head} ${down ? '↓' : '↑'}`] as const),
  )
  return (
    <div class={s.order}>
      <Select
        label="Order"
        hideLabel
        value={order ? valueOf(order) : ''}
        options={options}
        onChange={(value) => onOrder(orderOf(value))}
      />
    </div>
  )
}

/** An order as the value of an option: `name ↓`. */
const valueOf = ({ by, down }: Order): string => `${by} ${down ? 'down' : 'up'}`
const orderOf = (value: string): Order => ({
  by: value.slice(0, value.lastIndexOf(' ')),
  down: value.endsWith('down'),
})

const SORTED: ReadonlySet<string> = new Set(['text', 'number', 'integer', 'time'])

function Cell<R>({ row, column, field }: { row: R; column: Column<R>; field: WireField | undefined }) {
  const { bare, head, tone, ground, title } = column
  const look = column.look ?? (field?.kind === 'time' ? 'muted' : undefined)
  const classes = cx(
    look && s[look],
    look === 'date' && 'num',
    isRight(column, field) && `num ${s.right}`,
    tone?.(row),
  )
  const content = column.cell ? column.cell(row) : textOf(row[column.of], field, column.empty)
  if (look === 'head')
    return (
      <th scope="row" title={title?.(row)}>
        {content}
      </th>
    )
  return (
    <td
      class={classes || undefined}
      style={{ background: ground?.(row) }}
      title={title?.(row)}
      data-head={bare || look === 'main' ? undefined : head}
    >
      {content}
    </td>
  )
}

const isNumber = (field: WireField | undefined): boolean =>
  field?.kind === 'number' || field?.kind === 'integer'
const isRight = <R,>({ look }: Column<R>, field: WireField | undefined): boolean =>
  look === 'number' || (look === undefined && isNumber(field))

/** A value as text, by the kind of its field. */
function textOf(value: unknown, field: WireField | undefined, empty = ''): string {
  if (value === null || value === undefined) return empty
  if (field?.kind === 'time') return ago(Number(value))
  if (isNumber(field)) return count(Number(value))
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function ChooseAll<R>({ keys, choice }: { keys: readonly string[]; choice: Choice<R> }) {
  const box = useRef<HTMLInputElement>(null)
  const chosen = keys.filter((key) => choice.chosen.includes(key)).length
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = chosen > 0 && chosen < keys.length
  }, [chosen, keys.length])
  return (
    <label>
      <input
        ref={box}
        type="checkbox"
        aria-label="Choose all that are shown"
        checked={chosen === keys.length}
        onChange={(event) => choice.onChoose(keys, event.currentTarget.checked)}
      />
    </label>
  )
}

/** Whether the table is wider than its place, so that it has to be scrollable by keys too. */
function useScrolls(box: { readonly current: HTMLElement | null }): boolean {
  const [scrolls, setScrolls] = useState(false)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return undefined
    const look = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth + 1))
    look.observe(element)
    return () => look.disconnect()
  }, [])
  return scrolls
}

/** Up, Down, Home and End go to the same column's control in another row. */
function alongColumn(event: KeyboardEvent): void {
  const from = event.target as HTMLElement
  if (from.matches('select, textarea, [role=menuitem], input:not([type=checkbox])')) return
  const cell = from.closest<HTMLTableCellElement>('td')
  const body = cell?.closest('tbody')
  if (!cell || !body) return
  // Rows without a control in that column, such as a token that is revoked already, are skipped.
  const controls = [...body.rows].map((row) =>
    row === cell.parentElement
      ? from
      : row.cells[cell.cellIndex]?.querySelector<HTMLElement>('a, button:not(:disabled), input'),
  )
  const there = controls.filter((one) => one !== null && one !== undefined)
  const at = there.indexOf(from)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: there.length - 1 }[event.key]
  const next = to === undefined ? undefined : there[to]
  if (!next) return
  event.preventDefault()
  next.focus()
}
