// The client that the server writes: it type-checks, strictly, and it works.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { testServer } from './server.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-client-`)
afterAll(() => rmSync(folder, { recursive: true }))
const { call, app, signUp, token } = testServer()
writeFileSync(`${folder}/client.ts`, (await call('GET', '/api/client.ts')).text)

test('is strict TypeScript, and knows what each operation takes and answers', () => {
  writeFileSync(
    `${folder}/use.ts`,
    `import { Chartroom } from './client.ts'
const chartroom = new Chartroom({ baseUrl: 'http://127.0.0.1:3000', token: 't' })
const made = await chartroom.call('POST /api/platform/alerts', { body: { symbol: 'S', exchange: 'E', interval: '1h', kind: 'price', op: 'above', price: 1, channels: ['email'] } })
const state: 'active' | 'triggered' | 'paused' | 'expired' | 'throttled' | 'error' = made.alert.state
const firedAt: number | null = made.alert.lastFiredAt
// @ts-expect-error no such field
made.alert.firedAt
const ids: string[] = (await chartroom.call('GET /api/platform/alerts')).alerts.map((alert) => alert.id)
await chartroom.call('DELETE /api/platform/alerts/{id}', { path: { id: made.id } })
await chartroom.call('GET /api/search', { query: { q: 'x', limit: 5 } })
// @ts-expect-error no such operator
await chartroom.call('POST /api/platform/alerts', { body: { symbol: 'S', exchange: 'E', interval: '1h', kind: 'price', op: 'sideways', channels: [] } })
// @ts-expect-error q is missing
await chartroom.call('GET /api/search', { query: {} })
// @ts-expect-error no such operation
await chartroom.call('GET /api/nothing')
export { state, firedAt, ids }
`,
  )
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        target: 'ESNext',
        module: 'Preserve',
        moduleResolution: 'bundler',
        allowImportingTsExtensions: true,
        noEmit: true,
        lib: ['ESNext', 'DOM'],
        types: [],
      },
      include: ['*.ts'],
    }),
  )
  const checked = Bun.spawnSync([process.execPath, 'check', '--no-script', '-p', folder], { cwd: folder })
  expect(checked.stdout.toString() + checked.stderr.toString()).toContain('No type errors')
})

test('calls the API, and says what the server said no with', async () => {
  interface Client {
    call(operation: string, args?: object): Promise<Record<string, unknown>>
  }
  const { Chartroom } = (await import(`${folder}/client.ts`)) as {
    Chartroom: new (options: object) => Client
  }
  const { authorization } = await token(await signUp(), ['ideas:write', 'ideas:read'])
  const client = new Chartroom({
    baseUrl: 'http://localhost/',
    token: authorization.slice('Bearer '.length),
    fetch: (url: string, init: object) => app.handle(new Request(url, init)),
  })
  const { id } = await client.call('POST /api/platform/ideas', {
    body: { title: 't', body: 'b', visibility: 'private' },
  })
  expect(await client.call('GET /api/platform/ideas/{id}', { path: { id } })).toMatchObject({
    ok: true,
    idea: { title: 't' },
  })
  expect(client.call('POST /api/platform/ideas', { body: {} })).rejects.toMatchObject({
    status: 422,
    code: 'validation_failed',
    fields: expect.any(Array),
  })
  expect(client.call('GET /api/platform/alerts')).rejects.toMatchObject({
    status: 403,
    code: 'insufficient_scope',
  })
})
