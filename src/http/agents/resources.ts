// What an agent may read beside calling tools: the reference of the language, the help, and the user's scripts.
//
//     chartroom://pine/ta          every name of one name space, with signatures; `language` are those without one
//     chartroom://help/webhooks    an article
//     chartroom://scripts/ID       the source of a script; only with the scope that reads scripts

import type { Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'
import { builtinNames, type Completion } from '../../language/editor.ts'
import type { Article } from '../../people/support/support.ts'
import { AgentError, wrongParams } from './agent-error.ts'

const URI_SHOWN = 200

/** Calls a route that answers JSON, with the agent's credential. */
type Read = (path: string) => Promise<{ readonly ok: boolean; readonly text: string }>

interface Readable {
  readonly articles: readonly Article[]
  readonly read: Read
}

export const RESOURCE_TEMPLATES: readonly ResourceTemplate[] = [
  {
    name: 'language',
    uriTemplate: 'chartroom://pine/{namespace}',
    description: 'The Pine Script names of a name space, with signatures.',
    mimeType: 'text/markdown',
  },
  {
    name: 'help',
    uriTemplate: 'chartroom://help/{article}',
    description: 'A help article about Chartroom.',
    mimeType: 'text/markdown',
  },
  {
    name: 'script',
    uriTemplate: 'chartroom://scripts/{id}',
    description: 'The source of one of the user’s scripts.',
    mimeType: 'text/plain',
  },
]

/** Everything that can be read. Scripts are left out if the token may not read them. */
export async function listResources({ articles, read }: Readable): Promise<Resource[]> {
  return [
    ...[...namespaces().keys()].map((name) => ({
      uri: `chartroom://pine/${name}`,
      name: `pine/${name}`,
      title: name === LANGUAGE ? 'Pine Script: names without a name space' : `Pine Script: ${name}.*`,
      mimeType: 'text/markdown',
    })),
    ...articles.map(({ id, title }) => ({
      uri: `chartroom://help/${id}`,
      name: `help/${id}`,
      title,
      mimeType: 'text/markdown',
    })),
    ...(await scriptResources(read)),
  ]
}

async function scriptResources(read: Read): Promise<Resource[]> {
  const { ok, text } = await read('/api/platform/scripts?limit=100')
  if (!ok) return []
  const { scripts } = JSON.parse(text) as { scripts: readonly { id: string; name: string }[] }
  return scripts.map(({ id, name }) => ({
    uri: `chartroom://scripts/${id}`,
    name: `scripts/${id}`,
    title: name,
    mimeType: 'text/plain',
  }))
}

/** The content of a resource. Rejects with a sentence that the agent can act on. */
export async function readResource(uri: string, { articles, read }: Readable) {
  if (uri === '') throw wrongParams('resources/read', 'uri', '')
  const [, kind = '', id = ''] = /^chartroom:\/\/(\w+)\/(\w[\w.-]*)$/.exec(uri) ?? []
  const markdown = (text: string) => ({ uri, mimeType: 'text/markdown', text })
  if (kind === 'pine') {
    const names = namespaces().get(id) ?? builtinNames(false).filter(({ name }) => name === id)
    if (names.length > 0) return markdown(referenceOf(id, names))
  }
  if (kind === 'help') {
    const article = articles.find((one) => one.id === id)
    if (article) return markdown(`# ${article.title}\n\n${article.body}`)
  }
  if (kind === 'scripts') {
    const { ok, text } = await read(`/api/platform/scripts/${encodeURIComponent(id)}`)
    const answer = JSON.parse(text) as {
      script?: { source: string }
      error?: { code: string; message: string }
    }
    if (ok) return { uri, mimeType: 'text/plain', text: answer.script?.source ?? '' }
    if (answer.error?.code !== 'script_not_found')
      throw new Error(answer.error?.message ?? `${uri} can't be read.`)
  }
  throw new AgentError(
    'resource_not_found',
    `There is no resource ${uri.slice(0, URI_SHOWN)}; resources/list names them all.`,
    { uri },
  )
}

// ——— the language ———

const LANGUAGE = 'language'

function namespaces(): Map<string, Completion[]> {
  const names = builtinNames(false).filter(({ kind }) => kind !== 'keyword')
  return Map.groupBy(names, ({ name }) =>
    name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : LANGUAGE,
  )
}

function referenceOf(namespace: string, names: readonly Completion[]): string {
  const entries = names.map(({ name, kind, detail, doc }) => {
    const declared = kind === 'function' ? `${name}${detail}` : `${name}: ${detail || kind}`
    return `- \`${declared}\`${doc && ` ${doc}`}`
  })
  return `# Pine Script: ${namespace}\n\n${entries.join('\n')}\n`
}
