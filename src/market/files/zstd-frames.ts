// Follows zstd's frames as they pass (RFC 8878, 3.1), to know whether the last of them came whole: our decompressor takes
// an end in the middle of one for the end of the file.

const FRAME = 0xfd2fb528
/** Of these, the last four bits are anything. */
const SKIPPABLE = 0x184d2a50
const BLOCK_OF_ONE_BYTE = 1

type Part = 'magic' | 'descriptor' | 'fields' | 'block' | 'content' | 'sum' | 'skipped size' | 'skipped'

export class ZstdFrames {
  #part: Part = 'magic'
  /** How many bytes of the part are to come. */
  #left = 4
  /** The bytes of the part so far, as a number with the least significant first. */
  #value = 0
  #power = 1
  #hasSum = false
  #isLast = false

  /** Whether nothing is missing if no more bytes come. */
  get isWhole(): boolean {
    return this.#part === 'magic' && this.#left === 4
  }

  pass(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#part === 'content' || this.#part === 'skipped' || this.#part === 'fields') {
        const length = Math.min(this.#left, bytes.length - at)
        this.#left -= length
        at += length
      } else {
        this.#value += bytes[at++]! * this.#power
        this.#power *= 256
        this.#left--
      }
      while (this.#left === 0) this.#turn()
    }
  }

  #turn(): void {
    const value = this.#value
    switch (this.#part) {
      case 'magic':
        if (value === FRAME) return this.#expect('descriptor', 1)
        // What is no frame is the decompressor's to refuse.
        return value - (value % 16) === SKIPPABLE
          ? this.#expect('skipped size', 4)
          : this.#expect('skipped', Infinity)
      case 'descriptor': {
        const isSingle = (value & 32) !== 0
        this.#hasSum = (value & 4) !== 0
        const size = [isSingle ? 1 : 0, 2, 4, 8][value >> 6] ?? 0
        return this.#expect('fields', (isSingle ? 0 : 1) + ([0, 1, 2, 4][value & 3] ?? 0) + size)
      }
      case 'fields':
        return this.#expect('block', 3)
      case 'block':
        this.#isLast = (value & 1) !== 0
        return this.#expect('content', ((value >> 1) & 3) === BLOCK_OF_ONE_BYTE ? 1 : value >> 3)
      case 'content':
        if (!this.#isLast) return this.#expect('block', 3)
        return this.#hasSum ? this.#expect('sum', 4) : this.#expect('magic', 4)
      case 'skipped size':
        return this.#expect('skipped', value)
      case 'sum':
      case 'skipped':
        return this.#expect('magic', 4)
    }
  }

  #expect(part: Part, length: number): void {
    this.#part = part
    this.#left = length
    this.#value = 0
    this.#power = 1
  }
}
