// `chartroom backtests`: lists, pins and deletes stored runs. `backtest` runs one.

import { endReplays } from '../work/replay/session.ts'
import { removeRuns } from '../work/runs/commits.ts'
import { runs, type Run } from '../work/runs/records.ts'
import type { Tx } from '../store/transaction.ts'
import {
  parseArguments,
  subcommands,
  UsageError,
  type Command,
  type CommandContext,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { formatTime, tableLines } from './table.ts'
import { findUser } from './user-command.ts'

const BACKTESTS_FLAGS = { ...DATA_FLAGS, ...valued('user', 'limit') }
const LISTED = 50
const LISTED_MAX = 9999

export const backtestsCommand: Command = {
  name: 'backtests',
  usage: 'list | pin ID… | unpin ID… | delete ID…  --user EMAIL',
  summary: 'List, pin and delete stored backtests.',
  help: () =>
    [
      '  backtests list          Newest first',
      '  backtests pin ID…       They stay when the oldest make room (MAX_BACKTESTS)',
      '  backtests unpin ID…',
      '  backtests delete ID…    With report, chart data and replays',
      '',
      '  --user EMAIL         Whose',
      `  --limit N            How many to list; ${LISTED}`,
      DATA_HELP,
    ].join('\n'),
  run: subcommands('backtests', {
    list,
    pin: (context) => setPin(context, true),
    unpin: (context) => setPin(context, false),
    delete: remove,
  }),
}

async function list(context: CommandContext): Promise<number> {
  const { flags, email, ids } = flagsOf(context)
  const limit = Number(flags.limit ?? LISTED)
  if (ids.length > 0) throw new UsageError('A list takes no ids.')
  if (!Number.isInteger(limit) || limit < 1 || limit > LISTED_MAX)
    throw new UsageError(`--limit is a number from 1 to ${LISTED_MAX}.`)
  return withData(context, flags, async ({ kv, accounts }) => {
    const { items } = await runs(kv).list('user', [(await findUser(accounts, email)).id], { limit })
    const columns = ['ID', 'NAME', 'MARKET', 'STATE', 'PINNED', 'MADE']
    for (const line of tableLines(columns, items.map(rowOf))) context.print(line)
    return 0
  })
}

const rowOf = ({ id, name, exchange, symbol, interval, state, pinned = false, createdAt }: Run): string[] => [
  id,
  name,
  `${exchange}:${symbol} ${interval}`,
  state,
  pinned ? 'pinned' : '',
  formatTime(createdAt),
]

async function setPin(context: CommandContext, pinned: boolean): Promise<number> {
  const { flags, email, ids } = flagsOf(context)
  requireIds(ids)
  return withData(context, flags, async ({ kv, accounts }) => {
    const user = await findUser(accounts, email)
    let changed = 0
    for (const id of ids)
      if (await runs(kv).update(id, (run) => (run.userId === user.id ? { ...run, pinned } : null))) changed++
    context.print(`${counted(changed)} ${pinned ? 'pinned' : 'unpinned'}.`)
    return missing(context, ids.length - changed)
  })
}

async function remove(context: CommandContext): Promise<number> {
  const { flags, email, ids } = flagsOf(context)
  requireIds(ids)
  return withData(context, flags, async ({ kv, accounts }) => {
    const { clock } = context
    const hooks = [{ removed: (tx: Tx, { id }: Run) => endReplays(kv, tx, id) }]
    const removed = await removeRuns({ kv, clock }, (await findUser(accounts, email)).id, ids, hooks)
    context.print(`${counted(removed.length)} deleted.`)
    return missing(context, new Set(ids).size - removed.length)
  })
}

function requireIds(ids: readonly string[]): void {
  if (ids.length === 0) throw new UsageError('Name the backtests by their ids; `backtests list` shows them.')
}

const counted = (count: number) => (count === 1 ? '1 backtest' : `${count} backtests`)

/** Exit code 1 if an id does not exist: scripts must not take that for success. */
function missing({ warn }: CommandContext, count: number): number {
  if (count > 0) warn(`${counted(count)} of those named ${count === 1 ? 'is' : 'are'} not this user’s.`)
  return count > 0 ? 1 : 0
}

function flagsOf(context: CommandContext) {
  const { flags, positionals } = parseArguments(context.args, BACKTESTS_FLAGS)
  if (flags.user === undefined) throw new UsageError('Whose? Name the account with --user EMAIL.')
  return { flags, email: flags.user, ids: positionals }
}
