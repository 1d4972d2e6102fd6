// The routes of the server's own OpenAPI document: the other sections attack whatever it documents.

import type { Client, Json } from './client.ts'

/** A JSON schema, as far as the document uses JSON Schema. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly $ref?: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

export interface Route {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Schemas by media type. */
  readonly bodies: ReadonlyMap<string, Schema>
  readonly security: readonly Json[]
  /** `backtests:write`, read from the description; null = a token needs no scope, or tokens are not accepted. */
  readonly scope: string | null
  readonly isSessionOnly: boolean
}

interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly description?: string
  readonly security?: readonly Json[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

export async function documentedRoutes(client: Client): Promise<Route[]> {
  const { json, status } = await client.get('/api/openapi.json')
  if (status !== 200) throw new Error(`/api/openapi.json answered ${status}`)
  const { paths, components } = json as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) =>
      routeOf(method.toUpperCase(), path, operation, components.schemas),
    ),
  )
}

function routeOf(
  method: string,
  path: string,
  { parameters = [], description = '', security = [], requestBody }: Operation,
  shared: Readonly<Record<string, Schema>>,
): Route {
  const bodies = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema }]) => [type, resolved(schema, shared)] as const,
  )
  return {
    method,
    path,
    parameters: parameters.filter(({ in: where }) => where !== 'header'),
    bodies: new Map(bodies),
    security,
    scope: /needs the scope `([a-z]+:[a-z]+)`/.exec(description)?.[1] ?? null,
    isSessionOnly: /Needs a session/.test(description),
  }
}

/** Replaces a reference at the top by the schema it refers to; no schema of a body refers to itself. */
function resolved(schema: Schema, shared: Readonly<Record<string, Schema>>): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (shared[name] ?? {})
}

/** The address with its path parameters filled in. */
export function addressOf({ path }: Route, valueOf: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
}
