// From when to when something ran.

import { time } from '../format.ts'

interface Range {
  readonly from: number | null
  readonly to: number | null
}

/** On one line. */
export const rangeText = ({ from, to }: Range, zone = 'UTC', clock = false): string =>
  `${time(from, zone, clock)} – ${time(to, zone, clock)}`

/** One above the other, as cells of tables have it. */
export const Period = ({ of }: { readonly of: Range }) => (
  <>
    {time(of.from, 'UTC', false)}
    <br />
    <span class="muted">{time(of.to, 'UTC', false)}</span>
  </>
)
