// What a backtest costs over HTTP, request to last byte of the answer: `bun run build` before, for the executable.
//
//   5,000 bars   what an input of the chart's strategy costs when it is changed; the dashboard wants it within 100 ms
//   1,000,000    the longest history most people have, in minutes
//
// `kept` is POST /backtests (report and tracks stored, one commit), `preview` POST /backtests/preview.

import { backtestOf, isMissing, MODES, Place, type Server } from './server.ts'

const LONG = 1_000_000
const SERIES = { exchange: 'TEST', symbol: 'LONG', interval: '1m' }

const source = (fast: number) => `//@version=6
strategy("Averages", overlay = true)
fast = ta.sma(close, input.int(${fast}, "Fast"))
slow = ta.sma(close, 30)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.entry("Short", strategy.short)
plot(fast)
plot(slow)
`

function walk(rows: number): string {
  const lines = ['time,open,high,low,close,volume']
  let [state, close] = [42, 30_000]
  for (let i = 0; i < rows; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const open = close
    close = Math.round(Math.max(100, close * (1 + (state / 0x7fffffff - 0.5) * 0.004)) * 100) / 100
    lines.push(
      `${1_600_000_000_000 + i * 60_000},${open},${Math.max(open, close) + 5},${Math.min(open, close) - 5},${close},100`,
    )
  }
  return `${lines.join('\n')}\n`
}

async function measure(label: string, server: Server, path: string, body: object, rounds: number) {
  const times: number[] = []
  let bytes = 0
  for (let round = -2; round < rounds; round++) {
    const from = performance.now()
    const response = await fetch(server.base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...server.headers },
      body: JSON.stringify({ ...body, source: source(10 + ((round + 2) % 8)) }),
    })
    const answer = await response.arrayBuffer()
    if (response.status !== 200) throw new Error(new TextDecoder().decode(answer.slice(0, 500)))
    if (round >= 0) times.push(performance.now() - from)
    bytes = answer.byteLength
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? Number.NaN).toFixed(1)
  console.log(
    `${label}: p50 ${at(0.5)} ms, worst of ${rounds} ${at(0.999)} ms, ${(bytes / 1e6).toFixed(1)} MB answered`,
  )
}

for (const mode of MODES) {
  if (isMissing(mode)) continue
  const place = new Place(mode)
  const server = await place.serve('--rate-user', '0')
  try {
    await server.signUp()
    const short = backtestOf('', 'Averages')
    await measure(`${mode}, 5,104 bars kept`, server, '/api/platform/backtests', short, 40)
    await measure(`${mode}, 5,104 bars preview`, server, '/api/platform/backtests/preview', short, 40)
    const imported = await server.importCsv(new URLSearchParams(SERIES).toString(), walk(LONG))
    if (imported.status !== 200) throw new Error(imported.text)
    const long = { ...short, ...SERIES, bars: LONG }
    await measure(`${mode}, 1,000,000 bars kept`, server, '/api/platform/backtests', long, 3)
    await measure(`${mode}, 1,000,000 bars preview`, server, '/api/platform/backtests/preview', long, 3)
  } finally {
    await server.stop()
    place.remove()
  }
}
