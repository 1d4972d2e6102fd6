// How the continuous backup is doing: for those who run the server in words, for machines in numbers.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const FAILING = {
  state: 'failing',
  lagSeconds: 75.5,
  lastAt: 1_700_000_000_000,
  place: 's3://data/backup/',
  problem: 'NoSuchBucket: there is no such bucket',
  since: 1_700_000_001_000,
} as const

test('a backup that fails is told to owner and admins with place and problem, and to no other user', async () => {
  const { call, signUp } = testServer(() => ({ backup: { status: () => FAILING } }))
  const owner = await signUp()
  const member = await signUp('member@example.com')
  const path = '/api/platform/backup'
  expect((await call('GET', path, { headers: owner })).json).toEqual({ ok: true, backup: FAILING })
  expect(await call('GET', path, { headers: member })).toMatchObject({ status: 404 })
  expect(await call('GET', path)).toMatchObject({ status: 401 })
})

test('ready and metrics say state, lag and the newest state, but not where the backup is', async () => {
  const { call, services } = testServer(({ settings }) => ({
    backup: { status: () => FAILING },
    settings: { ...settings, metrics: 'open' },
  }))
  const ready = await call('GET', '/api/ready')
  expect(ready.json).toEqual({
    ok: true,
    status: 'ready',
    backup: { state: 'failing', lagSeconds: 75.5, lastAt: 1_700_000_000_000, since: 1_700_000_001_000 },
  })
  const { text } = await call('GET', '/metrics')
  expect(text).toContain('chartroom_backup_failing 1')
  expect(text).toContain('chartroom_backup_lag_seconds 75.5')
  expect(text).toContain('chartroom_backup_last_timestamp_seconds 1700000000')
  expect(services.backup).not.toBeNull()
})

test('a server without one says so, and nothing of it in ready and metrics', async () => {
  const { call, signUp } = testServer(({ settings }) => ({ settings: { ...settings, metrics: 'open' } }))
  const owner = await signUp()
  const { json } = await call('GET', '/api/platform/backup', { headers: owner })
  expect(json).toEqual({ ok: true, backup: null })
  expect((await call('GET', '/api/ready')).json).toEqual({ ok: true, status: 'ready' })
  expect((await call('GET', '/metrics')).text).not.toContain('chartroom_backup')
})
