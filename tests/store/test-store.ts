// The stores that suites run on: maps, or, with `STORE_SEED=7 bun test …`, maps that answer late and out of order.

import { type BarStore, memoryBars } from '../../src/market/bar-store.ts'
import type { Kv } from '../../src/store/kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { delayedBars } from '../market/delayed-bars.ts'
import { delayedKv } from './delayed-kv.ts'

const SEED = process.env['STORE_SEED']

export function testKv(options?: Parameters<typeof memoryKv>[0]): Kv {
  const kv = memoryKv(options)
  return SEED === undefined ? kv : delayedKv(kv, Number(SEED))
}

export function testBars(): BarStore {
  const bars = memoryBars()
  return SEED === undefined ? bars : delayedBars(bars, Number(SEED))
}
