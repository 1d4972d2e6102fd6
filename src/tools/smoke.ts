// `bun src/tools/smoke.ts EXECUTABLE`: starts an executable as people do and calls every endpoint of the first version's
// contract, on the machine that it was made for or in an emulator. Nothing is installed for it but Bun.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import process from 'node:process'
import { assert } from '../lib/assert.ts'
import { boundedEnvironment } from '../work/workers/machine-code.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { commandLine, refused } from './command-line.ts'

const HELP = `bun src/tools/smoke.ts EXECUTABLE [--through COMMAND]

Starts the executable, and calls what the first version's contract promises.

  --through COMMAND  Starts it by this one: 'qemu-aarch64-static -L /usr/aarch64-linux-gnu'`
const { values, positionals } = commandLine(HELP, { through: { type: 'string' } }, { allowPositionals: true })
if (positionals.length !== 1) refused(HELP, 'One executable is tried.')
const file = resolve(positionals[0] ?? '')
const command = [...(values.through?.split(' ').filter(Boolean) ?? []), file]

const SCRIPT = `//@version=6
strategy("Smoke")
if ta.crossover(ta.sma(close, 10), ta.sma(close, 50))
    strategy.entry("Long", strategy.long)
if ta.crossunder(ta.sma(close, 10), ta.sma(close, 50))
    strategy.close("Long")`
const WHERE = 'symbol=SPX&interval=1d'
const CURSOR = {
  symbol: 'SPX',
  interval: '1d',
  cursorBar: 10,
  speed: 1,
  start: '2019-01-01T00:00:00Z',
  end: '2019-12-31T00:00:00Z',
}

type Access = 'session' | 'api-token' | 'none'
type Answer = Readonly<Record<string, unknown>>
interface Known {
  backtest: string
  token: string
}

/** A row of the contract: method, path, access, body, and the fields of the answer besides `ok`. In an order that works. */
const CALLS: readonly (readonly [
  method: string,
  path: string | ((known: Known) => string),
  access: Access,
  body: object | null,
  fields: string,
])[] = [
  [
    'POST',
    '/api/platform/webhooks',
    'session',
    { name: 'here', url: 'RECEIVER', events: ['backtest.reportReady'] },
    'id secret',
  ],
  [
    'POST',
    '/api/platform/backtests',
    'session',
    { name: 'Smoke', symbol: 'SPX', interval: '1d', exchange: 'SP', bars: 2000, source: SCRIPT, inputs: {} },
    'id result',
  ],
  [
    'POST',
    ({ backtest }) => `/api/platform/backtests/${backtest}/replay?exchange=SP`,
    'session',
    null,
    'replay',
  ],
  [
    'POST',
    '/api/platform/alerts',
    'session',
    {
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1d',
      kind: 'price',
      op: 'above',
      price: 9999,
      channels: ['webhook'],
    },
    'id alert',
  ],
  ['GET', '/api/platform/alerts', 'session', null, 'alerts'],
  [
    'POST',
    '/api/platform/ideas',
    'session',
    { title: 't', body: 'b', tags: ['x'], visibility: 'unlisted' },
    'id',
  ],
  [
    'POST',
    '/api/platform/watchlists/import',
    'session',
    { name: 'w', items: [{ symbol: 'SPX', exchange: 'SP', note: null }] },
    'id',
  ],
  ['POST', '/api/platform/tokens', 'session', {}, 'id secret'],
  ['GET', '/api/platform/tokens', 'session', null, 'tokens'],
  [
    'GET',
    `/api/platform/replay?${WHERE}&start=2019-01-01T00:00:00Z&end=2019-12-31T00:00:00Z`,
    'none',
    null,
    '',
  ],
  ['POST', '/api/platform/replay/resume', 'api-token', CURSOR, 'cursor'],
  ['GET', `/api/platform/replay/resume?${WHERE}`, 'api-token', null, 'cursor'],
  ['DELETE', `/api/platform/replay/resume?${WHERE}`, 'api-token', null, 'deleted'],
  ['POST', `/api/platform/replay/bookmarks?bar=3&${WHERE}`, 'api-token', null, 'id'],
  ['GET', `/api/platform/replay/bookmarks?${WHERE}`, 'api-token', null, 'bookmarks'],
  ['GET', '/api/search?q=smoke', 'none', null, 'results'],
  ['POST', '/api/support/contact', 'none', { email: 'a@b.co', subject: 's', body: 'b' }, 'id'],
  ['POST', '/api/support/chat', 'none', { query: 'alert' }, 'answers'],
  ['POST', '/api/errors', 'none', { message: 'm' }, 'id'],
  ['DELETE', ({ token }) => `/api/platform/tokens?id=${token}`, 'session', null, ''],
]

