// The routes of the server's own OpenAPI document: the other sections attack whatever it documents.

import {
  expanded,
  groupsOf,
  type OpenApi,
  type Operation,
  type Parameter,
  type Schema,
} from '../../dashboard/reference/openapi.ts'
import type { Client, Json } from './client.ts'

export type { Schema }

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

export async function documentedRoutes(client: Client): Promise<Route[]> {
  const { json, status } = await client.get('/api/openapi.json')
  if (status !== 200) throw new Error(`/api/openapi.json answered ${status}`)
  // No schema of a body refers to itself.
  return groupsOf(expanded(json as unknown as OpenApi, { deep: true }))
    .flatMap(({ operations }) => operations)
    .filter(({ method }) => method !== 'EVENT')
    .map(routeOf)
}

function routeOf({
  method,
  path,
  parameters = [],
  description = '',
  security = [],
  requestBody,
}: Operation): Route {
  return {
    method,
    path,
    parameters: parameters.filter(({ in: where }) => where !== 'header'),
    bodies: new Map(Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema])),
    security: security as readonly Json[],
    scope: /Scope: `([a-z]+:[a-z]+)`/.exec(description)?.[1] ?? null,
    isSessionOnly: /Needs a session/.test(description),
  }
}

/** The address with its path parameters filled in. */
export function addressOf({ path }: Route, valueOf: (name: string) => string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
}
