// Linear algebra on matrices of numbers, rows in one array each.
//
// - Determinants and inverses: Gaussian elimination with row exchanges.
// - Rank and pseudo-inverse: singular values by one-sided Jacobi rotations (Hestenes), slow for large matrices but
//   short and accurate to the last digits.
// - Eigenvalues: Jacobi rotations for symmetric matrices; for others reduction to Hessenberg form and the shifted QR
//   iteration (EISPACK's `hqr`), vectors by inverse iteration. Complex eigenvalues show their real part.

export type Rows = number[][]

/** Called with the number of steps about to be done, since a large matrix takes minutes; throws to stop. */
export type Work = (steps: number) => void
const unwatched: Work = () => {}

export function identity(size: number): Rows {
  return Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => (i === j ? 1 : 0)))
}

function transpose(a: Rows): Rows {
  const columns: Rows = []
  const count = a[0]?.length ?? 0
  for (let j = 0; j < count; j++) {
    const column: number[] = []
    for (let i = 0; i < a.length; i++) column.push(a[i]![j]!)
    columns.push(column)
  }
  return columns
}

export function multiply(a: Rows, b: Rows, work = unwatched): Rows {
  const columns = b[0]?.length ?? 0
  return a.map((row) => {
    work(columns * row.length)
    return Array.from({ length: columns }, (_, j) => {
      let total = 0
      for (let k = 0; k < row.length; k++) total += row[k]! * b[k]![j]!
      return total
    })
  })
}

export function determinant(matrix: Rows, work = unwatched): number {
  const a = matrix.map((row) => row.slice())
  const n = a.length
  let product = 1
  for (let k = 0; k < n; k++) {
    work(n * n)
    const pivot = pivotRow(a, k)
    if (a[pivot]![k] === 0) return 0
    if (pivot !== k) {
      ;[a[k], a[pivot]] = [a[pivot]!, a[k]!]
      product = -product
    }
    product *= a[k]![k]!
    for (let i = k + 1; i < n; i++) subtract(a[i]!, a[k]!, a[i]![k]! / a[k]![k]!, k)
  }
  return product
}

/** null for a singular matrix. */
export function inverse(matrix: Rows, work = unwatched): Rows | null {
  const n = matrix.length
  const unit = identity(n)
  const a = matrix.map((row, i) => [...row, ...unit[i]!])
  const scale = largest(matrix)
  for (let k = 0; k < n; k++) {
    work(2 * n * n)
    const pivot = pivotRow(a, k)
    if (!(Math.abs(a[pivot]![k]!) > scale * n * Number.EPSILON)) return null
    ;[a[k], a[pivot]] = [a[pivot]!, a[k]!]
    const lead = a[k]![k]!
    for (let j = 0; j < 2 * n; j++) a[k]![j] = a[k]![j]! / lead
    for (let i = 0; i < n; i++) if (i !== k) subtract(a[i]!, a[k]!, a[i]![k]!, 0)
  }
  return a.map((row) => row.slice(n))
}

/** The largest absolute value. A loop, because a call cannot take 100,000 arguments. */
function largest(a: Rows): number {
  let most = 0
  for (const row of a) for (const value of row) most = Math.max(most, Math.abs(value))
  return most
}

function pivotRow(a: Rows, column: number): number {
  let best = column
  for (let i = column + 1; i < a.length; i++)
    if (Math.abs(a[i]![column]!) > Math.abs(a[best]![column]!)) best = i
  return best
}

function subtract(row: number[], other: readonly number[], factor: number, from: number): void {
  if (factor === 0) return
  for (let j = from; j < row.length; j++) row[j] = row[j]! - factor * other[j]!
}

/** A = U·diag(values)·Vᵀ, of a matrix with at least as many rows as columns; columns of U and V as rows here. */
function singular(matrix: Rows, work: Work): { u: Rows; values: number[]; v: Rows } {
  const columns = transpose(matrix)
  const n = columns.length
  const v = identity(n)
  for (let sweep = 0; sweep < 60; sweep++) {
    let isRotated = false
    for (let p = 0; p < n - 1; p++)
      for (let q = p + 1; q < n; q++) {
        work(5 * matrix.length)
        const alpha = dot(columns[p]!, columns[p]!)
        const beta = dot(columns[q]!, columns[q]!)
        const gamma = dot(columns[p]!, columns[q]!)
        if (Math.abs(gamma) <= 1e-15 * Math.sqrt(alpha * beta)) continue
        isRotated = true
        const zeta = (beta - alpha) / (2 * gamma)
        const t = (zeta >= 0 ? 1 : -1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta))
        const c = 1 / Math.sqrt(1 + t * t)
        rotate(columns[p]!, columns[q]!, c, c * t)
        rotate(v[p]!, v[q]!, c, c * t)
      }
    if (!isRotated) break
  }
  const values = columns.map((column) => Math.sqrt(dot(column, column)))
  const u = columns.map((column, i) => column.map((value) => (values[i] === 0 ? 0 : value / values[i]!)))
  return { u, values, v }
}

