// Searching lists of 100,000 symbols: how long a search takes, and how much memory the lists do.

import { listText, packList, searchLists } from '../../src/market/listings/directory.ts'
import type { Listing } from '../../src/market/listings/listing.ts'
import { noteRow } from '../bench-rows.ts'

const SYMBOLS = 100_000
const ROUNDS = 20
const TEXTS = ['AAPL', 'A', 'ZZZZQQ', 'holdings qqqq', 'NYSE:A', 'company 5', 'incorporated zz9', 'BINANCE:']

const all = Array.from({ length: SYMBOLS }, (_, i): Listing => ({
  exchange: ['NASDAQ', 'NYSE', 'ARCA'][i % 3]!,
  symbol: (((i + 1) * 7919) % 11_881_376).toString(36).toUpperCase(),
  name: `Company ${i} Holdings Incorporated Common Stock`,
  type: 'stock',
}))
let longest = 0
let begun = performance.now()
const pause = async () => {
  longest = Math.max(longest, performance.now() - begun)
  await Bun.sleep(0)
  begun = performance.now()
}
const text = await listText(all, pause)
begun = performance.now()
const list = await packList(text, pause)
await pause()
const bytes = list.text.length + list.folded.length + list.starts.byteLength + list.foldedStarts.byteLength
let slowest = 0
for (const query of TEXTS) {
  const times: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const at = performance.now()
    searchLists([list], { text: query, limit: 50 })
    times.push(performance.now() - at)
  }
  slowest = Math.max(slowest, times.sort((a, b) => a - b)[ROUNDS >> 1]!)
}
console.log(
  `${SYMBOLS} symbols: ${(bytes / 2 ** 20).toFixed(1)} MB, slowest search ${slowest.toFixed(1)} ms, longest stall ${longest.toFixed(0)} ms`,
)
noteRow('search of 100,000 listed symbols, slowest of eight texts, median', slowest, 'ms', {})
