// What a forward run is worth, bar by bar, beside a backtest of the bars as they are stored today.

import { call } from '../api-client.ts'
import s from '../backtests/compare-runs.module.css'
import { Curves } from '../backtests/curves.tsx'
import { Show, useLoad } from '../frame/page.tsx'
import { ofKind } from '../../lib/of-kind.ts'
import type { Divergence, ForwardRun } from '../../wire/forward-run.ts'
import type { Track } from '../../wire/track.ts'
import j from '../jobs/jobs.module.css'

export function ForwardCurve({
  run,
  compared,
}: {
  readonly run: ForwardRun
  /** The newest comparison, with which the backtest is run again. */
  readonly compared: Divergence | null
}) {
  const { id, bars, warmup, startEquity } = run
  const loaded = useLoad(
    async (signal) => {
      const tracksOf = async (of: 'seen' | 'stored') =>
        (
          await call('GET /api/platform/forward-runs/{id}/tracks', {
            path: { id },
            query: { bars: of },
            signal,
          })
        ).tracks
      const [seen, stored] = await Promise.all([tracksOf('seen'), tracksOf('stored')])
      const report = { initialCapital: startEquity }
      return [
        // The backtest lies below, so that it is seen only where it is another.
        { id: 'stored', name: 'Backtest of today’s bars', color: 1, report, ...curveOf(stored, warmup) },
        { id: 'seen', name: 'Forward run', color: 0, report, ...curveOf(seen, warmup) },
      ]
    },
    [id, bars, compared],
  )
  return (
    <section class={s.curves} aria-label="Equity">
      <h2>Equity</h2>
      {bars === 0 ? (
        <p class={j.note}>The curve begins with the first bar that closes.</p>
      ) : (
        <Show of={loaded}>{(runs) => <Curves runs={runs} currency={run.currency} />}</Show>
      )}
    </section>
  )
}

/** From the last bar of the warm-up on: what it was worth as it began. */
function curveOf(tracks: readonly Track[], warmup: number) {
  const from = Math.max(0, warmup - 1)
  return {
    times: (ofKind(tracks, 'time')?.data ?? []).slice(from),
    equity: (ofKind(tracks, 'equity')?.data ?? []).slice(from),
  }
}
