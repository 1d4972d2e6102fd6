// Every room is handed its randomness. Only `main.ts` plugs in the real one; a test plugs in one that repeats.

export interface Random {
  /** `length` bytes nobody can guess. */
  bytes(length: number): Uint8Array
}
