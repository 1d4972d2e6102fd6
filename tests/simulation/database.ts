// A store on the simulated PostgreSQL, in a time that passes as fast as it can: what it does is held against what the real
// one does, by the same tests.

import type { Clock } from '../../src/lib/clock.ts'
import { connect, type Connection } from '../../src/store/postgres/connection.ts'
import { Life } from '../../src/simulation/life.ts'
import { clientsOf, Postgres } from '../../src/simulation/postgres.ts'
import { Timeline } from '../../src/simulation/timeline.ts'

/** Until it is closed, time passes. */
export async function simulatedConnection(seed: number): Promise<Connection & { readonly clock: Clock }> {
  const timeline = new Timeline(seed)
  const life = new Life('test', timeline, { aheadMs: 0, drift: 0 })
  const { steady: clock, random } = life.world({} as never)
  const closed = new AbortController()
  void (async () => {
    while (!closed.signal.aborted) await timeline.run(timeline.now + 1000)
  })()
  const open = clientsOf(new Postgres(timeline), life, { state: 'open' })
  const connection = await connect({ url: 'postgres://simulated', open, clock, random, node: 'test' })
  return {
    ...connection,
    clock,
    async close() {
      await connection.close()
      closed.abort()
    },
  }
}
