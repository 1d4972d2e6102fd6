// `chartroom backup` and `chartroom restore`: the data directory, copied to another folder and back.
//
// The database is copied by LMDB itself, from one snapshot and without its free pages, while a server goes on
// writing to it. A backup is a data directory: `serve --data-dir` runs on it as it is.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { judgeKey, KEY_FILE } from '../store/instance-key.ts'
import { lmdbKv } from '../store/lmdb.ts'
import { openStore } from '../store/open-store.ts'
import { RESERVE_FILE } from '../store/reserve.ts'
import { LOCK_FILE, lockData, PID_FILE } from '../store/server-lock.ts'
import { countSealed, opensSecrets } from '../server/sealed-secrets.ts'
import { createSecretBox } from '../webhooks/secret-box.ts'
import { onlyOf, parseArguments, UsageError, type Command, type CommandContext } from './command.ts'
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
        mkdirSync(join(copy, 'db'))
        await kv.environment.backup(join(copy, 'db'), true)
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

export const restoreCommand: Command = {
  name: 'restore',
  usage: 'FOLDER',
  summary: 'Put a backup into an empty data directory.',
  help: () => DATA_HELP,
  run: async (context) => {
    const { flags, folder } = folderOf(context.args)
    if (!existsSync(join(folder, 'db', 'data.mdb')))
      throw new UsageError(`${folder} is no backup of Chartroom.`)
    const directory = directoryOf(context, flags, 'Use its own way, such as pg_restore.')
    if (existsSync(join(directory, 'db')))
      throw new UsageError(`${directory} has a database already. Move it away, or name another --data-dir.`)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const lock = lockData(directory)
    try {
      copyOthers(folder, directory)
      // The database comes last and in one step, so that half a copy is never taken for a database.
      await replaceFolder(join(directory, 'db'), (copy) => {
        cpSync(join(folder, 'db', 'data.mdb'), join(copy, 'data.mdb'))
        return Promise.resolve()
      })
    } finally {
      lock.release()
    }
    const lacks = await whatItLacks(directory, context.random)
    if (lacks === null) {
      context.print(`Restored to ${directory}.`)
      return 0
    }
    context.warn(`Restored to ${directory}, but not whole: ${lacks}`)
    return 1
  },
}

/** Why a restored directory cannot be served as it is; null = it can. */
async function whatItLacks(directory: string, random: CommandContext['random']): Promise<string | null> {
  const kv = lmdbKv({ path: join(directory, 'db') })
  try {
    const opens = async (key: Uint8Array) =>
      opensSecrets(kv, await createSecretBox(key, (count) => random.bytes(count)))
    const { kind } = await judgeKey(kv, join(directory, KEY_FILE), opens, { newKey: true })
    if (kind !== 'lost') return null
    const { webhooks, channels } = await countSealed(kv)
    const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`
    const which = existsSync(join(directory, KEY_FILE)) ? 'is not the key of its database' : 'is missing'
    return `${KEY_FILE} ${which}, so that the secrets of ${counted(webhooks, 'webhook')} and ${counted(channels, 'channel')} cannot be read and a server will not start. Put the right one into the directory, or start once with --new-key: each of them needs a new secret then.`
  } finally {
    await kv.close()
  }
}

function folderOf(args: readonly string[]) {
  const { flags, positionals } = parseArguments(args, DATA_FLAGS)
  const folder = onlyOf(positionals, 'folder')
  return { flags, folder: resolve(folder) }
}

/** Fills a folder beside `folder` and renames it when it is whole. */
async function replaceFolder(folder: string, fill: (temporary: string) => Promise<void>): Promise<void> {
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
const NOT_DATA = [LOCK_FILE, PID_FILE, RESERVE_FILE]

function copyOthers(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isFile() && !NOT_DATA.includes(entry.name)) cpSync(join(from, entry.name), join(to, entry.name))
}
