// What is done to a fleet while it works: its members are killed and cut off, and so is the database.

import type { Proxy } from '../../tests/store/postgres-proxy.ts'
import type { OwnPostgres } from '../../tests/store/postgres-server.ts'

export type Blow = 'kill' | 'crash' | 'outage' | 'cut' | 'silence'

/** A random whole number from 0 to below this. */
export type Below = (below: number) => number

/** One of the fleet. */
interface Member {
  readonly name: string
  readonly proxy: Proxy
  start(): Promise<void>
  kill(): Promise<void>
}

/** Times in ms: at least, and how much more at most. */
type Span = readonly [least: number, more: number]

export interface Rhythm {
  readonly pause: Span
  readonly outage: Span
  readonly partition: Span
  readonly say?: (what: string) => void
}

/** Every blow of a run, in a random order. */
export function blowsOf(counts: Readonly<Record<Blow, number>>, random: Below): Blow[] {
  const all = Object.entries(counts).flatMap(([blow, count]) =>
    Array.from({ length: count }, () => blow as Blow),
  )
  return all
    .map((blow) => ({ blow, at: random(2 ** 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ blow }) => blow)
}

/** Answers how often each blow fell. */
export async function strike(
  blows: readonly Blow[],
  members: readonly Member[],
  postgres: OwnPostgres,
  random: Below,
  { pause, outage, partition, say = () => {} }: Rhythm,
): Promise<Map<Blow, number>> {
  const span = ([least, more]: Span) => least + (more > 0 ? random(more) : 0)
  const counts = new Map<Blow, number>()
  for (const blow of blows) {
    await Bun.sleep(span(pause))
    counts.set(blow, (counts.get(blow) ?? 0) + 1)
    const member = members[random(members.length)]
    if (!member) continue
    const isOfAll = blow === 'crash' || blow === 'outage'
    say(`${blow}${isOfAll ? '' : ` ${member.name}`}`)
    if (blow === 'crash') await postgres.crash()
    else if (blow === 'outage') await postgres.crash(span(outage))
    else if (blow === 'kill') {
      await member.kill()
      await member.start()
    } else {
      if (blow === 'cut') member.proxy.close()
      else member.proxy.silence()
      await Bun.sleep(span(partition))
      member.proxy.open()
    }
  }
  return counts
}

export const saidOfBlows = (counts: ReadonlyMap<Blow, number>): string =>
  [...counts].map(([blow, number]) => `${blow} ${number}`).join(', ')
