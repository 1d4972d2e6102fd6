import { memoryBars } from '../../src/market/bar-store.ts'
import { barStoreConformance } from './bar-store.conformance.ts'
import { delayedBars } from './delayed-bars.ts'

barStoreConformance('bars in memory', () =>
  Promise.resolve({ store: memoryBars(), close: () => Promise.resolve() }),
)

const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

barStoreConformance(`bars in memory that answers late (SEED=${seed})`, () =>
  Promise.resolve({ store: delayedBars(memoryBars(), seed), close: () => Promise.resolve() }),
)
