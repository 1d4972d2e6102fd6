// Memory that a piece of work leaves to the next one of its thread, where to ask for new memory each time, which the system
// has to find and clear, costs more than the work.

/** At most `max` things that nobody uses any more. Who takes one finds in it what was left there. */
export class Spares<T> {
  readonly #left: T[] = []
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  take(): T | undefined {
    return this.#left.pop()
  }

  /** Nobody may read or write it any more. */
  leave(one: T): void {
    if (this.#left.length < this.#max) this.#left.push(one)
  }
}

/** Room for the numbers of one piece of work, which are read no more when the next piece begins. */
export class Room<Column extends Float64Array | Int32Array> {
  #column: Column
  readonly #make: (length: number) => Column

  constructor(make: (length: number) => Column) {
    this.#make = make
    this.#column = make(0)
  }

  /** So many numbers, of which others have written some. */
  of(length: number): Column {
    if (length > ROOM_MAX) return this.#make(length)
    if (length > this.#column.length) this.#column = this.#make(Math.min(ROOM_MAX, 2 * length))
    return this.#column.subarray(0, length) as Column
  }
}

/** Larger rooms, which few need, are not kept: 0.5 MB of doubles. */
const ROOM_MAX = 65_536
