// The server behind /mcp: its tools, and how they are called; what can be read, and prompts.
//
// A tool is a route of the API under another name. Its input schema is made from the route's schemas, and calling it calls
// the route with the agent's credential. So scopes, limits, validation and errors are the API's, and an agent can do
// nothing here that it could not do there. Each request is independent: the server keeps no sessions.

import type { TObject, TSchema } from '@sinclair/typebox'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { ShownAnswer } from '../work/workers/pick-job.ts'
import type { ApiDeps } from './access.ts'
import { PROMPTS, promptText } from './mcp-prompts.ts'
import { credentialOf } from './inner-request.ts'
import { AgentError } from './mcp-error.ts'
import { listResources, readResource, RESOURCE_TEMPLATES } from './mcp-resources.ts'
import { standingAlone, type Hooks, type Route } from './openapi.ts'

type Json = Record<string, unknown>

/** A request without an address passes as one for '', or the agent would be told a failure of the server. */
const READ_RESOURCE = ReadResourceRequestSchema.extend({
  params: ReadResourceRequestSchema.shape.params.catch({ uri: '' }),
})

interface Tool {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Replaces the route's own summary. */
  readonly description?: string
  /** The parts of a report that an agent is shown. */
  readonly show?: 'figures' | 'trades'
  /** How many items are answered unless the agent asks for another number: 20, if its route takes a limit. */
  readonly items?: number
  /** The answer may have many megabytes, so it is passed on as text that is not parsed here. */
  readonly large?: true
  /** The argument that is sent unchanged as the body, with this media type. */
  readonly text?: { readonly argument: string; readonly type: string; readonly description: string }
}

