// How far JavaScriptCore goes in making machine code of a script's functions.
//
// Its optimizers work on a function for a time, and in a memory, that grow with the square of its size: a function of
// 3,000 statements over 1,500 variables took them 60 s and 1.6 GB, outside of every budget of ours, and whenever the main
// thread collects its garbage it waits for them to come to a stop. So functions beyond a size stay with the plainest
// machine code. The bounds are those at which public scripts lose nothing: with these the 24 largest of 1,700 take 92 % of the
// time they take without any, over 100,000 bars, for they are no longer optimized when they are done.
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
