// An agent's session, with the protocol's own client.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { SCOPES } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { rejection } from '../rejection.ts'
import { testServer } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

async function agent(scopes: readonly string[], engine: 'real' | 'stand-in' = 'stand-in') {
  const { app, services, signUp, token, call, pool } = testServer(undefined, { engine })
  const cookie = await signUp()
  const headers = await token(cookie, scopes)
  const client = new Client({ name: 'test', version: '0' })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers },
    fetch: async (url, init) => app.handle(new Request(String(url), init)),
  })
  await client.connect(transport)
  // Knowing them, the client holds every answer against its tool's schema.
  await client.listTools()
  const use = async (name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args })
    const [content] = result.content as { text: string }[]
    return {
      failed: result.isError === true,
      structured: result.structuredContent,
      // Whatever a tool answers.
      // oxlint-disable-next-line typescript/no-explicit-any
      answer: JSON.parse(content?.text ?? 'null') as Record<string, any>,
    }
  }
  return { client, use, call, cookie, services, pool }
}

test('an agent that waits to be told something is refused, for a stream would never say anything', async () => {
  const { call, signUp, token } = testServer()
  const headers = await token(await signUp(), ['search:read'])
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const answer = await call(method, '/mcp', { headers: { ...headers, accept: 'text/event-stream' } })
    expect([answer.status, answer.json.error.code, answer.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'POST',
    ])
  }
})

describe('an agent', () => {
  test('finds tools whose arguments are the routes’ own', async () => {
    const { client } = await agent(['search:read'])
    const { tools } = await client.listTools()
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    for (const name of [
      'check_script',
      'run_backtest',
      'compare_backtests',
      'get_report',
      'get_trades',
      'import_bars',
      'create_alert',
      'search',
    ])
      expect(byName.has(name)).toBe(true)
    expect(byName.get('run_backtest')?.inputSchema.required?.toSorted()).toEqual([
      'bars',
      'exchange',
      'interval',
      'name',
      'source',
      'symbol',
    ])
    expect(byName.get('get_report')?.inputSchema.required).toEqual(['id'])
    expect(byName.get('import_bars')?.inputSchema.required).toEqual(['symbol', 'exchange', 'interval', 'csv'])
    for (const { description } of tools) expect(description?.length).toBeGreaterThan(5)
  })
  test('does what its token allows', async () => {
    const { use, call, cookie } = await agent([
      'alerts:write',
      'alerts:read',
      'scripts:read',
      'bars:write',
      'bars:read',
    ])
    const alert = await use('create_alert', {
      symbol: 'S',
      exchange: 'E',
      interval: '1h',
      kind: 'price',
      op: 'above',
      price: 5,
      channels: ['webhook'],
    })
    expect(alert.failed).toBe(false)
    expect((await call('GET', '/api/platform/alerts', { headers: cookie })).json.alerts).toMatchObject([
      { symbol: 'S' },
    ])
    const { answer, structured } = await use('list_alerts')
    expect(answer.alerts).toHaveLength(1)
    expect(structured).toEqual(answer)
    expect(
      (await use('check_script', { source: '//@version=6\nindicator("x")\nplot(cloze)' })).answer.diagnostics,
    ).toHaveLength(1)
    const csv = 'time,open,high,low,close,volume\n2024-01-01,1,2,0.5,1.5,10\n2024-01-02,1.5,2,1,1.2,11\n'
    expect(
      (await use('import_bars', { symbol: 'S', exchange: 'E', interval: '1d', csv })).answer,
    ).toMatchObject({ rows: 2 })
    expect((await use('delete_alert', { id: alert.answer.id })).failed).toBe(false)
  })
  test('is told what it may not, and what was wrong', async () => {
    const { use } = await agent(['alerts:write'])
    expect(await use('save_script', { name: 'x', source: '' })).toMatchObject({
      failed: true,
      answer: { error: { code: 'insufficient_scope' } },
    })
    expect(await use('create_alert', { symbol: 'S' })).toMatchObject({
      failed: true,
      answer: { error: { code: 'validation_failed' } },
    })
    expect(await use('delete_alert', { id: '../../tokens' })).toMatchObject({
      failed: true,
      answer: { error: { code: 'alert_not_found' } },
    })
  })
  test('that leaves out an id is told so, rather than answered something else', async () => {
    const { use } = await agent(['backtests:read', 'backtests:write'])
    for (const tool of [
      'get_sweep',
      'get_portfolio',
      'get_scan',
      'get_report',
      'judge_backtest',
      'stop_sweep',
    ])
      for (const args of [{}, { id: null }, { id: '' }, { id: '.' }, { id: '..' }])
        expect(await use(tool, args)).toMatchObject({
          failed: true,
          answer: { error: { code: 'validation_failed', fields: [{ path: '/id', code: 'required' }] } },
        })
  })
})