const platform = '/api/platform'
const TOOLS: readonly Tool[] = [
  {
    name: 'check_script',
    method: 'POST',
    path: `${platform}/scripts/check`,
    description: 'Compile Pine Script (v4, v5, v6) and list what is wrong with it, with positions and hints.',
  },
  {
    name: 'run_backtest',
    method: 'POST',
    path: `${platform}/backtests`,
    description:
      'Run a Pine Script strategy on cached bars. Answers the figures; read trades with get_trades.',
    show: 'figures',
  },
  { name: 'list_backtests', method: 'GET', path: `${platform}/backtests` },
  {
    name: 'get_report',
    method: 'GET',
    path: `${platform}/backtests/:id`,
    description:
      'The figures of a stored backtest, in the columns all, long and short, with its script and inputs.',
    show: 'figures',
  },
  {
    name: 'get_trades',
    method: 'GET',
    path: `${platform}/backtests/:id`,
    description:
      'The newest trades of a stored backtest, oldest of them first; `tradeCount` says how many there are.',
    show: 'trades',
    items: 50,
  },
  {
    name: 'run_sweep',
    method: 'POST',
    path: `${platform}/sweeps`,
    description:
      'Run a strategy with many choices of its inputs, to find the best of them and how much of it is luck. Answers at once; ask get_sweep until its state is done.',
  },
  {
    name: 'get_sweep',
    method: 'GET',
    path: `${platform}/sweeps/:id`,
    description:
      'A sweep with its verdict: the best trial, the chance that luck alone did this, walk-forward, overfitting.',
  },
  {
    name: 'judge_backtest',
    method: 'GET',
    path: `${platform}/backtests/:id/verdict`,
    description: 'How much of a stored backtest is luck, given how often its script was tried on its market.',
  },
  { name: 'list_sweeps', method: 'GET', path: `${platform}/sweeps` },
  { name: 'get_sweep_results', method: 'GET', path: `${platform}/sweeps/:id/results`, large: true },
  {
    name: 'get_walk_forward',
    method: 'GET',
    path: `${platform}/sweeps/:id/walk-forward`,
    description: 'What a sweep earned out of sample, window after window, as one curve of equity.',
    large: true,
  },
  { name: 'stop_sweep', method: 'POST', path: `${platform}/sweeps/:id/cancel` },
  {
    name: 'run_portfolio',
    method: 'POST',
    path: `${platform}/portfolios`,
    description:
      'Run several strategies, each on its market, with one pot of money. Answers at once; ask get_portfolio until its state is done.',
  },
  {
    name: 'get_portfolio',
    method: 'GET',
    path: `${platform}/portfolios/:id`,
    description:
      'A portfolio with its result: figures of the whole and of each part, what each contributes to profit and risk, how they go together.',
    large: true,
  },
  { name: 'list_portfolios', method: 'GET', path: `${platform}/portfolios` },
  { name: 'stop_portfolio', method: 'POST', path: `${platform}/portfolios/:id/cancel` },
  {
    name: 'start_forward_run',
    method: 'POST',
    path: `${platform}/forward-runs`,
    description:
      'Follow a strategy on paper from now on: it sees each bar of the market once it is closed. Ask get_forward_run for its position and equity.',
  },
  { name: 'get_forward_run', method: 'GET', path: `${platform}/forward-runs/:id` },
  { name: 'list_forward_runs', method: 'GET', path: `${platform}/forward-runs` },
  {
    name: 'get_forward_run_orders',
    method: 'GET',
    path: `${platform}/forward-runs/:id/orders`,
    large: true,
  },
  { name: 'compare_forward_run', method: 'GET', path: `${platform}/forward-runs/:id/divergence` },
  { name: 'stop_forward_run', method: 'POST', path: `${platform}/forward-runs/:id/stop` },
  {
    name: 'run_scan',
    method: 'POST',
    path: `${platform}/scans`,
    description:
      'Run a script over a watchlist, named symbols or everything cached, to see where its conditions hold now. Answers at once; ask get_scan until its state is done.',
  },
  { name: 'get_scan', method: 'GET', path: `${platform}/scans/:id` },
  {
    name: 'get_scan_results',
    method: 'GET',
    path: `${platform}/scans/:id/results`,
    description: 'Rows of a scan, a market each; choose them with where, order them with sort.',
    large: true,
  },
  { name: 'list_scans', method: 'GET', path: `${platform}/scans` },
  {
    name: 'watch_scan',
    method: 'PATCH',
    path: `${platform}/scans/:id`,
    description: 'Have the user told by e-mail or webhook when a condition of a scan becomes true somewhere.',
  },
  { name: 'run_scan_again', method: 'POST', path: `${platform}/scans/:id/run` },
  { name: 'stop_scan', method: 'POST', path: `${platform}/scans/:id/cancel` },
  { name: 'delete_backtest', method: 'DELETE', path: `${platform}/backtests/:id` },
  {
    name: 'list_symbols',
    method: 'GET',
    path: `${platform}/symbols`,
    description: 'Which symbols and intervals have cached bars.',
  },
  { name: 'get_bars', method: 'GET', path: `${platform}/bars`, large: true, items: 200 },
  {
    name: 'import_bars',
    method: 'POST',
    path: `${platform}/bars/import`,
    text: {
      argument: 'csv',
      type: 'text/csv',
      description: 'CSV with the header time,open,high,low,close,volume',
    },
  },
  { name: 'create_alert', method: 'POST', path: `${platform}/alerts` },
  { name: 'list_alerts', method: 'GET', path: `${platform}/alerts` },
  { name: 'change_alert', method: 'PATCH', path: `${platform}/alerts/:id` },
  { name: 'delete_alert', method: 'DELETE', path: `${platform}/alerts/:id` },
  { name: 'list_firings', method: 'GET', path: `${platform}/alerts/firings` },
  {
    name: 'acknowledge_firing',
    method: 'POST',
    path: `${platform}/alerts/firings/:id/acknowledge`,
  },
  { name: 'list_channels', method: 'GET', path: `${platform}/channels` },
  { name: 'save_script', method: 'POST', path: `${platform}/scripts` },
  { name: 'change_script', method: 'PATCH', path: `${platform}/scripts/:id` },
  { name: 'list_scripts', method: 'GET', path: `${platform}/scripts` },
  { name: 'get_script', method: 'GET', path: `${platform}/scripts/:id` },
  { name: 'publish_idea', method: 'POST', path: `${platform}/ideas` },
  { name: 'list_ideas', method: 'GET', path: `${platform}/ideas` },
  { name: 'import_watchlist', method: 'POST', path: `${platform}/watchlists/import` },
  { name: 'list_watchlists', method: 'GET', path: `${platform}/watchlists` },
  { name: 'register_webhook', method: 'POST', path: `${platform}/webhooks` },
  { name: 'list_webhooks', method: 'GET', path: `${platform}/webhooks` },
  { name: 'list_deliveries', method: 'GET', path: `${platform}/webhooks/deliveries` },
  { name: 'search', method: 'GET', path: '/api/search' },
  {
    name: 'ask_help',
    method: 'POST',
    path: '/api/support/chat',
    description: 'Find help articles about Chartroom itself.',
  },
]
const COMPARE = {
  name: 'compare_backtests',
  description: 'Put the key figures of two to ten stored backtests side by side.',
  inputSchema: {
    type: 'object' as const,
    properties: { ids: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 10 } },
    required: ['ids'],
  },
}

