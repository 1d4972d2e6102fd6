// Limits how far JavaScriptCore optimizes a script's functions.
//
// Its optimizers take time and memory that grow with the square of a function's size. A function of 3,000 statements over
// 1,500 variables took them 60 s and 1.6 GB, outside every budget of ours, and the main thread's garbage collector has to
// wait for them. So functions beyond a size keep the plainest machine code. With the chosen bounds, public scripts lose
// nothing. We compared the CPU time with and without them in alternated rounds of separate processes; two rounds without
// bounds differ by 1 %. Ten typical scripts over 100,000 bars took 100 % (each 94 to 106 %), five over 5,000 bars, as in a
// preview, 95 %, two moving averages over a million bars 98 %. The ten largest of 1,500 scripts over 100,000 bars took 87 %
// (the worst 110 %), because without bounds the optimizers were still at work when the run was over. The restart cost 2 ms
// of 154 until the server was ready, less than two starts differ.
//
// The settings work only when a process starts, through its environment.

/**
 * The most bytecode of a function, in JavaScriptCore's own unit, for the first optimizer and for the second, which takes
 * ten times as long.
 */
const BOUNDS = {
  BUN_JSC_maximumOptimizationCandidateBytecodeCost: '32500',
  BUN_JSC_maximumFTLCandidateBytecodeCost: '10000',
} as const

type Environment = Readonly<Record<string, string | undefined>>

/** The environment to restart with; null = the present one is right. Settings that the user made are left alone. */
export function boundedEnvironment(environment: Environment): Record<string, string> | null {
  const names = Object.keys(BOUNDS)
  if (names.every((name) => environment[name] !== undefined)) return null
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { ...BOUNDS, ...Object.fromEntries(given) }
}