test('every tool of an agent does what its route does', async () => {
  const { client, use, call, cookie, services, pool } = await agent(SCOPES, 'real')
  const used = new Set<string>()
  const done = async (name: string, args: Record<string, unknown> = {}) => {
    used.add(name)
    const { failed, answer } = await use(name, args)
    expect([name, failed, failed && answer]).toEqual([name, false, false])
    return answer
  }
  /** The tool answers what the address does. */
  const same = async (name: string, args: Record<string, unknown>, path: string) =>
    expect([name, await done(name, args)]).toEqual([
      name,
      (await call('GET', `/api${path}`, { headers: cookie })).json,
    ])
  const market = { exchange: 'E', symbol: 'S', interval: '1h' }
  const source =
    '//@version=6\nstrategy("mine")\nn = input.int(3, "N")\nif bar_index % n == 0\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")'

  await done('import_bars', { ...market, csv: barCsv(50) })
  await same('list_symbols', {}, '/platform/symbols')
  await same('get_bars', { ...market, limit: 3 }, '/platform/bars?exchange=E&symbol=S&interval=1h&limit=3')
  expect(await done('check_script', { source })).toMatchObject({ diagnostics: [] })
  const first = await done('run_backtest', { ...market, name: 'a', bars: 50, source })
  const second = await done('run_backtest', { ...market, name: 'b', bars: 40, source })
  expect([first['trials'], second['trials']]).toMatchObject([
    { counted: 1, sentence: expect.stringContaining('The only combination of this script tried on E:S 1h.') },
    { counted: 1 },
  ])
  expect((await done('get_report', { id: first['id'] }))['trials']).toMatchObject({ counted: 1 })
  await same('list_backtests', {}, '/platform/backtests')
  expect((await done('compare_backtests', { ids: [first['id'], second['id']] }))['backtests']).toHaveLength(2)
  const { report } = (await call('GET', `/api/platform/backtests/${first['id']}`, { headers: cookie })).json
    .result
  expect((await done('get_trades', { id: first['id'] }))['tradeCount']).toBe(report.trades.length)
  expect(JSON.stringify(await done('get_report', { id: first['id'] }))).toContain(
    String(report.all.netProfit),
  )
  await same('judge_backtest', { id: first['id'] }, `/platform/backtests/${first['id']}/verdict`)

  const { id: sweep } = await done('run_sweep', {
    ...market,
    name: 's',
    bars: 50,
    source,
    space: [{ input: 'N', values: [2, 3] }],
  })
  const { id: userId } = (await call('GET', '/api/auth/session', { headers: cookie })).json.user
  await services.features.sweeps.watch(userId, sweep, new AbortController().signal, () => {})
  await same('get_sweep', { id: sweep }, `/platform/sweeps/${sweep}`)
  await same('get_sweep_results', { id: sweep }, `/platform/sweeps/${sweep}/results`)
  await same('get_walk_forward', { id: sweep }, `/platform/sweeps/${sweep}/walk-forward`)
  await same('list_sweeps', {}, '/platform/sweeps')
  // It is over, and stays so.
  expect((await done('stop_sweep', { id: sweep }))['sweep'].state).toBe('done')

  const { id: scan } = await done('run_scan', {
    name: 'now',
    interval: '1h',
    bars: 50,
    symbols: [{ symbol: 'E:S' }],
    source,
  })
  const ended = () => services.features.scans.watch(userId, scan, new AbortController().signal, () => {})
  await ended()
  await same('get_scan', { id: scan }, `/platform/scans/${scan}`)
  await same('get_scan_results', { id: scan }, `/platform/scans/${scan}/results`)
  await same('list_scans', {}, '/platform/scans')
  await done('run_scan_again', { id: scan })
  await ended()
  expect((await done('stop_scan', { id: scan }))['scan'].state).toBe('done')
  const watch = { conditions: [], channels: ['email'], webhookIds: [] }
  expect((await done('watch_scan', { id: scan, watch }))['scan'].watch).toEqual(watch)

  const { id: portfolio } = await done('run_portfolio', {
    name: 'both',
    parts: [{ ...market, name: 'one', bars: 50, source }],
  })
  await services.features.portfolios.watch(userId, portfolio, new AbortController().signal, () => {})
  await same('get_portfolio', { id: portfolio }, `/platform/portfolios/${portfolio}`)
  await same('list_portfolios', {}, '/platform/portfolios')
  expect((await done('stop_portfolio', { id: portfolio }))['portfolio'].state).toBe('done')

  const { id: forward } = await done('start_forward_run', { ...market, name: 'on', source, warmup: 30 })
  await same('get_forward_run', { id: forward }, `/platform/forward-runs/${forward}`)
  await same('list_forward_runs', {}, '/platform/forward-runs')
  await same('get_forward_run_orders', { id: forward }, `/platform/forward-runs/${forward}/orders`)
  await same('compare_forward_run', { id: forward }, `/platform/forward-runs/${forward}/divergence`)
  expect((await done('stop_forward_run', { id: forward }))['forwardRun'].state).toBe('stopped')

  const { id: alert } = await done('create_alert', {
    ...market,
    kind: 'price',
    op: 'above',
    price: 1e9,
    channels: ['webhook'],
  })
  expect((await done('change_alert', { id: alert, price: 1 }))['alert']).toMatchObject({
    id: alert,
    price: 1,
  })
  await same('list_alerts', {}, '/platform/alerts')
  const { firings } = await done('list_firings')
  expect(firings).toMatchObject([{ alertId: alert, acknowledgedAt: null }])
  const seen = await done('acknowledge_firing', { id: firings[0].id })
  expect(seen['firing'].acknowledgedAt).toBeGreaterThan(0)
  await same('list_channels', {}, '/platform/channels')
  await done('delete_alert', { id: alert })

  const { id: script } = await done('save_script', { name: 'mine', source })
  expect((await done('change_script', { id: script, name: 'ours' }))['script']).toMatchObject({
    name: 'ours',
  })
  await same('get_script', { id: script }, `/platform/scripts/${script}`)
  await same('list_scripts', {}, '/platform/scripts')
  await done('publish_idea', { title: 'Zebra', body: 'b', visibility: 'public' })
  await same('list_ideas', {}, '/platform/ideas')
  await done('import_watchlist', { name: 'w', items: [{ symbol: 'S' }] })
  await same('list_watchlists', {}, '/platform/watchlists')
  await done('register_webhook', { name: 'h', url: 'https://hook.example/', events: ['alert.triggered'] })
  await same('list_webhooks', {}, '/platform/webhooks')
  await same('list_deliveries', {}, '/platform/webhooks/deliveries')
  await same('search', { q: 'zebra' }, '/search?q=zebra')
  expect((await done('ask_help', { query: 'import bars' }))['answers'].length).toBeGreaterThan(0)
  await done('delete_backtest', { id: second['id'] })
  expect((await call('GET', `/api/platform/backtests/${second['id']}`, { headers: cookie })).status).toBe(404)

  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([])
  pool.close()
})

