// Alerts of a server that is cut off, restarted and given more than it can look at at once: each fires exactly once.

import { afterEach, describe, expect, test } from 'bun:test'
import { BUILT, Place, type Server } from './server.ts'

const HOUR = 3_600_000
const START = Date.UTC(2024, 0, 1)

/** Bars of an hour from number `first` on. */
function csv(first: number, closes: readonly number[]): string {
  const lines = ['time,open,high,low,close,volume']
  for (const [i, close] of closes.entries())
    lines.push(`${START + (first + i) * HOUR},${close},${close},${close},${close},1`)
  return `${lines.join('\n')}\n`
}
const flat = (count: number, close = 10) => Array.from({ length: count }, () => close)
const MARKET = 'exchange=X&symbol=АКЦИЯ中&interval=1h'

async function watch(server: Server, count: number, level: (i: number) => number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const { json } = await server.call('POST', '/api/platform/alerts', {
      exchange: 'X',
      symbol: 'АКЦИЯ中',
      interval: '1h',
      kind: 'price',
      op: 'crossing_up',
      price: level(i),
      channels: ['email'],
    })
    ids.push(json.id)
  }
  return ids
}

interface FiringWire {
  readonly alertId: string
  readonly barTime: number
}

/** Waits until so many have fired; answers how often each did, and on which bars. */
async function firings(server: Server, count: number): Promise<[string, number][]> {
  for (;;) {
    const { json } = await server.call('GET', '/api/platform/alerts/firings?limit=500')
    if (json.firings.length < count) continue
    return json.firings.map(({ alertId, barTime }: FiringWire) => [alertId, barTime])
  }
}
const letters = async (server: Server) =>
  (await server.call('GET', '/api/platform/alerts/outbox?limit=500')).json.letters.length

describe.each(BUILT)('%s', (mode) => {
  describe('alerts', () => {
    let place: Place
    let server: Server
    async function begin(): Promise<void> {
      place = new Place(mode)
      server = await place.serve('--rate-user', '0')
      await server.signUp()
    }
    async function again(): Promise<void> {
      const { headers } = server
      server = await place.serve('--rate-user', '0')
      server.headers = headers
    }
    afterEach(async () => {
      await server.stop()
      place.remove()
    })
    const bars = async (first: number, closes: readonly number[]) =>
      expect((await server.importCsv(MARKET, csv(first, closes))).status).toBe(200)

    test.each(['kill', 'stop'] as const)(
      'fire exactly once when a %s comes right after the 200 of the import',
      async (end) => {
        await begin()
        await bars(0, flat(10))
        const ids = await watch(server, 25, (i) => 11 + i / 100)
        await bars(10, [12, 10])
        await server[end]()
        await again()
        const found = await firings(server, 25)
        expect(found.map(([id]) => id).toSorted()).toEqual(ids.toSorted())
        // Neither another start nor another bar makes it two.
        await server.kill()
        await again()
        await bars(12, [12, 13])
        const all = [...ids, ...(await watch(server, 1, () => 20))]
        await bars(14, [21])
        await firings(server, 26)
        expect((await firings(server, 26)).map(([id]) => id).toSorted()).toEqual(all.toSorted())
        expect(await letters(server)).toBe(26)
      },
      900_000,
    )

    test('see every one of 20 imports of 200 bars in a row, and a crossing deep in a long one', async () => {
      await begin()
      await bars(0, flat(10))
      const ids = await watch(server, 10, (i) => 100 + 2 * i)
      // Each import passes the level of the next alert, or none.
      for (let i = 0; i < 20; i++) await bars(10 + i * 200, [...flat(100), i % 2 ? 101 + i : 10, ...flat(99)])
      const found = await firings(server, 10)
      expect(found.map(([id]) => id).toSorted()).toEqual(ids.toSorted())
      const [deep] = await watch(server, 1, () => 500)
      await bars(5000, [...flat(600), 501, ...flat(1400)])
      expect((await firings(server, 11)).find(([id]) => id === deep)).toEqual([
        deep ?? '',
        START + 5600 * HOUR,
      ])
      expect(await letters(server)).toBe(11)
    }, 900_000)
  })
})
