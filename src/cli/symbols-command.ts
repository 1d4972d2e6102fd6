// `chartroom symbols`: finds symbols in the lists of providers, as the search of a server on the same data does.

import { SymbolLists, type SymbolListStatus } from '../people/feeds/symbol-lists.ts'
import { SYMBOL_TYPES } from '../lib/symbol-type.ts'
import { marketName } from '../lib/market-name.ts'
import { isSameSymbol } from '../market/bar-cache.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import { SYMBOL_LISTS } from '../market/listings/symbol-lists.ts'
import { loadSamples } from '../market/sample.ts'
import {
  parseArguments,
  UsageError,
  wholeOf,
  type Command,
  type CommandContext,
  switched,
  valued,
} from './command.ts'
import { configOf, DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { defaultHttp, providersWithKeys } from './providers-here.ts'
import { formatNumber, formatTime, right, tableLines } from './table.ts'

const FLAGS = {
  ...DATA_FLAGS,
  ...valued('exchange', 'type', 'provider', 'limit'),
  ...switched('json'),
}

const SHOWN = 20
const SHOWN_MAX = 100

export const symbolsCommand: Command = {
  name: 'symbols',
  usage: '[TEXT …] [--exchange E] [--type T] [--provider NAME]',
  summary: 'Find symbols in the lists of providers.',
  help: () =>
    [
      '  TEXT                  A ticker, words of a name, or TradingView’s way: apple nasdaq, BINANCE:BTCUSDT, KRAKEN:',
      '                        Without it the lists are shown, and how they are',
      '  --exchange E          Only of this exchange',
      `  --type T              Only of this type: ${SYMBOL_TYPES.join(', ')}`,
      '  --provider NAME       Use the list of this provider from now on: Binance, Kraken, Nasdaq Trader …',
      '                        A list is fetched once a day, and only of a provider that somebody has chosen',
      `  --limit N             ${SHOWN} if not given, ${SHOWN_MAX} at most`,
      '  --json                As GET /api/platform/symbols/search answers',
      DATA_HELP,
    ].join('\n'),
  run,
}

async function run(context: CommandContext): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, FLAGS)
  const type = typeOf(flags.type)
  const limit = wholeOf(flags.limit ?? String(SHOWN), '--limit', 1, SHOWN_MAX)
  const exchange = flags.exchange === undefined ? undefined : marketName(flags.exchange)
  const text = positionals.join(' ')
  const { FEEDS } = configOf(context.environment, flags)
  return withData(context, flags, async ({ kv, bars }) => {
    const keys = await providersWithKeys(context, flags, kv)
    const lists = new SymbolLists({
      kv,
      clock: context.clock,
      log: (_level, message) => context.warn(message),
      http: FEEDS === 'on' ? (context.http ?? defaultHttp) : null,
      lists: () => [...SYMBOL_LISTS, ...(keys?.lists() ?? [])],
    })
    if (flags.provider !== undefined) await lists.choose(flags.provider)
    // Asking begins to fetch what is due.
    await lists.status()
    context.progress?.('Fetching lists of symbols')
    await lists.settled().finally(() => context.progress?.(null))
    const found = await lists.search({ text, exchange, type, limit })
    await loadSamples(bars)
    const series = await bars.store.list()
    const intervalsOf = (one: Pick<SeriesKey, 'exchange' | 'symbol'>) => {
      const same = series.filter((stored) => isSameSymbol(stored, one))
      return [...new Set(same.map(({ interval }) => interval))]
    }
    const isAsking = text !== '' || exchange !== undefined || type !== undefined
    if (flags.json === true) {
      const symbols = (isAsking ? found.symbols : []).map(({ name, ...one }) => ({
        ...one,
        description: name,
        stored: intervalsOf(one).length > 0,
      }))
      context.print(JSON.stringify({ symbols, lists: found.lists }, null, 2))
      return 0
    }
    for (const line of isAsking ? [] : listLines(found.lists)) context.print(line)
    if (!isAsking) return 0
    for (const { provider, lastError } of found.lists)
      if (lastError !== null) context.warn(`The list of ${provider} could not be fetched: ${lastError}`)
    if (found.symbols.length === 0) {
      context.warn(nothingFound(found.lists))
      return 1
    }
    const rows = found.symbols.map((one) => [
      `${one.exchange}:${one.symbol}`,
      one.name,
      one.type,
      intervalsOf(one).join(' ') || '–',
    ])
    const columns = ['SYMBOL', 'NAME', 'TYPE', 'BARS HERE'] as const
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

function typeOf(text: string | undefined): (typeof SYMBOL_TYPES)[number] | undefined {
  if (text === undefined) return undefined
  const found = SYMBOL_TYPES.find((one) => one === text.toLowerCase())
  if (found) return found
  throw new UsageError(`--type is one of ${SYMBOL_TYPES.join(', ')}.`)
}

function listLines(lists: readonly SymbolListStatus[]): string[] {
  const rows = lists.map(({ provider, state, count, fetchedAt, lastError, exchanges }) => [
    provider,
    state,
    count === 0 ? '–' : formatNumber(count, 0),
    fetchedAt === null ? '–' : formatTime(fetchedAt),
    lastError ?? exchanges.join(', '),
  ])
  const columns = ['PROVIDER', 'LIST', right('SYMBOLS'), 'FETCHED (UTC)', 'EXCHANGES'] as const
  return tableLines(columns, rows)
}

function nothingFound(lists: readonly SymbolListStatus[]): string {
  const used = lists.filter(({ state }) => state !== 'unchosen')
  const others = lists.filter(({ state }) => state === 'unchosen').map(({ provider }) => provider)
  const more =
    others.length > 0 ? ` --provider NAME uses another list; there are those of ${others.join(', ')}.` : ''
  return used.length === 0
    ? `No list of symbols is used yet.${more}`
    : `Nothing of that name is in the lists of ${used.map(({ provider }) => provider).join(', ')}.${more}`
}
