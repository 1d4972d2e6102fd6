// Writes files so that they exist whole or not at all, even if the machine is switched off.

import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
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
  const partial = writePartial(path, bytes)
  renameSync(partial, path)
  syncPath(dirname(path))
}

/** Answers false, and leaves the file as it is, where there is one. */
export function writeNew(path: string, bytes: Uint8Array): boolean {
  const partial = writePartial(path, bytes)
  try {
    linkSync(partial, path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(partial, { force: true })
  }
  syncPath(dirname(path))
  return true
}

function writePartial(path: string, bytes: Uint8Array): string {
  // Several processes may write one at a time.
  const partial = `${path}.${process.pid}.partial`
  const file = openSync(partial, 'w', 0o600)
  try {
    writeSync(file, bytes)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return partial
}
