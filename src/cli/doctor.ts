// `chartroom doctor`: checks that the database is intact and that everything in it is where it should be.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHUNKS } from '../store/lmdb-chunks.ts'
import { calmly } from '../store/check-database.ts'
import { examine, type Findings } from '../store/examine.ts'
import { KEY_FILE } from '../store/instance-key.ts'
import { FileDamage } from '../store/lmdb-file.ts'
import { DOCUMENTS } from '../store/lmdb.ts'
import { PID_FILE } from '../store/server-lock.ts'
import { parseFlags, type Command, type CommandContext } from './command.ts'
import { DATA_FLAGS, DATA_HELP, directoryOf } from './data.ts'
import { formatBytes, formatNumber } from './table.ts'

export const doctorCommand: Command = {
  name: 'doctor',
  usage: '',
  summary: 'Read a database without changing it, and say what is wrong.',
  help: () =>
    [
      DATA_HELP,
      '',
      'Exit code: 0 nothing is wrong, 1 something is, 2 it could not be read. Beside a busy server, look at a backup.',
    ].join('\n'),
  run: (context) => {
    const flags = parseFlags(context.args, DATA_FLAGS)
    const directory = directoryOf(context, flags, 'Ask the database itself, with pg_amcheck.')
    return Promise.resolve(diagnose(directory, context))
  },
}

function diagnose(directory: string, { print, warn }: CommandContext): number {
  const path = join(directory, 'db', 'data.mdb')
  const isServed = existsSync(join(directory, PID_FILE))
  try {
    const keyPath = join(directory, KEY_FILE)
    const key = existsSync(keyPath) ? readFileSync(keyPath) : null
    // A server may be writing meanwhile, so what seems wrong is checked again.
    const findings = calmly(() => examine(path, key))
    if (!findings) {
      warn(`There is no database in ${directory}.`)
      return 2
    }
    for (const line of linesOf(path, findings)) print(line)
    return findings.wrong.length > 0 ? 1 : 0
  } catch (error) {
    if (error instanceof FileDamage) {
      warn(`${path} ${error.message}.`)
      warn(
        isServed
          ? 'A server may be writing to it: stop it, or look at a backup (`chartroom backup FOLDER`).'
          : 'Move the directory away and put a backup in its place with `chartroom restore FOLDER`.',
      )
      return 1
    }
    warn(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
    return 2
  }
}

function linesOf(path: string, findings: Findings): string[] {
  const { file, layout, records, indexEntries, series, bars, pending, wrong } = findings
  const waiting = Object.entries(pending).map(([name, count]) => `${formatNumber(count, 0)} ${name}`)
  const isOld = file.tables.size > 0 && !file.tables.has(CHUNKS.name) && file.tables.has('series')
  return [
    `File       ${path}, ${formatBytes(file.bytes)}, transaction ${file.transaction}: every page in use is whole`,
    `Layout     ${layout ?? 'none yet'}${isOld ? ', of version 0.1.0: the next start carries it over' : ''}`,
    `Documents  ${formatNumber(file.tables.get(DOCUMENTS.name) ?? 0, 0)}: ${formatNumber(records, 0)} records, ${formatNumber(indexEntries, 0)} index entries`,
    ...(isOld ? [] : [`Bars       ${formatNumber(bars, 0)} in ${formatNumber(series, 0)} series`]),
    `Pending    ${waiting.join(', ') || 'nothing'}`,
    '',
    ...(wrong.length > 0 ? wrong : ['Nothing is wrong.']),
  ]
}
