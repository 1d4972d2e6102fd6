// The libraries that TradingView publishes and many scripts import, written anew in Pine: one text for each, and a table of
// which of its exports each version has. What a version lacks is there, but not exported.
//
// The versions are those that were seen in use by November 2026. A later one is added as anybody's library is, and a library
// that somebody added under one of these paths is taken instead of ours.

import { libraryText } from './texts.ts'

/** Path of a library → the names that it exports. */
interface Versions {
  readonly first: number
  readonly last: number
  /** The version from which on there is a name; the others have been there since the first. */
  readonly since?: Readonly<Record<number, string>>
  /** The last version that has a name. */
  readonly until?: Readonly<Record<number, string>>
}

const LIBRARIES: ReadonlyMap<string, Versions> = new Map(
  Object.entries({
    Color: { first: 1, last: 2 },
    LibraryCOT: {
      first: 1,
      last: 6,
      since: { 3: 'requestCommitmentOfTraders', 5: 'getCFTCCode' },
    },
    RelativeValue: { first: 1, last: 3 },
    RiskMetrics: { first: 1, last: 3 },
    Strategy: { first: 1, last: 5 },
    TechnicalRating: { first: 1, last: 3 },
    ValueAtTime: { first: 1, last: 2 },
    ZigZag: { first: 6, last: 9 },
    ta: {
      first: 1,
      last: 14,
      since: {
        2: 'allTimeHigh allTimeLow',
        3: `aroon coppock dema dema2 dm donchian ema2 eom frama ft ht ichimoku ift kvo pzo rms rwi stc stochFull stochRsi
          supertrend szo t3 t3Alt tema tema2 trima trima2 trix uo vhf vi vzo williamsFractal wpo`,
        5: 'ao changePercent highestSince lowestSince',
        6: 'relativeVolume',
        7: 'atr2 rma2 supertrend2 vStop vStop2',
        8: 'requestUpAndDownVolume requestVolumeDelta',
        11: 'chandelier chandelier2 er kama macd2 pmo ppo ppo2 specialK ulcerIndex',
      },
      until: { 6: 'allTimeHigh allTimeLow trima2' },
    },
  } satisfies Record<string, Versions>),
)

const OWNER = 'TradingView'

/** The text of one of TradingView's libraries, as that version of it is; null = it is not bundled. */
export function bundledLibrary(user: string, library: string, version: number): string | null {
  const versions = versionsOf(user, library)
  if (versions === null || version < versions.first || version > versions.last) return null
  const text = libraryText(library)
    .replace(/^const int VERSION = \d+$/m, `const int VERSION = ${version}`)
    .replace(/^export (?!type )(method )?(\w+)/gm, (whole, method: string | undefined, name: string) =>
      isIn(versions, name, version) ? whole : `${method ?? ''}${name}`,
    )
  return library === 'ZigZag' && version < 7 ? withOwnPoints(text) : text
}

/** Before Pine had `chart.point`, the library had a type of its own for it, which calls the time `tm`. */
function withOwnPoints(text: string): string {
  const type = 'export type Point\n    int tm\n    float price\n    int index\n\n'
  return text
    .replace(/^export type Settings$/m, `${type}export type Settings`)
    .replaceAll('chart.point', 'Point')
    .replaceAll('Point.new(time =', 'Point.new(tm =')
    .replace(/\b(start|end)\.time\b/g, '$1.tm')
}

/** The first and the last version that is bundled of a library; null = none is. */
export function bundledVersions(user: string, library: string): readonly [number, number] | null {
  const versions = versionsOf(user, library)
  return versions && [versions.first, versions.last]
}

/** The versions of a bundled library that export a name; null where none does. `path` is user/library/version. */
export function versionsWith(path: string, name: string): readonly [number, number] | null {
  const [user = '', library = ''] = path.split('/')
  const versions = versionsOf(user, library)
  if (versions === null) return null
  let first = Infinity
  let last = 0
  for (let version = versions.first; version <= versions.last; version++)
    if (bundledLibrary(user, library, version)?.match(new RegExp(`^export (?:method )?${name}\\b`, 'm'))) {
      first = Math.min(first, version)
      last = version
    }
  return last === 0 ? null : [first, last]
}

function versionsOf(user: string, library: string): Versions | null {
  return user === OWNER ? (LIBRARIES.get(library) ?? null) : null
}

function isIn({ since, until }: Versions, name: string, version: number): boolean {
  const from = versionNaming(since, name)
  const to = versionNaming(until, name)
  return (from === null || version >= from) && (to === null || version <= to)
}

function versionNaming(names: Versions['since'], name: string): number | null {
  for (const [version, listed] of Object.entries(names ?? {}))
    if (listed.split(/\s+/).includes(name)) return Number(version)
  return null
}
