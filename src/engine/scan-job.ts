// Some markets of a scan in a worker: one script, compiled once, over the bars of each.

import { scanMarket, type ScanColumns, type ScannedMarket } from '../backtest/scan.ts'
import { Problem } from '../lib/problem.ts'
import type { ScanJob, ScanOutput } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './worker-loop.ts'

/** What is wrong with the script or what it was given is so on every market. */
const OF_THE_SCRIPT: ReadonlySet<string> = new Set(['script_invalid', 'validation_failed'])

export async function scanJob({ markets, ...rest }: ScanJob, desk: Desk): Promise<ScanOutput> {
  const libraries = new Map<string, Promise<string | null>>()
  const asking: Desk = {
    ...desk,
    progress: () => {},
    host: {
      ...desk.host,
      // Which market it would be for the server cannot know.
      finer: () => Promise.resolve(null),
      library(...name) {
        const key = name.join('/')
        let found = libraries.get(key)
        if (!found) libraries.set(key, (found = desk.host.library(...name)))
        return found
      },
    },
  }
  let columns: ScanColumns | null = null
  const rows: ScanOutput['rows'][number][] = []
  for (const { bars, symbol } of markets)
    rows.push(
      await scanned(async () => {
        const answer = await withAllItAsks({ ...rest, bars, symbol }, asking, (request) =>
          scanMarket(request),
        )
        columns ??= answer.columns
        return answer.found
      }),
    )
  return { columns, rows }
}

async function scanned(scan: () => Promise<ScannedMarket>): Promise<ScanOutput['rows'][number]> {
  try {
    return await scan()
  } catch (error) {
    if (!(error instanceof Problem) || OF_THE_SCRIPT.has(error.code)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}
