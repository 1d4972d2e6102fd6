// What a server lives through: scripts that never end, scripts that are wrong, files that are no bars, a full disk.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, backtestOf, csvOf, BUILT, IN_FOLDER, Place, type Server } from './server.ts'

const LOOP = '//@version=6\nstrategy("x")\nn = 0\nwhile true\n    n += 1\nplot(n)'
/** Every bar stays within the limit of rounds; all of them together take minutes. */
const SLOW = '//@version=6\nstrategy("x")\nn = 0.0\nfor i = 0 to 4000000\n    n += math.sin(i)\nplot(n)'

describe.each(BUILT)('%s', (mode) => {
  describe('abuse', () => {
    let place: Place
    let server: Server
    beforeAll(async () => {
      place = new Place(mode)
      server = await place.serve('--script-time-ms', '1000', '--rate-user', '0')
      await server.signUp()
    })
    afterAll(async () => {
      expect(await server.stop()).toBe(0)
      place.remove()
    })
    /** Where everybody wants a processor, the answer is to try again. */
    async function backtest(source: string, headers: Record<string, string> = {}): Promise<Answer> {
      const answer = await server.call('POST', '/api/platform/backtests', backtestOf(source), headers)
      return answer.status === 503 ? backtest(source, headers) : answer
    }

    test('a bad script is told all three places where it is wrong', async () => {
      const source = [
        '//@version=6',
        'strategy("x")',
        'a = nothing + 1',
        'b = ta.sma(close, "ten")',
        'if close > open',
        '    strategy.entri("L", strategy.long)',
        'plot(close)',
      ].join('\n')
      const answer = await backtest(source)
      expect([answer.status, answer.json.error.code]).toEqual([422, 'script_invalid'])
      const places = answer.json.error.diagnostics.map(
        ({ line, column }: { line: number; column: number }) => `${line}:${column}`,
      )
      expect(places).toEqual(['3:5', '4:19', '6:5'])
      for (const { message, endLine, endColumn } of answer.json.error.diagnostics) {
        expect(message.length).toBeGreaterThan(10)
        expect([typeof endLine, typeof endColumn]).toEqual(['number', 'number'])
      }
      expect((await server.call('GET', '/api/platform/backtests')).text).not.toContain('nothing + 1')
    })

    test('a loop that never ends is stopped, and its line is named', async () => {
      const { status, json } = await backtest(LOOP)
      expect([status, json.error.code]).toEqual([422, 'script_limit_exceeded'])
      expect(json.error.diagnostics).toEqual([expect.objectContaining({ line: 4 })])
    })

    test('a script that takes too long is stopped and named while others are served', async () => {
      const stopped = backtest(SLOW)
      let isOver = false
      void stopped.finally(() => (isOver = true))
      let served = 0
      // Not until it is over: who asks without a pause takes the processor that the script would need to run out of time.
      for (let i = 0; i < 5; i++) {
        expect((await server.call('GET', '/api/platform/symbols/SP/SPX')).status).toBe(200)
        if (!isOver) served++
      }
      const answer = await stopped
      expect([answer.status, answer.json.error.code]).toEqual([422, 'script_limit_exceeded'])
      expect(answer.json.error.message).toContain('more than 1 s')
      // They did not wait for it: the first of them would have been answered together with it.
      expect(served).toBeGreaterThan(1)
    })

    test('after a script was stopped the next one runs', async () => {
      expect((await backtest(LOOP)).status).toBe(422)
      expect((await backtest('//@version=6\nstrategy("x")\nplot(close)')).status).toBe(200)
    })

    test('a file with wrong rows is refused whole, with the rows', async () => {
      const query = 'exchange=BAD&symbol=FILE&interval=1h'
      const lines = csvOf(10).split('\n')
      lines[3] = lines[3]?.replace(/,(\d+),(\d+),/, ',nan,$2,') ?? ''
      lines[7] = '1704085200000,10,9,11,10,5'
      const answer = await server.importCsv(query, lines.join('\n'))
      expect([answer.status, answer.json.error.code]).toEqual([422, 'validation_failed'])
      expect(answer.json.error.fields.map(({ path }: { path: string }) => path)).toEqual([
        '/rows/4',
        '/rows/8',
      ])
      expect((await server.call('GET', `/api/platform/bars?${query}`)).json.error.code).toBe('bars_not_found')
    })

    test('two requests with one idempotency key make one backtest', async () => {
      const source = '//@version=6\nstrategy("once")\nplot(close)'
      const key = { 'idempotency-key': 'only-once' }
      const first = await backtest(source, key)
      const second = await backtest(source, key)
      expect([first.status, second.status]).toEqual([200, 200])
      expect(second.json.id).toBe(first.json.id)
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      const other = await backtest(`${source}\n`, key)
      expect([other.status, other.json.error.code]).toEqual([422, 'idempotency_key_reused'])
      // At the same time: one runs, the other is told so or is answered the same, never a second run.
      const both = await Promise.all(
        [1, 2].map(() => backtest(`${source}\nplot(open)`, { 'idempotency-key': 'race' })),
      )
      const ids = both.filter(({ status }) => status === 200).map(({ json }) => json.id)
      expect(new Set(ids).size).toBe(1)
      for (const { status, json } of both)
        if (status !== 200) expect([status, json.error.code]).toEqual([409, 'idempotency_in_progress'])
    })

    test('a full disk is told to who writes, and the server lives on', async () => {
      const small = new Place(mode, IN_FOLDER)
      const full = await small.serve('--max-storage-mb', '3')
      await full.signUp()
      const first = await full.importCsv('exchange=X&symbol=SMALL&interval=1h', csvOf(2000))
      expect(first.status).toBe(200)
      const large = await full.importCsv(
        'exchange=X&symbol=LARGE&interval=1h',
        csvOf(300_000, Date.UTC(1990, 0)),
      )
      expect([large.status, large.json.error.code]).toEqual([507, 'storage_full'])
      // Nothing of it was stored, what was there before is still there, and it can be read.
      expect((await full.call('GET', '/api/platform/bars?exchange=X&symbol=LARGE&interval=1h')).status).toBe(
        404,
      )
      const read = await full.call('GET', '/api/platform/bars?exchange=X&symbol=SMALL&interval=1h')
      expect(read.json.bars.time).toHaveLength(2000)
      expect((await full.call('GET', '/api/auth/session')).status).toBe(200)
      expect((await full.call('GET', '/api/health')).status).toBe(200)
      // Space that was not taken is there for others.
      expect(
        (await full.call('POST', '/api/platform/backtests', backtestOf('//@version=6\nstrategy("x")')))
          .status,
      ).toBe(200)
      expect(await full.stop()).toBe(0)
      small.remove()
    })
  })
})
