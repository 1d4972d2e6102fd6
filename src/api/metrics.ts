// Counters for Prometheus, in its text format. Routes are counted by their pattern, never by address: one series a
// route, whatever clients make up.

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const

interface Series {
  count: number
  sum: number
  readonly buckets: number[]
}

export class Metrics {
  readonly #requests = new Map<string, number>()
  readonly #durations = new Map<string, Series>()
  readonly #gauges: (() => readonly (readonly [name: string, help: string, value: number])[])[] = []

  /** `read` is called whenever somebody scrapes. */
  gauge(read: () => readonly (readonly [name: string, help: string, value: number])[]): void {
    this.#gauges.push(read)
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const labels = `method="${method}",route="${route.replace(/["\\\n]/g, '')}"`
    const counted = `${labels},status="${status}"`
    this.#requests.set(counted, (this.#requests.get(counted) ?? 0) + 1)
    const series = this.#durations.get(labels) ?? { count: 0, sum: 0, buckets: SECONDS.map(() => 0) }
    this.#durations.set(labels, series)
    series.count += 1
    series.sum += seconds
    SECONDS.forEach((bound, i) => {
      if (seconds <= bound) series.buckets[i] = (series.buckets[i] ?? 0) + 1
    })
  }

  text(): string {
    const lines = [
      '# HELP chartroom_http_requests_total Requests answered.',
      '# TYPE chartroom_http_requests_total counter',
    ]
    for (const [labels, count] of this.#requests)
      lines.push(`chartroom_http_requests_total{${labels}} ${count}`)
    lines.push(
      '# HELP chartroom_http_request_seconds Time from the first byte to the answer.',
      '# TYPE chartroom_http_request_seconds histogram',
    )
    for (const [labels, { count, sum, buckets }] of this.#durations) {
      const name = 'chartroom_http_request_seconds'
      SECONDS.forEach((bound, i) => lines.push(`${name}_bucket{${labels},le="${bound}"} ${buckets[i] ?? 0}`))
      lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`)
      lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`)
    }
    for (const [name, help, value] of this.#gauges.flatMap((read) => read()))
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`)
    return `${lines.join('\n')}\n`
  }
}
