// `chartroom nodes`: the servers on a database, and what each of them does.

import { ranges } from '../lib/shards.ts'
import type { FleetNode } from '../store/postgres/fleet.ts'
import { parseFlags, type Command, valued } from './command.ts'
import { withDatabase } from './data.ts'
import { formatNumber, formatTime, right, tableLines } from './table.ts'

const FLAGS = { ...valued('store') }

export const nodesCommand: Command = {
  name: 'nodes',
  usage: '[--store ADDRESS]',
  summary: 'List the servers that serve from a database.',
  help: () =>
    [
      '  --store ADDRESS  The database, postgres://… (STORE in the environment)',
      '',
      'HEARD is how long ago a server last said that it is alive, LAG how far behind the changes of the others it was',
      'then, SHARDS which of the 256 shards of work it does. Servers of two neighbouring versions may serve at a time.',
    ].join('\n'),
  run: (context) =>
    withDatabase(context, parseFlags(context.args, FLAGS), async ({ nodes }) => {
      const found = await nodes()
      if (found.length === 0) context.print('No server serves from the database.')
      else for (const line of tableLines(COLUMNS, found.map(rowOf), context.ink)) context.print(line)
      return 0
    }),
}

const COLUMNS = ['SERVER', 'VERSION', 'STARTED (UTC)', right('HEARD'), right('LAG'), 'SHARDS'] as const

function rowOf({ name, version, startedAt, silentMs, lagMs, shards }: FleetNode): string[] {
  return [
    name,
    version ?? 'unknown',
    formatTime(startedAt.getTime()),
    `${formatNumber(silentMs / 1000, 0)} s`,
    lagMs === null ? '–' : `${formatNumber(lagMs, 0)} ms`,
    shards.length === 0 ? 'none' : `${shards.length}: ${ranges(shards)}`,
  ]
}