/** Who calls the tools, and what they call. */
interface Agent {
  readonly deps: ApiDeps
  readonly routes: readonly Route[]
  readonly userId: string
  readonly credential: Readonly<Record<string, string>>
}

/** Answers one message of an agent whose token has been checked. */
export async function answerMcp(
  deps: ApiDeps,
  routes: readonly Route[],
  { request, userId, body }: { readonly request: Request; readonly userId: string; readonly body: unknown },
): Promise<Response> {
  const server = serverFor({ deps, userId, routes, credential: credentialOf(request) })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: body })
}

function serverFor(agent: Agent): Server {
  const { deps, routes } = agent
  const server = new Server(
    { name: 'chartroom', version: deps.settings.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions:
        'Backtests, alerts and research on a self-hosted Chartroom. Times are UTC milliseconds, fractions are fractions.',
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...TOOLS.map((tool) => ({
        name: tool.name,
        description: descriptionOf(tool, routes),
        inputSchema: inputSchemaOf(tool, routes),
        outputSchema: outputSchemaOf(tool, routes),
      })),
      COMPARE,
    ],
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const args = params.arguments ?? {}
    if (params.name === COMPARE.name)
      return compare(args, (id) => perform(agent, toolNamed('get_report'), { id }))
    const tool = toolNamed(params.name)
    const { ok, text } = await perform(agent, tool, args)
    const isTyped = ok && answerSchemaOf(tool, routes) !== undefined
    return { ...answerOf({ ok, text }), ...(isTyped && { structuredContent: JSON.parse(text) as Json }) }
  })
  const readable = { articles: deps.features.support.articles, read: (path: string) => read(agent, path) }
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: await listResources(readable),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }))
  server.setRequestHandler(READ_RESOURCE, async ({ params }) => ({
    contents: [await readResource(params.uri, readable)],
  }))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [...PROMPTS] }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
    messages: [
      { role: 'user', content: { type: 'text', text: promptText(params.name, params.arguments ?? {}) } },
    ],
  }))
  return server
}

async function read({ deps, credential }: Agent, path: string): Promise<Performed> {
  const headers = { ...credential, accept: 'application/json' }
  const response = await deps.inner(new Request(`http://localhost${path}`, { headers }))
  return { ok: response.ok, text: await response.text() }
}

async function perform(
  { deps, routes, userId, credential }: Agent,
  tool: Tool,
  args: Json,
): Promise<Performed> {
  // Without an id, or with one that leads up the path, the call would reach another route, such as the list.
  const missing = idsOf(tool).find((id) => args[id] === null || /^\.{0,2}$/.test(textOf(args[id])))
  if (missing !== undefined) {
    const message = `\`${tool.name}\` needs \`${missing}\`.`
    const fields = [{ path: `/${missing}`, code: 'required', message }]
    return {
      ok: false,
      text: JSON.stringify({ ok: false, error: { code: 'validation_failed', message, fields } }),
    }
  }
  const response = await deps.inner(requestFor(tool, args, hooksOf(tool, routes), credential))
  const { ok, body } = response
  if (!ok || !tool.show || !body) return { ok, text: await response.text() }
  const what = tool.show === 'trades' ? { trades: shownTrades(args, tool) } : tool.show
  return { ok, text: await deps.features.texts.pick(userId, what, body) }
}

interface Performed {
  readonly ok: boolean
  /** JSON. */
  readonly text: string
}

function toolNamed(name: string): Tool {
  const tool = TOOLS.find((one) => one.name === name)
  if (!tool) throw new AgentError('invalid_params', `There is no tool ${name}; tools/list names them all.`)
  return tool
}

function answerOf({ ok, text }: Performed): CallToolResult {
  return { content: [{ type: 'text', text }], ...(!ok && { isError: true }) }
}

