// The past of the script's variables inside functions.
//
// TradingView keeps it for each place a function is called from (L12): `f() => x[1]` that is called on every eighth bar answers
// the x of eight bars ago. So a function notes at each call what its body reads the past of, in its frame. Where it is called
// on every bar exactly once, that is the column of the variable, which costs nothing; a variable that is written again may
// have had another value at the call than at the bar's end.

import type { Expr, FunctionInstance, Variable } from '../2-check/program.ts'

/** A variable of the script, or the number of the bar; the chart's other built-ins keep the chart's past. */
export type Noted = Variable | 'bar_index'

/** Where an expression stands, as the planner knows it. */
interface Standing {
  readonly always: boolean
  readonly eachCall: boolean
}

export class CallHistory {
  readonly #reads = new Map<FunctionInstance | null, Set<Noted>>()
  /** The functions that call it, at a place they execute once a call; null = the script; what is not steady is not listed. */
  readonly #callers = new Map<FunctionInstance, Set<FunctionInstance | null>>()
  readonly #unsteady = new Set<FunctionInstance>()
  readonly #noted = new Map<FunctionInstance, readonly Noted[]>()

  /** `fn` reads the past of `base`; null = the script's own body does. */
  reads(fn: FunctionInstance | null, base: Expr): void {
    const what = notable(base)
    if (what === null) return
    const known = this.#reads.get(fn)
    if (known) known.add(what)
    else this.#reads.set(fn, new Set([what]))
  }

  calls(caller: FunctionInstance | null, callee: FunctionInstance, where: Standing): void {
    const steady = caller === null ? where.always : where.eachCall
    const known = this.#callers.get(callee)
    // Called twice, it still has one call a bar at each place.
    if (!steady) this.#unsteady.add(callee)
    else if (known) known.add(caller)
    else this.#callers.set(callee, new Set([caller]))
  }

  /** When all calls are known. Functions come before those that call them. */
  settle(functions: readonly FunctionInstance[]): void {
    for (const fn of functions.toReversed()) {
      for (const caller of this.#callers.get(fn) ?? [])
        if (caller !== null && this.#unsteady.has(caller)) this.#unsteady.add(fn)
      const unsteady = this.#unsteady.has(fn)
      const noted = [...(this.#reads.get(fn) ?? [])].filter(
        (what) => unsteady || (what !== 'bar_index' && what.reassigned),
      )
      if (noted.length > 0) this.#noted.set(fn, noted)
    }
  }

  notedBy(fn: FunctionInstance): readonly Noted[] {
    return this.#noted.get(fn) ?? []
  }

  /** Whether somebody reads the chart's past of a variable, and not only that of a call. */
  needsColumn(variable: Variable): boolean {
    for (const [fn, read] of this.#reads)
      if (read.has(variable) && (fn === null || !this.notedBy(fn).includes(variable))) return true
    return false
  }
}

/** What a function has noted of `base`; null = nothing. */
export function notableIn(noted: readonly Noted[], base: Expr): Noted | null {
  if (noted.length === 0) return null
  const what = notable(base)
  return what !== null && noted.includes(what) ? what : null
}

function notable(base: Expr): Noted | null {
  if (base.kind === 'Variable') return base.variable.owner === null ? base.variable : null
  if (base.kind !== 'BuiltinVariable') return null
  const { implementation } = base.builtin
  return 'column' in implementation && implementation.column === 'bar_index' ? 'bar_index' : null
}
