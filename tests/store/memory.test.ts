// The store in memory is the one most tests run on; what every store does is tested in `conformance.test.ts`.

import { expect, test } from 'bun:test'
import { memoryKv } from '../../src/store/memory.ts'
import { rejection } from '../rejection.ts'

const setting = (name: string, length: number) => ({ sets: [{ key: [name], value: 'x'.repeat(length) }] })

test('is full once its values exceed what it may have, until some of them go', async () => {
  const kv = memoryKv({ maxBytes: 10_000 })
  await kv.commit(setting('a', 4000))
  await kv.commit(setting('b', 6000))
  // Not more than it may have, so that one more is taken, and no other.
  await kv.commit(setting('c', 1))
  expect(await rejection(kv.commit(setting('d', 1)))).toMatchObject({ status: 507, code: 'storage_full' })
  await kv.commit(setting('c', 0))
  await kv.commit(setting('d', 1))
  expect(await rejection(kv.commit(setting('e', 1)))).toMatchObject({ code: 'storage_full' })
  await kv.commit({ deletes: [['a']] })
  await kv.commit(setting('e', 1))
})
