// Files as they are: what packs and unpacks differs from place to place, so archives are refused with what to do instead.

import { Problem } from '../../lib/problem.ts'
import type { NamedFile } from '../../market/files/unpack.ts'

export const UNPACKED_MAX = Infinity

export async function* unpacked(file: NamedFile): AsyncGenerator<NamedFile> {
  const { bytes, first } = await withFirst(file.bytes)
  const [a, b, c, d] = first
  const isZip = a === 0x50 && b === 0x4b
  const isGzip = a === 0x1f && b === 0x8b
  const isZstd = a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd
  if (isZip || isGzip || isZstd) throw refused('it is packed; unpack it first')
  yield { ...file, bytes }
}

async function withFirst(input: AsyncIterable<Uint8Array>) {
  const source = input[Symbol.asyncIterator]()
  const { value: first = new Uint8Array(0), done } = await source.next()
  async function* all(): AsyncGenerator<Uint8Array> {
    if (done) return
    yield first
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  }
  return { first, bytes: all() }
}

export const refused = (why: string) => new Problem(422, 'validation_failed', `Nothing was imported: ${why}.`)