test('without a credential there is nothing', async () => {
  const { call } = testServer()
  const answer = await call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
  expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthenticated'])
})

describe('what an agent may read', () => {
  const textOf = async (client: Client, uri: string) => {
    const { contents } = await client.readResource({ uri })
    return (contents[0] as { text: string }).text
  }

  test('is the language, the help, and the scripts of the user, whatever their names are', async () => {
    const { client, use } = await agent(['scripts:write', 'scripts:read'])
    const { id } = (await use('save_script', { name: 'Скрипт 📈', source: 'indicator("Ω")' })).answer
    const { resources } = await client.listResources()
    const titles = new Map(resources.map(({ uri, title }) => [uri, title]))
    expect(titles.get(`chartroom://scripts/${id}`)).toBe('Скрипт 📈')
    expect(titles.get('chartroom://help/fills')).toBeString()
    expect(await textOf(client, `chartroom://scripts/${id}`)).toBe('indicator("Ω")')
    expect(await textOf(client, 'chartroom://pine/ta')).toContain('`ta.sma(')
    expect(await textOf(client, 'chartroom://pine/chart.point')).toContain('chart.point.new(')
    expect(await textOf(client, 'chartroom://pine/language')).toContain('`close: ')
    for (const uri of titles.keys()) expect((await textOf(client, uri)).length).toBeGreaterThan(10)
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['language', 'help', 'script'])
  })

  test('is no script of another, none without the scope, and no address that is made up', async () => {
    const server = testServer()
    const mine = await server.signUp()
    const { id } = (
      await server.call('POST', '/api/platform/scripts', {
        headers: mine,
        body: { name: 's', source: 'indicator("secret")' },
      })
    ).json
    const readers = [
      await server.token(await server.signUp('other@example.com'), ['scripts:read']),
      await server.token(mine, ['alerts:read']),
    ]
    for (const headers of readers) {
      const client = new Client({ name: 'test', version: '0' })
      await client.connect(
        new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
          requestInit: { headers },
          fetch: async (url, init) => server.app.handle(new Request(String(url), init)),
        }),
      )
      expect(JSON.stringify(await client.listResources())).not.toContain(id)
      for (const uri of [
        `chartroom://scripts/${id}`,
        'chartroom://scripts/..',
        'chartroom://pine/nothing',
        'x',
      ])
        expect(String(await rejection(client.readResource({ uri })))).not.toContain('secret')
    }
  })

  test('a resource that is not named is asked for in a sentence', async () => {
    const { call, signUp, token } = testServer()
    const headers = {
      ...(await token(await signUp(), ['scripts:read'])),
      accept: 'application/json, text/event-stream',
    }
    for (const params of [undefined, {}, { uri: 5 }, { uri: '' }]) {
      const body = { jsonrpc: '2.0', id: 1, method: 'resources/read', params }
      const { text } = await call('POST', '/mcp', { headers, body })
      expect(text).toContain('"code":-32602')
      expect(text).toContain('`resources/read` needs `uri`, the address of a resource')
    }
  })

  test('what is not there has the code that the protocol has for it, so that no agent tries again', async () => {
    const { client } = await agent(['scripts:read'])
    for (const uri of ['chartroom://scripts/nothing', 'chartroom://pine/nothing', 'chartroom://a/b', 'x'])
      expect(await rejection(client.readResource({ uri }))).toMatchObject({ code: -32002, data: { uri } })
    for (const [name, given] of [
      ['write_strategy', {}],
      ['write_strategy', { idea: ' ' }],
      ['nothing', {}],
    ] as const)
      expect(await rejection(client.getPrompt({ name, arguments: given }))).toMatchObject({ code: -32602 })
    expect(await rejection(client.callTool({ name: 'nothing' }))).toMatchObject({ code: -32602 })
  })

  test('prompts name tools that there are, and say what they need', async () => {
    const { client } = await agent(['scripts:read'])
    const { tools } = await client.listTools()
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual([
      'write_strategy',
      'fix_script',
      'optimise_strategy',
      'explain_strategy',
    ])
    for (const { name, arguments: taken = [] } of prompts) {
      const given = Object.fromEntries(taken.map((one) => [one.name, `<${one.name}>`]))
      const { messages } = await client.getPrompt({ name, arguments: given })
      const text = JSON.stringify(messages)
      for (const value of Object.values(given)) expect(text).toContain(value)
      const named = text.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []
      expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(named))
      expect(String(await rejection(client.getPrompt({ name, arguments: {} })))).toContain(`${name} needs`)
    }
    expect(String(await rejection(client.getPrompt({ name: 'toString' })))).toContain('There is no prompt')
  })
})

test('lists are short unless an agent asks for more', async () => {
  const { use, client } = await agent(['ideas:write', 'ideas:read'])
  for (let i = 0; i < 22; i++) await use('publish_idea', { title: `t${i}`, body: 'b', visibility: 'private' })
  expect((await use('list_ideas')).answer.ideas).toHaveLength(20)
  expect((await use('list_ideas', { limit: 22 })).answer.ideas).toHaveLength(22)
  const { tools } = await client.listTools()
  const limits = Object.fromEntries(
    tools.map(({ name, inputSchema }) => [
      name,
      (inputSchema.properties?.['limit'] as { default: number })?.default,
    ]),
  )
  expect(limits).toMatchObject({ list_ideas: 20, get_bars: 200, get_trades: 50, create_alert: undefined })
})
