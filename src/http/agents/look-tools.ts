// Tools that find and read.

import { Type } from '@sinclair/typebox'
import type { OperationName } from '../../wire/operations.ts'
import { AgentError } from './agent-error.ts'
import { KINDS, marketRow, readerOf, rowsOf } from './kinds.ts'
import {
  call,
  callText,
  Refused,
  refuseIfLacking,
  send,
  unlessLacking,
  wholeText,
  type Agent,
  type Json,
} from './call.ts'
import { foundOperations, operationNamed, operationText, takenBy } from './operations.ts'
import { readResource } from './resources.ts'
import { isInstant, LONG, PRICE_DIGITS, rounded, timeText } from './short.ts'
import { marketOf, symbolsOf } from './subjects.ts'
import { readBacktest } from './backtests.ts'
import { scanRows, sweepReply } from './work-tools.ts'
import { arg, optional, out, sized, tool, type Reply } from './tool.ts'

export const FIND = tool({
  name: 'find',
  title: 'Find',
  description:
    'List or search what is here, by kind: markets (with bars), symbols (of providers), scripts, backtests, followed (live paper runs), alerts, help, pine (the language) …',
  input: Type.Object({
    kind: optional(Type.Union(KINDS.map((kind) => Type.Literal(kind)))),
    q: optional(arg.text(200, 'Words')),
    limit: arg.limit(100, 10),
  }),
  output: { items: out.list, total: out.number },
  hints: { readOnly: true },
  example: { kind: 'markets' },
  size: ({ limit }) => (typeof limit === 'number' && limit > 10 ? LONG : undefined),
  async run(agent, { kind = 'any', q = '', limit = 10 }) {
    const rows = await rowsOf(agent, kind, q)
    if (rows.length === 0) refuseIfLacking(agent)
    const items = rows.slice(0, limit)
    const more = rows.length > items.length ? [callText('find', { kind, ...(q && { q }), limit: 100 })] : []
    const id = items.find((row) => typeof row['id'] === 'string')?.['id']
    const leads = kind === 'any' && rows.length === 0 ? [callText('find', { kind: 'help', q })] : []
    return {
      items,
      total: rows.length,
      next: [...(id === undefined ? [] : [callText('read', { id })]), ...more, ...leads],
    }
  },
})

export const READ = tool({
  name: 'read',
  title: 'Read',
  description:
    'Read one thing by its id: bt_… backtest, sw_… sweep, scan_…, fwd_… followed, scr_… script, al_… alert, help/fills, pine/ta. Backtests show the bars before the hold-out.',
  input: Type.Object({
    id: arg.id,
    part: optional(
      Type.Union(
        ['figures', 'trades', 'script'].map((part) => Type.Literal(part)),
        { default: 'figures' },
      ),
    ),
    limit: arg.limit(500, 10),
    max_chars: arg.chars,
  }),
  output: { id: out.text },
  hints: { readOnly: true },
  example: { id: 'bt_1', part: 'trades' },
  size: sized,
  async run(agent, { id, part = 'figures', limit = 10 }) {
    if (/^(help|pine)\//.test(id)) return readText(agent, id)
    if (id.startsWith('bt_')) return readBacktest(agent, id, part, limit)
    if (id.startsWith('sw_')) return sweepReply(agent, id)
    if (id.startsWith('scan_')) return scanRows(agent, id, { limit })
    const reader = readerOf(id)
    if (!reader)
      throw new Refused('This is no id. Ids begin with the kind, such as bt_… or scr_…; find names them.', [
        callText('find', { q: id.slice(0, 100) }),
      ])
    const answer = JSON.parse(await wholeText(await send(agent, reader.name, { path: { id } }))) as Json
    const { ok: _ok, ...rest } = answer
    return { id, ...rest, next: followedBy(id) }
  },
})

function followedBy(id: string): string[] {
  if (id.startsWith('scr_')) return [callText('run', { script: id })]
  if (id.startsWith('fwd_')) return [callText('explain_difference', { kind: 'live', id })]
  if (id.startsWith('al_')) return [callText('alert', { action: 'pause', id })]
  return []
}

async function readText(agent: Agent, id: string): Promise<Reply> {
  const found = await readResource(`chartroom://${id}`, {
    articles: agent.deps.features.support.articles,
    read: () => Promise.reject(new Error('assertion failed: neither help nor the language is an operation')),
  }).catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error
    const [kind = '', name = ''] = id.split('/')
    throw new Refused(`There is no ${id.slice(0, 100)}.`, [callText('find', { kind, q: name.slice(0, 100) })])
  })
  return { id, text: found.text }
}

