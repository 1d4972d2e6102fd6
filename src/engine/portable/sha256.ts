// SHA-256 (FIPS 180-4) in JavaScript, for places without Bun: the report names bars and script by it, and the one of the browsers
// answers only later (`crypto.subtle`).

const BLOCK = 64

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND = fractions(64, Math.cbrt)
/** Of the square roots of the first eight. */
const START = fractions(8, Math.sqrt)

function fractions(count: number, root: (prime: number) => number): Int32Array {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return Int32Array.from(primes, (prime) => ((root(prime) % 1) * 2 ** 32) | 0)
}

export function sha256(data: string | Uint8Array): string {
  const hash = new Sha256()
  hash.add(data)
  return hash.hex()
}

export class Sha256 {
  readonly #state = START.slice()
  readonly #words = new Int32Array(BLOCK)
  readonly #block = new Uint8Array(BLOCK)
  readonly #view = new DataView(this.#block.buffer)
  #length = 0

  add(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
    for (let from = 0; from < bytes.length;) {
      const at = this.#length % BLOCK
      const piece = bytes.subarray(from, from + BLOCK - at)
      this.#block.set(piece, at)
      this.#length += piece.length
      from += piece.length
      if (this.#length % BLOCK === 0) this.#mix()
    }
  }

  hex(): string {
    const bits = this.#length * 8
    const rest = this.#length % BLOCK
    const end = new Uint8Array(BLOCK * (rest < BLOCK - 8 ? 1 : 2) - rest)
    end[0] = 0x80
    const view = new DataView(end.buffer)
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32))
    view.setUint32(end.length - 4, bits >>> 0)
    this.add(end)
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
  }

  #mix(): void {
    const words = this.#words
    for (let i = 0; i < 16; i++) words[i] = this.#view.getInt32(i * 4)
    for (let i = 16; i < BLOCK; i++) {
      const [a, b] = [words[i - 15]!, words[i - 2]!]
      const low = right(a, 7) ^ right(a, 18) ^ (a >>> 3)
      const high = right(b, 17) ^ right(b, 19) ^ (b >>> 10)
      words[i] = words[i - 16]! + low + words[i - 7]! + high
    }
    let [a, b, c, d, e, f, g, h] = Array.from(this.#state) as Eight
    for (let i = 0; i < BLOCK; i++) {
      const first =
        h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i]! + words[i]!
      const second = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) this.#state[i]! += word
  }
}

type Eight = [number, number, number, number, number, number, number, number]

const right = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))
