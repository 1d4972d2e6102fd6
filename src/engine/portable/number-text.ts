// Numbers as JSON by JavaScript itself, where a policy may forbid WebAssembly and no `Buffer` reads its memory.

/** Numbers printed at a time. */
export const NUMBERS_MAX = 4096

/** Numbers as JSON with commas between; null for what is no number. */
export function numbersText(column: Float64Array): string {
  return JSON.stringify(Array.from(column)).slice(1, -1)
}

const encoder = new TextEncoder()

export function numbersBytes(column: Float64Array): Uint8Array {
  return encoder.encode(numbersText(column))
}
