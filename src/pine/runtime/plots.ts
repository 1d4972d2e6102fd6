// What plot(), plotshape(), hline(), fill(), bgcolor() and their kin record: a track a call site, a value a bar.

/** Pine's own names for kinds and options; wire form is made in `backtest/tracks.ts`. */
export interface PlotTrack {
  readonly kind:
    'plot' | 'shape' | 'char' | 'arrow' | 'candle' | 'bar' | 'hline' | 'fill' | 'bgcolor' | 'barcolor'
  readonly title: string
  /** Constant and input arguments by parameter name. */
  readonly options: Readonly<Record<string, number | string | boolean | null>>
  /** One value a bar: `series` for plots, shapes and arrows; open/high/low/close for candles and bars. na = NaN. */
  readonly columns: Readonly<Record<string, Float64Array>>
  /** Colours a bar (0xRRGGBBAA, NaN = na) by parameter name where they are not constant. */
  readonly colors: Readonly<Record<string, Float64Array>>
  /** Text a bar where it is not constant. */
  readonly texts: Readonly<Record<string, readonly (string | null)[]>>
  /** For fill: the indexes (in the run's `plots`) of the two tracks it lies between. */
  readonly between: readonly [number, number] | null
}
