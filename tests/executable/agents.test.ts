// An agent at the executable, which leaves out parts of the SDK and of the schemas that it brings.

import { afterAll, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { BUILT, Place } from './server.ts'

describe.each(BUILT)('%s', (mode) => {
  const place = new Place(mode)
  afterAll(() => place.remove())

  test('an agent finds tools, resources and prompts, and is told what is wrong with a call', async () => {
    const server = await place.serve()
    await server.signUp()
    const scopes = ['scripts:read', 'bars:read', 'backtests:read', 'backtests:write']
    const { json } = await server.call('POST', '/api/platform/tokens', { scopes })
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${server.base}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${json.secret}` } },
    })
    try {
      await client.connect(transport)
      const { tools } = await client.listTools()
      expect(tools.length).toBeGreaterThan(10)
      expect((await client.listResources()).resources.length).toBeGreaterThan(0)
      expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
      const source = '//@version=6\nstrategy("x")\nif close > open\n    strategy.entry("L", strategy.long)'
      const right = await client.callTool({ name: 'run', arguments: { script: source, market: 'SP:SPX 1d' } })
      expect([right.isError ?? false, JSON.stringify(right.content)]).toEqual([
        false,
        expect.stringContaining('rofit'),
      ])
      const wrong = await client.callTool({ name: 'run', arguments: { script: 3 } })
      expect([wrong.isError, JSON.stringify(wrong.content)]).toEqual([
        true,
        expect.stringContaining('script expected'),
      ])
    } finally {
      await client.close()
      await server.stop()
    }
  }, 60_000)
})
