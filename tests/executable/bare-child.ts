// The least that an answer costs: an Elysia route that answers bytes it is handed. Run by `http.bench.ts`, which writes one
// JSON object of texts by path to standard input and reads the port from standard output.

import { Elysia } from 'elysia'

const texts = (await Bun.stdin.json()) as Readonly<Record<string, string>>
const app = new Elysia()
for (const [path, text] of Object.entries(texts))
  app.get(path, ({ set }) => {
    set.headers['content-type'] = 'application/json;charset=utf-8'
    return text
  })
app.listen({ port: 0, hostname: '127.0.0.1' })
console.log(app.server?.port)
