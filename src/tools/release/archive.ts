// Archives that are the same bytes for the same files: names, modes and one time, and no owner.

import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'

export interface Packed {
  readonly name: string
  readonly bytes: Uint8Array
  readonly isProgram?: boolean
}

const BLOCK = 512

/** POSIX ustar. `time` in seconds since 1970. */
export function tarGz(files: readonly Packed[], time: number): Uint8Array {
  const blocks = files.flatMap(({ name, bytes, isProgram = false }) => [
    header(name, bytes.length, isProgram ? 0o755 : 0o644, time),
    bytes,
    new Uint8Array((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ])
  return gzipSync(Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]), { level: 9 })
}

function header(name: string, size: number, mode: number, time: number): Uint8Array {
  const made = Buffer.alloc(BLOCK)
  const octal = (value: number, at: number, length: number) =>
    made.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  made.write(name, 0, 'latin1')
  octal(mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(size, 124, 12)
  octal(time, 136, 12)
  // The sum is taken with blanks in its own place.
  made.write('        0', 148, 'latin1')
  made.write('ustar\x0000', 257, 'latin1')
  octal(
    made.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  made.write(' ', 155, 'latin1')
  return made
}

export function zip(files: readonly Packed[], time: number): Uint8Array {
  // Times of a zip have no zone, and fflate writes local ones.
  const utc = new Date(time * 1000)
  const mtime = new Date(utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate())
  return zipSync(Object.fromEntries(files.map(({ name, bytes }) => [name, bytes])), { level: 9, mtime })
}
