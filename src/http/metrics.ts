// Counters for Prometheus in its text format. Routes are counted by their pattern, never by address, so there is one series
// for each route, whatever addresses clients make up.

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const

/** The counts of one route. */
interface Counted {
  readonly labels: string
  readonly statuses: Map<number, number>
  count: number
  sum: number
  readonly buckets: number[]
}

export type Gauge = readonly [name: string, help: string, value: number]

export class Metrics {
  readonly #counted = new Map<string, Counted>()
  readonly #gauges: (() => readonly Gauge[])[] = []

  /** `read` is called at every scrape. */
  gauge(read: () => readonly Gauge[]): void {
    this.#gauges.push(read)
  }

  request(method: string, route: string, status: number, seconds: number): void {
    const counted = this.#counted.get(`${method} ${route}`) ?? this.#first(method, route)
    counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1)
    counted.count += 1
    counted.sum += seconds
    for (let i = 0; i < SECONDS.length; i++)
      if (seconds <= (SECONDS[i] ?? 0)) counted.buckets[i] = (counted.buckets[i] ?? 0) + 1
  }

  #first(method: string, route: string): Counted {
    const labels = `method="${method}",route="${route.replace(/["\\\n]/g, '')}"`
    const counted: Counted = { labels, statuses: new Map(), count: 0, sum: 0, buckets: SECONDS.map(() => 0) }
    this.#counted.set(`${method} ${route}`, counted)
    return counted
  }

  text(): string {
    const lines = [
      '# HELP chartroom_http_requests_total Requests answered.',
      '# TYPE chartroom_http_requests_total counter',
    ]
    for (const { labels, statuses } of this.#counted.values())
      for (const [status, count] of statuses)
        lines.push(`chartroom_http_requests_total{${labels},status="${status}"} ${count}`)
    lines.push(
      '# HELP chartroom_http_request_seconds Time from the first byte to the answer.',
      '# TYPE chartroom_http_request_seconds histogram',
    )
    for (const { labels, count, sum, buckets } of this.#counted.values()) {
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
