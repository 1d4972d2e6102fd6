// Putting the rows of a table in order.

export interface Order {
  readonly by: string
  readonly down: boolean
}

/** A value to sort by; undefined and null come last. */
type SortKey = string | number | null | undefined

export interface Sortable<R> {
  readonly of: string
  /** The value to sort by, if it is not the field's own; false = the column cannot be sorted. */
  readonly sort?: ((row: R) => SortKey) | false
  /** The first click sorts upwards: for words, and for figures of which less is better. */
  readonly leastFirst?: boolean
}

/** The first click on a column puts the best on top, the second reverses the order. */
export function orderAfterClick(
  before: Order | null,
  { of: by, leastFirst = false }: Pick<Sortable<never>, 'of' | 'leastFirst'>,
): Order {
  return { by, down: before?.by === by ? !before.down : !leastFirst }
}

/** Words by the alphabet, numbers by size; rows without a value come last in either direction. */
export function sorted<R>(
  rows: readonly R[],
  columns: readonly Sortable<R>[],
  { by, down }: Order,
): readonly R[] {
  const sort = columns.find((column) => column.of === by)?.sort
  const value = (row: R) => (sort ? sort(row) : ((row as Record<string, unknown>)[by] as SortKey)) ?? null
  const turn = down ? -1 : 1
  return rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return turn * (typeof a === 'string' ? a.localeCompare(String(b), 'en') : a - Number(b))
  })
}
