// The state of a call that a bar may execute several times: one for its first execution, one for its second, and so on.
//
// On TradingView a ta.*() in a loop goes on from the bar before, not from the round before: ta.sma(close, 10) is the same
// in every round, and in `for length = 5 to 50` ta.wma(close, length) is that of a call outside. The percentiles alone
// take each execution for a bar of its own. [both measured by PyneCore]

import type { StateClass } from './state-class.ts'
import type { Runtime } from './runtime.ts'

/** Further rounds of one bar share a state, since this many windows take tens of MB. */
const STATES_MAX = 4096

type State = InstanceType<StateClass>

// Fields are plain, not #private: a snapshot copies them.
export class PerExecution {
  private readonly create: StateClass
  private readonly runtime: Runtime
  private readonly states: State[] = []
  private bar = -1
  private executed = 0

  constructor(create: StateClass, runtime: Runtime) {
    this.create = create
    this.runtime = runtime
  }

  /** The state of this execution on `bar`. */
  on(bar: number): State {
    if (bar !== this.bar) {
      this.bar = bar
      this.executed = 0
    }
    const at = Math.min(this.executed++, STATES_MAX - 1)
    return (this.states[at] ??= new this.create(this.runtime))
  }
}