async function compare(args: Json, report: (id: string) => Promise<Performed>): Promise<CallToolResult> {
  const ids = Array.isArray(args['ids']) ? args['ids'].slice(0, 10).map(String) : []
  const reports = await Promise.all(ids.map(async (id) => ({ id, ...(await report(id)) })))
  const failed = reports.find(({ ok }) => !ok)
  if (failed) return answerOf(failed)
  const rows = reports.map(({ id, text }) => {
    const { backtest, report } = JSON.parse(text) as ShownAnswer
    const { summary, inputs, range, symbol, interval, equity } = report ?? {}
    return { id, name: backtest?.name, symbol, interval, range, inputs, summary, equity }
  })
  return answerOf({ ok: true, text: JSON.stringify({ backtests: rows }) })
}

function hooksOf({ method, path }: Tool, routes: readonly Route[]): Hooks {
  const route = routes.find((one) => one.method === method && one.path.replace(/\/$/, '') === path)
  if (!route) throw new Error(`assertion failed: no route for ${method} ${path}`)
  return route.hooks as Hooks
}

function descriptionOf(tool: Tool, routes: readonly Route[]): string {
  const { summary = '', description = '' } = hooksOf(tool, routes).detail ?? {}
  return tool.description ?? [summary, description].filter(Boolean).join('. ')
}

const objectOf = (schema: TSchema | undefined) => schema as TObject | undefined

function inputSchemaOf(tool: Tool, routes: readonly Route[]) {
  const hooks = hooksOf(tool, routes)
  const ids = idsOf(tool)
  const parts = [objectOf(hooks.query), tool.text ? undefined : objectOf(hooks.body)]
  const properties = Object.assign(
    {},
    ...ids.map((id) => ({ [id]: { type: 'string' } })),
    ...parts.map((part) => part?.properties ?? {}),
  ) as Record<string, object>
  const required = [...ids, ...parts.flatMap((part) => part?.required ?? [])]
  const items = itemsOf(tool, hooks)
  if (items !== undefined) properties['limit'] = { type: 'integer', minimum: 1, default: items }
  if (tool.text) {
    properties[tool.text.argument] = { type: 'string', description: tool.text.description }
    required.push(tool.text.argument)
  }
  return { type: 'object' as const, properties, required }
}

/** How many items a tool answers unless it is asked for another number, so that an answer fits the agent's context. */
function itemsOf({ items, show }: Tool, { query }: Hooks): number | undefined {
  const takesLimit = 'limit' in (objectOf(query)?.properties ?? {})
  return takesLimit || show === 'trades' ? (items ?? 20) : undefined
}

/** More trades than this fill any context. */
const TRADES_MAX = 2000

function shownTrades({ limit }: Json, { items = 0 }: Tool): number {
  return typeof limit === 'number' && limit >= 1 ? Math.min(Math.floor(limit), TRADES_MAX) : items
}

/** The schema of the route's answer; undefined if the tool shows only a part of the answer. */
function answerSchemaOf(tool: Tool, routes: readonly Route[]): TSchema | undefined {
  return tool.show || tool.large ? undefined : hooksOf(tool, routes).detail?.['x-answer']
}

function outputSchemaOf(tool: Tool, routes: readonly Route[]) {
  const answer = answerSchemaOf(tool, routes)
  return answer && standingAlone(answer)
}

/** The arguments that are part of the path. */
function idsOf({ path }: Tool): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '')
}

/** Puts the arguments where the route expects them: in the path, the query, or the body. */
function requestFor(tool: Tool, args: Json, hooks: Hooks, credential: Agent['credential']): Request {
  const url = new URL('http://localhost')
  url.pathname = tool.path.replace(/:(\w+)/g, (_whole, name: string) =>
    encodeURIComponent(textOf(args[name])),
  )
  const inQuery = Object.keys(objectOf(hooks.query)?.properties ?? {})
  const items = itemsOf(tool, hooks)
  if (items !== undefined && inQuery.includes('limit')) url.searchParams.set('limit', String(items))
  for (const name of inQuery)
    if (args[name] !== undefined && args[name] !== null) url.searchParams.set(name, textOf(args[name]))
  const elsewhere = new Set([...inQuery, ...idsOf(tool)])
  const body = tool.text
    ? textOf(args[tool.text.argument])
    : hooks.body &&
      JSON.stringify(Object.fromEntries(Object.entries(args).filter(([name]) => !elsewhere.has(name))))
  const type = tool.text?.type ?? 'application/json'
  return new Request(url.href, {
    method: tool.method,
    headers: {
      ...credential,
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && { body }),
  })
}

/** An argument as the text of an address. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