function rotate(x: number[], y: number[], c: number, s: number): void {
  for (let i = 0; i < x.length; i++) {
    const xi = x[i]!
    x[i] = c * xi - s * y[i]!
    y[i] = s * xi + c * y[i]!
  }
}

function dot(x: readonly number[], y: readonly number[]): number {
  let total = 0
  for (let i = 0; i < x.length; i++) total += x[i]! * y[i]!
  return total
}

export function rank(matrix: Rows, work = unwatched): number {
  const { values, cutoff } = significant(matrix, work)
  return values.filter((value) => value > cutoff).length
}

function significant(matrix: Rows, work: Work) {
  const tall = matrix.length >= (matrix[0]?.length ?? 0) ? matrix : transpose(matrix)
  const parts = singular(tall, work)
  const cutoff = tall.length * Math.max(0, ...parts.values) * Number.EPSILON
  return { ...parts, cutoff }
}

/** Moore and Penrose's. */
export function pseudoInverse(matrix: Rows, work = unwatched): Rows {
  if (matrix.length < (matrix[0]?.length ?? 0)) return transpose(pseudoInverse(transpose(matrix), work))
  const { u, values, v, cutoff } = significant(matrix, work)
  const n = values.length
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: matrix.length }, (_, j) => {
      work(n)
      let total = 0
      for (let k = 0; k < n; k++) if (values[k]! > cutoff) total += (v[k]![i]! * u[k]![j]!) / values[k]!
      return total
    }),
  )
}

/** Of a square matrix, row after row. */
export function eigenvaluesOf(items: readonly number[], n: number, work = unwatched): number[] {
  if (!isSymmetric(items, n)) return hessenbergQr(hessenberg(rowsOf(items, n), work), work)
  const a = typed(items)
  jacobi(a, null, n, work)
  return largestFirst(a, n).map((i) => a[i * n + i]!)
}

/** Vectors of length 1, one a column, in the order of `eigenvaluesOf`; row after row, as the matrix is given. */
export function eigenvectorsOf(items: readonly number[], n: number, work = unwatched): number[] {
  const columns: number[] = []
  if (!isSymmetric(items, n)) {
    const matrix = rowsOf(items, n)
    const vectors = eigenvaluesOf(items, n, work).map((value) => eigenvectorOf(matrix, value, work))
    for (let j = 0; j < n; j++) for (const vector of vectors) columns.push(vector[j]!)
    return columns
  }
  const a = typed(items)
  const vectors = new Float64Array(n * n)
  for (let i = 0; i < n; i++) vectors[i * n + i] = 1
  jacobi(a, vectors, n, work)
  const order = largestFirst(a, n)
  for (let j = 0; j < n; j++) for (let i = 0; i < n; i++) columns.push(vectors[order[i]! * n + j]!)
  return columns
}

/** The same of rows. */
export function eigenvalues(matrix: Rows, work = unwatched): number[] {
  return eigenvaluesOf(matrix.flat(), matrix.length, work)
}

export function eigenvectors(matrix: Rows, work = unwatched): Rows {
  return rowsOf(eigenvectorsOf(matrix.flat(), matrix.length, work), matrix.length)
}

function rowsOf(items: readonly number[], n: number): Rows {
  return Array.from({ length: n }, (_, i) => items.slice(i * n, (i + 1) * n))
}

/** Handed the list, the constructor of a small array takes several times as long. */
function typed(items: readonly number[]): Float64Array {
  const numbers = new Float64Array(items.length)
  for (let i = 0; i < items.length; i++) numbers[i] = items[i]!
  return numbers
}

function isSymmetric(items: readonly number[], n: number): boolean {
  // Not by every(): with a closure a row it took longer than the rotations.
  for (let i = 0; i < n; i++)
    for (let j = 0; j <= i; j++) if (items[i * n + j] !== items[j * n + i]) return false
  return true
}

/**
 * Turns `a` until it is diagonal, and with it the vectors, which are its rows in the end; null = nobody asks for them.
 * Elements row after row in one typed array, and each step in a function of its own: as one function it was too long for
 * JavaScriptCore's last optimizer, and a matrix of 4 by 4 took 2.9 µs for 1.6.
 */
function jacobi(a: Float64Array, vectors: Float64Array | null, n: number, work: Work): void {
  for (let sweep = 0; sweep < 100 && !isDiagonal(a, n); sweep++) {
    for (let p = 0; p < n - 1; p++) {
      // Counted a row at a time: a sweep of a large matrix takes seconds, and the clock is looked at in between.
      work(3 * n * (n - 1 - p))
      for (let q = p + 1; q < n; q++) if (a[p * n + q] !== 0) turn(a, vectors, n, p, q)
    }
  }
}

