// Makes the OpenAPI 3.1 document from the routes and from the schemas that also validate: TypeBox schemas are JSON Schema.

import type { TSchema } from '@sinclair/typebox'
import { deliveredBody, RECEIVER_EVENTS, type ReceiverEvent } from '../wire/event.ts'
import { ErrorAnswer } from '../wire/problem.ts'
import { accessParts } from './access.ts'
import type { AccessOptions } from './visit.ts'
import { COLUMNS_TYPE } from '../wire/columns.ts'
import { ABOUT_COLUMNS, aboutErrors, headerParameters, HEADERS, responsesOf } from './responses.ts'

export interface Route {
  readonly method: string
  readonly path: string
  readonly hooks: unknown
}

interface Detail {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly hide?: boolean
  readonly 'x-access'?: string
  readonly 'x-options'?: AccessOptions
  readonly 'x-answer'?: TSchema
  readonly 'x-accepted'?: TSchema
  /** For routes that read their body themselves. */
  readonly requestBody?: object
}

export interface Hooks {
  readonly body?: TSchema
  readonly query?: TSchema
  readonly params?: TSchema
  readonly detail?: Detail
}

export function openApiDocument(
  routes: readonly Route[],
  { version, url }: { version: string; url: string },
): object {
  const schemas: Record<string, unknown> = {}
  hoist(ErrorAnswer, schemas)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, hooks } of routes) {
    const { body, query, params, detail = {} } = hooks as Hooks
    if (detail.hide || !path.startsWith('/api/') || method === 'WS') continue
    const route = {
      method,
      path: path.replace(/\/$/, ''),
      options: detail['x-options'] ?? { to: 'none' },
      hasBody: body !== undefined,
      hasQuery: query !== undefined,
    }
    const at = route.path.replace(/:(\w+)/g, '{$1}')
    const contentOf = (answer: TSchema | undefined) =>
      answer ? { content: json(hoist(answer, schemas)) } : { content: undefined }
    const done = contentOf(detail['x-answer'])
    if (done.content && route.options.columns) Object.assign(done.content, AS_COLUMNS)
    const answers = { done, accepted: contentOf(detail['x-accepted']) }
    const operation = {
      operationId: operationId(method, at),
      summary: detail.summary,
      description: description(detail),
      tags: detail.tags,
      security: security(detail['x-access'] ?? 'none'),
      parameters: [
        ...pathParameters(at, params, schemas),
        ...queryParameters(query, schemas),
        ...headerParameters(route),
      ],
      ...(body && { requestBody: { required: true, content: json(hoist(body, schemas)) } }),
      ...(detail.requestBody && { requestBody: hoist(detail.requestBody, schemas) }),
      responses: responsesOf(route, answers),
    }
    paths[at] = { ...paths[at], [method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Chartroom',
      version,
      description: aboutErrors(),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    paths,
    webhooks: webhooks(schemas),
    components: {
      schemas,
      headers: HEADERS,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'session' },
        'api-token': { type: 'http', scheme: 'bearer', bearerFormat: 'crm_pat_…' },
      },
    },
  }
}

const AS_COLUMNS = {
  [COLUMNS_TYPE]: { schema: { type: 'string', format: 'binary', description: ABOUT_COLUMNS } },
}

/** The events that the server posts to receivers, which OpenAPI 3.1 lists beside the paths. */
function webhooks(schemas: Record<string, unknown>): object {
  const events = Object.keys(RECEIVER_EVENTS) as ReceiverEvent[]
  return Object.fromEntries(
    events.map((event) => [
      event,
      {
        post: {
          operationId: `event${pascal(event)}`,
          summary: `\`${event}\``,
          security: [],
          requestBody: { required: true, content: json(hoist(deliveredBody(event), schemas)) },
          responses: { '2XX': { description: 'Taken; anything else is tried again.' } },
        },
      },
    ]),
  )
}

const json = (schema: unknown) => ({ 'application/json': { schema } })

function operationId(method: string, path: string): string {
  return `${method.toLowerCase()}${pascal(path.replace(/^\/api(\/platform)?/, ''))}`
}

/** `alert.triggered` and `/alerts/{id}` in one word. */
function pascal(name: string): string {
  const words = name.split(/[/{}\-.]+/).filter(Boolean)
  return words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')
}

function description({ description, 'x-access': access = 'none' }: Detail): string | undefined {
  return [description, needsOf(access)].filter(Boolean).join('\n\n') || undefined
}

function needsOf(access: string): string | undefined {
  const { label, scopes, tokens } = accessParts(access)
  if (!tokens) return 'Needs a session; takes no token.'
  if (scopes.length === 0) return undefined
  const named = scopes.map((scope) => `\`${scope}\``).join(' and ')
  return label === 'none'
    ? `A token without ${named} is answered as nobody is: with what is public.`
    : `Scope: ${named}.`
}

function security(access: string): object[] {
  const { label, tokens } = accessParts(access)
  const session = { session: [] }
  const token = { 'api-token': [] }
  if (!tokens) return [session]
  if (label === 'none') return [{}, session, token]
  return label === 'session' ? [session, token] : [token, session]
}

function pathParameters(
  path: string,
  params: TSchema | undefined,
  schemas: Record<string, unknown>,
): object[] {
  const properties = (params?.properties ?? {}) as Record<string, TSchema>
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = properties[name]
    return { name, in: 'path', required: true, schema: schema ? hoist(schema, schemas) : { type: 'string' } }
  })
}

function queryParameters(query: TSchema | undefined, schemas: Record<string, unknown>): object[] {
  const required = new Set((query?.required ?? []) as string[])
  const properties = (query?.properties ?? {}) as Record<string, TSchema>
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.has(name) && { required: true }),
    schema: hoist(schema, schemas),
  }))
}

/** A plain copy of a schema, with references to named components in place of the schemas with an `$id`. */
function hoist(schema: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema))
    if (name === 'properties') copy[name] = hoistEach(value as object, schemas)
    else if (!OURS.has(name) && !isElysias(name, value) && !(name === 'minLength' && value === 0))
      copy[name] = hoist(value, schemas)
  // TypeBox writes tuples as drafts before 2020-12 did.
  if (Array.isArray(copy.items)) {
    copy.prefixItems = copy.items
    delete copy.items
    delete copy.additionalItems
  }
  const variants = copy.anyOf as { const?: unknown }[] | undefined
  if (variants?.length && variants.every((variant) => 'const' in variant)) {
    delete copy.anyOf
    copy.enum = variants.map((variant) => variant.const)
  }
  // A value says its type.
  if ('const' in copy) delete copy.type
  const id = (schema as { $id?: string }).$id
  if (id === undefined) return copy
  schemas[id] = copy
  return { $ref: `#/components/schemas/${id}` }
}

/** Keywords of ours that JSON Schema does not have. */
const OURS: ReadonlySet<string> = new Set(['$id', 'expected', 'form', 'unit', 'means', 'heading'])

/** Elysia forbids unknown fields in a body's schema at its first use; here they are permitted, with a warning. */
function isElysias(name: string, value: unknown): boolean {
  return name === 'additionalProperties' && value === false
}

/** Leaves the property names alone, whatever they are. */
function hoistEach(properties: object, schemas: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, hoist(value, schemas)]))
}
