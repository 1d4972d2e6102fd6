// What every section is given: the executable it attacks, the seed, and how long it may take.

export interface Scene {
  readonly binary: string
  /** What a server with that data directory is told of its store; absent: it is the directory. */
  readonly storeOf?: (data: string) => Promise<Readonly<Record<string, string>>>
  readonly seed: number
  /** The short run is part of the tests: it has few rounds, and judges nothing by time. */
  readonly isShort: boolean
  /**
   * How many of `long` rounds to do: the number of `--rounds` if given, else `long`, or a hundredth of it in the short run.
   */
  rounds(long: number): number
  print(line: string): void
}
