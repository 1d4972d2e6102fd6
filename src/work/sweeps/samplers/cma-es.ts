// CMA-ES: a cloud of trials that moves, stretches and shrinks towards where they are good.
//
// Covariance matrix adaptation evolution strategy, as in Hansen's tutorial (The CMA Evolution Strategy, 2016), with its
// default settings (the worst of a generation have negative weights) except for smaller generations, which find more within
// the few hundred trials of a sweep (`samplers.bench.ts`). It begins in the middle with a width of 0.3 of each axis. When it
// has shrunk to nothing, it restarts at a random place with twice as many trials a generation (Auger, Hansen: IPOP-CMA-ES,
// 2005). A point outside the space, or one that breaks a condition, is drawn again. Unordered axes are treated as ordered,
// so TPE serves them better.

import { seededRandom } from '../../../lib/seeded-random.ts'
import { BELOW_ONE, type Axis } from '../../../broker/statistics/parzen.ts'
import type { Sampler } from './sampler.ts'

const WIDTH = 0.3
const DRAWS_MAX = 100
/** After this many refused points, a generation takes refused points as failures. */
const REFUSED_MAX = 200
const SHRUNK = 1e-7

interface AskedPoint {
  readonly point: Float64Array
  score: number | null
}

export function cmaEsSampler(axes: readonly Axis[], seed: number): Sampler {
  const random = seededRandom(seed)
  const n = axes.length
  let size = 3 + Math.floor(2 * Math.log(n))
  let cloud = new Cloud(new Float64Array(n).fill(0.5), size)
  let generation: AskedPoint[] = []
  let refused = 0

  function drawn(): Float64Array {
    for (let i = 0; ; i++) {
      const point = cloud.draw(() => random.normal())
      if (point.every((u) => u >= 0 && u < BELOW_ONE)) return point
      if (i >= DRAWS_MAX) return point.map((u) => Math.min(BELOW_ONE, Math.max(0, u)))
    }
  }

  function evolve(): void {
    const sorted = generation.toSorted((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity))
    cloud.adapt(sorted.map(({ point }) => point))
    const isFlat = sorted[0]?.score === sorted.at(-1)?.score
    generation = []
    refused = 0
    if (cloud.width > SHRUNK && !(isFlat && cloud.generations > 10 + 30 * n)) return
    size *= 2
    cloud = new Cloud(
      Float64Array.from({ length: n }, () => random.uniform()),
      size,
    )
  }

  return {
    // Never more than the generation still needs, since further draws would come from the old distribution.
    get batch() {
      return Math.max(1, Math.min(4, size - generation.length))
    },
    ask() {
      const point = drawn()
      generation.push({ point, score: null })
      return point
    },
    tell(point, score) {
      const at = generation.findIndex((asked) => asked.point === point)
      const asked = generation[at]
      if (!asked) return
      if (Number.isNaN(score) && ++refused <= REFUSED_MAX) {
        generation.splice(at, 1)
        return
      }
      asked.score = Number.isNaN(score) ? -Infinity : score
      if (generation.length >= size && generation.every((one) => one.score !== null)) evolve()
    },
  }
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const squaresOf = (values: Iterable<number>) => sumOf(Array.from(values, (value) => value * value))

/** The weight of each place in a generation, and how fast each path and the matrix learn (tutorial, table 1). */
function ratesOf(n: number, size: number) {
  const parents = Math.floor(size / 2)
  const raw = Array.from({ length: size }, (_, i) => Math.log((size + 1) / 2) - Math.log(i + 1))
  const effectiveOf = (some: readonly number[]) => sumOf(some) ** 2 / squaresOf(some)
  const effective = effectiveOf(raw.slice(0, parents))
  const cSigma = (effective + 2) / (n + effective + 5)
  const damping = 1 + 2 * Math.max(0, Math.sqrt((effective - 1) / (n + 1)) - 1) + cSigma
  const cPath = (4 + effective / n) / (n + 4 + (2 * effective) / n)
  const cOne = 2 / ((n + 1.3) ** 2 + effective)
  const cMu = Math.min(1 - cOne, (2 * (0.25 + effective - 2 + 1 / effective)) / ((n + 2) ** 2 + effective))
  // The worst of a generation say where not to go.
  const least = Math.min(
    1 + cOne / cMu,
    1 + (2 * effectiveOf(raw.slice(parents))) / (effective + 2),
    (1 - cOne - cMu) / (n * cMu),
  )
  const [above, below] = [1, -1].map((sign) => sumOf(raw.map((weight) => Math.max(0, sign * weight))))
  const weights = raw.map((weight) => (weight >= 0 ? weight / above! : (weight * least) / below!))
  return { parents, weights, effective, cSigma, damping, cPath, cOne, cMu }
}

/** A normal distribution that learns from which of its draws were best. Names are the tutorial's, spelled out. */
class Cloud {
  generations = 0
  readonly #rates: ReturnType<typeof ratesOf>
  #mean: Float64Array
  #sigma = WIDTH
  readonly #covariance: Float64Array[]
  #axes: { readonly vectors: readonly Float64Array[]; readonly lengths: Float64Array }
  readonly #pathSigma: Float64Array
  readonly #pathCovariance: Float64Array

  constructor(mean: Float64Array, size: number) {
    const n = mean.length
    this.#rates = ratesOf(n, size)
    this.#mean = mean
    this.#covariance = identity(n)
    this.#axes = { vectors: identity(n), lengths: new Float64Array(n).fill(1) }
    this.#pathSigma = new Float64Array(n)
    this.#pathCovariance = new Float64Array(n)
  }

  /** The width along its longest axis. */
  get width(): number {
    return this.#sigma * Math.max(...this.#axes.lengths)
  }

  draw(normal: () => number): Float64Array {
    const { vectors, lengths } = this.#axes
    const point = Float64Array.from(this.#mean)
    for (const [k, vector] of vectors.entries()) {
      const step = this.#sigma * lengths[k]! * normal()
      for (let i = 0; i < point.length; i++) point[i]! += step * vector[i]!
    }
    return point
  }

  /** Learns from the points of a generation, given best first. */
  adapt(points: readonly Float64Array[]): void {
    const n = this.#mean.length
    const { parents, weights, effective, cSigma, damping, cPath, cOne, cMu } = this.#rates
    const expected = Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))

    const steps = points.map((point) => point.map((u, i) => (u - this.#mean[i]!) / this.#sigma))
    const step = new Float64Array(n)
    for (const [k, one] of steps.slice(0, parents).entries())
      for (let i = 0; i < n; i++) step[i]! += weights[k]! * one[i]!
    // What the worst teach is scaled, or the matrix might lose its positive lengths.
    const taught = steps.map((one, k) =>
      weights[k]! >= 0 ? weights[k]! : (weights[k]! * n) / (squaresOf(this.#whiten(one)) + 1e-20),
    )
    this.#mean = this.#mean.map((u, i) => u + this.#sigma * step[i]!)

    const whitened = this.#whiten(step)
    const push = Math.sqrt(cSigma * (2 - cSigma) * effective)
    for (let i = 0; i < n; i++) this.#pathSigma[i] = (1 - cSigma) * this.#pathSigma[i]! + push * whitened[i]!
    this.generations++
    const length = Math.sqrt(squaresOf(this.#pathSigma))
    const settled = Math.sqrt(1 - (1 - cSigma) ** (2 * this.generations))
    const moves = length / settled / expected < 1.4 + 2 / (n + 1) ? 1 : 0
    const pull = moves * Math.sqrt(cPath * (2 - cPath) * effective)
    for (let i = 0; i < n; i++)
      this.#pathCovariance[i] = (1 - cPath) * this.#pathCovariance[i]! + pull * step[i]!
    const learned = cOne * (1 - (1 - moves) * cPath * (2 - cPath)) + cMu * sumOf(weights)
    for (let i = 0; i < n; i++)
      for (let j = 0; j <= i; j++) {
        let value =
          (1 - learned) * this.#covariance[i]![j]! +
          cOne * this.#pathCovariance[i]! * this.#pathCovariance[j]!
        for (const [k, one] of steps.entries()) value += cMu * taught[k]! * one[i]! * one[j]!
        this.#covariance[i]![j] = value
        this.#covariance[j]![i] = value
      }
    this.#sigma *= Math.exp(Math.min(1, (cSigma / damping) * (length / expected - 1)))
    const { values, vectors } = eigen(this.#covariance)
    this.#axes = { vectors, lengths: values.map((value) => Math.sqrt(Math.max(1e-20, value))) }
  }

  /** C^(-1/2) · step. */
  #whiten(step: Float64Array): Float64Array {
    const { vectors, lengths } = this.#axes
    const result = new Float64Array(step.length)
    for (const [k, vector] of vectors.entries()) {
      let along = 0
      for (let i = 0; i < step.length; i++) along += vector[i]! * step[i]!
      for (let i = 0; i < step.length; i++) result[i]! += (along / lengths[k]!) * vector[i]!
    }
    return result
  }
}

function identity(n: number): Float64Array[] {
  return Array.from({ length: n }, (_, i) =>
    Float64Array.from({ length: n }, (_value, j) => (i === j ? 1 : 0)),
  )
}

/** Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations: slow for hundreds of axes, exact for tens. */
function eigen(matrix: readonly Float64Array[]): { values: Float64Array; vectors: Float64Array[] } {
  const n = matrix.length
  const a = matrix.map((row) => Float64Array.from(row))
  const vectors = identity(n)
  for (let sweep = 0; sweep < 50; sweep++) {
    let rest = 0
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) rest += a[i]![j]! ** 2
    if (rest < 1e-24) break
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, vectors, p, q)
  }
  return { values: Float64Array.from(a, (row, i) => row[i]!), vectors }
}

function rotate(a: Float64Array[], vectors: Float64Array[], p: number, q: number): void {
  const across = a[p]![q]!
  if (across === 0) return
  const theta = (a[q]![q]! - a[p]![p]!) / (2 * across)
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  for (let k = 0; k < a.length; k++) {
    const [kp, kq] = [a[k]![p]!, a[k]![q]!]
    a[k]![p] = c * kp - s * kq
    a[k]![q] = s * kp + c * kq
  }
  for (let k = 0; k < a.length; k++) {
    const [pk, qk] = [a[p]![k]!, a[q]![k]!]
    a[p]![k] = c * pk - s * qk
    a[q]![k] = s * pk + c * qk
    const [vp, vq] = [vectors[p]![k]!, vectors[q]![k]!]
    vectors[p]![k] = c * vp - s * vq
    vectors[q]![k] = s * vp + c * vq
  }
}
