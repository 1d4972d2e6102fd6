// A bar store that answers late and in another order than it was asked, the same each time for the same seed.

import type { BarStore } from '../../src/market/bar-store.ts'
import { lateness } from '../store/delayed-kv.ts'

export function delayedBars(store: BarStore, seed: number): BarStore {
  const late = lateness(seed)
  return {
    upsert: (key, bars, pieces) => late(() => store.upsert(key, bars, pieces)),
    read: (key, range, make) => late(() => store.read(key, range, make)),
    info: (key) => late(() => store.info(key)),
    list: (of) => late(() => store.list(of)),
    remove: (key) => late(() => store.remove(key)),
    notes: () => late(() => store.notes()),
    clearNote: (note) => late(() => store.clearNote(note)),
    sweep: () => late(() => store.sweep()),
    symbol: (exchange, symbol, owner) => late(() => store.symbol(exchange, symbol, owner)),
    symbols: () => late(() => store.symbols()),
    putSymbol: (info) => late(() => store.putSymbol(info)),
    removeSymbol: (exchange, symbol, owner) => late(() => store.removeSymbol(exchange, symbol, owner)),
    draft(key) {
      const draft = store.draft(key)
      return {
        add: (bars) => late(() => draft.add(bars)),
        read: (range) => late(() => draft.read(range)),
        commit: (pieces) => late(() => draft.commit(pieces)),
        discard: () => late(() => draft.discard()),
      }
    },
  }
}
