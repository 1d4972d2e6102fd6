// The server on a PostgreSQL, as people start it: one that serves, and one that waits to take its place.

import { afterAll, describe, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { writeFileSync } from 'node:fs'
import { testPostgres } from '../store/postgres-server.ts'
import { csvOf, isMissing, OWNER, Place, Server, backtestOf } from './server.ts'

const postgres = await testPostgres()
const sql = new SQL(postgres.url, { max: 1 })
afterAll(async () => {
  await sql.close()
  await postgres.stop()
})

const STRATEGY = '//@version=6\nstrategy("x")\nif bar_index % 10 == 0\n    strategy.entry("L", strategy.long)'

/** The address of a database that is empty. */
async function freshDatabase(mode: string): Promise<URL> {
  const name = `served_${process.pid}_${mode}`
  await sql.unsafe(`create database ${name}`)
  const url = new URL(postgres.url)
  url.pathname = `/${name}`
  url.password = 'secret-word'
  return url
}

/** One that finds another in its place. */
async function startBehind(place: Place): Promise<() => Promise<Server>> {
  const child = place.spawn(['serve', '--port', '0'])
  const reader = child.stderr.getReader()
  let said = ''
  const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(said)
      if (found) return found
      const { value, done } = await reader.read()
      if (done) throw new Error(`it ended: ${said}`)
      said += new TextDecoder().decode(value)
    }
  }
  await until(/waiting for the server that serves from the database/)
  return async () => {
    const [, port] = await until(/"message":"listening".*"port":(\d+)/)
    reader.releaseLock()
    return new Server(child, `http://127.0.0.1:${port}`, '', null as never)
  }
}

// What is particular to the executable shows in it, and the rest in either: it takes seconds.
describe.each([isMissing('executable') ? 'source' : 'executable'] as const)('%s', (mode) => {
  describe('on a database', () => {
    test('serves, and is followed by another when it is gone: nothing that was answered is lost', async () => {
      const url = await freshDatabase(mode)
      const place = new Place(mode, { STORE: url.href })
      const database = new SQL(url.href, { max: 1 })
      /** What five seconds do. */
      const expire = () => database`update chartroom.leases set until = '-infinity'`
      try {
        const first = await place.serve()
        await first.signUp()
        expect((await first.importCsv('symbol=BTCUSDT&exchange=ACME&interval=1h', csvOf(9000))).status).toBe(
          200,
        )
        const run = await first.call('POST', '/api/platform/backtests', backtestOf(STRATEGY, 'Kept 字'))
        expect(run.status).toBe(200)
        // What a command beside the server does is on the charts.
        const stream = await fetch(`${first.base}/api/platform/stream`, { headers: first.headers })
        writeFileSync(`${place.folder}/more.csv`, csvOf(24, Date.UTC(2025, 5, 1)))
        const imported = await place.run(
          'bars',
          'import',
          'more.csv',
          '--symbol',
          'BTCUSDT',
          '--exchange',
          'ACME',
          '--interval',
          '1h',
        )
        expect(imported.code).toBe(0)
        const events = stream.body?.getReader()
        for (let said = ''; !/event: bars\ndata: .*BTCUSDT/.test(said);)
          said += new TextDecoder().decode((await events?.read())?.value)
        await events?.cancel()
        const behind = await startBehind(place)
        expect((await place.run('user', 'list')).out).toContain(OWNER.email)
        expect((await place.run('backup', 'copy')).err).toContain('STORE names a database')
        await first.kill()
        await expire()

        const second = await behind()
        second.headers = first.headers
        const { json } = await second.call('GET', '/api/platform/backtests')
        expect(json.backtests).toMatchObject([{ name: 'Kept 字', state: 'done' }])
        const bars = await second.call(
          'GET',
          '/api/platform/bars?symbol=BTCUSDT&exchange=ACME&interval=1h&limit=9024',
        )
        expect(bars.json.bars.time).toHaveLength(9024)
        const report = await second.call('GET', `/api/platform/backtests/${run.json.id}`)
        expect(report.json.report).toEqual(run.json.report)

        // One that stands still for too long finds out, and has done nothing meanwhile.
        const third = await startBehind(place)
        second.process.kill('SIGSTOP')
        await expire()
        const last = await third()
        second.process.kill('SIGCONT')
        expect(await second.process.exited).toBe(1)
        last.headers = first.headers
        expect((await last.call('GET', '/api/platform/backtests')).json.backtests).toHaveLength(1)
        expect(await last.stop()).toBe(0)
        expect(first.said + first.log.text).not.toContain('secret-word')
        expect((await place.run('config')).out).not.toContain('secret-word')
      } finally {
        await database.close()
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
