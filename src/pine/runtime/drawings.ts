// Lines, labels, boxes, tables, polylines, linefills: objects with a life, so that a replay can show them as they were.

/** Filled in by the drawing built-ins; every object knows the bars it was created, changed and deleted on. */
export interface Drawings {
  readonly items: readonly Drawing[]
}

export interface Drawing {
  readonly kind: 'line' | 'label' | 'box' | 'table' | 'polyline' | 'linefill'
  readonly createdBar: number
  /** -1 = still there at the end. */
  readonly deletedBar: number
}
