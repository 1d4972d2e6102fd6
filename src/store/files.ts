// Files that are there whole or not at all, also after the machine was switched off.

import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Waits until a file, or what a folder lists, is on disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Readable for its owner alone. */
export function writeWhole(path: string, bytes: Uint8Array): void {
  const partial = `${path}.partial`
  const file = openSync(partial, 'w', 0o600)
  try {
    writeSync(file, bytes)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(partial, path)
  syncPath(dirname(path))
}
