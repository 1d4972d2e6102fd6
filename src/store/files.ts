// Files that are there whole or not at all, also after the machine was switched off.

import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether something stands there that is no file nor folder: to open a pipe is to wait for whoever writes to it, for ever. */
export function isNoFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

export const NO_FILE = 'is no file, but a pipe, a socket or a device'

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
