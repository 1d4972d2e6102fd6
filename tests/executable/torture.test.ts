// A short run of the torture against the executable (`bun run torture` is the long one): whatever it finds, it says how to
// see it again. Nothing here hangs on how fast the machine is.

import { describe, expect, test } from 'bun:test'
import { SECTIONS, torture } from '../../src/tools/torture.ts'
import { isOnPostgres, storeOf } from '../store/own-database.ts'
import { executable as binary, isMissing } from './server.ts'

const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** What they attack is the data directory. */
const IN_FOLDER = ['power', 'disk', 'corrupt']
const sections = Object.keys(SECTIONS).filter((name) => !isOnPostgres || !IN_FOLDER.includes(name))

describe.skipIf(isMissing('executable'))(`tortured with --seed ${seed}, the server stands`, () => {
  test.each(sections)(
    '%s',
    async (section) => {
      const print = () => undefined
      const tallies = await torture({ binary, storeOf, seed, isShort: true, roundsWanted: null, print }, [
        section,
      ])
      expect(tallies.flatMap(({ findings }) => findings)).toEqual([])
    },
    900_000,
  )
})
