// How far JavaScriptCore goes in making machine code of a script's functions.
//
// Its optimizers work on a function for a time, and in a memory, that grow with the square of its size: a function of
// 3,000 statements over 1,500 variables took them 60 s and 1.6 GB, outside of every budget of ours, and whenever the main
// thread collects its garbage it waits for them to come to a stop. So functions beyond a size stay with the plainest
// machine code. The bounds are those at which public scripts lose nothing. CPU time with them against that without, in
// alternated rounds of processes of their own, of which two without differ by 1 %: ten typical scripts over 100,000 bars
// 100 % (each 94 to 106 %), five over 5,000 bars, as a preview has them, 95 %, two moving averages over a million bars
// 98 %, the ten largest of 1,500 scripts over 100,000 bars 87 % (the worst of them 110 %), for they are no longer
// optimized when they are done. Starting again cost 2 ms of 154 until the server was ready, less than starts differ.
//
// These settings can be made only when a process starts, by its environment.

/** Of a function's bytecode, in its own unit: for the first optimizer, and for the second, which takes ten times as long. */
const BOUNDS = {
  BUN_JSC_maximumOptimizationCandidateBytecodeCost: '32500',
  BUN_JSC_maximumFTLCandidateBytecodeCost: '10000',
} as const

type Environment = Readonly<Record<string, string | undefined>>

/** The environment in which to start again; null = it is the one that is here. What somebody set on purpose stays. */
export function boundedEnvironment(environment: Environment): Record<string, string> | null {
  const names = Object.keys(BOUNDS)
  if (names.every((name) => environment[name] !== undefined)) return null
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return { ...BOUNDS, ...Object.fromEntries(given) }
}
