// A local S3 server as a process of its own, whose time is not that of those who are measured:
//
//     bun tests/store/s3-child.ts [FOLDER]     keeps the objects in memory, or as files in a folder
//
// Its first line names a bucket there.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { startS3 } from './s3-server.ts'

const PAGE = 1000

/** Objects as files; their names alone are in memory. */
class Files extends Map<string, Uint8Array> {
  readonly #folder: string

  constructor(folder: string) {
    super()
    this.#folder = folder
  }

  override get(path: string): Uint8Array | undefined {
    return this.has(path) ? readFileSync(join(this.#folder, path)) : undefined
  }

  override set(path: string, bytes: Uint8Array): this {
    mkdirSync(dirname(join(this.#folder, path)), { recursive: true })
    writeFileSync(join(this.#folder, path), bytes)
    return super.set(path, NONE)
  }

  override delete(path: string): boolean {
    rmSync(join(this.#folder, path), { force: true })
    return super.delete(path)
  }
}
const NONE = new Uint8Array()

const [folder] = process.argv.slice(2)
const objects = folder === undefined ? new Map<string, Uint8Array>() : new Files(folder)
console.log(startS3(objects, PAGE).address('bench', { prefix: 'backup' }))
