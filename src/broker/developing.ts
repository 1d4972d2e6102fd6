// Bars in the making: what a script that runs on every tick of the past sees of the present bar (A10).
//
// It is a copy of the bars, in which the present one shows no more than the path has reached; all others are finished. Code
// that needs a finished bar reads the original, which never changes.

import type { Bars } from '../market/bars.ts'

export class DevelopingBars {
  readonly bars: Bars
  /** The bars as they were passed in. */
  readonly finished: Bars
  /** The present bar, of which the copy shows a part; -1 = none. */
  private at = -1
  private high = NaN
  private low = NaN

  constructor(bars: Bars) {
    this.finished = bars
    this.bars = {
      ...bars,
      high: bars.high.slice(),
      low: bars.low.slice(),
      close: bars.close.slice(),
      volume: bars.volume.slice(),
      ...(bars.bought && { bought: bars.bought.slice() }),
    }
  }

  get isDeveloping(): boolean {
    return this.at >= 0
  }

  /** The price has reached `close`, after a volume of `volume` on the bar. */
  show(bar: number, close: number, volume: number): void {
    const { bars } = this
    if (this.at !== bar) {
      this.at = bar
      this.high = bars.open[bar]!
      this.low = bars.open[bar]!
    }
    this.high = Math.max(this.high, close)
    this.low = Math.min(this.low, close)
    bars.high[bar] = this.high
    bars.low[bar] = this.low
    bars.close[bar] = close
    bars.volume[bar] = volume
    // Nobody knows when within the bar it was bought.
    if (bars.bought) bars.bought[bar] = Number.NaN
  }

  /** The bar has closed. */
  finish(bar: number): void {
    const { bars, finished } = this
    this.at = -1
    bars.high[bar] = finished.high[bar]!
    bars.low[bar] = finished.low[bar]!
    bars.close[bar] = finished.close[bar]!
    bars.volume[bar] = finished.volume[bar]!
    if (bars.bought && finished.bought) bars.bought[bar] = finished.bought[bar]!
  }
}
