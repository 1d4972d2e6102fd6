import { memoryBars } from '../../src/market/bar-store.ts'
import { barStoreConformance } from './bar-store.conformance.ts'

barStoreConformance('bars in memory', () =>
  Promise.resolve({ store: memoryBars(), close: () => Promise.resolve() }),
)
