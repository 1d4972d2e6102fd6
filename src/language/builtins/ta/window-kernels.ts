// Sums and extremes of neighbouring windows, eight at a time, in WebAssembly: the only way from here to the processor's instructions
// that add two pairs of numbers at once.
//
// To match TradingView's last digit, every window must be added up from one end to the other (see weighted-sums.ts). Each
// addition waits for the one before it, but the windows of neighbouring bars do not depend on each other: added up side by
// side, each in the same order, they give the same digits. In JavaScript four sums side by side kept the processor's two
// adders busy, and took half the time of one after the other; pairs of numbers take a quarter or less.
//
// Each thread has one instance. Nothing in its memory outlives a call: it is written, summed and read again.

import { memo } from '../../../lib/memo.ts'

/** How many windows a call sums up at most, and how long they may be. */
export const WINDOWS_MAX = 1024
export const LENGTH_MAX = 4096
/** The number of windows is a multiple of it. */
export const SIDE_BY_SIDE = 8

export interface WindowKernels {
  /** The values of all windows, oldest first: window number j begins at j. */
  readonly values: Float64Array
  /** By place in the window, the oldest first. */
  readonly weights: Float64Array
  /** By window. */
  readonly means: Float64Array
  readonly sums: Float64Array
  /** Room for what a caller must not lose while it fills the others. */
  readonly aside: Float64Array
  /** sums[j] = Σ weights[k] · values[j + k], from the oldest value on. */
  weigh(length: number, windows: number): void
  /** sums[j] = Σ |values[j + k] − means[j]|, from the newest value on. */
  distances(length: number, windows: number): void
  /** sums[j] = the highest of the values[j + k], of equal ones the oldest. None of them is na. */
  highest(length: number, windows: number): void
}

/** null where the processor, or the runtime, has no such instructions. */
export function windowKernels(): WindowKernels | null {
  return kernelsOf('windows').kernels
}

const NUMBER_BYTES = 8
const PAGE_BYTES = 65_536
const VALUES_AT = 0
const WEIGHTS_AT = VALUES_AT + LENGTH_MAX + WINDOWS_MAX
const MEANS_AT = WEIGHTS_AT + LENGTH_MAX
const SUMS_AT = MEANS_AT + WINDOWS_MAX
const NUMBERS = SUMS_AT + WINDOWS_MAX

const kernelsOf = memo(1, (): { readonly kernels: WindowKernels | null } => {
  const bytes = moduleBytes()
  if (!WebAssembly.validate(bytes)) return { kernels: null }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes))
  const { memory, weigh, distances, highest } = exports as {
    readonly memory: WebAssembly.Memory
    readonly weigh: (values: number, beside: number, sums: number, length: number, windows: number) => void
    readonly distances: typeof weigh
    readonly highest: typeof weigh
  }
  const part = (at: number, length: number) => new Float64Array(memory.buffer, at * NUMBER_BYTES, length)
  return {
    kernels: {
      values: part(VALUES_AT, LENGTH_MAX + WINDOWS_MAX),
      weights: part(WEIGHTS_AT, LENGTH_MAX),
      means: part(MEANS_AT, WINDOWS_MAX),
      sums: part(SUMS_AT, WINDOWS_MAX),
      aside: new Float64Array(WINDOWS_MAX),
      weigh: (length, windows) =>
        weigh(VALUES_AT * NUMBER_BYTES, WEIGHTS_AT * NUMBER_BYTES, SUMS_AT * NUMBER_BYTES, length, windows),
      distances: (length, windows) =>
        distances(
          (VALUES_AT + length - 1) * NUMBER_BYTES,
          MEANS_AT * NUMBER_BYTES,
          SUMS_AT * NUMBER_BYTES,
          length,
          windows,
        ),
      highest: (length, windows) =>
        highest(VALUES_AT * NUMBER_BYTES, 0, SUMS_AT * NUMBER_BYTES, length, windows),
    },
  }
})

// ——— the module, as the WebAssembly specification 2.0 has its binary format (chapter 5) ———

type Bytes = readonly number[]

const [I32, V128, FUNCTION, NO_RESULT] = [0x7f, 0x7b, 0x60, 0x40]
/** The parameters of all functions, as addresses in bytes and counts. */
const [VALUES, BESIDE, SUMS, LENGTH, WINDOWS] = [0, 1, 2, 3, 4]
/** Their locals: where in the window they are, how many steps are left, and pairs of numbers. */
const [VALUE, WEIGHT, STEPS, PAIRS] = [5, 6, 7, 8]
const PAIRS_SUMMED = SIDE_BY_SIDE / 2
const PAIR_BYTES = 2 * NUMBER_BYTES
const BESIDE_PAIR = PAIRS + PAIRS_SUMMED

