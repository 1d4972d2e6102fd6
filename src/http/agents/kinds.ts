// What there is to find and to read, kind by kind: the list it stands in, and what of an item is told in a row.

import { builtinNames } from '../../language/editor.ts'
import { HIT_TYPES } from '../../people/search/indexes.ts'
import type { OperationName } from '../../wire/operations.ts'
import { call, lackedBy, wholeText, send, unlessLacking, type Agent, type Json } from './call.ts'
import { timeText } from './short.ts'
import { symbolsOf } from './subjects.ts'

interface Kind {
  readonly list: OperationName
  readonly field: string
  /** The operation that reads one, by the prefix of its ids. */
  readonly one?: readonly [prefix: string, name: OperationName, field: string]
  readonly row: (item: Json) => Json
}

const pick =
  (...names: readonly string[]) =>
  (item: Json): Json =>
    Object.fromEntries(names.map((name) => [name, item[name]]))

const marketText = (item: Json) =>
  `${String(item['exchange'])}:${String(item['symbol'])} ${String(item['interval'])}`
const when = (value: unknown) => (typeof value === 'number' ? timeText(value) : value)

const KEPT: Readonly<Record<string, Kind>> = {
  scripts: {
    list: 'GET /api/platform/scripts',
    field: 'scripts',
    one: ['scr', 'GET /api/platform/scripts/{id}', 'script'],
    row: pick('id', 'name', 'kind'),
  },
  backtests: {
    list: 'GET /api/platform/backtests',
    field: 'backtests',
    row: (item) => ({
      ...pick('id', 'name', 'state', 'counted')(item),
      market: marketText(item),
      at: when(item['createdAt']),
    }),
  },
  sweeps: {
    list: 'GET /api/platform/sweeps',
    field: 'sweeps',
    row: (item) => ({ ...pick('id', 'name', 'state', 'tried')(item), market: marketText(item) }),
  },
  scans: {
    list: 'GET /api/platform/scans',
    field: 'scans',
    row: pick('id', 'name', 'state', 'interval', 'markets', 'conditions'),
  },
  portfolios: {
    list: 'GET /api/platform/portfolios',
    field: 'portfolios',
    one: ['pf', 'GET /api/platform/portfolios/{id}', 'portfolio'],
    row: pick('id', 'name', 'state'),
  },
  followed: {
    list: 'GET /api/platform/forward-runs',
    field: 'forwardRuns',
    one: ['fwd', 'GET /api/platform/forward-runs/{id}', 'forwardRun'],
    row: (item) => ({
      ...pick('id', 'name', 'state', 'position', 'equity')(item),
      market: marketText(item),
    }),
  },
  alerts: {
    list: 'GET /api/platform/alerts',
    field: 'alerts',
    one: ['al', 'GET /api/platform/alerts/{id}', 'alert'],
    row: (item) => ({
      ...pick('id', 'name', 'kind', 'op', 'price', 'state', 'firings')(item),
      market: marketText(item),
    }),
  },
  firings: {
    list: 'GET /api/platform/alerts/firings',
    field: 'firings',
    row: (item) => ({
      ...pick('id', 'alertId', 'price', 'message')(item),
      market: marketText(item),
      at: when(item['firedAt']),
      acknowledged: item['acknowledgedAt'] !== null,
    }),
  },
  ideas: {
    list: 'GET /api/platform/ideas',
    field: 'ideas',
    one: ['idea', 'GET /api/platform/ideas/{id}', 'idea'],
    row: pick('id', 'title', 'visibility'),
  },
  watchlists: {
    list: 'GET /api/platform/watchlists',
    field: 'watchlists',
    one: ['wl', 'GET /api/platform/watchlists/{id}', 'watchlist'],
    row: (item) => ({
      ...pick('id', 'name')(item),
      symbols: Array.isArray(item['items']) ? item['items'].length : 0,
    }),
  },
  webhooks: {
    list: 'GET /api/platform/webhooks',
    field: 'webhooks',
    one: ['wh', 'GET /api/platform/webhooks/{id}', 'webhook'],
    row: pick('id', 'name', 'url', 'events', 'status'),
  },
  channels: {
    list: 'GET /api/platform/channels',
    field: 'channels',
    one: ['ch', 'GET /api/platform/channels/{id}', 'channel'],
    row: pick('id', 'name', 'kind', 'status'),
  },
}

