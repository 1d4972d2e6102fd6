// The OpenAPI document: whole, about this server, of a size that machines can take, and right by Redocly's rules.

import { lintFromString, loadConfig } from '@redocly/openapi-core'
import { expect, test } from 'bun:test'
import { expanded, type OpenApi } from '../../src/dashboard/reference/openapi.ts'
import { openApiDocument } from '../../src/http/openapi.ts'
import { sharedDocument } from '../../src/http/openapi-shared.ts'
import { ROUTE_CODES } from '../../src/http/route-codes.ts'
import { PROBLEM_CODES } from '../../src/lib/problem-codes.ts'
import { WEBHOOK_EVENTS } from '../../src/wire/webhook.ts'
import { testServer, unlimited } from './server.ts'

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly security: readonly object[]
  readonly requestBody?: object
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>
}

const { app, call } = testServer()
const served = await call('GET', '/api/openapi.json')
/** With what operations share in its place. */
// oxlint-disable-next-line typescript/no-explicit-any
const document = expanded(served.json) as any
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Every object in it, with its JSON Pointer. */
function* nodes(value: unknown, at = '#'): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>]
  for (const [name, inner] of Object.entries(value))
    yield* nodes(inner, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
}

test('every route is in it, but for what a person opens', () => {
  const routes = app.routes
    .filter(({ path, method }) => path.startsWith('/api/') && /^[A-Z]+$/.test(method) && method !== 'WS')
    .filter(({ hooks }) => !(hooks as { detail?: { hide?: boolean } }).detail?.hide)
    .map(({ method, path }) => `${method} ${path.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}')}`)
  const told = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
  expect(told.toSorted()).toEqual([...new Set(routes)].toSorted())
  const hidden = app.routes.filter(
    ({ path, hooks }) => path.startsWith('/api/') && (hooks as { detail?: { hide?: boolean } }).detail?.hide,
  )
  expect(hidden.map(({ path }) => path).toSorted()).toEqual([
    '/api/client.py',
    '/api/client.ts',
    '/api/docs',
    '/api/docs/licenses.txt',
    '/api/openapi.json',
  ])
})

test('what receivers are sent stands beside the paths, by its event', () => {
  expect(Object.keys(document.webhooks)).toEqual([...WEBHOOK_EVENTS, 'webhook.test'])
  const { schema } = document.webhooks['alert.triggered'].post.requestBody.content['application/json']
  expect(schema.required).toEqual(['event', 'delivered_at', 'data'])
  expect(schema.properties.data.$ref).toBe('#/components/schemas/AlertTriggered')
})

test('every reference leads somewhere, and every component is used', () => {
  const pointers = new Set([...nodes(served.json)].map(([at]) => at))
  const references = [...nodes(served.json)].flatMap(([, node]) =>
    typeof node['$ref'] === 'string' ? [node['$ref']] : [],
  )
  expect(references.length).toBeGreaterThan(100)
  expect(references.filter((reference) => !pointers.has(reference))).toEqual([])
  const components = Object.entries(served.json.components as Record<string, object>).flatMap(
    ([kind, all]) =>
      kind === 'securitySchemes' ? [] : Object.keys(all).map((name) => `#/components/${kind}/${name}`),
  )
  expect(components.filter((component) => !references.includes(component))).toEqual([])
})

test('what is required is described', () => {
  const missing = [...nodes(document)].flatMap(([at, { required, properties }]) =>
    Array.isArray(required) && properties
      ? required.filter((name) => !Object.hasOwn(properties, String(name))).map((name) => `${at} ${name}`)
      : [],
  )
  expect(missing).toEqual([])
})

test('operations have names of their own, a summary, and their path’s parameters', () => {
  expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
  for (const { path, method, operation } of operations) {
    const where = `${method} ${path}`
    expect([where, operation.summary]).toEqual([where, expect.stringMatching(/^[A-Z]/)])
    const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
    expect([where, inPath.map(({ name }) => name)]).toEqual([
      where,
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    ])
    expect([where, Object.keys(operation.responses)]).toEqual([
      where,
      expect.arrayContaining(['200', 'default']),
    ])
    expect([where, operation.security.length > 0]).toEqual([where, true])
  }
  const imports = document.paths['/api/platform/bars/import'].post as Operation
  expect(Object.keys((imports.requestBody as { content: object }).content)).toContain('text/csv')
})

