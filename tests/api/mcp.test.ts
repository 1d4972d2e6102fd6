// An agent's session, with the protocol's own client.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { testServer } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(60_000)

async function agent(scopes: readonly string[]) {
  const { app, signUp, token, call } = testServer()
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
  return { client, use, call, cookie }
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
})

test('without a credential there is nothing', async () => {
  const { call } = testServer()
  const answer = await call('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })
  expect([answer.status, answer.json.error.code]).toEqual([401, 'unauthenticated'])
})
