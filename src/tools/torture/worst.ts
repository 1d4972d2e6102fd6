// Section "worst" sends the largest and ugliest body of its kind to every documented route, beside an idle server. None may
// delay GET /api/health, and none may take more memory than a few times the size of the body.

import { mkdtempSync, rmSync } from 'node:fs'
import type { Reply, Client, Json } from './client.ts'
import { addressOf, documentedRoutes, type Route, type Schema } from './openapi.ts'
import { Pulse, type Attack } from './pulse.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import type { Tally } from './tally.ts'

const MEGABYTE = 2 ** 20
/** The limit: four times the body and 64 MB. */
const TIMES_BODY = 4
const EXTRA_BYTES = 64 * MEGABYTE
const PATIENCE_MS = 30_000
const SETTLING_MS = 100
const SETTLING_LOOKS = 30
const LEFT_OUT = /\/stream$|\/events$|^\/api\/auth\//
const platform = '/api/platform'

interface Blow {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body: string
  readonly type: string
}

export async function worst(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  try {
    const control = await start({ ...scene, data: `${folder}/idle`, tally })
    let server = await start({ ...scene, data: `${folder}/data`, tally })
    let client = await server.client().signUp('owner@example.com')
    const routes = await documentedRoutes(client)
    const blows = [...ugly(), ...(await lateBlows(scene, client)), ...routes.flatMap(blowsAt)]
    const some = scene.isShort ? blows.filter((_, i) => i % 12 === scene.seed % 12) : blows
    let pulse = scene.isShort ? null : new Pulse(server.base, control.base)
    let attacks: Attack[] = []
    for (const [step, blow] of some.entries()) {
      tally.rounds++
      attacks.push(await strike(scene, tally, server, client, blow, `blow ${step}`))
      if (!server.isDead && (await isAwake(server))) continue
      tally.find(server.isDead ? 'the server died' : 'the server froze', blow.name, `blow ${step}`)
      await server.kill()
      ;(await pulse?.stop())?.judge(tally, attacks)
      attacks = []
      server = await start({ ...scene, data: `${folder}/data${step}`, tally })
      client = await server.client().signUp('owner@example.com')
      pulse = scene.isShort ? null : new Pulse(server.base, control.base)
    }
    ;(await pulse?.stop())?.judge(tally, attacks)
    await server.stop()
    await control.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function isAwake(server: Server): Promise<boolean> {
  return (await server.client().get('/api/health', { timeoutMs: 5000 })).status === 200
}

async function strike(
  scene: Scene,
  tally: Tally,
  server: Server,
  client: Client,
  { name, method, path, body, type }: Blow,
  step: string,
): Promise<Attack> {
  const idle = scene.isShort ? server.memory().now : await settledMemory(server)
  await server.resetPeak()
  const from = Date.now()
  tally.faults++
  const answer = await client.call(method, path, method === 'GET' ? undefined : body, {
    headers: { 'content-type': type },
    timeoutMs: PATIENCE_MS,
  })
  const to = Date.now()
  if (server.isDead) return { name, from, to, step }
  judge(tally, name, answer, step)
  const above = server.memory().peak - idle
  const allowed = TIMES_BODY * Buffer.byteLength(body) + EXTRA_BYTES
  if (!scene.isShort && above > allowed)
    tally.find(
      'too much memory',
      `${name}: ${Math.round(above / MEGABYTE)} MB for ${(body.length / MEGABYTE).toFixed(1)} MB`,
      step,
    )
  return { name, from, to, step }
}

/** Resident memory once it no longer moves, so that no request is blamed or praised for the one before it. */
async function settledMemory(server: Server): Promise<number> {
  let before = server.memory().now
  for (let looks = 0; looks < SETTLING_LOOKS; looks++) {
    await Bun.sleep(SETTLING_MS)
    const { now } = server.memory()
    if (Math.abs(now - before) < MEGABYTE) return now
    before = now
  }
  return before
}

function judge(tally: Tally, name: string, { status, text }: Reply, step: string): void {
  if (status === 0) tally.find('no answer', name, step)
  else if (status >= 500 && status !== 503 && status !== 507)
    tally.find('a 5xx', `${name}: ${status} ${text.slice(0, 200)}`, step)
}

/** For a route that takes JSON: texts and lists of the greatest length, deep nesting, a number of a megabyte. */
function blowsAt(route: Route): Blow[] {
  if (LEFT_OUT.test(route.path)) return []
  const query = route.parameters
    .filter(({ in: where }) => where === 'query')
    .map(({ name, schema }) => `${name}=${encodeURIComponent(fullText(schema).slice(0, 300))}`)
    .join('&')
  const path = `${addressOf(route, () => 'x'.repeat(60))}?${query}`.slice(0, 8000)
  const blow = (name: string, body: string): Blow => ({
    name: `${route.method} ${route.path}, ${name}`,
    method: route.method,
    path,
    body,
    type: 'application/json',
  })
  if (route.method === 'GET') return [blow('long query', '')]
  const schema = route.bodies.get('application/json')
  if (!schema) return [blow('a body where none is', '[]'.repeat(1000))]
  return [
    blow('full fields', JSON.stringify(full(schema, 0))),
    blow('brackets', '['.repeat(MEGABYTE)),
    blow('nested objects', '{"a":'.repeat(150_000)),
    blow('unknown fields', `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":0`).join(',')}}`),
    blow('one number', `{"name":${'9'.repeat(MEGABYTE - 20)}}`),
    blow('escapes', `{"name":"${'\\u0000'.repeat(170_000)}"}`),
  ]
}

const TEXT_MAX = 400_000

function fullText({ maxLength = 1000 }: Schema): string {
  return 'ж'.repeat(Math.min(TEXT_MAX, maxLength))
}

function full(schema: Schema, depth: number): unknown {
  const variant = (schema.anyOf ?? schema.oneOf)?.[0]
  if (variant) return full(variant, depth)
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, one]) => [name, full(one, depth + 1)]),
      )
    case 'array':
      return Array.from({ length: Math.min(schema.maxItems ?? 1000, 10_000) }, () =>
        full(schema.items ?? {}, depth + 1),
      )
    case 'integer':
    case 'number':
      return schema.maximum ?? 1e300
    case 'boolean':
      return true
    default:
      return depth > 1 ? 'x' : fullText(schema)
  }
}

/**
 * Requests that need a stored backtest, or many: a comparison with a list that is no list of trades, and the first search
 * of a user with many runs.
 */
async function lateBlows(scene: Scene, client: Client): Promise<Blow[]> {
  const run = {
    name: 'run of the torture',
    symbol: 'SPX',
    exchange: 'SP',
    interval: '1d',
    bars: 20,
    inputs: {},
  }
  const source = `//@version=6\nstrategy("x")\n${'// some words to be found, and more of them\n'.repeat(450)}plot(close)`
  const runs = scene.isShort ? 1 : 1500
  let id = ''
  for (let i = 0; i < runs; i++) {
    const { json } = await client.post(`${platform}/backtests`, { ...run, source: `${source}\n// ${i}` })
    id = String(json['id'])
  }
  const compare = (name: string, csv: string): Blow => ({
    name: `compare: ${name}`,
    method: 'POST',
    path: `${platform}/backtests/${id}/compare`,
    body: JSON.stringify({ csv }),
    type: 'application/json',
  })
  return [
    {
      name: `the first search of ${runs} runs`,
      method: 'GET',
      path: '/api/search?q=words',
      body: '',
      type: '',
    },
    compare('quotes', '"'.repeat(7 * MEGABYTE)),
    compare('lines', '\n'.repeat(7 * MEGABYTE)),
    compare('commas', ','.repeat(14 * MEGABYTE)),
    compare('open quotes', 'Trade #,Type,Date\n"1,2,3\n'.repeat(500_000)),
  ]
}

/** Bodies made for the weak point of one particular route. */
function ugly(): Blow[] {
  const series = 'exchange=WORST&symbol=BARS&interval=1m'
  const into = (name: string, body: string, type = 'application/json', query = series): Blow => ({
    name: `import: ${name}`,
    method: 'POST',
    path: `${platform}/bars/import?${query}`,
    body,
    type,
  })
  const json = (name: string, path: string, body: Json): Blow => ({
    name,
    method: 'POST',
    path: platform + path,
    body: JSON.stringify(body),
    type: 'application/json',
  })
  const run = { name: 'x', symbol: 'SPX', exchange: 'SP', interval: '1d', bars: 100, inputs: {} }
  const row = (i: number) => `${Date.UTC(2000, 0) + i * 60_000},1,2,1,2,3`
  const rows = (count: number) => Array.from({ length: count }, (_, i) => row(i)).join('\n')
  const head = 'time,open,high,low,close,volume\n'
  return [
    into('30 MB of brackets', '['.repeat(30 * MEGABYTE)),
    into('30 MB of braces', '{"a":'.repeat(6 * MEGABYTE)),
    into('a JSON text without end', `["${'x'.repeat(30 * MEGABYTE)}`),
    into('30 MB of JSON numbers', `[${'1,'.repeat(15 * MEGABYTE)}1]`),
    into('JSON bars', `[${Array.from({ length: 300_000 }, (_, i) => `[${row(i)}]`).join(',')}]`),
    into('a line without end', `${head}${'1'.repeat(60 * MEGABYTE)}`, 'text/csv'),
    into('open quotes', `${head}"${'1,2,3,4,5,6\n'.repeat(4 * MEGABYTE)}`, 'text/csv'),
    into('empty lines', `${head}${'\n'.repeat(60 * MEGABYTE)}`, 'text/csv'),
    into('commas', `${head}${','.repeat(60 * MEGABYTE)}`, 'text/csv'),
    into('quotes', `${head}${'"'.repeat(30 * MEGABYTE)}`, 'text/csv'),
    into('wrong rows', head + 'x,y,z,1,2,3\n'.repeat(2 * MEGABYTE), 'text/csv'),
    into('the same minute', `${head}${`${row(0)}\n`.repeat(MEGABYTE)}`, 'text/csv'),
    into('a million bars', head + rows(1_000_000), 'text/csv'),
    into('nul bytes', '\0'.repeat(30 * MEGABYTE), 'text/csv'),
    into('columns', `${Array.from({ length: 500_000 }, (_, i) => `c${i}`).join(',')}\n1`, 'text/csv'),
    json('watchlist of 5,000 rows', '/watchlists/import', {
      name: 'w',
      items: Array.from({ length: 5000 }, (_, i) => ({
        symbol: `S${i}`,
        exchange: 'X',
        note: 'ж'.repeat(150),
      })),
    }),
    json('watchlist of twins', '/watchlists/import', {
      name: 'w',
      items: Array.from({ length: 5000 }, () => ({ symbol: 'S', exchange: 'X', note: null })),
    }),
    json('inputs by the thousand', '/backtests/preview', {
      ...run,
      source: '//@version=6\nindicator("x")\nplot(close)',
      inputs: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`input ${i}`, i])),
    }),
    json('an idea of markup', '/ideas', {
      title: 'x',
      body: '[](*_`'.repeat(8000),
      tags: Array.from({ length: 20 }, (_, i) => `t${i}`),
      visibility: 'public',
    }),
  ]
}
