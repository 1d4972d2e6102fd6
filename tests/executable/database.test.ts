// Servers on a PostgreSQL, as people start them: several at a time, of which one goes.

import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { writeFileSync } from 'node:fs'
import { testPostgres } from '../store/postgres-server.ts'
import { csvOf, OWNER, Place, Server, backtestOf, BUILT } from './server.ts'

const postgres = await testPostgres()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

const STRATEGY =
  '//@version=6\nstrategy("x", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index % 10 == 0\n    strategy.entry("L", strategy.long)'

/** The address of a database that is empty. */
async function freshDatabase(mode: string): Promise<URL> {
  const name = `served_${process.pid}_${mode}`
  await sql.unsafe(`create database ${name}`)
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  url.password = 'secret-word'
  return url
}

// What is particular to the executable shows in it, and the rest in either: it takes seconds.
describe.each(BUILT)('%s', (mode) => {
  describe('on a database', () => {
    test('several serve at a time, and when one is gone the others have all that was answered', async () => {
      const url = await freshDatabase(mode)
      // Longer than a busy machine may keep a server waiting; what would end it is done by hand.
      const place = new Place(mode, { STORE: url.href, LEASE_SECONDS: '600' })
      const database = new SQL(url.href, { max: 1 })
      const all: Server[] = []
      const serve = async (headers?: Record<string, string>) => {
        const server = await place.serve()
        if (headers) server.headers = headers
        all.push(server)
        return server
      }
      try {
        const first = await serve()
        await first.signUp()
        const second = await serve(first.headers)
        expect((await first.importCsv('symbol=BTCUSDT&exchange=ACME&interval=1h', csvOf(9000))).status).toBe(
          200,
        )
        // The first has given half of what there is to do to the second.
        while ((await second.call('GET', '/api/ready')).json.shards.users !== '128-255');
        // What either does is known to both, and what a command does as well.
        const stream = await fetch(`${second.base}/api/platform/stream`, { headers: first.headers })
        const events = stream.body?.getReader()
        let said = ''
        const hear = async (pattern: RegExp) => {
          while (!pattern.test(said)) said += new TextDecoder().decode((await events?.read())?.value)
        }
        const run = await first.call('POST', '/api/platform/backtests', backtestOf(STRATEGY, 'Kept 字'))
        expect(run.status).toBe(200)
        await hear(/event: backtest\ndata: .*Kept 字/)
        writeFileSync(`${place.folder}/more.csv`, csvOf(24, Date.UTC(2025, 5, 1)))
        const series = '--symbol BTCUSDT --exchange ACME --interval 1h'.split(' ')
        expect((await place.run('bars', 'import', 'more.csv', ...series)).code).toBe(0)
        await hear(/event: bars\ndata: .*BTCUSDT/)
        await events?.cancel()
        expect((await place.run('user', 'list')).out).toContain(OWNER.email)
        const rows = (await place.run('nodes', '--store', url.href)).out.trimEnd().split('\n')
        expect(rows.map((row) => row.split(/ {2,}/).length)).toEqual([6, 6, 6])
        const { json: ready } = await second.call('GET', '/api/ready')
        expect(
          rows.filter((row) => row.startsWith(ready.node) && row.includes(ready.shards.users)),
        ).toHaveLength(1)
        expect((await place.run('backup', 'copy')).err).toContain('STORE names a database')

        // One that stands still for too long finds out, and has done nothing meanwhile.
        first.process.kill('SIGSTOP')
        await database`update chartroom.leases set until = '-infinity' where node <> 'all nodes'`
        const third = await serve(first.headers)
        for (let left = 1; left > 0;)
          [{ left }] =
            await database`select count(*)::int as left from chartroom.leases where until = '-infinity'`
        first.process.kill('SIGCONT')
        expect(await first.process.exited).toBe(1)

        await second.kill()
        const { json } = await third.call('GET', '/api/platform/backtests')
        expect(json.backtests).toMatchObject([{ name: 'Kept 字', state: 'done' }])
        const query = 'symbol=BTCUSDT&exchange=ACME&interval=1h&limit=9024'
        expect((await third.call('GET', `/api/platform/bars?${query}`)).json.bars.time).toHaveLength(9024)
        const report = await third.call('GET', `/api/platform/backtests/${run.json.id}`)
        expect(report.json.report).toEqual(run.json.report)
        expect(await third.stop()).toBe(0)
        for (const { said: told, log } of all) expect(told + log.text).not.toContain('secret-word')
        expect((await place.run('config')).out).not.toContain('secret-word')
      } finally {
        await database.close()
        for (const server of all) server.process.kill('SIGKILL')
        place.remove()
      }
    })

    test('several with one key start at once on an empty one, and all serve', async () => {
      const url = await freshDatabase(`${mode}_at_once`)
      // A busy machine is no failure.
      const settings = { STORE: url.href, LEASE_SECONDS: '600' }
      const places = Array.from({ length: 3 }, () => new Place(mode, settings))
      const keyFile = `${places[0]?.folder}/shared.key`
      writeFileSync(keyFile, new Uint8Array(32).fill(7))
      const started = await Promise.allSettled(places.map((place) => place.serve('--key-file', keyFile)))
      try {
        expect(started.map(({ status }) => status)).toEqual(places.map(() => 'fulfilled'))
      } finally {
        for (const one of started) if (one.status === 'fulfilled') await one.value.kill()
        for (const place of places) place.remove()
      }
    })

    test('one that is refused after it has joined the others leaves them, and ends', async () => {
      const url = await freshDatabase(`${mode}_joined`)
      const place = new Place(mode, { STORE: url.href, LEASE_SECONDS: '600' })
      try {
        const refused = await place.run('serve', '--port', '0', '--key-file', `${place.folder}/no/key`)
        expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('cannot be written')])
        expect((await place.run('nodes', '--store', url.href)).out).not.toContain('unknown')
      } finally {
        place.remove()
      }
    })

    test('without its key, with a wrong address, or with a limit that is not for it, does not start', async () => {
      const url = await freshDatabase(`${mode}_refused`)
      const place = new Place(mode, { STORE: url.href })
      try {
        const serving = await place.serve()
        // At once, and not only when it would have to take over.
        const elsewhere = await place.run('serve', '--data-dir', 'other')
        expect([elsewhere.code, elsewhere.err]).toEqual([
          1,
          expect.stringContaining('instance.key is missing'),
        ])
        expect(await serving.stop()).toBe(0)
        const limited = await place.run('serve', '--max-storage-mb', '5')
        expect([limited.code, limited.err]).toEqual([2, expect.stringContaining('MAX_STORAGE_MB: limits')])
        const copied = await place.run('serve', '--backup', '/mnt/nas')
        expect([copied.code, copied.err]).toEqual([
          2,
          expect.stringContaining("with STORE use the database's own way, such as pg_basebackup"),
        ])
        const wrong = await place.run('serve', '--store', 'mysql://root:secret-word@localhost/x')
        expect([wrong.code, wrong.err]).toEqual([
          2,
          expect.stringContaining('--store: expected an address like'),
        ])
        url.pathname = '/nowhere'
        const nowhere = await place.run('serve', '--store', url.href)
        expect([nowhere.code, nowhere.err]).toEqual([
          1,
          expect.stringContaining('there is no database of that name'),
        ])
        expect(wrong.err + nowhere.err).not.toContain('secret-word')
      } finally {
        place.remove()
      }
    })
  })
})
