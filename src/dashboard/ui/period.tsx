// From when to when something ran, one above the other, as cells of tables have it.

import { time } from '../format.ts'

interface PeriodProps {
  readonly of: { readonly from: number | null; readonly to: number | null }
}

export const Period = ({ of }: PeriodProps) => (
  <>
    {time(of.from, 'UTC', false)}
    <br />
    <span class="muted">{time(of.to, 'UTC', false)}</span>
  </>
)