function isDiagonal(a: Float64Array, n: number): boolean {
  let off = 0
  for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) off += Math.abs(a[p * n + q]!)
  return off === 0
}

/** Makes the element at p, q zero. */
function turn(a: Float64Array, vectors: Float64Array | null, n: number, p: number, q: number): void {
  const theta = (a[q * n + q]! - a[p * n + p]!) / (2 * a[p * n + q]!)
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  rotateSymmetric(a, n, p, q, c, s)
  if (vectors !== null) rotateRows(vectors, p * n, q * n, n, c, s)
}

/**
 * Rows p and q, then columns p and q. Elsewhere than where these cross, a column becomes what its row has become, so that half of
 * it is copied.
 */
function rotateSymmetric(a: Float64Array, n: number, p: number, q: number, c: number, s: number): void {
  const rowP = p * n
  const rowQ = q * n
  const pp = rowP + p
  const pq = rowP + q
  const qq = rowQ + q
  const atP = a[pp]!
  const across = a[pq]!
  const atQ = a[qq]!
  for (let k = 0, row = 0; k < n; k++, row += n) {
    if (k === p || k === q) continue
    const x = a[rowP + k]!
    const y = a[rowQ + k]!
    const ofP = c * x - s * y
    const ofQ = s * x + c * y
    a[rowP + k] = ofP
    a[row + p] = ofP
    a[rowQ + k] = ofQ
    a[row + q] = ofQ
  }
  a[pp] = c * (c * atP - s * across) - s * (c * across - s * atQ)
  a[qq] = s * (s * atP + c * across) + c * (s * across + c * atQ)
  a[pq] = 0
  a[rowQ + p] = 0
}

/** The places of the values on the diagonal; of equal ones the first comes first. */
function largestFirst(a: Float64Array, n: number): number[] {
  const order: number[] = []
  for (let i = 0; i < n; i++) {
    const value = a[i * n + i]!
    let at = i
    for (; at > 0 && value > a[order[at - 1]! * (n + 1)]!; at--) order[at] = order[at - 1]!
    order[at] = i
  }
  return order
}

/** The rows that begin at `x` and `y`. */
function rotateRows(a: Float64Array, x: number, y: number, count: number, c: number, s: number): void {
  for (let i = 0; i < count; i++) {
    const atX = a[x + i]!
    const atY = a[y + i]!
    a[x + i] = c * atX - s * atY
    a[y + i] = s * atX + c * atY
  }
}

/** Reduces a matrix to Hessenberg form by elimination with exchanges (EISPACK's `elmhes`). */
function hessenberg(matrix: Rows, work: Work): Rows {
  const a = matrix.map((row) => row.slice())
  const n = a.length
  for (let m = 1; m < n - 1; m++) {
    let pivot = m
    for (let i = m; i < n; i++) if (Math.abs(a[i]![m - 1]!) > Math.abs(a[pivot]![m - 1]!)) pivot = i
    const lead = a[pivot]![m - 1]!
    if (lead === 0) continue
    if (pivot !== m) {
      ;[a[m], a[pivot]] = [a[pivot]!, a[m]!]
      for (const row of a) [row[m], row[pivot]] = [row[pivot]!, row[m]!]
    }
    for (let i = m + 1; i < n; i++) {
      work(2 * n)
      const factor = a[i]![m - 1]! / lead
      if (factor === 0) continue
      subtract(a[i]!, a[m]!, factor, m - 1)
      a[i]![m - 1] = 0
      for (const row of a) row[m] = row[m]! + factor * row[i]!
    }
  }
  return a
}

/** Real parts of the eigenvalues of an upper Hessenberg matrix, by Francis's double shift. */
function hessenbergQr(a: Rows, work: Work): number[] {
  const n = a.length
  const at = (i: number, j: number) => a[i]![j]!
  const values = Array.from({ length: n }, () => 0)
  let norm = 0
  for (let i = 0; i < n; i++) for (let j = Math.max(i - 1, 0); j < n; j++) norm += Math.abs(at(i, j))
  let end = n - 1
  let shift = 0
  let rounds = 0
  while (end >= 0) {
    let start = end
    for (; start >= 1; start--) {
      const size = Math.abs(at(start - 1, start - 1)) + Math.abs(at(start, start)) || norm
      if (Math.abs(at(start, start - 1)) <= Number.EPSILON * size) {
        a[start]![start - 1] = 0
        break
      }
    }
    let x = at(end, end)
    if (start === end) {
      values[end--] = x + shift
      rounds = 0
      continue
    }
    let y = at(end - 1, end - 1)
    let w = at(end, end - 1) * at(end - 1, end)
    if (start === end - 1) {
      const p = 0.5 * (y - x)
      const q = p * p + w
      if (q >= 0) {
        const z = p + (p >= 0 ? 1 : -1) * Math.sqrt(q)
        values[end - 1] = x + shift + z
        values[end] = z === 0 ? x + shift + z : x + shift - w / z
      } else {
        values[end - 1] = x + shift + p
        values[end] = x + shift + p
      }
      end -= 2
      rounds = 0
      continue
    }
    if (rounds === 60) return values.fill(Number.NaN, 0, end + 1)
    if (rounds === 10 || rounds === 20) {
      shift += x
      for (let i = 0; i <= end; i++) a[i]![i] = at(i, i) - x
      const s = Math.abs(at(end, end - 1)) + Math.abs(at(end - 1, end - 2))
      x = 0.75 * s
      y = x
      w = -0.4375 * s * s
    }
    rounds++
    work(2 * n * (end - start))
    doubleStep(a, start, end, x, y, w)
  }
  return values
}