const get = (local: number): Bytes => [0x20, local]
const set = (local: number): Bytes => [0x21, local]
const tee = (local: number): Bytes => [0x22, local]
const [ADD, SUBTRACT, END] = [0x6a, 0x6b, 0x0b]
const pairs = (instruction: number, ...more: Bytes): Bytes => [0xfd, ...unsigned(instruction), ...more]
/** Numbers lie at multiples of 2³ bytes. */
const at = (offset: number): Bytes => [3, ...unsigned(offset)]
const load = (pair: number) => pairs(0, ...at(pair * PAIR_BYTES))
const loadTwice = pairs(10, ...at(0))
const store = (pair: number) => pairs(11, ...at(pair * PAIR_BYTES))
const zeros = pairs(12, ...Array.from({ length: PAIR_BYTES }, () => 0))
const [SIZES, SUMS_OF_TWO, DIFFERENCES, PRODUCTS] = [pairs(236), pairs(240), pairs(241), pairs(242)]
/** The second of two numbers where it is above the first. */
const HIGHER = pairs(247)

const advance = (local: number, by: number): Bytes => [...get(local), ...constant(by), ADD, ...set(local)]
/** Runs `body` until a local, counted down by `by`, is 0. */
const until0 = (local: number, by: number, body: Bytes): Bytes => [
  0x03,
  NO_RESULT,
  ...body,
  ...get(local),
  ...constant(by),
  SUBTRACT,
  ...tee(local),
  0x0d,
  0,
  END,
]
const eachPair = (code: (pair: number) => Bytes): Bytes =>
  Array.from({ length: PAIRS_SUMMED }, (_, pair) => code(pair)).flat()

/** For eight windows after eight: what is done before, and on the way from each value to the next. */
const windows = (before: Bytes, step: Bytes, after: Bytes): Bytes => [
  ...until0(WINDOWS, SIDE_BY_SIDE, [
    ...eachPair((pair) => [...zeros, ...set(PAIRS + pair)]),
    ...get(VALUES),
    ...set(VALUE),
    ...get(LENGTH),
    ...set(STEPS),
    ...before,
    ...until0(STEPS, 1, step),
    ...eachPair((pair) => [...get(SUMS), ...get(PAIRS + pair), ...store(pair)]),
    ...advance(VALUES, PAIRS_SUMMED * PAIR_BYTES),
    ...advance(SUMS, PAIRS_SUMMED * PAIR_BYTES),
    ...after,
  ]),
  END,
]

const WEIGH = windows(
  [...get(BESIDE), ...set(WEIGHT)],
  [
    ...get(WEIGHT),
    ...loadTwice,
    ...set(BESIDE_PAIR),
    ...eachPair((pair) => [
      ...get(PAIRS + pair),
      ...get(BESIDE_PAIR),
      ...get(VALUE),
      ...load(pair),
      ...PRODUCTS,
      ...SUMS_OF_TWO,
      ...set(PAIRS + pair),
    ]),
    ...advance(VALUE, NUMBER_BYTES),
    ...advance(WEIGHT, NUMBER_BYTES),
  ],
  [],
)

const DISTANCES = windows(
  eachPair((pair) => [...get(BESIDE), ...load(pair), ...set(BESIDE_PAIR + pair)]),
  [
    ...eachPair((pair) => [
      ...get(PAIRS + pair),
      ...get(VALUE),
      ...load(pair),
      ...get(BESIDE_PAIR + pair),
      ...DIFFERENCES,
      ...SIZES,
      ...SUMS_OF_TWO,
      ...set(PAIRS + pair),
    ]),
    ...advance(VALUE, -NUMBER_BYTES),
  ],
  advance(BESIDE, PAIRS_SUMMED * PAIR_BYTES),
)

const HIGHEST = windows(
  eachPair((pair) => [...get(VALUE), ...load(pair), ...set(PAIRS + pair)]),
  [
    ...eachPair((pair) => [
      ...get(PAIRS + pair),
      ...get(VALUE),
      ...load(pair),
      ...HIGHER,
      ...set(PAIRS + pair),
    ]),
    ...advance(VALUE, NUMBER_BYTES),
  ],
  [],
)

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const locals = [2, 3, I32, 2 * PAIRS_SUMMED, V128]
  const code = [WEIGH, DISTANCES, HIGHEST].map((body) => vector([...locals, ...body]))
  const named = (name: string) => vector([...new TextEncoder().encode(name)])
  return Uint8Array.from([
    0x00,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, FUNCTION, 5, I32, I32, I32, I32, I32, 0]),
    ...section(3, [3, 0, 0, 0]),
    ...section(5, [1, 0, Math.ceil((NUMBERS * NUMBER_BYTES) / PAGE_BYTES)]),
    ...section(7, [
      4,
      ...named('memory'),
      2,
      0,
      ...named('weigh'),
      0,
      0,
      ...named('distances'),
      0,
      1,
      ...named('highest'),
      0,
      2,
    ]),
    ...section(10, [code.length, ...code.flat()]),
  ])
}

function section(id: number, content: Bytes): Bytes {
  return [id, ...vector(content)]
}

function vector(content: Bytes): Bytes {
  return [...unsigned(content.length), ...content]
}

function constant(value: number): Bytes {
  return [0x41, ...signed(value)]
}

/** LEB128: seven bits a byte, the lowest first; the eighth says that more follow. */
function unsigned(value: number): Bytes {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

function signed(value: number): Bytes {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]
}
