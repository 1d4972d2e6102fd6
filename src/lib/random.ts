// Every room is handed its randomness. Only `main.ts` plugs in the real one; a test plugs in a repeatable one.

export interface Random {
  /** `length` bytes that nobody can guess. */
  bytes(length: number): Uint8Array
}
