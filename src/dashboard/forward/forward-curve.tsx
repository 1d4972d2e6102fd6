// What a forward run is worth, bar by bar, beside a backtest of the bars as they are stored today.

import { useMemo, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { spanOf } from '../backtests/compare-model.ts'
import s from '../backtests/compare-runs.module.css'
import { CurvesCanvas } from '../backtests/curves-canvas.tsx'
import { money, time } from '../format.ts'
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

type Curve = Parameters<typeof CurvesCanvas>[0]['runs'][number]

function Curves({ runs, currency }: { readonly runs: readonly Curve[]; readonly currency: string }) {
  const [at, setAt] = useState<number | null>(null)
  const drawn = runs.filter(({ equity }) => equity.length > 0)
  const span = useMemo(() => spanOf(drawn), [runs])
  return (
    <>
      <ul class={s.legend}>
        {drawn.toReversed().map((run) => (
          <li key={run.id} class={s.key} data-run={run.color}>
            <span>{run.name}</span>
            <span class="num">{money(valueAt(run, at), currency)}</span>
          </li>
        ))}
      </ul>
      {span && (
        <CurvesCanvas
          runs={drawn}
          span={span}
          scale="money"
          lit={null}
          at={at}
          onAt={setAt}
          where="The legend has their values."
        />
      )}
      <p class={s.note}>{at === null ? 'Times are in UTC.' : `${time(at, 'UTC', true)} UTC`}</p>
    </>
  )
}

/** What it was worth then; null = at the end. */
function valueAt({ times, equity }: Curve, at: number | null): number | null {
  const place = at === null ? -1 : times.findLastIndex((one) => one !== null && one <= at)
  return equity.at(place) ?? null
}
