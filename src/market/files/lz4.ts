// Decompresses LZ4, as Parquet and Arrow use it: blocks, and frames made of them (lz4_Block_format.md, lz4_Frame_format.md).
//
// A block is a row of literals and of copies of what was written before. The length of the result is known or bounded
// beforehand, so that a few bytes cannot ask for gigabytes.

/** What a block holds; throws if it does not fill exactly `length` bytes. */
export function lz4Block(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length)
  const end = writeBlock(input, output, 0)
  if (end !== length) throw new RangeError('an LZ4 block has another length than it says')
  return output
}

const FRAME = 0x184d2204
const UNPACKED_BLOCK = 0x80000000

/** What a frame holds; throws unless these are exactly `length` bytes. */
export function lz4Frame(input: Uint8Array, length: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength)
  if (view.getUint32(0, true) !== FRAME) throw new RangeError('this is no LZ4 frame')
  const flags = view.getUint8(4)
  // Behind the flags: the size of blocks, the size of the content, a dictionary's id, and a check sum of all this.
  let at = 7 + ((flags & 8) === 0 ? 0 : 8) + ((flags & 1) === 0 ? 0 : 4)
  const output = new Uint8Array(length)
  let end = 0
  for (;;) {
    const size = view.getUint32(at, true)
    at += 4
    if (size === 0) break
    const bytes = size & ~UNPACKED_BLOCK
    const block = input.subarray(at, at + bytes)
    if (size >= UNPACKED_BLOCK) {
      output.set(block, end)
      end += block.length
    } else end = writeBlock(block, output, end)
    at += bytes + ((flags & 16) === 0 ? 0 : 4)
  }
  if (end !== length) throw new RangeError('an LZ4 frame has another length than it says')
  return output
}

/** Writes a block's content from `to` on, and answers where it ends. Copies may reach back into blocks before. */
function writeBlock(input: Uint8Array, output: Uint8Array, to: number): number {
  let at = 0
  let end = to
  /** A length of 15 goes on in the bytes that follow, as long as they are 255. */
  const lengthOf = (start: number) => {
    if (start !== 15) return start
    for (let sum = start; ;) {
      const more = input[at++]
      if (more === undefined) throw new RangeError('an LZ4 block breaks off')
      sum += more
      if (more !== 255) return sum
    }
  }
  while (at < input.length) {
    const token = input[at++] ?? 0
    const literals = lengthOf(token >> 4)
    if (at + literals > input.length || end + literals > output.length)
      throw new RangeError('an LZ4 block is longer than it says')
    output.set(input.subarray(at, at + literals), end)
    at += literals
    end += literals
    // The last piece has no copy behind it.
    if (at >= input.length) break
    const back = (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8)
    at += 2
    const length = lengthOf(token & 15) + 4
    if (back === 0 || back > end || end + length > output.length)
      throw new RangeError('an LZ4 block copies from outside of itself')
    for (let i = 0; i < length; i++) output[end + i] = output[end + i - back] ?? 0
    end += length
  }
  return end
}
