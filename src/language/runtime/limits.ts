// The most that a run may take.

/** The language's limits and the host's; past one of them a ScriptError `script_limit_exceeded` names the line. */
export interface Limits {
  /** Elements of an array or matrix; a pair of a map is two. */
  readonly collectionSize: number
  readonly stringLength: number
  /** Iterations of all loops on one bar. */
  readonly loopsPerBar: number
  readonly drawingsPerKind: number
  /** Different calls of request.*(): 40 on TradingView, 64 on its largest plan. */
  readonly requests: number
  /** Milliseconds that the whole run may take: processor time if the host can tell, else the clock's. */
  readonly timeMs: number
  readonly memoryBytes: number
  /** How large report and tracks may be, in bytes as they are sent. */
  readonly answerBytes: number
}

/** The most TradingView ever allows (limitations, "Number of calls"). */
export const REQUESTS_MAX = 64

export const DEFAULT_LIMITS: Limits = {
  collectionSize: 100_000,
  stringLength: 40_960,
  loopsPerBar: 5_000_000,
  drawingsPerKind: 500,
  requests: REQUESTS_MAX,
  timeMs: 60_000,
  memoryBytes: 1 << 30,
  answerBytes: 256 << 20,
}

/** What a collection grows by: see `Budget`. */
export interface Allowance extends Pick<Limits, 'collectionSize'> {
  /** Bytes taken so far. */
  used: number
  /** Whether indexes below 0 count from the end, as they do in version 6. */
  readonly countsFromEnd: boolean
  take(bytes: number): void
  work(steps: number): void
}
