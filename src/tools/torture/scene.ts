// What every section is given: the executable it attacks, the seed, and how long it may take.

export interface Scene {
  readonly binary: string
  readonly seed: number
  /** The short run is part of the tests: it has few rounds, and judges nothing by time. */
  readonly isShort: boolean
  /**
   * How many of `long` rounds to do: the number of `--rounds` if given, else `long`, or a hundredth of it in the short run.
   */
  rounds(long: number): number
  print(line: string): void
}
