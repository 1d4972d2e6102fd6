// A small assembler for WebAssembly: one function over one memory, written as expressions.
//
//     wasmFunction(['i32', 'i32'], 'i32', (add, { i32 }) => …)
//
// JavaScript has no 64-bit integers that are fast. What needs them in a hot loop is written here, as close to the formula as
// it goes; the bytes are those of the WebAssembly Core Specification 1.0, chapter 5.

export type Code = readonly number[]
export type WasmType = 'i32' | 'i64' | 'f64'

const TYPES: Readonly<Record<WasmType, number>> = { i32: 0x7f, i64: 0x7e, f64: 0x7c }
const VOID = 0x40
/** Its name and version. */
const MAGIC: Code = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

export interface Local {
  readonly get: Code
  /** Assigns a value. */
  set(value: Code): Code
}

const two =
  (code: number) =>
  (a: Code, b: Code): Code => [...a, ...b, code]
const one =
  (code: number) =>
  (a: Code): Code => [...a, code]
const load =
  (code: number, align: number) =>
  (address: Code, offset = 0): Code => [...address, code, align, ...unsigned(offset)]
const store =
  (code: number, align: number) =>
  (address: Code, value: Code, offset = 0): Code => [...address, ...value, code, align, ...unsigned(offset)]

export const i32 = {
  of: (value: number): Code => [0x41, ...signed(BigInt(value))],
  ge: two(0x4e),
  gt: two(0x4a),
  lt: two(0x48),
  add: two(0x6a),
  sub: two(0x6b),
  mul: two(0x6c),
  and: two(0x71),
  or: two(0x72),
  shl: two(0x74),
  shr: two(0x75),
  wrap: one(0xa7),
  load16: load(0x2f, 1),
  store: store(0x36, 0),
  store8: store(0x3a, 0),
  store16: store(0x3b, 0),
}

/** All comparisons and shifts to the right are unsigned. */
export const i64 = {
  of: (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))],
  isZero: one(0x50),
  eq: two(0x51),
  lt: two(0x54),
  gt: two(0x56),
  le: two(0x58),
  clz: one(0x79),
  ctz: one(0x7a),
  add: two(0x7c),
  sub: two(0x7d),
  mul: two(0x7e),
  div: two(0x80),
  and: two(0x83),
  or: two(0x84),
  xor: two(0x85),
  shl: two(0x86),
  shr: two(0x88),
  extend: one(0xad),
  truncated: one(0xb1),
  bitsOf: one(0xbd),
  load: load(0x29, 0),
  store: store(0x37, 0),
}

export const f64 = {
  of: (value: number): Code => [0x44, ...new Uint8Array(new Float64Array([value]).buffer)],
  eq: two(0x61),
  ne: two(0x62),
  lt: two(0x63),
  ge: two(0x66),
  abs: one(0x99),
  trunc: one(0x9d),
  nearest: one(0x9e),
  mul: two(0xa2),
  div: two(0xa3),
  load: load(0x2b, 3),
}

/** Statements one after the other. */
export const all = (...parts: readonly Code[]): Code => parts.flat()
export const when = (test: Code, then: Code, otherwise: Code = []): Code => [
  ...test,
  0x04,
  VOID,
  ...then,
  ...(otherwise.length > 0 ? [0x05, ...otherwise] : []),
  0x0b,
]
/** Both are worked out. */
export const either = (test: Code, then: Code, otherwise: Code): Code => [
  ...then,
  ...otherwise,
  ...test,
  0x1b,
]
/** `leave(0)` in it goes behind it; each `when` and `block` in between counts one more. */
export const block = (...parts: readonly Code[]): Code => [0x02, VOID, ...all(...parts), 0x0b]
/** `leave(0)` in it goes to its beginning. */
export const loop = (...parts: readonly Code[]): Code => [0x03, VOID, ...all(...parts), 0x0b]
export const leave = (depth: number): Code => [0x0c, ...unsigned(depth)]
export const answer = (value: Code): Code => [...value, 0x0f]

export class WasmFunction {
  readonly #locals: WasmType[] = []

  local(type: WasmType): Local {
    const index = unsigned(this.#locals.push(type) - 1)
    return { get: [0x20, ...index], set: (value) => [...value, 0x21, ...index] }
  }

  /** The module, which exports `memory` and the function as `run`; the first `parameters` locals are handed in. */
  module(parameters: number, result: WasmType, pages: number, body: Code): Uint8Array<ArrayBuffer> {
    const given = this.#locals.slice(0, parameters)
    const own = this.#locals.slice(parameters)
    const code = [...vector(own.map((type) => [1, TYPES[type]])), ...body, 0x0b]
    const name = (text: string) => vector([...Buffer.from(text)].map((byte) => [byte]))
    return new Uint8Array([
      ...MAGIC,
      ...section(1, [[0x60, ...vector(given.map((type) => [TYPES[type]])), 1, TYPES[result]]]),
      ...section(3, [[0]]),
      ...section(5, [[0, ...unsigned(pages)]]),
      ...section(7, [
        [...name('memory'), 2, 0],
        [...name('run'), 0, 0],
      ]),
      ...section(10, [[...unsigned(code.length), ...code]]),
    ])
  }
}

function section(id: number, items: readonly Code[]): Code {
  const content = vector(items)
  return [id, ...unsigned(content.length), ...content]
}

function vector(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()]
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest & 0x7f) | 0x80)
  }
}

function signed(value: bigint): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7n) {
    const byte = Number(rest & 0x7fn)
    const isLast = rest >= -0x40n && rest < 0x40n
    if (isLast) return [...bytes, byte]
    bytes.push(byte | 0x80)
  }
}
