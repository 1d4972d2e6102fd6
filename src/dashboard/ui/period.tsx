// From when to when something ran, one above the other, as cells of tables have it.

import { time } from '../format.ts'

export const Period = ({ of }: { of: { readonly from: number | null; readonly to: number | null } }) => (
  <>
    {time(of.from, 'UTC', false)}
    <br />
    <span class="muted">{time(of.to, 'UTC', false)}</span>
  </>
)
