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

  /**
   * Nothing in its loops makes an array: a page hashes its bars once, before a compiler has got to this, and a destructuring a
   * round made it a quarter of all that the first run takes.
   */
  #mix(): void {
    const words = this.#words
    const state = this.#state
    for (let i = 0; i < 16; i++) words[i] = this.#view.getInt32(i * 4)
    for (let i = 16; i < BLOCK; i++) {
      const a = words[i - 15]!
      const b = words[i - 2]!
      const low = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3)
      const high = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10)
      words[i] = words[i - 16]! + low + words[i - 7]! + high
    }
    let a = state[0]!
    let b = state[1]!
    let c = state[2]!
    let d = state[3]!
    let e = state[4]!
    let f = state[5]!
    let g = state[6]!
    let h = state[7]!
    for (let i = 0; i < BLOCK; i++) {
      const turnedE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const turnedA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const first = h + turnedE + ((e & f) ^ (~e & g)) + ROUND[i]! + words[i]!
      const second = turnedA + ((a & b) ^ (a & c) ^ (b & c))
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + second) | 0
    }
    state[0]! += a
    state[1]! += b
    state[2]! += c
    state[3]! += d
    state[4]! += e
    state[5]! += f
    state[6]! += g
    state[7]! += h
  }
}
