// What a bar costs in a chunk: bytes, and bars a second in and out. `bun tests/store/bar-chunks.bench.ts`

import { emptyBars } from '../../src/market/bars.ts'
import { CHUNK_BARS, decodeChunk, encodeChunk } from '../../src/store/bar-chunks.ts'

const CHUNKS = 256
const bars = emptyBars(CHUNK_BARS)
let cents = 10_000
for (let i = 0; i < CHUNK_BARS; i++) {
  cents += Math.round((Math.random() - 0.5) * 20)
  bars.time[i] = 1.6e12 + i * 60_000
  bars.open[i] = cents / 100
  bars.high[i] = (cents + 5) / 100
  bars.low[i] = (cents - 5) / 100
  bars.close[i] = (cents + 2) / 100
  bars.volume[i] = Math.round(Math.random() * 1e6)
}

function report(name: string, work: (chunk: number) => void): void {
  for (let chunk = 0; chunk < CHUNKS; chunk++) work(chunk)
  const started = performance.now()
  for (let chunk = 0; chunk < CHUNKS; chunk++) work(chunk)
  const seconds = (performance.now() - started) / 1000
  console.log(`${name}  ${((CHUNK_BARS * CHUNKS) / seconds / 1e6).toFixed(1)} million bars a second`)
}

let bytes = encodeChunk(bars)
const target = emptyBars(CHUNK_BARS * CHUNKS)
console.log(`size    ${(bytes.length / CHUNK_BARS).toFixed(1)} bytes a bar`)
report('encode', () => {
  bytes = encodeChunk(bars)
})
report('decode', (chunk) => decodeChunk(bytes, target, chunk * CHUNK_BARS))
