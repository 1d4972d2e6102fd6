// `chartroom backtest --verify ID`: runs a stored backtest again and compares every byte of its report.

import type { Report } from '../wire/report.ts'
import { compareReports } from '../broker/report/difference.ts'
import { runBacktest } from '../broker/run.ts'
import { barsRunOn, barsSeenBy, seriesOf } from '../market/seen-bars.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { outline } from '../language/outline.ts'
import { withSeries } from '../work/workers/asked-series.ts'
import { librariesOf } from '../work/workers/libraries.ts'
import { finerSeries, seriesFor } from '../work/runs/host.ts'
import { barsGone, reportOf, runs, scriptOf } from '../work/runs/records.ts'
import { libraryFor } from '../people/scripts/scripts.ts'
import type { CommandContext } from './command.ts'
import { withData } from './data.ts'

export async function verifyRun(
  context: CommandContext,
  flags: { readonly 'data-dir'?: string | undefined },
  id: string,
): Promise<number> {
  const { print, warn } = context
  return withData(context, flags, async ({ kv, bars: cache }) => {
    const run = await runs(kv).get(id)
    const stored = run && (await reportOf(kv, id))
    const script = run && (await scriptOf(kv, id))
    if (!run?.range || !stored || !script) {
      warn(run ? `${id} is ${run.state}: it has no report.` : `There is no backtest ${id}.`)
      return 1
    }
    const seen = barsSeenBy(cache, run.userId)
    const key = seriesOf(run, run.seriesOwner ?? '')
    const symbol = await seen.symbol(key.exchange, key.symbol)
    const bars = await barsRunOn(cache, run.userId, key, { from: run.range.from, to: run.range.to + 1 })
    if (bars.length === 0) throw await barsGone(seen, run)
    const libraries = await librariesOf(script.source, { library: libraryFor(kv, run.userId) })
    const magnifies = script.overrides['use_bar_magnifier'] ?? outline(script.source).magnifier
    const finer = magnifies === true ? await finerSeries(seen, key, bars) : null
    const report = JSON.parse((await Array.fromAsync(stored.parts)).join('')) as Report
    const { report: again } = await withSeries(
      (...name) => seriesFor(seen, ...name),
      (series) =>
        runBacktest({
          ...script,
          bars,
          symbol,
          interval: key.interval,
          finer,
          series,
          library: (user, library, version) => libraries.get(`${user}/${library}/${version}`) ?? null,
          limits: DEFAULT_LIMITS,
        }),
    )
    const { equal, hash, difference, newFields, ranOnOther } = compareReports(report, again)
    if (newFields.length > 0) print(`Not compared, since it was stored without: ${newFields.join(', ')}.`)
    if (ranOnOther) print('The bars, the symbol or the engine have changed since.')
    if (equal) print(`${id} is reproduced to the byte: ${hash}`)
    else {
      warn(`${id} comes out otherwise today; the first difference is at ${difference}.`)
      if (bars.length !== run.range.bars)
        warn(`It ran on ${run.range.bars} bars, of which ${bars.length} are there now.`)
    }
    return equal ? 0 : 1
  })
}
