// One server on a data directory: a lock that the operating system takes away when its process ends, however it ends.
//
// A process number in a file would outlive a killed process, and mislead once another process or another container has the
// same number. Bun has no flock, but it has SQLite, whose exclusive transaction is such a lock on Linux, macOS and Windows
// alike, and holds between containers that share the volume. `server.lock` is that file and stays empty; `server.pid` says
// who holds it, for the sentence a second one gets, and is trusted for nothing else.
//
// POSIX drops a process's locks on a file when the process closes any descriptor of it: nobody may open `server.lock`
// but this code. Commands that work on the database beside a server take no lock; LMDB lets several processes in.

import { Database, SQLiteError } from 'bun:sqlite'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DataRefused } from './data-refused.ts'

export const LOCK_FILE = 'server.lock'
export const PID_FILE = 'server.pid'

export interface ServerLock {
  /** The last holder was killed, or the machine was switched off. */
  readonly wasLeft: boolean
  release(): void
}

/** Throws `DataRefused`, which names the process, if another one holds the lock. */
export function lockData(directory: string): ServerLock {
  const database = exclusive(directory)
  if (database === null) throw inUse(readHolder(directory))
  const pidFile = join(directory, PID_FILE)
  const wasLeft = readHolder(directory) !== null
  try {
    writeFileSync(pidFile, `${process.pid} ${hostname()}\n`, { mode: 0o600 })
  } catch {
    // On a full disk the number cannot be written; the lock holds without it.
  }
  return {
    wasLeft,
    release() {
      rmSync(pidFile, { force: true })
      database.close()
    },
  }
}

/**
 * The process of version 0.1.0, which had no such lock, that has the database open. It is found by LMDB's own lock on the
 * first byte of `lock.mdb`, and only on Linux.
 */
export function processWithDatabase(folder: string): number | null {
  try {
    const { ino } = statSync(join(folder, 'lock.mdb'))
    for (const line of readFileSync('/proc/locks', 'latin1').split('\n')) {
      const [, kind, , , pid, file = '', from] = line.trim().split(/\s+/)
      if (kind === 'POSIX' && from === '0' && file.endsWith(`:${ino}`) && Number(pid) !== process.pid)
        return Number(pid)
    }
  } catch {
    // There is no such file, or the system is not Linux.
  }
  return null
}

/** Who serves the directory: `process 1234`; null: nobody. The lock knows it, also where the file with the number is gone. */
export function servedBy(directory: string): string | null {
  const database = exclusive(directory)
  database?.close()
  if (database !== null) return null
  const holder = readHolder(directory)
  return holder === null ? 'another process' : `process ${holder}`
}

export function inUse(pid: string | number | null): DataRefused {
  const who = pid === null ? 'Another process' : `Process ${pid}`
  return new DataRefused(
    `${who} is serving this data directory already. Stop it first, or name another directory with --data-dir.`,
  )
}

/** Null: another process has it. */
function exclusive(directory: string): Database | null {
  const path = join(directory, LOCK_FILE)
  let database: Database | undefined
  try {
    database = new Database(path, { create: true, readwrite: true })
    // Nothing is written, so no file is needed for a roll-back.
    database.run('PRAGMA journal_mode = MEMORY')
    database.run('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database?.close()
    if (!(error instanceof SQLiteError)) throw error
    if (error.code === 'SQLITE_BUSY') return null
    throw new DataRefused(
      error.code === 'SQLITE_NOTADB' || error.code === 'SQLITE_CORRUPT'
        ? `${path} is no lock file of Chartroom. If no server runs on this directory, delete it.`
        : `Cannot lock ${path} (${error.message}). The directory must be writable and its file system must know locks.`,
    )
  }
}

/** `1234`, or `1234 on otherhost`. */
function readHolder(directory: string): string | null {
  try {
    const [pid, host] = readFileSync(join(directory, PID_FILE), 'utf8').trim().split(' ')
    return host === hostname() ? (pid ?? null) : `${pid} on ${host}`
  } catch {
    return null
  }
}
