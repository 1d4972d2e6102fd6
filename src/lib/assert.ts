// Assertions state what we rely on ourselves. One that fails is our own mistake: it ends the request, is logged with
// its stack and becomes a bare 500.

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

/** Stands in the default branch of a switch over a closed set: it fails to type-check when a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`assertion failed: unexpected ${JSON.stringify(value)}`)
}
