// Writes files so that they exist whole or not at all, even if the machine is switched off.

import { closeSync, fsyncSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether the path is neither a file nor a folder. Opening a pipe would wait for its writer for ever. */
export function isNoFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

export const NO_FILE = 'is no file, but a pipe, a socket or a device'

/** Waits until a file, or a folder's list of files, is on disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Only the file's owner may read it. */
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
