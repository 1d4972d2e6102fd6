// An agent's session, with the protocol's own client.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { testServer } from './server.ts'

type Server = ReturnType<typeof testServer>

/** The protocol's own client, with a token. */
export async function clientOf({ app }: Pick<Server, 'app'>, headers: Readonly<Record<string, string>>) {
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
      size: content?.text.length ?? 0,
      // Whatever a tool answers.
      // oxlint-disable-next-line typescript/no-explicit-any
      answer: JSON.parse(content?.text ?? 'null') as Record<string, any>,
    }
  }
  return { client, use }
}
