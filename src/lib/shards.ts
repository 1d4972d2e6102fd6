// Shards: which of several servers on one database does the work behind a name.
//
// The names of work (a symbol whose alerts are looked at, a user whose deliveries are sent) are shared out to 256 shards,
// and each shard is one server's at a time. Where there is one server it has all of them, and none ever moves.

export const SHARDS = 256

export interface Shards {
  /** Whether this process does the work of that name now. */
  holds(name: string): boolean
  /** `listener` is called after shards have come, whose work nobody may have looked at for a while. */
  onGained(listener: () => void): void
  /**
   * Whether it could not tell the others for so long that it is there that they may be at its work already. Nothing that both
   * do is stored twice; what is more than a write, such as a stream at an exchange, has to stop.
   */
  readonly isCutOff: boolean
  /** `listener` is called when that begins, and when it is over. */
  onCutOff(listener: () => void): void
  /**
   * Before shards go, `settled` is called, and must resolve when nothing that is not held any more is still being done.
   * `underWay` answers the names whose work would have to be waited for: their shards go last.
   */
  beforeGiving(settled: () => Promise<void>, underWay?: () => Iterable<string>): void
}

export const ALL_SHARDS: Shards = {
  holds: () => true,
  onGained: () => {},
  isCutOff: false,
  onCutOff: () => {},
  beforeGiving: () => {},
}

/** Sorted numbers as people read many of them: `0-84,170`. */
export function ranges(numbers: readonly number[]): string {
  const found: { from: number; to: number }[] = []
  for (const number of numbers) {
    const last = found.at(-1)
    if (last && number === last.to + 1) last.to = number
    else found.push({ from: number, to: number })
  }
  return found.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}

/** CRC-32, since every server of every version must find the same. */
export const shardOf = (name: string): number => Bun.hash.crc32(name) % SHARDS
