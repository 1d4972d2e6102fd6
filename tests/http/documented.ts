// Holds answers against what the OpenAPI document says of their routes: status, code, and every field.

import { Kind, Type, type TSchema } from '@sinclair/typebox'
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler'
import type { AccessOptions } from '../../src/http/visit.ts'
import { type Answering, codesOf } from '../../src/http/responses.ts'

interface AppRoute {
  readonly method: string
  readonly path: string
  readonly hooks: unknown
}
interface RouteHooks {
  readonly body?: unknown
  readonly query?: unknown
  readonly detail?: {
    readonly hide?: boolean
    readonly 'x-operation'?: string
    readonly 'x-options'?: AccessOptions
    readonly 'x-answer'?: TSchema
    readonly 'x-accepted'?: TSchema
  }
}

/**
 * A function that throws when a route answers what its documentation does not have. `onSuccess` gets the operations that
 * answered as their schema says.
 */
export function documentedAnswers(
  routes: readonly AppRoute[],
  { standIn, onSuccess }: { readonly standIn: boolean; readonly onSuccess: (operation: string) => void },
) {
  const known = routes
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ method, path, hooks }) => {
      const { body, query, detail } = hooks as RouteHooks
      const route: Answering = {
        method,
        path: path.replace(/\/$/, ''),
        options: detail?.['x-options'] ?? { to: 'none' },
        hasBody: body !== undefined,
        hasQuery: query !== undefined,
      }
      return {
        route,
        operation: detail?.['x-operation'],
        hidden: detail?.hide === true,
        answers: { 200: detail?.['x-answer'], 202: detail?.['x-accepted'] },
        pattern: new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}/?$`),
      }
    })
    // What stands in the path goes before what is a name there.
    .toSorted((a, b) => Number(a.route.path.includes(':')) - Number(b.route.path.includes(':')))

  return (method: string, path: string, status: number, json: Answered): void => {
    const { pathname } = new URL(path, 'http://localhost')
    const found = known.find(({ route, pattern }) => route.method === method && pattern.test(pathname))
    if (!found || found.hidden) return
    const { route, operation, answers } = found
    const code = json?.error?.code
    const where = `${route.method} ${route.path}`
    const fine = [200, ...(route.options.async ? [202] : []), ...(route.options.etag ? [304] : [])]
    if (code === undefined && !fine.includes(status))
      throw new Error(`${where} answered ${status}, which its documentation does not have`)
    if (code !== undefined && !codesOf(route).some((one) => one === code))
      throw new Error(`${where} answered ${status} ${code}, which its documentation does not have`)
    const schema = status === 200 || status === 202 ? answers[status] : undefined
    const wrong = schema && json && checkOf(schema, standIn).Errors(json).First()
    if (wrong)
      throw new Error(
        `${where} answered ${JSON.stringify(wrong.value)?.slice(0, 200)} at ${wrong.path}: ${wrong.message}`,
      )
    if (operation !== undefined && (status === 200 || status === 202)) onSuccess(operation)
  }
}

/** The JSON of an answer; null where it is none. */
type Answered = { readonly error?: { readonly code?: string } } | null

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

function checkOf(schema: TSchema, standIn: boolean): TypeCheck<TSchema> {
  const check = checks.get(schema) ?? TypeCompiler.Compile(closed(schema, standIn) as TSchema)
  checks.set(schema, check)
  return check
}

/** The same schema, with no field besides those it names: what is answered and not documented is found as well. */
function closed(schema: unknown, standIn: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(one, standIn))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id: name, ...copy } = schema as TSchema
  // A stand-in for the engine makes up what it answers of a run.
  if (standIn && ['Report', 'Track', 'ReportTrade'].includes(name ?? '')) return Type.Unknown()
  const inner = Object.fromEntries(
    Object.entries(copy).map(([name, value]) => [name, closed(value, standIn)]),
  )
  const isObject = copy[Kind] === 'Object'
  return { ...copy, ...inner, ...(isObject && { additionalProperties: false }) }
}
