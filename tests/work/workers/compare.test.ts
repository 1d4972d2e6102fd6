// Reading the body of a comparison, which may be 32 MB of one text.

import { expect, test } from 'bun:test'
import { compareJob } from '../../../src/work/workers/compare-job.ts'
import { emptyBars } from '../../../src/market/bars.ts'

const NO_DESK = {
  host: new Proxy({} as Parameters<typeof compareJob>[1]['host'], {
    get: () => () => Promise.reject(new Error('nothing is asked for')),
  }),
  progress: () => {},
  used: () => {},
}

async function refusal(bytes: Uint8Array) {
  const half = bytes.length >> 1
  const body = [bytes.subarray(0, half), bytes.subarray(half)]
  const job = { body, bars: emptyBars(0), exchangeTimezone: 'UTC' }
  const error = await compareJob(job, NO_DESK).catch((thrown: unknown) => thrown)
  return { code: (error as { code?: string }).code, left: body.length }
}

test.each([
  ['no list of trades', Buffer.from(JSON.stringify({ csv: 'é'.repeat(1001) })), 'validation_failed'],
  ['not whole', Buffer.from('{"csv":"é'), 'malformed_json'],
  ['no UTF-8', Uint8Array.of(0x7b, 0xff), 'malformed_json'],
  ['no object', Buffer.from('[1]'), 'body_not_object'],
  ['nested too deep', Buffer.from('['.repeat(1000)), 'malformed_json'],
])('a body that is %s is refused, and its parts are given back as they are read', async (_, bytes, code) => {
  expect(await refusal(bytes)).toEqual({ code, left: 0 })
})
