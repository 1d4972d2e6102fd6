// Scripts of the repository: samples, studies, and the facts that others measured, each with what a server makes of it.

import { readdirSync, readFileSync } from 'node:fs'
import { parityCases } from '../../src/cli/parity/cases.ts'
import { hostFor } from '../../src/work/runs/host.ts'
import type { Desk } from '../../src/work/workers/desk.ts'
import { runJob } from '../../src/work/workers/run-job.ts'
import { BarCache } from '../../src/market/bar-cache.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { barsSeenBy } from '../../src/market/seen-bars.ts'
import { NEWEST_DAY } from '../../src/language/behaviour.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { Problem } from '../../src/lib/problem.ts'
import type { Market } from '../../src/engine/market.ts'
import { testBars } from '../store/test-store.ts'

const root = `${import.meta.dir}/../..`

export interface NamedScript {
  readonly name: string
  readonly source: string
}

/** Strategies and indicators, by name. */
export function repositoryScripts(): NamedScript[] {
  const files = ['data/samples', 'data/indicators'].flatMap((folder) =>
    readdirSync(`${root}/${folder}`)
      .filter((name) => name.endsWith('.pine'))
      .map((name) => ({
        name: `${folder}/${name}`,
        source: readFileSync(`${root}/${folder}/${name}`, 'utf8'),
      })),
  )
  const facts = parityCases(`${root}/tests/parity/spec`).map(({ suite, id, request }) => ({
    name: `${suite}: ${id}`,
    source: request.source,
  }))
  return [...files, ...facts]
}

/** The report as a server stores it, without how long it took; or why there is none. */
export async function serversReport(source: string, { bars, symbol, interval }: Market): Promise<string> {
  const cache = new BarCache(testBars())
  const key = seriesKey(symbol.exchange, symbol.symbol, interval)
  await cache.store.putSymbol(symbol)
  await cache.upsert(key, bars)
  const seen = barsSeenBy(cache, null)
  const host = hostFor(seen, () => Promise.resolve(null), key, bars)
  const job = {
    source,
    inputs: {},
    overrides: {},
    asOf: NEWEST_DAY,
    bars,
    symbol,
    interval,
    limits: DEFAULT_LIMITS,
  }
  try {
    const { report } = await runJob(job, {
      host: host as Desk['host'],
      progress: () => {},
      used: () => {},
    })
    return withoutTimings(report.map((bytes) => new TextDecoder().decode(bytes)).join(''))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return `${error.code}: ${error.message}`
  }
}

export const withoutTimings = (json: string): string => json.replace(/"timings":\{[^}]*\}/, '"timings":{}')
