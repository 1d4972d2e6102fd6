// The command line asks the provider whose key was given to the server.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { ProviderKeys } from '../../src/people/feeds/provider-keys.ts'
import { silentLog } from '../../src/lib/log.ts'
import { opensSecrets, markSecretsLost } from '../../src/server/sealed-secrets.ts'
import { createSecretBox } from '../../src/notify/webhooks/secret-box.ts'
import { keyedVenue } from '../market/fake-keyed.ts'
import { testKv } from '../store/test-store.ts'
import { chartroom, openKept, temporaryFolder, withHttp } from './run.ts'

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const clock = { now: () => 1000, sleep: () => Promise.resolve() }
const FETCH = ['bars', 'fetch', '--symbol', 'NASDAQ:AAPL', '--interval', '30m']
const RANGE = ['--from', '2025-01-06', '--to', '2025-01-07']

test('with the key of the server `bars fetch` asks its provider, and says where the key cannot be read', async () => {
  const data = temporaryFolder()
  expect((await chartroom(data, 'bars', 'list')).code).toBe(0)
  const key = random(32)
  writeFileSync(`${data}/instance.key`, key)
  const kv = await openKept(data)
  const box = await createSecretBox(key, random)
  const keys = new ProviderKeys({ kv, clock, log: silentLog, box, changed: () => {} })
  await keys.give('Tiingo', { key: 'tkey', secret: '' })
  await kv.close()
  const venue = keyedVenue()
  const fetched = await withHttp(venue.http, data, [...FETCH, ...RANGE])
  expect(fetched).toMatchObject({ code: 0, err: '' })
  expect(fetched.out).toContain('13 bars added')
  expect(venue.requests.map(({ url }) => url.hostname)).toEqual(['api.tiingo.com'])
  rmSync(`${data}/instance.key`)
  expect(existsSync(`${data}/instance.key`)).toBe(false)
  const without = await withHttp(venue.http, data, [...FETCH, ...RANGE])
  expect(without.err).toContain('The keys of providers cannot be read without')
})

test('a lost key of the server is noticed by the keys of providers alone, which have to be given again', async () => {
  const kv = testKv()
  const [box, other] = [await createSecretBox(random(32), random), await createSecretBox(random(32), random)]
  expect(await opensSecrets(kv, box)).toBeNull()
  const keysWith = (one: typeof box) =>
    new ProviderKeys({ kv, clock, log: silentLog, box: one, changed: () => {} })
  await keysWith(box).give('Tiingo', { key: 'tkey', secret: '' })
  expect([await opensSecrets(kv, box), await opensSecrets(kv, other)]).toEqual([true, false])
  await markSecretsLost(kv, clock)
  expect(await opensSecrets(kv, other)).toBeNull()
  const keys = keysWith(other)
  const tiingo = async () => (await keys.list()).find(({ name }) => name === 'Tiingo')
  expect(await tiingo()).toMatchObject({ isLost: true })
  await keys.give('Tiingo', { key: 'tkey', secret: '' })
  expect([await opensSecrets(kv, other), await tiingo()]).toMatchObject([true, { isLost: false }])
})
