// What it costs a request to find out who sent it, on LMDB: while nobody writes, and when something was written since the last
// request, as after each order, firing or bar.
//
//     bun run bench credentials

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Credentials } from '../../../src/people/accounts/credentials.ts'
import { lmdbKv } from '../../../src/store/lmdb.ts'
import { noteRow } from '../../bench-rows.ts'
import { testServer } from '../../http/server.ts'

const ROUNDS = 2000
const WARM_UP = 500
const WANTED = '≤ 10 µs'

const folder = mkdtempSync(`${tmpdir()}/chartroom-credentials-`)
const kv = lmdbKv({ path: folder })
try {
  const server = testServer(undefined, { kv })
  const signedIn = await server.signUp()
  const { authorization } = await server.token(signedIn, ['watchlists:read'])
  const credentials = new Credentials({ kv })
  const session = signedIn.cookie.replace(/^[^=]*=|;.*$/g, '')
  const token = authorization.replace(/^bearer /i, '')
  for (const [name, find] of [
    ['session', () => credentials.session(session)],
    ['token', () => credentials.token(token)],
  ] as const)
    for (const [moment, before] of [
      ['while nobody writes', () => Promise.resolve(true)],
      ['after each write', () => kv.commit({ sets: [{ key: ['bench'], value: '0' }] })],
    ] as const) {
      const taken: number[] = []
      for (let round = -WARM_UP; round < ROUNDS; round++) {
        await before()
        const began = Bun.nanoseconds()
        if (!(await find())) throw new Error(`the ${name} is not known`)
        if (round >= 0) taken.push((Bun.nanoseconds() - began) / 1000)
      }
      taken.sort((a, b) => a - b)
      const at = (part: number) => taken[Math.floor(part * ROUNDS)] ?? Number.NaN
      console.log(
        `${name}, ${moment}: median ${at(0.5).toFixed(1)} µs, p90 ${at(0.9).toFixed(1)} µs, wanted ${WANTED}`,
      )
      noteRow(`credentials, ${name}, ${moment}`, at(0.5), 'µs', { wanted: WANTED })
    }
} finally {
  await kv.close()
  rmSync(folder, { recursive: true })
}
