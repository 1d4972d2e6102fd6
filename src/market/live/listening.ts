// What a stream says of a followed series: that it is there, refused or cut, and what it has heard.
//
// A change may make the series due, so each wakes its line. What of the messages is closed, `live-series.ts` decides.

import type { Clock } from '../../lib/clock.ts'
import type { Interval } from '../interval.ts'
import type { BarRow } from '../providers/provider.ts'
import type { Followed, Following, Streamed } from './followed.ts'
import { LiveSeries } from './live-series.ts'
import type { StreamOf } from './streams.ts'

interface ListeningDeps {
  readonly interval: Interval
  readonly clock: Clock
  readonly following: Following
  /** The series that listens. */
  readonly self: () => Followed
  /** Takes what is closed. */
  readonly store: (rows: readonly BarRow[]) => void
  readonly forming: (row: BarRow | null) => void
}

/** What a stream says changes the series that is made of it. Call it before the stream is joined. */
export function listening(
  of: StreamOf,
  { interval, clock, following, self, store, forming }: ListeningDeps,
): Streamed {
  const series = new LiveSeries({
    interval,
    closing: of.provider.closing,
    store,
    forming,
  })
  /** It has changed, so that it may have to be asked for. */
  const changed = (does: (streamed: Streamed, followed: Followed) => void) => {
    const followed = self()
    if (!following.has(followed)) return
    does(streamed, followed)
    following.tell(followed)
    followed.line.wake.abort()
  }
  const streamed: Streamed = {
    of,
    series,
    isConnected: false,
    liveSince: null,
    heardAt: null,
    cuts: 0,
    lastCut: null,
    listener: {
      subscribed: () =>
        changed((one, followed) => {
          series.subscribed()
          one.isConnected = true
          followed.lastError = null
        }),
      refused: (message) =>
        changed((one, followed) => {
          followed.lastError = `${one.of.provider.rest.name} refused the stream: ${message}`
        }),
      cut: (reason) =>
        changed((one) => {
          if (one.isConnected) one.cuts++
          one.isConnected = false
          one.liveSince = null
          one.lastCut = { at: clock.now(), reason }
          series.cut()
        }),
      heard: (message) => {
        const followed = self()
        const now = clock.now()
        streamed.heardAt = now
        series.heard(message, now)
        // Woken by each message, a hundred streams would have all others looked through a hundred times a second.
        if (following.has(followed) && series.dueAt(now) < followed.line.napUntil) followed.line.wake.abort()
      },
    },
  }
  return streamed
}
