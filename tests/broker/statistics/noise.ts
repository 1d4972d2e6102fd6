// Matrices of noise that anybody can make again: a linear congruential generator, twelve of its numbers to one that is
// nearly normal, row by row.

/** `columns` trials of `rows` periods; `edge` is added to every return of the first. */
export function noise(rows: number, columns: number, seed: number, edge = 0): Float64Array[] {
  let state = seed
  const uniform = () => {
    state = (Math.imul(1664525, state) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const matrix = Array.from({ length: columns }, () => new Float64Array(rows))
  for (let t = 0; t < rows; t++)
    for (let k = 0; k < columns; k++) {
      let sum = 0
      for (let i = 0; i < 12; i++) sum += uniform()
      matrix[k]![t] = 0.01 * (sum - 6) + (k === 0 ? edge : 0)
    }
  return matrix
}
