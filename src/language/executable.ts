// Turns a program into what a run needs. The parts that requests evaluate on other bars are made when a run first uses
// them.

import { assert } from '../lib/assert.ts'
import type { Expr, Program } from './2-check/program.ts'
import { planProgram } from './3-plan/plan.ts'
import { requestKey } from './3-plan/request-key.ts'
import { callsOn, sliceProgram } from './3-plan/slice.ts'
import { generate } from './4-generate/generate.ts'
import type { Executable } from './runtime/executable.ts'

/** `trades: false` makes a slice, which runs on bars that are not the broker's. `apart` makes columns that runs can share. */
export function executable(
  program: Program,
  { trades = true, hoist = true, apart = false } = {},
): Executable {
  const generated = generate(planProgram(program, { hoist, guard: apart }), { trades, apart })
  const slices = new Map<string, Executable>()
  const wantedBy = (site: number): Expr => {
    const wanted = generated.requests.find((request) => request.site === site)?.wanted
    assert(wanted, 'a request knows what it wants')
    return wanted
  }
  return {
    ...generated,
    program,
    requestKey: (site, path) => requestKey(callsOn(program, path), wantedBy(site)),
    slice(site, path) {
      const key = `${site}@${path}`
      let slice = slices.get(key)
      if (!slice) {
        slice = executable(sliceProgram(program, callsOn(program, path), wantedBy(site)), { trades: false })
        slices.set(key, slice)
      }
      return slice
    },
  }
}
