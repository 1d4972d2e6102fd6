// Price and volume: on-balance volume and its relatives, as running totals over the whole chart.
//
// They are variables: a chart has one of each, which every bar advances, wherever in a script it is read.

import { variable } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'
import { Cum } from './changes.ts'

class Accdist {
  private total = 0

  next(high: number, low: number, close: number, volume: number): number {
    const flow = ((close - low - (high - close)) / (high - low)) * volume
    if (flow === flow) this.total += flow
    return this.total
  }
}

class Iii {
  next(high: number, low: number, close: number, volume: number): number {
    return (2 * close - high - low) / ((high - low) * volume)
  }
}

class Wvad {
  next(open: number, high: number, low: number, close: number, volume: number): number {
    return ((close - open) / (high - low)) * volume
  }
}

class Obv {
  private readonly total = new Cum()

  next(close: number, volume: number, closeBefore: number): number {
    return this.total.next(Math.sign(close - closeBefore) * volume)
  }
}

class Pvt {
  private readonly total = new Cum()

  next(close: number, volume: number, closeBefore: number): number {
    return this.total.next(((close - closeBefore) / closeBefore) * volume)
  }
}

class Wad {
  private readonly total = new Cum()

  next(high: number, low: number, close: number, closeBefore: number): number {
    const move = close - closeBefore
    if (move > 0) return this.total.next(close - Math.min(low, closeBefore))
    if (move < 0) return this.total.next(close - Math.max(high, closeBefore))
    return this.total.next(0)
  }
}

class Nvi {
  private value = 1

  next(close: number, volume: number, closeBefore: number, volumeBefore: number): number {
    const before = volumeBefore === volumeBefore ? volumeBefore : 0
    if (volume < before) this.value = afterMove(this.value, close, closeBefore)
    return this.value
  }
}

class Pvi {
  private value = 1

  next(close: number, volume: number, closeBefore: number, volumeBefore: number): number {
    const before = volumeBefore === volumeBefore ? volumeBefore : 0
    if (volume > before) this.value = afterMove(this.value, close, closeBefore)
    return this.value
  }
}

/** If this close or the previous one is na or zero, the index does not move; an index of zero starts again at 1. */
function afterMove(index: number, close: number, closeBefore: number): number {
  if (!close || !closeBefore) return index
  const moved = index + ((close - closeBefore) / closeBefore) * index
  return moved === 0 ? 1 : moved
}

export const VOLUME: readonly BuiltinEntry[] = [
  variable('ta.accdist', 'Accumulation/distribution index.', 'series float', {
    state: Accdist,
    implicit: ['high', 'low', 'close', 'volume'],
  }),
  variable('ta.iii', 'Intraday intensity index of the bar.', 'series float', {
    state: Iii,
    implicit: ['high', 'low', 'close', 'volume'],
  }),
  variable(
    'ta.nvi',
    'Negative volume index: moves with the price on bars of falling volume.',
    'series float',
    {
      state: Nvi,
      implicit: ['close', 'volume', 'close[1]', 'volume[1]'],
    },
  ),
  variable(
    'ta.obv',
    'On-balance volume: adds the volume of rising bars, subtracts that of falling ones.',
    'series float',
    {
      state: Obv,
      implicit: ['close', 'volume', 'close[1]'],
    },
  ),
  variable(
    'ta.pvi',
    'Positive volume index: moves with the price on bars of rising volume.',
    'series float',
    {
      state: Pvi,
      implicit: ['close', 'volume', 'close[1]', 'volume[1]'],
    },
  ),
  variable('ta.pvt', 'Price-volume trend: the sum of volume times relative price move.', 'series float', {
    state: Pvt,
    implicit: ['close', 'volume', 'close[1]'],
  }),
  variable('ta.wad', 'Williams accumulation/distribution.', 'series float', {
    state: Wad,
    implicit: ['high', 'low', 'close', 'close[1]'],
  }),
  variable('ta.wvad', 'Williams variable accumulation/distribution of the bar.', 'series float', {
    state: Wvad,
    implicit: ['open', 'high', 'low', 'close', 'volume'],
  }),
]
