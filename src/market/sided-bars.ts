// Bars of a market that know what was bought, the finest first: a longer bar's footprint is put together from them.
//
// A script cannot know which of them there are, so it asks with a name in the place of an interval, `sided below 15m from TIME`,
// and is told the interval of those it got. `sided 1s to 15m from TIME` asks for the next ones, where the bars of 1s do not add
// up. Bars before that time, in UTC ms, are not read: a year of seconds is nearly 2 GB.

import type { SeriesInfo, SeriesKey } from './bar-store.ts'
import { type BarRange, type Bars, knowsSides } from './bars.ts'
import { canBuild, compareIntervals, parseInterval } from './interval.ts'

/** What of `SeenBars` is needed here. */
interface Stored {
  read(key: SeriesKey, range: BarRange): Promise<Bars>
  list(): Promise<SeriesInfo[]>
}

/** Stands for an interval longer than `above` (null: however short) that bars of `below` can be built from. */
export function sidedBetween(above: string | null, below: string, from: number): string {
  return `sided ${above === null ? 'below' : `${above} to`} ${below} from ${from}`
}

const SIDED = /^sided (?:below|(\w+) to) (\w+) from (-?\d+)$/

/** undefined if `asked` is no such name, null if there are no such bars. */
export async function sidedBars(
  seen: Stored,
  exchange: string,
  symbol: string,
  asked: string,
): Promise<{ readonly bars: Bars; readonly interval: string } | null | undefined> {
  const [, above = '', below = '', from] = SIDED.exec(asked) ?? []
  const longer = parseInterval(below)
  if (longer === null) return undefined
  const shorter = parseInterval(above)
  const finer = (await seen.list())
    .filter((info) => info.exchange === exchange && info.symbol === symbol)
    .flatMap((info) => {
      const interval = parseInterval(info.interval)
      const fits =
        interval !== null &&
        compareIntervals(interval, longer) < 0 &&
        canBuild(longer, interval) &&
        (shorter === null || compareIntervals(interval, shorter) > 0)
      return fits ? [{ info, interval }] : []
    })
    .sort((a, b) => compareIntervals(a.interval, b.interval))
  for (const { info } of finer) {
    const bars = await seen.read(info, { from: Number(from) })
    if (knowsSides(bars)) return { bars, interval: info.interval }
  }
  return null
}
