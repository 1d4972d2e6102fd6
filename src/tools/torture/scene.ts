// What every section is handed: the executable it attacks, the seed, and how long it may take.

export interface Scene {
  readonly binary: string
  readonly seed: number
  /** The short run is part of the tests: few rounds, and nothing is found by a clock. */
  readonly isShort: boolean
  /** How many of `long` rounds to do: what `--rounds` says, else `long`, or a hundredth in the short run. */
  rounds(long: number): number
  print(line: string): void
}
