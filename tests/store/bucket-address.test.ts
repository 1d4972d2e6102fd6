// Addresses of buckets, as stores differ: the bucket in the path or in the host name, keys for a time, and what is no address.

import { expect, test } from 'bun:test'
import { s3Bucket } from '../../src/store/bucket.ts'
import { parseBucket } from '../../src/store/bucket-address.ts'

const clock = { now: () => Date.now(), sleep: () => new Promise<void>(() => {}) }

/** Bun sends that of the environment with any key that has none. */
const NO_TOKEN = process.env['S3_SESSION_TOKEN'] ?? process.env['AWS_SESSION_TOKEN'] ?? 'none'

/** What a store is asked when an object is put, as lines. */
async function asked(address: (endpoint: string) => string): Promise<string> {
  let seen = ''
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url, headers }) {
      const { hostname, pathname } = new URL(url)
      seen = `${hostname} ${pathname} ${headers.get('x-amz-security-token') ?? NO_TOKEN}`
      return new Response()
    },
  })
  try {
    await s3Bucket(address(`localhost:${server.port}`), clock).put('x', new Uint8Array(1))
    return seen
  } finally {
    await server.stop(true)
  }
}

test('the bucket is in the path, or in the host name where the address says so', async () => {
  expect(await asked((at) => `s3://K:S@bucket/deep/er?endpoint=http://${at}`)).toBe(
    `localhost /bucket/deep/er/x ${NO_TOKEN}`,
  )
  expect(parseBucket('s3://K:S@bucket/p?endpoint=https://oss.example.com&style=virtual')).toMatchObject({
    endpoint: 'https://bucket.oss.example.com',
    virtualHostedStyle: true,
  })
  expect(await asked((at) => `s3://K:S@bucket/deep?endpoint=http://${at}&style=virtual`)).toBe(
    `bucket.localhost /deep/x ${NO_TOKEN}`,
  )
})

test('a key for a time has its token', async () => {
  expect(await asked((at) => `s3://K:S@bucket/p?endpoint=http://${at}&token=a%2Fb`)).toBe(
    'localhost /bucket/p/x a/b',
  )
})

test('where a bucket is never tells its key', () => {
  const { address } = s3Bucket('s3://K:SECRET@bucket/p?endpoint=https://s3.example.com&token=TOKEN', clock)
  expect(address).toBe('s3://bucket/p/ at https://s3.example.com')
})

test.each([
  ['s3://bucket/p', 'expected an address like s3://KEY:SECRET@bucket'],
  ['s3://K:S@bucket/p?endpoint=s3.example.com', 'expected the endpoint in the address'],
  ['s3://K:S@bucket/p?endpoint=https://user:password@s3.example.com', 'expected the endpoint in the address'],
  ['s3://K:S@bucket/p?endpoint=https://s3.example.com/?x=1', 'expected the endpoint in the address'],
  ['s3://K:S@bucket/p?style=host', 'expected style=path or style=virtual'],
])('%s is refused', (address, message) => {
  expect(() => parseBucket(address)).toThrow(message)
})