export const BARS = tool({
  name: 'bars',
  title: 'Bars',
  description:
    'The newest bars of a market, or those from `start` on: time,open,high,low,close,volume a line.',
  input: Type.Object({
    market: arg.market,
    start: optional(arg.text(40, 'ISO 8601')),
    end: optional(arg.text(40, 'ISO 8601')),
    limit: arg.limit(2000, 20),
  }),
  output: { market: out.text, bars: out.texts },
  hints: { readOnly: true },
  example: { market: 'BTCUSDT 1h', limit: 20 },
  size: ({ limit }) => (typeof limit === 'number' && limit > 20 ? LONG : undefined),
  async run(agent, { market, start, end, limit = 20 }) {
    const { note, ...series } = await marketOf(agent, market)
    const query = { ...series, limit: String(limit), ...(start && { start }), ...(end && { end }) }
    const { bars, interval } = await call(agent, 'GET /api/platform/bars', { query })
    const lines = bars.time.map((time, i) =>
      [
        timeText(time),
        ...[bars.open, bars.high, bars.low, bars.close, bars.volume].map((column) =>
          rounded(column[i] ?? 0, PRICE_DIGITS),
        ),
      ].join(),
    )
    const name = `${series.exchange}:${series.symbol} ${interval}`
    return {
      market: name,
      bars: lines,
      note,
      next: [callText('find', { kind: 'markets', q: series.symbol })],
    }
  },
})

export const ACCOUNT = tool({
  name: 'account',
  title: 'Account',
  description:
    'Who you act for, what your token may do, the time here, and the markets there are. A good first call.',
  input: Type.Object({}),
  output: { user: out.text, may: out.texts },
  hints: { readOnly: true },
  example: {},
  async run(agent) {
    const { caller, deps } = agent
    const may = caller.via === 'api-token' ? caller.token.scopes : ['everything of its user']
    const markets = await unlessLacking(symbolsOf(agent))
    return {
      user: caller.user.id,
      by: caller.via,
      may,
      now: timeText(deps.clock.now()),
      version: deps.settings.version,
      markets: markets?.slice(0, 5).map(marketRow),
      marketCount: markets?.length,
      next: [callText('run', { script: '…Pine source…' }), callText('find', { kind: 'help', q: 'agent' })],
    }
  },
})

export const FIND_OPERATION = tool({
  name: 'find_operation',
  title: 'Find an operation',
  description:
    'Search all operations of the HTTP API, for what no other tool does (import bars, webhooks, portfolios, layouts …). With a whole name, `METHOD /path`, all about it.',
  input: Type.Object({ q: Type.String({ minLength: 1, maxLength: 200 }), max_chars: arg.chars }),
  output: { operations: out.list },
  hints: { readOnly: true },
  example: { q: 'import bars' },
  size: sized,
  run: async (_agent, { q }) => {
    const exact = operationNamed(q)
    if (exact)
      return { operations: [operationText(exact)], next: [callText('call_operation', { name: exact })] }
    const [first, ...others] = foundOperations(q)
    if (!first) return { operations: [], next: [callText('find', { kind: 'help', q })] }
    return {
      operations: [{ ...first, ...takenBy(first.name) }, ...others],
      next: [callText('call_operation', { name: first.name }), callText('find_operation', { q: first.name })],
    }
  },
})

/** From when to when a series goes, which no call takes back. */
const spanTold = (name: string, value: unknown) =>
  (name === 'first' || name === 'last') && typeof value === 'number' && isInstant(name, value)
    ? timeText(value)
    : value

/** A market that is named in one, `NASDAQ:AAPL`, where the operation takes its exchange apart. */
function withExchange(name: OperationName, query: Json = {}): Json {
  const { symbol, exchange } = query
  const [, before, behind] = /^([^:]+):(.+)$/.exec(typeof symbol === 'string' ? symbol : '') ?? []
  const isApart = takenBy(name)['query'] as Json | undefined
  return before === undefined || exchange !== undefined || isApart?.['exchange'] === undefined
    ? query
    : { ...query, exchange: before, symbol: behind }
}

export const CALL_OPERATION = tool({
  name: 'call_operation',
  title: 'Call an operation',
  description:
    'Call any operation that find_operation names, with the same permissions. A file of bars goes into `body` as text.',
  input: Type.Object({
    name: arg.text(200, 'METHOD /path, with its braces'),
    path: optional(Type.Record(Type.String(), Type.Unknown())),
    query: optional(Type.Record(Type.String(), Type.Unknown())),
    body: optional(Type.Unknown()),
    max_chars: arg.chars,
  }),
  output: {},
  hints: { readOnly: false, destructive: true, openWorld: true },
  example: { name: 'GET /api/platform/watchlists/{id}', path: { id: 'wl_1' } },
  size: sized,
  async run(agent, { name, max_chars: _max, ...given }) {
    const operation = operationNamed(name)
    if (!operation)
      throw new Refused('There is no such operation.', [
        callText('find_operation', { q: name.slice(0, 100) }),
      ])
    const response = await send(agent, operation, { ...given, query: withExchange(operation, given.query) })
    const type = response.headers.get('content-type') ?? ''
    if (!/^(application\/json|text\/(csv|plain|markdown))/.test(type)) {
      await response.body?.cancel()
      throw new Refused(
        `It answers ${type.split(';')[0] || 'a stream'}, which is not for agents. A person can fetch it at its address.`,
      )
    }
    const text = await wholeText(response)
    if (!type.startsWith('application/json')) return { text }
    const { ok: _ok, ...answer } = JSON.parse(text, spanTold) as Json
    return answer
  },
})
