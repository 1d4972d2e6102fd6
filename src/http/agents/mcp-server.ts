// The server behind /mcp: tools, what can be read, and prompts, as the protocol speaks of them. Each request is independent:
// the server keeps no sessions.

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
import type { ApiDeps } from '../access.ts'
import { credentialOf } from '../inner-request.ts'
import type { Caller } from '../visit.ts'
import { wrongParams } from './agent-error.ts'
import type { Agent } from './call.ts'
import { PROMPTS, promptText } from './prompts.ts'
import { listResources, readResource, RESOURCE_TEMPLATES } from './resources.ts'
import { LISTED_TOOLS, useTool } from './tools.ts'

/** What is used here of the protocol's schemas. */
interface RequestSchema {
  readonly shape: {
    readonly method: { readonly value: string }
    readonly params: { catch(refuse: (wrong: Wrong) => never): unknown }
  }
  extend(shape: object): Parameters<Server['setRequestHandler']>[0]
}
interface Wrong {
  readonly error: { readonly issues: readonly { path: readonly PropertyKey[]; message: string }[] }
}

/** Says in a sentence what is wrong with a request; the protocol's own code tells it as a failure of the server. */
class PlainServer extends Server {
  override setRequestHandler(...[schema, handler]: Parameters<Server['setRequestHandler']>): void {
    const request = schema as unknown as RequestSchema
    const { method, params } = request.shape
    const refuse = ({ error: { issues } }: Wrong) => {
      const [{ path, message } = { path: [], message: 'not as expected' }] = issues
      throw wrongParams(method.value, path.join('.'), message.replace(/^Invalid input: /, ''))
    }
    super.setRequestHandler(request.extend({ params: params.catch(refuse) }), handler)
  }
}

/** Answers one message of an agent whose token has been checked. */
export async function answerMcp(
  deps: ApiDeps,
  { request, caller, body }: { readonly request: Request; readonly caller: Caller; readonly body: unknown },
): Promise<Response> {
  const credential = credentialOf(request)
  const server = serverFor({ deps, caller, credential, signal: request.signal, lacking: new Set() })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: withArguments(body) })
}

/** A tool that is called with no object of arguments passes as one called with none, or the agent would be told a failure of ours. */
function withArguments(body: unknown): unknown {
  const { method, params } = body as { method?: unknown; params?: { arguments?: unknown } | null }
  const given = params?.arguments
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  return method !== 'tools/call' || given === undefined || isObject
    ? body
    : { ...(body as object), params: { ...params, arguments: {} } }
}

function serverFor(agent: Agent): Server {
  const { deps } = agent
  const server = new PlainServer(
    { name: 'chartroom', title: 'Chartroom', version: deps.settings.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions:
        'Research on a self-hosted Chartroom: write Pine Script, run, judge. Rates and chances are fractions (0.05 = 5%), times UTC. The newest bars of each market are held out and tries are counted: say what judge says.',
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: LISTED_TOOLS }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }): Promise<CallToolResult> => {
    const { failed, content } = await useTool(agent, params.name, params.arguments ?? {})
    const text = JSON.stringify(content)
    return {
      content: [{ type: 'text', text }],
      ...(failed ? { isError: true } : { structuredContent: content }),
    }
  })
  const readable = { articles: deps.features.support.articles, read: (path: string) => read(agent, path) }
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: await listResources(readable),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [...RESOURCE_TEMPLATES],
  }))
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => ({
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

async function read({ deps, credential }: Agent, path: string) {
  const headers = { ...credential, accept: 'application/json' }
  const response = await deps.inner(new Request(`http://localhost${path}`, { headers }))
  return { ok: response.ok, text: await response.text() }
}
