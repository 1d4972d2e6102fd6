// `chartroom backup`: the data directory, copied to another folder.
//
// The database is copied by LMDB itself, from one snapshot and without its free pages, while a server goes on
// writing to it. A backup is a data directory: `serve --data-dir` runs on it as it is.

import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LINE_FILE } from '../store/backup/backup.ts'
import { openStore } from '../store/open-store.ts'
import { RESERVE_FILE } from '../store/reserve.ts'
import { LOCK_FILE, PID_FILE } from '../store/server-lock.ts'
import { onlyOf, parseArguments, UsageError, type Command } from './command.ts'
import { DATA_FLAGS, DATA_HELP, directoryOf } from './data.ts'
import { formatBytes } from './table.ts'

export const backupCommand: Command = {
  name: 'backup',
  usage: 'FOLDER',
  summary: 'Copy all data to a new folder, also while the server runs.',
  help: () => DATA_HELP,
  run: async (context) => {
    const { flags, folder } = folderOf(context.args)
    if (existsSync(folder)) throw new UsageError(`${folder} is there already. Name a new folder.`)
    const directory = directoryOf(context, flags, 'Use its own way, such as pg_dump.')
    if (!existsSync(join(directory, 'db'))) throw new UsageError(`There is no database in ${directory}.`)
    const kv = await openStore({ directory, tell: context.warn })
    try {
      await replaceFolder(folder, async (copy) => {
        mkdirSync(join(copy, 'db'), { mode: 0o700 })
        await kv.environment.backup(join(copy, 'db'), true)
        // LMDB makes it for everybody to read.
        chmodSync(join(copy, 'db', 'data.mdb'), 0o600)
        copyOthers(directory, copy)
      })
      const { size } = statSync(join(folder, 'db', 'data.mdb'))
      context.print(`${folder}: ${formatBytes(size)}. It holds password hashes and keys: keep it safe.`)
      return 0
    } finally {
      await kv.close()
    }
  },
}

function folderOf(args: readonly string[]) {
  const { flags, positionals } = parseArguments(args, DATA_FLAGS)
  const folder = onlyOf(positionals, 'folder')
  return { flags, folder: resolve(folder) }
}

/** Fills a folder beside `folder` and renames it when it is whole. */
export async function replaceFolder(
  folder: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${folder}.partial`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  try {
    await fill(temporary)
    renameSync(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** Beside the database only the key file is copied: the lock says who serves the original, not the copy. */
const NOT_DATA = [LOCK_FILE, PID_FILE, RESERVE_FILE, LINE_FILE]

export function copyOthers(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isFile() && !NOT_DATA.includes(entry.name)) cpSync(join(from, entry.name), join(to, entry.name))
}