function doubleStep(a: Rows, start: number, end: number, x: number, y: number, w: number): void {
  const n = a.length
  const at = (i: number, j: number) => a[i]![j]!
  let p = 0
  let q = 0
  let r = 0
  let m = end - 2
  for (; m >= start; m--) {
    const z = at(m, m)
    const dx = x - z
    const dy = y - z
    p = (dx * dy - w) / at(m + 1, m) + at(m, m + 1)
    q = at(m + 1, m + 1) - z - dx - dy
    r = at(m + 2, m + 1)
    const s = Math.abs(p) + Math.abs(q) + Math.abs(r)
    p /= s
    q /= s
    r /= s
    if (m === start) break
    const u = Math.abs(at(m, m - 1)) * (Math.abs(q) + Math.abs(r))
    const v = Math.abs(p) * (Math.abs(at(m - 1, m - 1)) + Math.abs(z) + Math.abs(at(m + 1, m + 1)))
    if (u <= Number.EPSILON * v) break
  }
  for (let i = m + 2; i <= end; i++) {
    a[i]![i - 2] = 0
    if (i !== m + 2) a[i]![i - 3] = 0
  }
  for (let k = m; k <= end - 1; k++) {
    let scale = 0
    if (k !== m) {
      p = at(k, k - 1)
      q = at(k + 1, k - 1)
      r = k === end - 1 ? 0 : at(k + 2, k - 1)
      scale = Math.abs(p) + Math.abs(q) + Math.abs(r)
      if (scale !== 0) {
        p /= scale
        q /= scale
        r /= scale
      }
    }
    const s = (p >= 0 ? 1 : -1) * Math.sqrt(p * p + q * q + r * r)
    if (s === 0) continue
    if (k === m) {
      if (start !== m) a[k]![k - 1] = -at(k, k - 1)
    } else a[k]![k - 1] = -s * scale
    p += s
    const fx = p / s
    const fy = q / s
    const fz = r / s
    q /= p
    r /= p
    for (let j = k; j < n; j++) {
      const part = at(k, j) + q * at(k + 1, j) + (k === end - 1 ? 0 : r * at(k + 2, j))
      if (k !== end - 1) a[k + 2]![j] = at(k + 2, j) - part * fz
      a[k + 1]![j] = at(k + 1, j) - part * fy
      a[k]![j] = at(k, j) - part * fx
    }
    const last = Math.min(end, k + 3)
    for (let i = 0; i <= last; i++) {
      const part = fx * at(i, k) + fy * at(i, k + 1) + (k === end - 1 ? 0 : fz * at(i, k + 2))
      if (k !== end - 1) a[i]![k + 2] = at(i, k + 2) - part * r
      a[i]![k + 1] = at(i, k + 1) - part * q
      a[i]![k] = at(i, k) - part
    }
  }
}

/** Inverse iteration, started a hair off the value so that the matrix to invert is not singular. */
function eigenvectorOf(matrix: Rows, value: number, work: Work): number[] {
  const scale = largest(matrix)
  for (const distance of [1e-12, 1e-10, 1e-8]) {
    const near = value + distance * Math.max(scale, 1e-300)
    const shifted = matrix.map((row, i) => row.map((each, j) => (i === j ? each - near : each)))
    const solver = inverse(shifted, work)
    if (solver === null) continue
    let vector = matrix.map((_, i) => 1 + i / 7)
    for (let round = 0; round < 8; round++) {
      vector = solver.map((row) => dot(row, vector))
      const size = Math.sqrt(dot(vector, vector))
      vector = vector.map((each) => each / size)
    }
    const lead = vector.find((each) => Math.abs(each) > 1e-9) ?? 1
    return lead < 0 ? vector.map((each) => -each) : vector
  }
  return matrix.map(() => Number.NaN)
}
