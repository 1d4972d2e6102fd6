// What a section of the torture counted and found, and the table made from it.

export interface Finding {
  readonly what: string
  /** How to repeat it: the seed, and the step in its run. */
  readonly repeat: string
}

/** One row of the table. Findings of one kind are listed once, with their number. */
export class Tally {
  readonly section: string
  rounds = 0
  requests = 0
  /** Everything done to the server on purpose: deaths, full disks, hostile bodies, broken files. */
  faults = 0
  readonly findings: Finding[] = []
  /** Further measurements, such as `ready p99` → `212 ms`. */
  readonly figures = new Map<string, string>()
  readonly #seed: number
  readonly #print: (line: string) => void
  readonly #kinds = new Map<string, number>()

  constructor(section: string, seed: number, print: (line: string) => void) {
    this.section = section
    this.#seed = seed
    this.#print = print
  }

  /** `kind` is the same for all findings with one cause; `what` has the details of this one. */
  find(kind: string, what: string, step: string): void {
    const times = (this.#kinds.get(kind) ?? 0) + 1
    this.#kinds.set(kind, times)
    const repeat = `--only ${this.section} --seed ${this.#seed}, ${step}`
    this.findings.push({ what: `${kind}: ${what}`, repeat })
    if (times <= 3) this.#print(`  ✗ ${this.section}: ${kind}: ${what} (repeat: ${repeat})`)
  }

  figure(name: string, value: string): void {
    this.figures.set(name, value)
  }

  get kinds(): ReadonlyMap<string, number> {
    return this.#kinds
  }
}

/** The table as Markdown. */
export function tableOf(tallies: readonly Tally[]): string {
  const rows = tallies.map((tally) => [
    tally.section,
    tally.rounds.toLocaleString('en'),
    tally.requests.toLocaleString('en'),
    tally.faults.toLocaleString('en'),
    tally.findings.length.toLocaleString('en'),
    [...tally.figures].map(([name, value]) => `${name} ${value}`).join(', '),
  ])
  return [
    '| section | rounds | requests | faults | findings | measured |',
    '| --- | ---: | ---: | ---: | ---: | --- |',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n')
}

/** The kinds of findings, one for each line. */
export function findingsOf(tallies: readonly Tally[]): string[] {
  return tallies.flatMap(({ section, kinds }) =>
    [...kinds].map(([kind, times]) => `${section}: ${times} × ${kind}`),
  )
}

/** `p50 1 ms, p99 3 ms, max 9 ms` for numbers in any order. */
export function spread(values: readonly number[]): string {
  if (values.length === 0) return 'none'
  const at = (fraction: number) =>
    percentile(values, fraction).toFixed(values.some((one) => one < 10) ? 1 : 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0
}
