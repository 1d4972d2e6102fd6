// `chartroom copy`: everything from a data directory into a database, or back, so that nobody is locked in.

import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Archive } from '../store/archive.ts'
import { copyStore } from '../store/copy.ts'
import { DataRefused } from '../store/data-refused.ts'
import { judgeKey, KEY_FILE } from '../store/instance-key.ts'
import type { Kv } from '../store/kv.ts'
import { lmdbArchive } from '../store/lmdb-archive.ts'
import { openToCopy } from '../store/open-store.ts'
import { nodeName, openPostgresToCopy } from '../store/postgres/open-postgres.ts'
import { lockData } from '../store/server-lock.ts'
import { createSecretBox } from '../notify/webhooks/secret-box.ts'
import { parseFlags, type Command, type CommandContext, UsageError, valued } from './command.ts'
import { databaseAddress, readConfig } from '../server/config.ts'
import { opensSecrets } from '../server/sealed-secrets.ts'
import { formatNumber } from './table.ts'

const FLAGS = { ...valued('from', 'to', 'key-file') }

export const copyCommand: Command = {
  name: 'copy',
  usage: '--from FOLDER --to postgres://…',
  summary: 'Copy all data from a folder to a database, or back.',
  help: () =>
    [
      '  --from PLACE     A data directory, or postgres://user:password@host:5432/name',
      '  --to PLACE       The other one, which has to be empty',
      '  --key-file FILE  The key that secrets are sealed with, if none of both is a folder that has it',
      '',
      'BARS names the bucket of the database, if it has one. No server may run on either. What was cut short goes on',
      'where it stopped if the command is given again; a database that goes away meanwhile is waited for, for a minute.',
      'At the end both are read and compared; before that no server takes the copy for data. The source stays as it is,',
      'but data of an older version is brought up to date first.',
    ].join('\n'),
  run: async (context) => {
    const flags = parseFlags(context.args, FLAGS)
    const from = placeOf('from', flags.from)
    const to = placeOf('to', flags.to)
    const opened = await openSource(context, from)
    try {
      const key = await keyOf(context, opened.archive.kv, flags['key-file'] ?? defaultKey(context, from, to))
      assertRoomForKey(key, to)
      const target = await openTarget(context, to)
      try {
        await copied(context, opened.archive, target.archive)
        handOver(context, key, to)
      } finally {
        await target.close()
      }
    } finally {
      await opened.close()
    }
    return 0
  },
}

type CopyPlace = { readonly database: string } | { readonly folder: string }

interface Opened {
  readonly archive: Archive
  close(): Promise<void>
}

function placeOf(flag: string, text: string | undefined): CopyPlace {
  if (text === undefined || text === '') throw new UsageError(`Say where it is with --${flag}.`)
  if (!/^[a-z]+:\/\//i.test(text)) return { folder: resolve(text) }
  try {
    return { database: databaseAddress(text) }
  } catch (error) {
    throw new UsageError(`--${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function openSource(context: CommandContext, place: CopyPlace): Promise<Opened> {
  if ('folder' in place && !existsSync(join(place.folder, 'db')))
    throw new UsageError(`There is no database in ${place.folder}.`)
  return openTarget(context, place)
}

async function openTarget(context: CommandContext, place: CopyPlace): Promise<Opened> {
  const { clock, random, warn } = context
  if ('database' in place) {
    const archive = await openPostgresToCopy({
      url: place.database,
      bars: readConfig({ store: place.database }, context.environment).config.BARS,
      clock,
      random,
      node: nodeName('copy', random.bytes(4)),
    })
    return { archive, close: () => archive.close() }
  }
  const kv = await openToCopy({ directory: place.folder, tell: warn })
  try {
    const lock = lockData(place.folder)
    return {
      archive: lmdbArchive(kv),
      async close() {
        await kv.close()
        lock.release()
      },
    }
  } catch (error) {
    await kv.close()
    throw error
  }
}

async function copied(context: CommandContext, source: Archive, target: Archive): Promise<void> {
  const { print, progress } = context
  try {
    const { documents, series, bars, symbols, notes, digest } = await copyStore({
      source,
      target,
      progress: (what) => progress?.(what),
    })
    progress?.(null)
    const counts = [
      [documents, 'documents'],
      [bars, `bars in ${formatNumber(series, 0)} series`],
      [symbols, 'symbols'],
      [notes, 'series that alerts have still to look at'],
    ] as const
    print(`Copied: ${counts.map(([count, what]) => `${formatNumber(count, 0)} ${what}`).join(', ')}.`)
    print(`Read again and compared, both: SHA-256 ${digest}.`)
  } finally {
    progress?.(null)
  }
}

/** The folder's own, or that of the settings. */
function defaultKey({ environment }: CommandContext, from: CopyPlace, to: CopyPlace): string {
  for (const place of [from, to])
    if ('folder' in place && existsSync(join(place.folder, KEY_FILE))) return join(place.folder, KEY_FILE)
  return environment['KEY_FILE'] ?? join(environment['DATA_DIR'] ?? './data', KEY_FILE)
}

/** The file of the key that secrets of the source are sealed with; null if nothing is. */
async function keyOf({ random }: CommandContext, kv: Kv, path: string): Promise<string | null> {
  const opens = async (key: Uint8Array) =>
    opensSecrets(kv, await createSecretBox(key, (count) => random.bytes(count)))
  try {
    const { kind } = await judgeKey(kv, path, opens, { newKey: false })
    return kind === 'missing' ? null : path
  } catch (error) {
    if (!(error instanceof DataRefused)) throw error
    throw new DataRefused(
      `${path} is not the key that secrets of the source are sealed with, or is missing. Name the right file with --key-file. Nothing was copied.`,
    )
  }
}

/** Another key that is there already seals something else, and is not overwritten. */
function assertRoomForKey(key: string | null, to: CopyPlace): void {
  if (key === null || 'database' in to) return
  const there = join(to.folder, KEY_FILE)
  if (existsSync(there) && !readFileSync(there).equals(readFileSync(key)))
    throw new DataRefused(`${there} is another key. Nothing was copied. Move it away, or name another --to.`)
}

function handOver({ print }: CommandContext, key: string | null, to: CopyPlace): void {
  if (key === null) return
  if ('database' in to) print(`Its servers need the key of its secrets: start them with KEY_FILE=${key}.`)
  else if (!existsSync(join(to.folder, KEY_FILE))) {
    cpSync(key, join(to.folder, KEY_FILE))
    print(`The key of its secrets is in ${join(to.folder, KEY_FILE)}.`)
  }
}
