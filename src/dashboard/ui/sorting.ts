// Putting the rows of a table in order.

export interface Order {
  readonly by: string
  readonly down: boolean
}

/** What rows are put in order by; undefined and null come last. */
type SortKey = string | number | null | undefined

export interface Sortable<R> {
  readonly of: string
  /** Its value to sort by, where that is not the field's own; false = not to be sorted by. */
  readonly sort?: ((row: R) => SortKey) | false
  /** A first click puts the least on top: words, and what is better the less there is of it. */
  readonly leastFirst?: boolean
}

/** A column's first click puts the best first; the second turns it round. */
export function orderAfterClick(
  before: Order | null,
  { of: by, leastFirst = false }: Pick<Sortable<never>, 'of' | 'leastFirst'>,
): Order {
  return { by, down: before?.by === by ? !before.down : !leastFirst }
}

/** Words by the alphabet, numbers by size, and last, whichever way round, what has no value. */
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
