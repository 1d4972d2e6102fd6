// A sweep over a store that is away for a while: it goes on from its record to its end.

import { expect, test } from 'bun:test'
import { Problem } from '../../../src/lib/problem.ts'
import type { Commit, Kv } from '../../../src/store/kv.ts'
import { FakeClock } from '../../http/server.ts'
import { testKv } from '../../store/test-store.ts'
import { sweepServer } from './sweep-server.ts'

/** A pause is over in the next turn. */
class HastyClock extends FakeClock {
  override async sleep(ms: number): Promise<void> {
    this.time += ms
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function goingAway(isRefused: (commit: Commit) => boolean, times: number) {
  const inner = testKv()
  let refusals = 0
  const kv: Kv = {
    get: (key) => inner.get(key),
    getMany: (keys) => inner.getMany(keys),
    versions: (keys) => inner.versions(keys),
    list: (selector, options) => inner.list(selector, options),
    async commit(commit) {
      if (refusals < times && isRefused(commit)) {
        refusals++
        throw new Problem(503, 'store_unavailable', 'The database does not answer.')
      }
      return inner.commit(commit)
    },
    close: () => inner.close(),
  }
  return { kv, refusals: () => refusals }
}

test.each(['sweep-batch', 'sweep-verdict'])(
  'a sweep is done if the store is away as it writes its %s',
  async (written) => {
    const away = goingAway(({ sets = [] }) => sets.some(({ key }) => key[0] === written), 4)
    const server = await sweepServer({ kv: away.kv, clock: new HastyClock() })
    const { sweep } = await server.sweep()
    expect(away.refusals()).toBe(4)
    expect(sweep).toMatchObject({ state: 'done', tried: 21, failed: 0 })
    expect(await server.trials(sweep.id)).toHaveLength(21)
  },
)
