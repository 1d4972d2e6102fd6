// Section "access" calls every documented route without a credential, with an expired and with a revoked token, with a
// token of the wrong scope, and for another user's objects. The document says who may; this shows who can.

import { mkdtempSync, rmSync } from 'node:fs'
import { codeOf, type Reply, type Client } from './client.ts'
import { addressOf, documentedRoutes, type Route } from './openapi.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { start } from './server.ts'
import type { Tally } from './tally.ts'
import { Writer } from './writer.ts'
import { SCOPES } from '../../wire/scopes.ts'

/** Left out, because they would end the session that the other rows use, or never end. */
const LEFT_OUT = /^\/api\/auth\/(sign-|password)|\/stream$|\/events$/
const platform = '/api/platform'

export async function access(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  try {
    const server = await start({ ...scene, data: `${folder}/data`, tally })
    const owner = await server.client().signUp('owner@example.com')
    const victim = await server.client().signUp('victim@example.com')
    const stranger = await server.client().signUp('stranger@example.com')
    const routes = (await documentedRoutes(owner)).filter(({ path }) => !LEFT_OUT.test(path))
    const tokens = await tokensOf(victim)
    for (const route of routes) {
      tally.rounds++
      await tryCredentials(tally, route, server.client(), victim, tokens)
    }
    await stealObjects(scene, tally, routes, victim, stranger)
    await readByToken(tally, victim, stranger)
    await server.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Tokens {
  /** Clients by scope; each has every scope but that one. */
  readonly without: ReadonlyMap<string, Client>
  readonly every: Client
  readonly expired: Client
  readonly revoked: Client
}

async function tokensOf(victim: Client): Promise<Tokens> {
  const make = async (scopes: readonly string[], expiresAt?: number) => {
    const { json, text } = await victim.post(`${platform}/tokens`, {
      name: 't',
      scopes,
      ...(expiresAt && { expiresAt }),
    })
    if (typeof json['secret'] !== 'string') throw new Error(`no token: ${text}`)
    return { id: String(json['id']), client: victim.as({ authorization: `Bearer ${json['secret']}` }) }
  }
  const without = new Map<string, Client>()
  for (const scope of SCOPES) {
    const { client } = await make(SCOPES.filter((other) => other !== scope))
    without.set(scope, client)
  }
  const expired = await make(SCOPES, Date.now() + 1000)
  const revoked = await make(SCOPES)
  await victim.call('DELETE', `${platform}/tokens?id=${revoked.id}`)
  await Bun.sleep(1500)
  const every = await make(SCOPES)
  return { without, every: every.client, expired: expired.client, revoked: revoked.client }
}

const isPublic = ({ security }: Route) =>
  security.length === 0 || security.some((one) => Object.keys(one).length === 0)
const urlOf = (route: Route) => addressOf(route, () => 'none_0')

async function tryCredentials(
  tally: Tally,
  route: Route,
  guest: Client,
  victim: Client,
  { without, every, expired, revoked }: Tokens,
): Promise<void> {
  const { method, path, scope, isSessionOnly } = route
  const name = `${method} ${path}`
  const ask = (client: Client, suffix = '') => client.call(method, urlOf(route) + suffix)
  const expect = (what: string, answer: Reply, code: string) => {
    tally.faults++
    if (codeOf(answer) !== code)
      tally.find(`let in ${what}`, `${name} answered ${answer.status} ${codeOf(answer)}`, name)
  }
  if (!isPublic(route)) expect('without a credential', await ask(guest), 'unauthenticated')
  expect('with an expired token', await ask(expired), 'token_expired')
  expect('with a revoked token', await ask(revoked), 'token_revoked')
  expect('with a nonsense token', await ask(guest.as({ authorization: 'Bearer nonsense' })), 'invalid_token')
  if (isSessionOnly) expect('a token where only sessions may', await ask(every), 'session_required')
  const wrong = scope === null ? undefined : without.get(scope)
  if (wrong) expect(`without the scope`, await ask(wrong), 'insufficient_scope')
  if (method !== 'GET' && !isPublic(route)) {
    const other = victim.with({ 'sec-fetch-site': 'cross-site' })
    expect('from a page of another site', await ask(other), 'cross_origin_blocked')
  }
}

/** Asks for one user's objects as another, under every route that takes an id. */
async function stealObjects(
  scene: Scene,
  tally: Tally,
  routes: readonly Route[],
  victim: Client,
  stranger: Client,
): Promise<void> {
  const writer = new Writer('victim', victim, new Random(scene.seed))
  let steps = 0
  await writer.write(victim, () => steps++ > 120)
  const kinds = [...writer.promises].filter((kind) => kind.kept().length > 0)
  for (const kind of kinds)
    for (const route of routes.filter(({ path }) => path.startsWith(`${kind.path}/{id}`))) {
      const id = kind.kept()[0] ?? ''
      tally.faults++
      const answer = await stranger.call(
        route.method,
        addressOf(route, () => id),
        route.method === 'GET' ? undefined : { csv: 'x' },
      )
      if (answer.status !== 404)
        tally.find(
          "somebody else's object",
          `${route.method} ${route.path} answered ${answer.status} ${codeOf(answer)}`,
          kind.noun,
        )
    }
  const broken = (await Promise.all(writer.promises.map((kind) => kind.broken(victim)))).flat()
  for (const one of broken) tally.find("somebody else's object was changed", one, 'after all routes')
}

/** A token with the least rights must read nothing private, and nobody may falsify shared bars. */
async function readByToken(tally: Tally, victim: Client, stranger: Client): Promise<void> {
  const secret = 'q7x-private-words'
  const made = await victim.post(`${platform}/scripts`, { name: secret, source: `// ${secret}` })
  await victim.post(`${platform}/ideas`, { title: secret, body: secret, tags: [], visibility: 'private' })
  const { json } = await victim.post(`${platform}/tokens`, { name: 'least' })
  const least = victim.as({ authorization: `Bearer ${String(json['secret'])}` })
  const id = String(made.json['id'])
  const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const headers = { accept: 'application/json, text/event-stream' }
  const answers = [
    ['scripts', await least.get(`${platform}/scripts`)],
    ['a script', await least.get(`${platform}/scripts/${id}`)],
    ['ideas', await least.get(`${platform}/ideas`)],
    ['search', await least.get(`/api/search?q=${secret}`)],
    [
      'mcp',
      await least.post('/mcp', { ...mcp, params: { name: 'find', arguments: { q: secret } } }, { headers }),
    ],
    [
      'mcp',
      await least.post(
        '/mcp',
        { ...mcp, params: { name: 'find', arguments: { kind: 'scripts' } } },
        { headers },
      ),
    ],
  ] as const
  for (const [name, { text }] of answers) {
    tally.faults++
    if (text.includes(`"${secret}`)) tally.find('a token without the scope reads', name, 'at the end')
  }
  const put = await stranger.call('PUT', `${platform}/symbols/SP/SPX`, { description: 'falsified' })
  const facts = await victim.get(`${platform}/symbols/SP/SPX`)
  if (facts.text.includes('falsified'))
    tally.find('a member falsifies shared symbols', String(put.status), 'at the end')
  const series = { exchange: 'SP', symbol: 'SPX', interval: '1d' }
  const csv = 'time,open,high,low,close,volume\n946857600000,1,1,1,1,1\n'
  await stranger.importCsv(series, csv)
  const { text } = await victim.get(
    `${platform}/bars?exchange=SP&symbol=SPX&interval=1d&start=946857600000&limit=1`,
  )
  if (/"close":\[1\]/.test(text))
    tally.find('a member falsifies shared bars', text.slice(0, 100), 'at the end')
  const gone = await stranger.call('DELETE', `${platform}/bars?exchange=SP&symbol=SPX&interval=1d`)
  if (
    gone.status === 200 &&
    gone.json['deleted'] === true &&
    (await victim.get(`${platform}/bars?exchange=SP&symbol=SPX&interval=1d&limit=1`)).status !== 200
  )
    tally.find('a member deletes shared bars', 'SP:SPX', 'at the end')
}
