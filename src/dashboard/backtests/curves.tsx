// Curves of money over one axis, with their values at the pointer, or else at the end.

import { useMemo, useState } from 'preact/hooks'
import { money, time } from '../format.ts'
import { spanOf, valueAt } from './compare-model.ts'
import s from './compare-runs.module.css'
import { CurvesCanvas } from './curves-canvas.tsx'

type Curve = Parameters<typeof CurvesCanvas>[0]['runs'][number]

/** The last lies above the others, and is named first. */
export function Curves({ runs, currency }: { readonly runs: readonly Curve[]; readonly currency: string }) {
  const [at, setAt] = useState<number | null>(null)
  const drawn = runs.filter(({ equity }) => equity.length > 0)
  const span = useMemo(() => spanOf(drawn), [runs])
  return (
    <>
      <ul class={s.legend}>
        {drawn.toReversed().map((run) => (
          <li key={run.id} class={s.key} data-run={run.color}>
            <span>{run.name}</span>
            <span class="num">{money(at === null ? run.equity.at(-1) : valueAt(run, at), currency)}</span>
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
