// Section "fuzz" sends random requests to every documented route, made from the document's own schemas. No answer may be a
// 5xx; each must fit the envelope and carry its id, and a refusal must never repeat what was sent.

import { mkdtempSync, rmSync } from 'node:fs'
import type { Reply, Client, Json } from './client.ts'
import { addressOf, documentedRoutes, type Route } from './openapi.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import type { Tally } from './tally.ts'
import { encoded, Values } from './values.ts'

const LANES = 12
const REQUESTS = 120_000
const IDS_KEPT = 300
/** Left out, because they never end, or take a password's time each. */
const LEFT_OUT = /^\/api\/platform\/stream|\/events$/
const SLOW = /^\/api\/auth\/(sign-up|sign-in|password)$/

export async function fuzz(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const flags = ['--script-time-ms', '2000', '--script-memory-mb', '128']
  const options = { ...scene, data: `${folder}/data`, flags, tally }
  try {
    const server = await start(options)
    const owner = await server.client().signUp('owner@example.com')
    const routes = (await documentedRoutes(owner)).filter(({ path }) => !LEFT_OUT.test(path))
    const random = new Random(scene.seed)
    const each = Math.ceil(scene.rounds(REQUESTS) / LANES)
    const lanes = Array.from({ length: LANES }, (_, i) => new Lane(server, tally, routes, random.fork(), i))
    await Promise.all(lanes.map((lane) => lane.send(each)))
    tally.rounds = routes.length
    const { code, signal, text } = await server.stop()
    if (code !== 0) tally.find('did not stop as asked', `${signal ?? code} ${text.slice(-300)}`, 'at the end')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Sends requests one after the other as one user, who signs up again if a request signed him out. */
class Lane {
  readonly #server: Server
  readonly #tally: Tally
  readonly #routes: readonly Route[]
  readonly #random: Random
  readonly #name: string
  #client: Client
  #users = 0
  #ids: string[] = []

  constructor(server: Server, tally: Tally, routes: readonly Route[], random: Random, lane: number) {
    this.#server = server
    this.#tally = tally
    this.#routes = routes
    this.#random = random
    this.#name = `lane${lane}`
    this.#client = server.client()
  }

  async send(requests: number): Promise<void> {
    await this.#signUp()
    for (let n = 0; n < requests && !this.#server.isDead; n++) {
      const route = this.#random.pick(this.#routes)
      if (SLOW.test(route.path) && this.#random.chance(0.97)) continue
      await this.#one(route, n)
      if (n % 500 === 499) await this.#checkInnocent(n)
    }
  }

  async #signUp(): Promise<void> {
    this.#client = await this.#server.client().signUp(`${this.#name}-${this.#users++}@example.com`)
  }

  async #one(route: Route, n: number): Promise<void> {
    const mark = `zq${this.#name}n${n}x`
    const values = new Values(this.#random, mark, this.#ids)
    const path = this.#address(route, values)
    const [type, schema] = this.#random.pick([...route.bodies, ['application/json', {}] as const])
    const body = route.method === 'GET' ? undefined : values.body(schema)
    const headers = { 'content-type': this.#random.chance(0.97) ? type : 'text/html' }
    this.#tally.faults++
    const answer = await this.#client.call(route.method, path, body, { headers })
    for (const wrong of faultsOf(answer, route, mark))
      this.#tally.find(
        `${wrong} of ${route.method} ${route.path}`,
        `${route.method} ${path.slice(0, 300)} ${JSON.stringify(body ?? '').slice(0, 300)} answered ${answer.status} ${answer.text.slice(0, 200)}`,
        `${this.#name}, request ${n}`,
      )
    if (answer.status === 401) await this.#signUp()
    this.#ids.push(...(answer.text.slice(0, 5000).match(/\b[a-z]{2,4}_0[0-9a-z]{20,}/g) ?? []).slice(0, 3))
    this.#ids = this.#ids.slice(-IDS_KEPT)
  }

  #address(route: Route, values: Values): string {
    const of = (name: string) => route.parameters.find((one) => one.name === name)?.schema ?? {}
    const idOf = () => this.#random.pick(this.#ids.length > 0 ? this.#ids : ['al_0'])
    const path = addressOf(route, (name) =>
      name === 'id' && this.#random.chance(0.8) ? idOf() : encoded(values.text(of(name)) || 'x'),
    )
    const query = route.parameters
      .filter(({ in: where, required }) => where === 'query' && this.#random.chance(required ? 0.97 : 0.4))
      .map(({ name, schema }) => `${name}=${encoded(textOf(values.like(schema)))}`)
    const doubled = query.length > 0 && this.#random.chance(0.03) ? [...query, query[0]] : query
    const broken = this.#random.chance(0.02) ? '%ff%00' : ''
    return `${path}?${doubled.join('&')}${broken}`
  }

  /** Ordinary use must still work, whatever others have sent. */
  async #checkInnocent(n: number): Promise<void> {
    const paths = [
      '/api/platform/symbols',
      '/api/platform/replay?symbol=SPX&exchange=SP&interval=1w',
      '/api/platform/bars?symbol=SPX&exchange=SP&interval=1d&limit=10',
      '/api/search?q=x',
      '/api/health',
    ]
    for (const path of paths) {
      const { status, text } = await this.#client.get(path)
      if (status !== 200 && status !== 401)
        this.#tally.find(
          'an innocent request fails',
          `${path} ${status} ${text.slice(0, 200)}`,
          `${this.#name}, request ${n}`,
        )
    }
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** What is wrong with an answer, in words that are the same for the same fault. */
function faultsOf(answer: Reply, route: Route, mark: string): string[] {
  const { status, text, headers, json } = answer
  if (status === 0) return ['no answer']
  // The HTTP parser refuses headers that are too long before there is a request to answer.
  if (status === 431) return []
  const wrong: string[] = []
  // The providers of bars cannot be reached here, for which the document allows a 503.
  if (status >= 500 && status !== 503) wrong.push(`a ${status}`)
  if (!headers.has('x-request-id')) wrong.push('no X-Request-Id')
  if (status < 400) {
    if (text.startsWith('{') && json['ok'] !== true && headers.get('content-type')?.includes('json'))
      wrong.push('no ok')
    return wrong
  }
  const error = json['error'] as Json | undefined
  const fits =
    json['ok'] === false &&
    /^[a-z_]+$/.test(String(error?.['code'])) &&
    typeof error?.['message'] === 'string' &&
    String(error['requestId']).startsWith('req_')
  if (!fits) wrong.push('no envelope')
  // A diagnostic may quote the script.
  if (error?.['diagnostics'] === undefined && text.includes(mark)) wrong.push('an echo')
  return wrong
}
