// Bars for tests that need some and do not mind which.

/** CSV of so many hours, or bars `step` apart, up and down. */
export function barCsv(count: number, first = Date.UTC(2026, 0, 1), step = 3_600_000): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const close = 100 + 10 * Math.sin(i / 5)
    return [first + i * step, close, close + 1, close - 1, close, 5].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}
