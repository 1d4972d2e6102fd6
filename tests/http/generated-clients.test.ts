// Clients that others' generators make of the OpenAPI document: they compile, and do what README's first quarter of an hour does.
// One of them in every run; the others take ten seconds and more, and have their turn in a long one.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { SCOPES } from '../../src/wire/scopes.ts'
import { barCsv } from '../bar-csv.ts'
import { isLong } from '../long.ts'
import { testServer } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const SOURCE =
  '//@version=6\\nstrategy("s")\\nn = input.int(4, "N")\\nif bar_index % n == 0\\n    strategy.entry("L", strategy.long, 1)\\nelse\\n    strategy.close("L")'
const MARKET = `const market = { exchange: 'E', symbol: 'S', interval: '1h' }
const source = '${SOURCE}'
type Toured = { markets: number; trades: number; sweep: string; crosses: number | null | undefined; refused: string | undefined }`

interface Generator {
  readonly make: (document: object, folder: string) => Promise<unknown>
  /** Code that is compiled against the client; its `tour` takes the address and a token. */
  readonly tour: string
}

const GENERATORS: Readonly<Record<string, Generator>> = {
  'openapi-typescript': {
    async make(document, folder) {
      const { default: typesOf, astToString } = await import('openapi-typescript')
      writeFileSync(`${folder}/schema.ts`, astToString(await typesOf(document as never)))
    },
    tour: `import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'
${MARKET}
export async function tour(baseUrl: string, token: string): Promise<Toured> {
  const { GET, POST } = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
  const symbols = await GET('/api/platform/symbols')
  const run = await POST('/api/platform/backtests', { body: { ...market, name: 'a', bars: 50, source } })
  const sweep = await POST('/api/platform/sweeps', { body: { ...market, name: 's', bars: 50, source, space: [{ input: 'N', values: [2, 3] }] } })
  const alert = await POST('/api/platform/alerts', { body: { ...market, kind: 'price', op: 'crossing', price: 105, channels: ['email'] } })
  const refused = await GET('/api/platform/backtests/{id}', { params: { path: { id: 'bt_0' } } })
  const done = run.data!
  // It may have been asked for columns, or to be answered before it is done.
  if (typeof done === 'string' || !('result' in done)) throw new Error('another answer')
  return {
    markets: symbols.data!.symbols.length,
    trades: done.result.report.all.trades,
    sweep: sweep.data!.sweep.state,
    crosses: alert.data!.alert.price,
    refused: refused.error?.error.code,
  }
}`,
  },
  '@hey-api/openapi-ts': {
    make: async (document, folder) =>
      (await import('@hey-api/openapi-ts')).createClient({
        input: document as never,
        output: { path: `${folder}/client` },
        logs: { level: 'silent' },
      }),
    tour: `import { client } from './client/client.gen'
import { getBacktestsId, getSymbols, postAlerts, postBacktests, postSweeps } from './client'
${MARKET}
export async function tour(baseUrl: string, token: string): Promise<Toured> {
  client.setConfig({ baseUrl, auth: (of) => (of.scheme === 'bearer' ? token : undefined) })
  const symbols = await getSymbols()
  const run = await postBacktests({ body: { ...market, name: 'a', bars: 50, source } })
  const sweep = await postSweeps({ body: { ...market, name: 's', bars: 50, source, space: [{ input: 'N', values: [2, 3] }] } })
  const alert = await postAlerts({ body: { ...market, kind: 'price', op: 'crossing', price: 105, channels: ['email'] } })
  const refused = await getBacktestsId({ path: { id: 'bt_0' } })
  const done = run.data!
  // It may have been asked for columns, or to be answered before it is done.
  if (typeof done === 'string' || !('result' in done)) throw new Error('another answer')
  return {
    markets: symbols.data!.symbols.length,
    trades: done.result.report.all.trades,
    sweep: sweep.data!.sweep.state,
    crosses: alert.data!.alert.price,
    refused: refused.error?.error.code,
  }
}`,
  },
  'openapi-typescript-codegen': {
    make: async (document, folder) =>
      (await import('openapi-typescript-codegen')).generate({
        input: document as never,
        output: `${folder}/client`,
        clientName: 'Chartroom',
      }),
    // It takes any refusal for an answer, so each is looked at.
    tour: `import { AlertKind, AlertOp, ApiError, Chartroom } from './client'
${MARKET}
const fine = <T extends object>(answer: T): Exclude<T, { error: unknown }> => {
  if ('error' in answer) throw new Error(JSON.stringify(answer))
  return answer as Exclude<T, { error: unknown }>
}
export async function tour(BASE: string, TOKEN: string): Promise<Toured> {
  const { bars, backtests, sweeps, alerts } = new Chartroom({ BASE, TOKEN })
  const symbols = fine(await bars.getSymbols())
  const run = fine(await backtests.postBacktests({ ...market, name: 'a', bars: 50, source }))
  const sweep = fine(await sweeps.postSweeps({ ...market, name: 's', bars: 50, source, space: [{ input: 'N', values: [2, 3] }] }))
  const alert = fine(await alerts.postAlerts({ ...market, kind: AlertKind.PRICE, op: AlertOp.CROSSING, price: 105, channels: ['email'] as never }))
  const refused = await backtests.getBacktestsId('bt_0').catch((error: ApiError) => error)
  return {
    markets: symbols.symbols.length,
    trades: run.result.report.all.trades,
    sweep: sweep.sweep.state,
    crosses: alert.alert.price,
    refused: refused instanceof ApiError ? refused.body.error.code : undefined,
  }
}`,
  },
}

const COMPILED = {
  compilerOptions: {
    target: 'ESNext',
    module: 'Preserve',
    moduleResolution: 'bundler',
    lib: ['ESNext', 'DOM'],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  files: ['tour.ts'],
}

const names = Object.keys(GENERATORS).slice(0, isLong ? undefined : 1)

test.each(names)('a client made by %s compiles, and does the tour', async (name) => {
  const server = testServer(undefined, { engine: 'real' })
  const cookie = await server.signUp()
  const { authorization } = await server.token(cookie, SCOPES)
  await server.call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(50),
  })
  const document = (await server.call('GET', '/api/openapi.json')).json
  const { make, tour } = GENERATORS[name]!
  // Within the project, where the packages are found that the client needs.
  const folder = mkdtempSync(`${import.meta.dir}/../../node_modules/.generated-client-`)
  const listening = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => server.app.handle(request),
  })
  try {
    await make(document, folder)
    writeFileSync(`${folder}/tour.ts`, tour)
    writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(COMPILED))
    const check = Bun.spawn([process.execPath, 'check', '--no-script', '-p', folder], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const said = (await new Response(check.stdout).text()) + (await new Response(check.stderr).text())
    expect([await check.exited, said]).toEqual([0, expect.any(String)])
    const made = (await import(`${folder}/tour.ts`)) as {
      tour: (base: string, token: string) => Promise<object>
    }
    expect(
      await made.tour(`http://127.0.0.1:${listening.port}`, authorization.slice('Bearer '.length)),
    ).toEqual({
      markets: 1,
      trades: 12,
      sweep: 'queued',
      crosses: 105,
      refused: 'backtest_not_found',
    })
  } finally {
    await listening.stop(true)
    rmSync(folder, { recursive: true, force: true })
    server.pool.close()
  }
})
