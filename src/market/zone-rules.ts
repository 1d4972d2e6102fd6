// The rules of time zones as Temporal knows them. The package, for places without it, asks Intl (`engine/portable/zone-rules.ts`).

/** One offset, wall clock minus UTC in ms, holds in [from, until). */
export interface Stretch {
  readonly from: number
  readonly until: number
  readonly offset: number
}

/** Longer than any stretch without transitions that matters. Beyond it Temporal is asked again. */
const FOREVER = 8_640_000_000_000_000

export function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

export function stretchAt(zone: string, time: number): Stretch {
  const instant = Temporal.Instant.fromEpochMilliseconds(Math.floor(time)).toZonedDateTimeISO(zone)
  // `previous` looks strictly before an instant. Adding one ms makes a transition at `time` itself start the stretch.
  const before = instant.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
  return {
    from: before?.epochMilliseconds ?? -FOREVER,
    until: instant.getTimeZoneTransition('next')?.epochMilliseconds ?? FOREVER,
    offset: instant.offsetNanoseconds / 1e6,
  }
}
