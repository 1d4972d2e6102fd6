// The least that keeping a backtest costs: a route that prints its JSON, stores the text with one durable put, and answers it.
// Run by `kept.bench.ts`, which writes an answer to standard input and reads the port from standard error.

import { Elysia } from 'elysia'
import { open } from 'lmdb'

const answer = await Bun.stdin.json()
const db = open({ path: `${process.argv[2]}/kept.mdb`, encoding: 'binary' })
let count = 0
const app = new Elysia().post('/api/platform/backtests', async ({ body, set }) => {
  if (typeof body !== 'object') throw new Error('no body')
  const text = JSON.stringify(answer)
  await db.put(String(++count), Buffer.from(text))
  await db.flushed
  set.headers['content-type'] = 'application/json;charset=utf-8'
  return text
})
app.listen({ port: 0, hostname: '127.0.0.1' })
console.error(`"port":${app.server?.port}`)
