// Where a backup is kept: an S3-compatible bucket, or a folder, which had better be of another machine. Both keep whole objects
// by name, and show none that is only half written.

import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { s3Bucket, type Bucket } from '../bucket.ts'
import { parseBucket } from '../bucket-address.ts'

export type Place = Bucket

/** `s3://…`, or a folder. */
export function placeAt(text: string, clock: Clock, tries?: number): Place {
  return isBucket(text) ? s3Bucket(text, clock, tries) : folderPlace(text)
}

/** Throws a sentence that says what is expected. */
export function parsePlace(text: string): string {
  if (isBucket(text)) parseBucket(text)
  else if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    throw new Error(
      'expected an address like s3://KEY:SECRET@bucket/prefix?endpoint=https://s3.example.com, or a folder',
    )
  return text
}

const isBucket = (text: string) => /^s3:\/\//i.test(text)

function folderPlace(folder: string): Place {
  return {
    address: folder,
    async put(name, bytes) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      // Names with a dot in front are none of a backup's, so that half a file is never listed.
      const partial = join(dirname(path), `.${process.pid}.partial`)
      const file = await open(partial, 'w', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(partial, path)
    },
    async get(name) {
      try {
        return await readFile(join(folder, name))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },
    delete: (name) => rm(join(folder, name), { force: true }),
    async list(prefix) {
      try {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true })
        return entries
          .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
          .map((entry) =>
            join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/'),
          )
          .filter((name) => name.startsWith(prefix))
          .sort()
      } catch (error) {
        if (isMissing(error)) return []
        throw error
      }
    },
    lastFailure: () => null,
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT'
