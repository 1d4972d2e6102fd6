// Names in every alphabet through the whole server: the executable's bundled code once threw on the first key outside ASCII.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { backtestOf, csvOf, BUILT, Place, type Server } from './server.ts'

/** As it is typed, and as it is kept. */
const NAMES: readonly (readonly [typed: string, kept: string])[] = [
  ['сбер', 'СБЕР'],
  ['平安', '平安'],
  ['🚀', '🚀'],
  ['e\u0301te\u0301', 'ÉTÉ'],
  ['נפט', 'נפט'],
  ['straße', 'STRASSE'],
]

const SCRIPT = `//@version=6
strategy("ё 中 🚀 e\u0301", default_qty_type=strategy.fixed, default_qty_value=1)
if bar_index == 5
    strategy.entry("вход", strategy.long)
if bar_index == 9
    strategy.close("вход")
plot(request.security(syminfo.tickerid, "240", close))`

describe.each(BUILT)('%s', (mode) => {
  describe('names', () => {
    let place: Place
    let server: Server
    beforeAll(async () => {
      place = new Place(mode)
      server = await place.serve()
      await server.signUp()
    })
    afterAll(async () => {
      expect(await server.stop()).toBe(0)
      place.remove()
    })

    test.each(NAMES)('of a series, an alert, a list and a place: %j is kept as %j', async (typed, kept) => {
      const series = (interval: string) =>
        new URLSearchParams({ exchange: `x${typed}`, symbol: typed, interval }).toString()
      const imported = await server.importCsv(series('1h'), csvOf(200))
      expect([imported.status, imported.json.series?.symbol]).toEqual([200, kept])
      const path = `/api/platform/symbols/${encodeURIComponent(`X${typed}`)}/${encodeURIComponent(typed)}`
      expect((await server.call('PUT', path, { description: typed })).json.symbol).toMatchObject({
        exchange: `X${kept}`,
        symbol: kept,
        description: typed.normalize('NFC'),
      })
      expect((await server.call('GET', path)).json.symbol.series).toHaveLength(1)
      const { symbols } = (await server.call('GET', '/api/platform/symbols')).json
      expect(symbols.map(({ symbol }: { symbol: string }) => symbol)).toContain(kept)
      // Built from the hours.
      const coarser = await server.call('GET', `/api/platform/bars?${series('4h')}`)
      expect([coarser.status, coarser.json.bars.time.length]).toEqual([200, 50])
      const replay = await server.call('GET', `/api/platform/replay?${series('1h')}`)
      expect([replay.status, replay.json.replay.bars.time.length]).toEqual([200, 200])

      const key = { exchange: `x${typed}`, symbol: typed, interval: '1h' }
      const wanted = { ...key, kind: 'price', op: 'above', price: 1e6, channels: ['email'], name: typed }
      const alert = await server.call('POST', '/api/platform/alerts', wanted)
      expect(alert.json.alert).toMatchObject({ symbol: kept, name: typed.normalize('NFC') })
      const items = [{ symbol: typed, exchange: `x${typed}`, note: typed }]
      const list = await server.call('POST', '/api/platform/watchlists/import', { name: typed, items })
      expect(list.json.watchlist).toMatchObject({
        name: typed.normalize('NFC'),
        items: [{ symbol: kept, note: typed }],
      })
      const times = { start: '2024-01-01T00:00:00Z', end: '2024-01-05T00:00:00Z' }
      await server.call('POST', '/api/platform/replay/resume', { ...key, ...times, cursorBar: 7, speed: 1 })
      const pair = new URLSearchParams({ symbol: typed, interval: '1h' }).toString()
      const resumed = await server.call('GET', `/api/platform/replay/resume?${pair}`)
      expect(resumed.json.cursor).toMatchObject({ symbol: kept, cursorBar: 7 })
      await server.call('POST', `/api/platform/replay/bookmarks?bar=3&${pair}`, { note: typed })
      const marks = await server.call('GET', `/api/platform/replay/bookmarks?${pair}`)
      expect(marks.json.bookmarks).toMatchObject([{ bar: 3, note: typed }])

      const request = { ...backtestOf(SCRIPT, typed), ...key, bars: 200 }
      const run = await server.call('POST', '/api/platform/backtests', request)
      expect([run.status, run.json.result?.report.summary.trades]).toEqual([200, 1])
      const again = await server.call('POST', `/api/platform/backtests/${run.json.id}/replay`)
      expect(again.json.replay).toMatchObject({ symbol: kept, exchange: `X${kept}` })
      expect((await server.call('DELETE', `/api/platform/bars?${series('1h')}`)).json.deleted).toBe(true)
    })

    test('half a surrogate pair is refused wherever it comes from', async () => {
      const half = { name: 'x\ud800', items: [{ symbol: 'A', exchange: '', note: null }] }
      const escaped = JSON.stringify(half).replace('\ud800', String.raw`\ud800`)
      const refused = await server.call('POST', '/api/platform/watchlists/import', escaped)
      expect([refused.status, refused.json.error.fields[0].path]).toEqual([422, '/name'])
      for (const bytes of ['%ED%A0%80', '%ED%B0%80', '%FF', '%C3']) {
        const query = `exchange=X&symbol=${bytes}&interval=1h`
        const answers = [
          await server.importCsv(query, csvOf(3)),
          await server.call('GET', `/api/platform/bars?${query}`),
          await server.call('PUT', `/api/platform/symbols/X/${bytes}`, { description: 'd' }),
          await server.call('GET', `/api/platform/replay?${query}`),
        ]
        expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422])
      }
      const { symbols } = (await server.call('GET', '/api/platform/symbols')).json
      expect(JSON.stringify(symbols)).not.toContain('\ufffd')
    })
  })
})
