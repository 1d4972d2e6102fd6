// How long it takes to scan 4,000 markets of 500 bars each with two workers, from the request to the last row.
//
//     bun run bench scans

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BarCache } from '../../../src/market/bar-cache.ts'
import { emptyBars, type Bars } from '../../../src/market/bars.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { median } from '../../../src/broker/statistics/moments.ts'
import { lmdbBars } from '../../../src/store/lmdb-bars.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { scanServer } from './scan-server.ts'

const [MARKETS, BARS] = [4000, 500]
const SCRIPTS = {
  indicator: `//@version=6
indicator("screen")
rsi = ta.rsi(close, 14)
slow = ta.ema(close, 200)
plot(rsi, "RSI")
plot(slow, "EMA 200")
plot(ta.atr(14), "ATR")
alertcondition(ta.crossover(close, slow) and rsi < 70, "Turns up")
`,
  strategy: `//@version=6
strategy("cross")
if ta.crossover(ta.sma(close, 10), ta.sma(close, 30))
    strategy.entry("L", strategy.long)
if ta.crossunder(ta.sma(close, 10), ta.sma(close, 30))
    strategy.close("L")
`,
} as const
const folder = mkdtempSync(join(tmpdir(), 'chartroom-scans-'))
const kv = await openStore({ directory: folder })
try {
  const cache = new BarCache(lmdbBars(kv))
  const random = seededRandom(1)
  for (let from = 0; from < MARKETS; from += 200)
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        cache.store.upsert({ exchange: 'X', symbol: `S${from + i}`, interval: '1d' }, wander(random)),
      ),
    )
  const { call, ended, cookie, services, pool } = await scanServer({ workers: 2, kv, bars: cache })
  for (const [name, source] of Object.entries(SCRIPTS)) {
    const times: number[] = []
    const waits: number[] = []
    for (let round = 0; round < 5; round++) {
      const started = performance.now()
      const { json } = await call('POST', '/api/platform/scans', {
        name,
        source,
        interval: '1d',
        bars: BARS,
      })
      const over = ended(json.id, cookie)
      const is = { over: false }
      void over.finally(() => (is.over = true))
      while (!is.over) {
        const asked = performance.now()
        await services.kv.get(['nothing'])
        await Bun.sleep(5)
        waits.push(performance.now() - asked - 5)
      }
      const scan = await over
      if (scan.done < MARKETS || scan.failed > 0) throw new Error(JSON.stringify(scan))
      times.push((performance.now() - started) / 1000)
    }
    const late = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]
    console.log(
      `2 workers, ${name.padEnd(10)} ${median(times).toFixed(2)} s; others wait ${late?.toFixed(1)} ms (p99)`,
    )
  }
  pool.close()
} finally {
  await kv.close()
  rmSync(folder, { recursive: true })
}

function wander(random: ReturnType<typeof seededRandom>): Bars {
  const bars = emptyBars(BARS)
  let price = 50 + 100 * random.uniform()
  for (let i = 0; i < BARS; i++) {
    const open = price
    price = Math.max(1, price * (1 + 0.02 * random.normal()))
    bars.time[i] = Date.UTC(2022, 0, 1) + i * 86_400_000
    bars.open[i] = open
    bars.close[i] = price
    bars.high[i] = Math.max(open, price) * 1.005
    bars.low[i] = Math.min(open, price) * 0.995
    bars.volume[i] = 1000
  }
  return bars
}
