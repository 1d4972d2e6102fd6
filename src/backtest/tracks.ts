// Tracks: what a chart draws, in columns that share one time axis. Track 0 is the time column.

export interface Track {
  readonly id: string
  readonly kind: string
  readonly [field: string]: unknown
}
