// Random requests at every route: whatever is sent, the answer is ours, and nothing that was sent comes back in a refusal.

import { describe, expect, test } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import * as fc from 'fast-check'
import { testServer, unlimited } from './server.ts'
import { rounds } from '../long.ts'

const SEED = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(Bun.env['RUNS'] ?? rounds(60))
/** Every text that is sent carries it, so that an echo is found. */
const MARK = 'zq7xk'

const { app, call, signUp } = testServer(unlimited)

interface RouteInfo {
  readonly method: string
  readonly path: string
  readonly hooks: { readonly body?: TSchema; readonly query?: TSchema }
}
const routes = (app.routes as unknown as readonly RouteInfo[]).filter(
  ({ method, path }) =>
    /^\/(api|mcp)/.test(path) &&
    /^(GET|POST|PUT|PATCH|DELETE)$/.test(method) &&
    path !== '/api/platform/stream',
)

const text = fc.oneof(
  fc.string({ maxLength: 12 }).map((some) => MARK + some),
  fc.string({ unit: 'binary', maxLength: 12 }).map((some) => MARK + some),
  fc.constantFrom(`${MARK}\0`, `${MARK}\ud800`, `${MARK}__proto__`, MARK.repeat(2000)),
)
const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, 1e300, -1e300, 2 ** 53, 8.64e15 + 1, 1e-320),
)
const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null))
const anything = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'constructor', '__proto__', 'toString', ''), leaf, { maxKeys: 3 }),
  fc.jsonValue({ maxDepth: 3 }).map((value) => ({ a: typeof value === 'string' ? MARK : value })),
)

/** Values a schema takes, mostly. */
function like(schema: TSchema): fc.Arbitrary<unknown> {
  const variants = schema.anyOf as TSchema[] | undefined
  const right = ((): fc.Arbitrary<unknown> => {
    if (variants) return fc.oneof(...variants.map(like))
    if ('const' in schema) return fc.constant(schema.const)
    if (schema.type === 'object') return object(schema)
    if (schema.type === 'array') return fc.array(like(schema.items as TSchema), { maxLength: 4 })
    if (schema.type === 'integer') return fc.oneof(fc.integer({ min: -1, max: 100 }), fc.maxSafeInteger())
    if (schema.type === 'number') return number
    if (schema.type === 'boolean') return fc.boolean()
    if (schema.type === 'string')
      return fc.oneof(
        text,
        fc.constantFrom(
          '1h',
          'SP',
          'SPX',
          '2024-01-01T00:00:00Z',
          '2024-02-30',
          '5',
          '1e9',
          `https://e.example/${MARK}`,
        ),
      )
    return anything
  })()
  return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: anything })
}

function object(schema: TSchema): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, TSchema>
  return fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, like(property)])),
    { requiredKeys: [] },
  )
}

const bodyOf = ({ hooks }: RouteInfo) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: (hooks.body ? like(hooks.body) : anything).map((value) => JSON.stringify(value) ?? ''),
    },
    { weight: 1, arbitrary: anything.map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: fc.string().map((some) => `{"a":"${MARK}${some}`) },
  )
const queryOf = ({ hooks }: RouteInfo) =>
  fc.oneof(
    hooks.query ? object(hooks.query) : fc.constant({}),
    fc.dictionary(fc.constantFrom('symbol', 'interval', 'limit', 'cursor', 'x'), leaf, { maxKeys: 3 }),
  )
const paramsOf = ({ path }: RouteInfo) =>
  fc.tuple(
    ...[...path.matchAll(/:\w+/g)].map(() => fc.oneof(text, fc.constantFrom('SP', 'SPX', 'al_0', '0', '..'))),
  )

/** `encodeURIComponent` refuses half of a surrogate pair. */
const encoded = (value: unknown) =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed())

describe(`random requests, SEED=${SEED}`, () => {
  test.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s',
    async (name, route) => {
      const email = (round: number) => `${Bun.hash(name).toString(36)}${round}@example.com`
      let sessions = 0
      let cookie = await signUp(email(sessions))
      await fc.assert(
        fc.asyncProperty(bodyOf(route), queryOf(route), paramsOf(route), async (body, query, params) => {
          let at = 0
          const path = route.path.replace(/:\w+/g, () => encoded(params[at++]))
          const search = Object.entries(query as object)
            .map(([key, value]) => `${encoded(key)}=${encoded(value)}`)
            .join('&')
          const answer = await call(route.method, `${path}?${search}`, {
            headers: cookie,
            ...(route.method !== 'GET' && { body }),
          })
          // 503: bars are fetched from a provider that does not answer here.
          expect(answer.status).not.toBe(500)
          if (answer.status >= 400) {
            if (route.path !== '/mcp') {
              expect(answer.json).toMatchObject({
                ok: false,
                error: {
                  code: expect.stringMatching(/^[a-z_]+$/),
                  message: expect.any(String),
                  requestId: expect.stringMatching(/^req_/),
                },
              })
              // What is wrong with a script is told by the words of the script.
              if (answer.json.error.diagnostics === undefined) expect(answer.text).not.toContain(MARK)
            }
          } else if (answer.headers.get('content-type')?.startsWith('application/json'))
            expect(() => JSON.parse(answer.text)).not.toThrow()
          // It signed itself out.
          if (answer.status === 401 || route.path.startsWith('/api/auth/')) {
            sessions += 1
            cookie = await signUp(email(sessions))
          }
        }),
        { seed: SEED, numRuns: RUNS },
      )
    },
  )
})