const folder = mkdtempSync(`${tmpdir()}/chartroom-smoke-`)
// In an emulator the server must not begin anew with other settings: the system would start it outside.
const env = { ...(boundedEnvironment(process.env) ?? process.env), FEEDS: 'off', WEBHOOK_ALLOW: 'loopback' }
const began = performance.now()
try {
  await tryCommands()
  await tryServer()
  console.log(`ok in ${((performance.now() - began) / 1000).toFixed(1)} s: ${command.join(' ')}`)
} catch (error) {
  console.error(`FAILED ${command.join(' ')}: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function spawn(...args: string[]) {
  return Bun.spawn([...command, ...args], {
    cwd: folder,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

async function tryCommands(): Promise<void> {
  const version = await output('--version')
  assert(version.startsWith(`chartroom ${packageFile.version}\n`), `--version says ${version}`)
  const rows = Array.from({ length: 300 }, (_, i) => {
    const close = 100 + 20 * Math.sin(i / 9)
    return `${Date.UTC(2024, 0, 1) + i * 86_400_000},${close},${close + 1},${close - 1},${close},5`
  })
  writeFileSync(`${folder}/b.csv`, `time,open,high,low,close,volume\n${rows.join('\n')}\n`)
  writeFileSync(`${folder}/x.pine`, SCRIPT)
  const report = await output('backtest', 'x.pine', '--bars', 'b.csv')
  assert(report.includes('Net profit'), `backtest says ${report}`)
  console.log('ok    commands: --version, backtest of a file')
}

async function output(...args: string[]): Promise<string> {
  const child = spawn(...args)
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  assert(code === 0, `${args.join(' ')} ended with ${code}: ${err}${out}`)
  return out.replaceAll('\r\n', '\n')
}

async function started(): Promise<{ child: ReturnType<typeof spawn>; base: string }> {
  const child = spawn('serve', '--port', '0', '--data-dir', `${folder}/data`)
  let log = ''
  for await (const chunk of child.stderr) {
    log += new TextDecoder().decode(chunk)
    const port = /"message":"listening".*"port":(\d+)/.exec(log)?.[1]
    if (port !== undefined) return { child, base: `http://127.0.0.1:${port}` }
  }
  throw new Error(`it does not start: ${log}`)
}

/** Windows has no signal by which a program is asked to stop, and so its programs just end. */
async function stopped(child: ReturnType<typeof spawn>): Promise<void> {
  child.kill('SIGTERM')
  const code = await child.exited
  assert(code === 0 || file.endsWith('.exe'), `asked to stop it ended with ${code}`)
}

async function tryServer(): Promise<void> {
  const delivery = Promise.withResolvers<{ readonly raw: string; readonly signature: string }>()
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      delivery.resolve({
        raw: await request.text(),
        signature: request.headers.get('x-service-signature') ?? '',
      })
      return new Response()
    },
  })
  const { child, base } = await started()
  try {
    const account = { email: 'owner@example.com', password: 'correct horse battery' }
    const { cookie } = await ask(base, 'POST', '/api/auth/sign-up', account, {}, 'user')
    const secret = await tryContract(base, cookie, `${receiver.url.href}hook`)
    await tryDelivery(await delivery.promise, secret)
    await stopped(child)
    const again = await started()
    const { answer } = await ask(again.base, 'GET', '/api/platform/alerts', null, { cookie }, 'alerts')
    assert((answer['alerts'] as unknown[]).length === 1, 'after a second start the alert is gone')
    await stopped(again.child)
    console.log('ok    stopped, and started again with what was stored')
  } finally {
    await receiver.stop(true)
    child.kill('SIGKILL')
  }
}

/** Answers the secret of the webhook. */
async function tryContract(base: string, cookie: string, receiver: string): Promise<string> {
  const known = { backtest: '', token: '' }
  let [bearer, secret] = ['', '']
  for (const [method, path, access, body, fields] of CALLS) {
    const address = typeof path === 'string' ? path : path(known)
    const given = body && JSON.parse(JSON.stringify(body).replace('RECEIVER', receiver))
    if (access !== 'none') {
      const { status } = await fetch(base + address, { method, ...sent(given) })
      assert(status === 401, `${method} ${address} answers a stranger with ${status}`)
    }
    const credential = { session: { cookie }, 'api-token': { authorization: `Bearer ${bearer}` }, none: {} }
    const { answer } = await ask(base, method, address, given, credential[access], fields)
    if (address.endsWith('/webhooks')) secret = String(answer['secret'])
    if (address.endsWith('/backtests')) known.backtest = String(answer['id'])
    if (method === 'POST' && address.endsWith('/tokens'))
      [known.token, bearer] = [String(answer['id']), String(answer['secret'])]
  }
  return secret
}

function sent(body: unknown) {
  return {
    headers: { 'content-type': 'application/json' },
    ...(body !== null && { body: JSON.stringify(body) }),
  }
}

async function ask(
  base: string,
  method: string,
  path: string,
  body: unknown,
  credential: Readonly<Record<string, string>>,
  fields: string,
): Promise<{ readonly answer: Answer; readonly cookie: string }> {
  const init = sent(body)
  const response = await fetch(base + path, { ...init, method, headers: { ...init.headers, ...credential } })
  const text = await response.text()
  assert(response.status === 200, `${method} ${path} answers ${response.status}: ${text.slice(0, 500)}`)
  const answer = JSON.parse(text) as Answer
  for (const field of ['ok', ...fields.split(' ').filter(Boolean)])
    assert(answer[field] !== undefined, `${method} ${path} answers without ${field}: ${text.slice(0, 500)}`)
  console.log(`ok    ${method} ${path.split('?')[0]}`)
  return { answer, cookie: /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? '' }
}

async function tryDelivery(
  { raw, signature }: { raw: string; signature: string },
  secret: string,
): Promise<void> {
  const expected = new Bun.CryptoHasher('sha256', secret).update(raw).digest('hex')
  assert(signature === `sha256=${expected}`, `the event is signed ${signature}`)
  const { event, data } = JSON.parse(raw) as { event: string; data: Readonly<Record<string, unknown>> }
  assert(event === 'backtest.reportReady' && Number(data['trades']) > 0, `the event is ${raw}`)
  console.log('ok    a signed backtest.reportReady')
}
