// SHA-256 as Bun computes it. The package for browsers and Node has one in JavaScript instead (`engine/portable/sha256.ts`).

/** The SHA-256 of the data in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return Bun.SHA256.hash(data, 'hex')
}

/** Of data that comes in pieces. */
export class Sha256 {
  readonly #hasher = new Bun.CryptoHasher('sha256')

  add(data: string | Uint8Array): void {
    this.#hasher.update(data)
  }

  hex(): string {
    return this.#hasher.digest('hex')
  }
}