test('the document is the same whatever was called before it', async () => {
  const other = testServer(unlimited)
  const cookie = await other.signUp()
  for (const { path, method } of operations) {
    if (/stream|events/.test(path)) continue
    const url = path.replace(/\{\w+\}/g, 'x')
    await other.call(method.toUpperCase(), url, { headers: cookie, ...(method !== 'get' && { body: {} }) })
  }
  expect((await other.call('GET', '/api/openapi.json')).text).toBe(served.text)
})

/** A line of an answer's description begins with its code. */
const codesIn = (answer: { readonly description: string } | undefined) =>
  [...(answer?.description ?? '').matchAll(/^`(\w+)`: /gm)].map(([, code]) => code)

test('it names the answers that are no 200, the headers that count, and every code', () => {
  const backtests = document.paths['/api/platform/backtests'].post as Operation
  expect(Object.keys(backtests.responses)).toEqual(
    expect.arrayContaining(['202', '422', '429', '503', 'default']),
  )
  expect(backtests.parameters.map(({ name }) => name)).toEqual(['tracks', 'Idempotency-Key', 'Prefer'])
  const one = document.paths['/api/platform/backtests/{id}'].get as Operation
  expect(Object.keys(one.responses)).toContain('304')
  // A matcher inside of `toMatchObject` would be written into the document, which others compare.
  expect(codesIn(one.responses['404'])).toEqual(['not_found', 'backtest_not_found'])
  for (const { operation } of operations)
    for (const status of ['429', '503', 'default'])
      if (operation.responses[status])
        expect(operation.responses[status]).toHaveProperty('headers.Retry-After')
  for (const [code, { status, meaning }] of Object.entries(PROBLEM_CODES))
    expect(document.info.description).toContain(`| ${status} | \`${code}\` | ${meaning}`)
})

test('what takes a large body says that it may be too large, of another type, and too slow', () => {
  const large = operations.filter(({ path }) =>
    /import|compare|scripts\/(check|format)|preview$|backtests$/.test(path),
  )
  const missing = large
    .filter(({ method }) => method === 'post')
    .flatMap(({ path, operation }) => (operation.responses['408'] ? [] : [path]))
  expect([large.length > 6, missing]).toEqual([true, []])
  for (const { operation } of large)
    expect(codesIn(operation.responses['default'])).toEqual(
      expect.arrayContaining(['payload_too_large', 'unsupported_media_type']),
    )
})

test('codes are told of routes that are there', () => {
  const there = app.routes.map(({ method, path }) => `${method} ${path.replace(/\/$/, '')}`)
  expect(Object.keys(ROUTE_CODES).filter((route) => !there.includes(route))).toEqual([])
})

test('nothing of ours is left in the schemas', () => {
  for (const [at, node] of nodes(document.paths)) {
    expect([at, '$id' in node]).toEqual([at, false])
    // TypeBox keeps its own marks under symbols, which JSON does not carry.
    if (!at.endsWith('/properties')) expect([at, 'expected' in node]).toEqual([at, false])
  }
})

test('Redocly finds no error in it, and it has 400 kB at most', async () => {
  expect(served.text.length).toBeLessThanOrEqual(400_000)
  const found = await lintFromString({ source: served.text, config: await loadConfig() })
  expect(
    found
      .filter(({ severity }) => severity === 'error')
      .map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
  ).toEqual([])
})

test('what occurs twice has one name, and nothing is lost by it', () => {
  const whole = openApiDocument(app.routes, { version: '0.0.0', url: '/' }) as OpenApi
  const sorted = (value: unknown): unknown =>
    typeof value !== 'object' || value === null
      ? value
      : Array.isArray(value)
        ? value.map(sorted)
        : Object.fromEntries(
            Object.entries(value)
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, one]) => [name, sorted(one)]),
          )
  const paths = (one: OpenApi) => {
    const { paths: all, webhooks } = expanded(one, { deep: true })
    return sorted({ all, webhooks })
  }
  const shared = sharedDocument(whole) as OpenApi
  // One says at the top what the other says of each operation.
  expect(paths(shared)).toEqual(paths({ ...whole, security: shared.security! }))
  const seen = new Map<string, string>()
  const twice: string[] = []
  const { schemas, ...others } = shared.components
  for (const [at, node] of nodes({ paths: shared.paths, webhooks: shared.webhooks, schemas, others })) {
    const text = JSON.stringify(node)
    if (!('properties' in node) || at.endsWith('/properties') || text.length <= 60) continue
    const before = seen.get(text)
    // Two that the API itself names may be alike, such as events.
    const areNamed = [before, at].every((one) => one !== undefined && /^#\/schemas\/\w+$/.test(one))
    if (before !== undefined && !areNamed) twice.push(`${before} ${at}`)
    seen.set(text, at)
  }
  expect(twice).toEqual([])
})
