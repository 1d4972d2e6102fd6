// `chartroom restore`: a data directory from what `chartroom backup` made, or from where a server copies its database to
// continuously.

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { countSealed, opensSecrets, type SealedCount } from '../server/sealed-secrets.ts'
import { LINE_FILE } from '../store/backup/backup.ts'
import { chainTo, databaseOf, isSnapshot, stepsOf } from '../store/backup/chain.ts'
import { parsePlace, type Place, placeAt } from '../store/backup/place.ts'
import { restoreDatabase } from '../store/backup/restore.ts'
import { PATIENT_TRIES, saidByBucket } from '../store/bucket.ts'
import { DataRefused } from '../store/data-refused.ts'
import { judgeKey, KEY_FILE } from '../store/instance-key.ts'
import { lmdbKv } from '../store/lmdb.ts'
import { lockData } from '../store/server-lock.ts'
import { createSecretBox } from '../notify/webhooks/secret-box.ts'
import { copyOthers, replaceFolder } from './backup-command.ts'
import {
  onlyOf,
  parseArguments,
  UsageError,
  type Command,
  type CommandContext,
  switched,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, directoryOf } from './data.ts'
import { formatBytes } from './table.ts'

const RESTORE_FLAGS = { ...DATA_FLAGS, ...valued('from', 'at'), ...switched('list') }

export const restoreCommand: Command = {
  name: 'restore',
  usage: '[FOLDER | --from s3://KEY:SECRET@bucket/prefix]',
  summary: 'Put a backup into an empty data directory.',
  help: () =>
    [
      '  --from PLACE          What BACKUP named for the server: s3://KEY:SECRET@bucket/prefix?endpoint=https://…, or a folder',
      '                        (BACKUP in the environment, where no other user of the machine sees the key)',
      '  --at TIME             The state of that time, as 2026-11-22T21:30:00Z; otherwise the last there is',
      '  --list                Shows the snapshots and the newest state there, and restores nothing',
      DATA_HELP,
      '',
      'FOLDER is what `chartroom backup` made, and --from where a server copies to continuously (BACKUP). The latter holds',
      'the database alone: put instance.key into the data directory too (or name it in KEY_FILE), or the secrets of webhooks',
      'and channels and the keys of providers, which are sealed with it, cannot be read. The last day can be restored to the',
      'second, days before it to two minutes. A restore that was interrupted leaves no database: run it again.',
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, RESTORE_FLAGS)
    const directory = directoryOf(context, flags, 'Use its own way, such as pg_restore.')
    if (flags.from !== undefined && positionals.length > 0)
      throw new UsageError('Name a folder or --from, not both.')
    const from = flags.from ?? (positionals.length === 0 ? context.environment['BACKUP'] : undefined)
    if (from === undefined && (flags.at !== undefined || flags.list))
      throw new UsageError(
        '--at and --list want --from: a folder that `chartroom backup` made holds one state.',
      )
    if (from !== undefined && flags.list) return list(context, placeOf(context, from))
    const fill = from === undefined ? fromFolder(positionals) : fromPlace(context, from, flags.at)
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
    const lacks = await whatItLacks(directory, context)
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

function placeOf({ clock }: CommandContext, from: string): Place {
  try {
    return placeAt(parsePlace(from), clock, PATIENT_TRIES)
  } catch (error) {
    throw new UsageError(`--from: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Asks the place for something, and says in words what its failure is. */
async function askedOf<T>(place: Place, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof DataRefused) throw error
    throw new DataRefused(
      `The backup in ${place.address} cannot be read (${saidByBucket(error)}). Nothing was restored. Check bucket, endpoint, region and key.`,
    )
  }
}

function fromPlace(context: CommandContext, from: string, at: string | undefined): Fill {
  const { progress } = context
  const until = at === undefined ? undefined : timeOf(at)
  const place = placeOf(context, from)
  return async (directory) => {
    try {
      let said = ''
      await replaceFolder(join(directory, 'db'), async (copy) => {
        const { time, bytes, avoided } = await askedOf(place, () =>
          restoreDatabase({
            place,
            path: join(copy, 'data.mdb'),
            until,
            progress: (done, all) => progress?.(`part ${done} of ${all}`),
          }),
        )
        said = `: ${formatBytes(bytes)}, the state of ${new Date(time).toISOString()}`
        for (const what of avoided)
          context.warn(`${what}. Nothing is missing: other steps lead to the same state.`)
      })
      return said
    } finally {
      progress?.(null)
    }
  }
}

/** Prints what can be restored, a snapshot a line, with the last state that its steps lead to. */
async function list({ print }: CommandContext, place: Place): Promise<number> {
  const steps = stepsOf(await askedOf(place, () => place.list(''))).filter(({ isWhole }) => isWhole)
  const snapshots = steps.filter(isSnapshot).toSorted((a, b) => a.time - b.time)
  if (snapshots.length === 0) throw new DataRefused(`There is no whole snapshot in ${place.address}.`)
  const iso = (time: number) => new Date(time).toISOString()
  for (const [i, { time, line }] of snapshots.entries()) {
    const next = snapshots[i + 1]?.time ?? Infinity
    const last = chainTo(
      steps.filter((step) => step.line === line),
      Math.max(time, next - 1),
    )?.at(-1)
    print(`snapshot ${iso(time)}, any time up to ${iso(last?.time ?? time)}, database ${databaseOf(line)}`)
  }
  return 0
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
async function whatItLacks(
  directory: string,
  { random, environment }: CommandContext,
): Promise<string | null> {
  const keyFile = environment['KEY_FILE'] || join(directory, KEY_FILE)
  const kv = lmdbKv({ path: join(directory, 'db') })
  try {
    const opens = async (key: Uint8Array) =>
      opensSecrets(kv, await createSecretBox(key, (count) => random.bytes(count)))
    const { kind } = await judgeKey(kv, keyFile, opens, { newKey: true })
    if (kind !== 'lost') return null
    const sealed = sealedText(await countSealed(kv))
    const which = existsSync(keyFile) ? 'is not the key of its database' : 'is missing'
    return `${basename(keyFile)} ${which}, so that ${sealed} cannot be read and a server will not start. Put the right one at ${keyFile}, or start once with --new-key: each of them has to be given again then.`
  } finally {
    await kv.close()
  }
}

/** What is lost without the key, by what there is of it. */
function sealedText({ webhooks, channels, bridges, providers }: SealedCount): string {
  const counted = (count: number, of: string, noun: string) =>
    count === 0 ? [] : [`the ${of}${count === 1 ? '' : 's'} of ${count} ${noun}${count === 1 ? '' : 's'}`]
  const all = [
    ...counted(webhooks, 'secret', 'webhook'),
    ...counted(channels, 'secret', 'channel'),
    ...counted(bridges, 'secret', 'bridge'),
    ...counted(providers, 'key', 'provider'),
  ]
  const last = all.pop()
  if (last === undefined) return 'what a server seals'
  return all.length > 0 ? `${all.join(', ')} and ${last}` : last
}
