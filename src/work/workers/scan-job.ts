// Scans some markets in a worker: one script, compiled once, runs over the bars of each.

import { scanMarket, type ScanColumns, type ScannedMarket, type ScannedTrial } from '../../broker/scan.ts'
import { Problem } from '../../lib/problem.ts'
import type { ScanJob, ScanOutput } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import { toldBy } from './told.ts'
import type { Desk } from './desk.ts'

/** Errors that concern the script or its inputs are the same on every market. */
const OF_THE_SCRIPT: ReadonlySet<string> = new Set(['script_invalid', 'validation_failed'])

export async function scanJob({ markets, ...rest }: ScanJob, desk: Desk): Promise<ScanOutput> {
  const libraries = new Map<string, Promise<string | null>>()
  const asking: Desk = {
    ...desk,
    progress: () => {},
    host: {
      ...desk.host,
      // The server cannot know which of the markets is asking.
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
  const tried: (ScannedTrial | null)[] = []
  for (const [i, { bars, symbol }] of markets.entries())
    rows.push(
      await scanned(async () => {
        tried[i] = null
        const answer = await withAllItAsks({ ...rest, bars, symbol }, asking, (request) =>
          scanMarket(request),
        )
        columns ??= answer.columns
        tried[i] = answer.tried
        return answer.found
      }),
    )
  return { columns, rows, names: toldBy(rest.source).names, tried }
}

async function scanned(scan: () => Promise<ScannedMarket>): Promise<ScanOutput['rows'][number]> {
  try {
    return await scan()
  } catch (error) {
    if (!(error instanceof Problem) || OF_THE_SCRIPT.has(error.code)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}
