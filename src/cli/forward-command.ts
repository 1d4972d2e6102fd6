// `chartroom forward`: strategies that a server follows from now on.

import { ForwardRuns } from '../work/forward/forward-runs.ts'
import { idSource } from '../lib/ids.ts'
import { libraryFor } from '../people/scripts/scripts.ts'
import { hostFor } from '../work/runs/host.ts'
import { loadSamples } from '../market/sample.ts'
import {
  onlyOf,
  parseArguments,
  subcommands,
  UsageError,
  wholeOf,
  type Command,
  type CommandContext,
  switched,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData, type Data } from './data.ts'
import { withJobs } from './jobs-here.ts'
import { intervalOf, ownerIn, tickerOf } from './script-bars.ts'
import { DAY_FLAG, DAY_HELP, readScript, settingsOf } from './script-file.ts'
import { formatNumber, formatTime, right, tableLines } from './table.ts'

export const forwardCommand: Command = {
  name: 'forward',
  usage: 'start SCRIPT.pine --symbol E:S --interval I | list | orders ID | compare ID | stop ID',
  summary: 'Follow a strategy on paper from now on.',
  help: () =>
    [
      '  forward start SCRIPT.pine     A server on the same data takes it up within a minute, a closed bar at a time',
      '  forward list                  The runs of the owner, with position and equity',
      '  forward orders ID             What was placed, filled and withdrawn since it began',
      '  forward compare ID            How a backtest of the bars as they are stored now differs, and why',
      '  forward stop ID               It is kept as it is',
      '',
      '  --exchange E --symbol S --interval I',
      '                       The market; --symbol BINANCE:BTCUSDT names both',
      '  --name NAME          That of the file if not given',
      '  --warmup N           Bars of the past that it sees first: 1000 if not given',
      '  --provisional        Also tell of orders on the bar that is not over, and confirm or retract them later',
      `  --inputs JSON        Values of inputs: '{"Length": 20}'`,
      `  --properties JSON    Arguments of strategy() instead of the script's`,
      DAY_HELP.replace('DAY  ', 'DAY '),
      DATA_HELP,
    ].join('\n'),
  run: subcommands('forward', {
    start,
    list,
    orders,
    compare,
    stop,
  }),
}

/** The room over the data directory, without a loop: a server advances the runs. */
function withRuns(
  context: CommandContext,
  flags: Parameters<typeof withData>[1],
  work: (runs: ForwardRuns, userId: string, data: Data) => Promise<number>,
): Promise<number> {
  return withData(context, flags, async (data) => {
    const { kv, bars } = data
    await loadSamples(bars)
    return withJobs(context, 1, async ({ pool, limits, log }) => {
      const runs = new ForwardRuns({
        kv,
        clock: context.clock,
        newId: idSource(context),
        log,
        bars,
        pool,
        limits,
        hostFor: (seen, userId, key, of) => hostFor(seen, libraryFor(kv, userId), key, of),
        deliver: async () => [],
        told: () => {},
      })
      return work(runs, await ownerIn(kv), data)
    })
  })
}

async function start(context: CommandContext): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, {
    ...DATA_FLAGS,
    ...DAY_FLAG,
    ...valued('exchange', 'symbol', 'interval', 'name', 'warmup', 'inputs', 'properties'),
    ...switched('provisional'),
  })
  const { name, source } = await readScript(context, onlyOf(positionals, 'script'))
  const { exchange, symbol } = tickerOf(flags)
  if (exchange === '' || symbol === '' || flags.interval === undefined)
    throw new UsageError('Name the market with --exchange, --symbol and --interval.')
  const body = {
    name: flags.name ?? name,
    exchange,
    symbol,
    interval: intervalOf(flags.interval),
    source,
    ...settingsOf(context, flags),
    ...(flags.warmup !== undefined && { warmup: wholeOf(flags.warmup, '--warmup', 1, 20_000) }),
    ...(flags.provisional && { provisional: true }),
  }
  return withRuns(context, flags, async (runs, userId) => {
    const { id, warmup, position, asOf } = await runs.create(userId, body)
    context.print(`${id} follows ${exchange}:${symbol} ${body.interval} from now on, as of ${asOf}.`)
    context.print(`${formatNumber(warmup, 0)} bars before it; it begins with a position of ${position}.`)
    return 0
  })
}

async function list(context: CommandContext): Promise<number> {
  const { flags } = parseArguments(context.args, DATA_FLAGS)
  return withRuns(context, flags, async (runs, userId) => {
    const { items } = await runs.list(userId, { limit: 50 })
    if (items.length === 0) context.print('No strategy is followed.')
    const rows = items.map((run) => [
      run.id,
      run.name,
      `${run.exchange}:${run.symbol} ${run.interval}`,
      run.error ? `${run.state}: ${run.error.message}` : run.state,
      formatNumber(run.bars, 0),
      formatTime(run.last),
      String(run.position),
      `${formatNumber(run.equity, 2)} ${run.currency}`,
    ])
    if (rows.length > 0) for (const line of tableLines(COLUMNS, rows)) context.print(line)
    return 0
  })
}

const COLUMNS = [
  'ID',
  'NAME',
  'MARKET',
  'STATE',
  right('BARS'),
  'NEWEST (UTC)',
  right('POSITION'),
  right('EQUITY'),
] as const

const idOf = (context: CommandContext) => {
  const { flags, positionals } = parseArguments(context.args, DATA_FLAGS)
  return { flags, id: onlyOf(positionals, 'id of a forward run') }
}

async function orders(context: CommandContext): Promise<number> {
  const { flags, id } = idOf(context)
  return withRuns(context, flags, async (runs, userId) => {
    const rows = (await runs.orders(userId, id)).map((order) => [
      formatTime(order.time),
      order.event,
      order.status,
      order.orderId,
      order.side,
      String(order.qty),
      order.price === null ? (order.type ?? '–') : String(order.price),
      String(order.position),
    ])
    const columns = ['BAR (UTC)', 'EVENT', 'STATUS', 'ORDER', 'SIDE', 'SIZE', 'PRICE', 'POSITION']
    if (rows.length === 0) context.print('Nothing has been ordered since it began.')
    else for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function compare(context: CommandContext): Promise<number> {
  const { flags, id } = idOf(context)
  return withRuns(context, flags, async (runs, userId) => {
    const { equal, said, equity, backtestEquity } = await runs.divergence(userId, id)
    context.print(said)
    context.print(`Equity ${formatNumber(equity, 2)}, of the backtest ${formatNumber(backtestEquity, 2)}.`)
    return equal ? 0 : 1
  })
}

async function stop(context: CommandContext): Promise<number> {
  const { flags, id } = idOf(context)
  return withRuns(context, flags, async (runs, userId) => {
    const { bars } = await runs.stop(userId, id)
    context.print(`${id} is stopped after ${formatNumber(bars, 0)} bars.`)
    return 0
  })
}
