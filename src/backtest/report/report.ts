// The report's shape, as `design/report.md` has it. Times UTC ms, fractions as fractions, undefined = null.

export interface Report {
  readonly version: 1
}