export const KINDS = ['any', 'markets', 'symbols', ...Object.keys(KEPT), 'help', 'pine'] as const

/** As many of a kind are looked through for a text. */
const LOOKED_THROUGH = '100'

/** Rows of one kind that have all words of `q`. */
export async function rowsOf(agent: Agent, kind: string, q: string): Promise<readonly Json[]> {
  if (kind === 'any') return anyRows(agent, q)
  if (kind === 'markets') return (await symbolsOf(agent)).map(marketRow).filter(having(q))
  if (kind === 'symbols') {
    const { symbols } = await call(agent, 'GET /api/platform/symbols/search', { query: { q, limit: '50' } })
    return symbols.map(({ exchange, symbol, description, type, stored }) => ({
      market: `${exchange}:${symbol}`,
      description,
      type,
      stored,
    }))
  }
  if (kind === 'help') return helpRows(agent, q)
  if (kind === 'pine') return pineRows(q)
  const { list, field, row } = KEPT[kind]!
  const answer = JSON.parse(
    await wholeText(await send(agent, list, { query: { limit: LOOKED_THROUGH } })),
  ) as Record<string, readonly Json[]>
  return (answer[field] ?? []).map(row).filter(having(q))
}

/** Whether a row has every word of the text somewhere. */
function having(q: string): (row: Json) => boolean {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return (row) => {
    const text = JSON.stringify(row).toLowerCase()
    return words.every((word) => text.includes(word))
  }
}

type Facts = Awaited<ReturnType<typeof symbolsOf>>[number]

export const marketRow = ({ exchange, symbol, type, series }: Facts): Json => ({
  market: `${exchange}:${symbol}`,
  type,
  bars: series.map(
    ({ interval, count, first, last }) => `${interval}: ${count}, ${timeText(first)} to ${timeText(last)}`,
  ),
})

async function helpRows({ deps }: Agent, q: string): Promise<Json[]> {
  const { articles } = deps.features.support
  const found = q.trim() === '' ? articles : deps.features.support.ask(q)
  return found.map(({ id, title }) => ({ id: `help/${id}`, title }))
}

function pineRows(q: string): Json[] {
  const text = q.trim().toLowerCase()
  const names = builtinNames(false).filter(({ kind }) => kind !== 'keyword')
  const begins = names.filter(({ name }) => name.toLowerCase().startsWith(text))
  const others = names.filter(
    ({ name, doc }) =>
      !begins.some((one) => one.name === name) && `${name} ${doc}`.toLowerCase().includes(text),
  )
  return [...begins, ...others].map(({ name, kind, detail, doc }) => ({
    name: kind === 'function' ? `${name}${detail}` : name,
    doc,
  }))
}

/** The search over what is kept, help, and markets, as far as the credential reaches. */
async function anyRows(agent: Agent, q: string): Promise<Json[]> {
  if (q.trim() === '') return [...(await rowsOf(agent, 'markets', ''))]
  const { results } = await call(agent, 'GET /api/search', { query: { q, limit: '20' } })
  lackedBy(
    agent,
    HIT_TYPES.map((type) => `${type}s:read` as const),
  )
  const kept = results.map(({ type, id, title }) => ({ kind: type, id, title }))
  const markets = (await unlessLacking(rowsOf(agent, 'markets', q))) ?? []
  return [...kept, ...markets.slice(0, 5), ...(await helpRows(agent, q)).slice(0, 5)]
}

/** The operation that reads one with this id, and the field of its answer. */
export function readerOf(id: string): { readonly name: OperationName; readonly field: string } | null {
  const prefix = id.slice(0, Math.max(0, id.indexOf('_')))
  for (const { one } of Object.values(KEPT))
    if (one && one[0] === prefix) return { name: one[1], field: one[2] }
  return null
}
