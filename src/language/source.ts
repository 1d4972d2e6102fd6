// Converts an offset to a line and column, on request.
//
// Trees and diagnostics carry offsets only (acorn does the same): most are never shown, and an offset survives
// a change of how lines are counted. The table of line starts is made at the first question.

export interface Position {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 units, as editors count. */
  readonly column: number
}

/** A stretch of the text, by the offsets it begins at and ends before. */
export interface Range {
  readonly start: number
  readonly end: number
}

export class Source {
  readonly text: string
  /** Offsets at which lines start, ascending; null until asked for. */
  #lineStarts: readonly number[] | null = null

  constructor(text: string) {
    this.text = text
  }

  /** `new Source('a\nbc').position(3)` is line 2, column 2. Offsets outside the text are clamped. */
  position(offset: number): Position {
    const starts = (this.#lineStarts ??= lineStartsOf(this.text))
    const at = Math.min(Math.max(offset, 0), this.text.length)
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - (starts[low] ?? 0) + 1 }
  }
}

/** A line ends with \n, \r\n or a lone \r. */
function lineStartsOf(text: string): number[] {
  const starts = [0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 10 || (code === 13 && text.charCodeAt(i + 1) !== 10)) starts.push(i + 1)
  }
  return starts
}
