// `chartroom restore`: a data directory from what `chartroom backup` made, or from where a server copies its database to
// continuously.

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { countSealed, opensSecrets, type SealedCount } from '../server/sealed-secrets.ts'
import { LINE_FILE } from '../store/backup/backup.ts'
import { stepsOf } from '../store/backup/chain.ts'
import { parsePlace, type Place, placeAt } from '../store/backup/place.ts'
import { restoreDatabase } from '../store/backup/restore.ts'
import { saidByBucket } from '../store/bucket.ts'
import { DataRefused } from '../store/data-refused.ts'
import { judgeKey, KEY_FILE } from '../store/instance-key.ts'
import { lmdbKv } from '../store/lmdb.ts'
import { lockData } from '../store/server-lock.ts'
import { createSecretBox } from '../webhooks/secret-box.ts'
import { copyOthers, replaceFolder } from './backup-command.ts'
import { onlyOf, parseArguments, UsageError, type Command, type CommandContext } from './command.ts'
import { DATA_FLAGS, DATA_HELP, directoryOf } from './data.ts'
import { formatBytes } from './table.ts'

const RESTORE_FLAGS = { ...DATA_FLAGS, from: { type: 'string' }, at: { type: 'string' } } as const

export const restoreCommand: Command = {
  name: 'restore',
  usage: 'FOLDER | --from s3://KEY:SECRET@bucket/prefix',
  summary: 'Put a backup into an empty data directory.',
  help: () =>
    [
      '  --from PLACE          What BACKUP named for the server: s3://KEY:SECRET@bucket/prefix?endpoint=https://…, or a folder',
      '  --at TIME             The state of that time, as 2026-11-22T21:30:00Z; otherwise the last there is',
      DATA_HELP,
      '',
      'FOLDER is what `chartroom backup` made, and --from where a server copies to continuously (BACKUP). The latter holds',
      'the database alone: put instance.key into the data directory too, or the secrets of webhooks and channels and the keys',
      'of providers, which are sealed with it, cannot be read. The last day can be restored to the second, days before it to a minute or two.',
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, RESTORE_FLAGS)
    const directory = directoryOf(context, flags, 'Use its own way, such as pg_restore.')
    if (flags.from === undefined && flags.at !== undefined)
      throw new UsageError('--at wants --from: a folder that `chartroom backup` made holds one state.')
    if (flags.from !== undefined && positionals.length > 0)
      throw new UsageError('Name a folder or --from, not both.')
    const fill = flags.from === undefined ? fromFolder(positionals) : fromPlace(context, flags.from, flags.at)
    if (existsSync(join(directory, 'db')))
      throw new UsageError(`${directory} has a database already. Move it away, or name another --data-dir.`)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const lock = lockData(directory)
    let what: string
    try {
      // Which backup the data goes on with is for the server that made it.
      rmSync(join(directory, LINE_FILE), { force: true })
      what = await fill(directory)
    } finally {
      lock.release()
    }
    const lacks = await whatItLacks(directory, context.random)
    if (lacks === null) {
      context.print(`Restored to ${directory}${what}.`)
      return 0
    }
    context.warn(`Restored to ${directory}${what}, but not whole: ${lacks}`)
    return 1
  },
}

/** Puts a backup into a data directory, the database last and in one step, so that half a copy is never taken for one. Answers what of it is worth saying. */
type Fill = (directory: string) => Promise<string>

function fromFolder(positionals: readonly string[]): Fill {
  const folder = resolve(onlyOf(positionals, 'folder'))
  if (!existsSync(join(folder, 'db', 'data.mdb')))
    throw new UsageError(
      `${folder} is no backup of Chartroom.${isPlace(folder) ? ` A server copied to it continuously: give --from ${folder}.` : ''}`,
    )
  return async (directory) => {
    copyOthers(folder, directory)
    await replaceFolder(join(directory, 'db'), async (copy) => {
      cpSync(join(folder, 'db', 'data.mdb'), join(copy, 'data.mdb'))
    })
    return ''
  }
}

function fromPlace({ clock, progress }: CommandContext, from: string, at: string | undefined): Fill {
  const until = at === undefined ? undefined : timeOf(at)
  let place: Place
  try {
    place = placeAt(parsePlace(from), clock)
  } catch (error) {
    throw new UsageError(`--from: ${error instanceof Error ? error.message : String(error)}`)
  }
  return async (directory) => {
    try {
      let said = ''
      await replaceFolder(join(directory, 'db'), async (copy) => {
        const { time, bytes } = await restoreDatabase({
          place,
          path: join(copy, 'data.mdb'),
          until,
          progress: (done, all) => progress?.(`part ${done} of ${all}`),
        })
        said = `: ${formatBytes(bytes)}, the state of ${new Date(time).toISOString()}`
      })
      return said
    } catch (error) {
      if (error instanceof DataRefused) throw error
      throw new DataRefused(
        `The backup in ${place.address} cannot be read (${saidByBucket(error)}). Nothing was restored. Check bucket, endpoint, region and key.`,
      )
    } finally {
      progress?.(null)
    }
  }
}

function timeOf(at: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(at) ? Date.parse(at) : NaN
  if (Number.isNaN(time)) throw new UsageError('--at takes a time like 2026-11-22T21:30:00Z.')
  return time
}

/** Whether a folder holds a continuous backup. */
const isPlace = (folder: string) =>
  existsSync(folder) && readdirSync(folder).some((name) => stepsOf([`${name}/${SAMPLE_STEP}`]).length > 0)
const SAMPLE_STEP = '0000000000000001-0000000000000000-0000000000000.00000'

/** Why a restored directory cannot be served as it is; null = it can. */
async function whatItLacks(directory: string, random: CommandContext['random']): Promise<string | null> {
  const kv = lmdbKv({ path: join(directory, 'db') })
  try {
    const opens = async (key: Uint8Array) =>
      opensSecrets(kv, await createSecretBox(key, (count) => random.bytes(count)))
    const { kind } = await judgeKey(kv, join(directory, KEY_FILE), opens, { newKey: true })
    if (kind !== 'lost') return null
    const sealed = sealedText(await countSealed(kv))
    const which = existsSync(join(directory, KEY_FILE)) ? 'is not the key of its database' : 'is missing'
    return `${KEY_FILE} ${which}, so that ${sealed} cannot be read and a server will not start. Put the right one into the directory, or start once with --new-key: each of them has to be given again then.`
  } finally {
    await kv.close()
  }
}

/** What is lost without the key, by what there is of it. */
function sealedText({ webhooks, channels, providers }: SealedCount): string {
  const counted = (count: number, of: string, noun: string) =>
    count === 0 ? [] : [`the ${of}${count === 1 ? '' : 's'} of ${count} ${noun}${count === 1 ? '' : 's'}`]
  const all = [
    ...counted(webhooks, 'secret', 'webhook'),
    ...counted(channels, 'secret', 'channel'),
    ...counted(providers, 'key', 'provider'),
  ]
  const last = all.pop()
  if (last === undefined) return 'what a server seals'
  return all.length > 0 ? `${all.join(', ')} and ${last}` : last
}
