// The records of plot(), plotshape(), hline(), fill(), bgcolor() and their kin: one track for each call site, one value for
// each bar.

import type { TrackSpec, ColumnData } from './executable.ts'

/** Pine's own names for kinds and options; wire form is made in `broker/tracks.ts`. */
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
  /** The two tracks that a fill lies between, by their index in the run's `plots`. */
  readonly between: readonly [number, number] | null
}

/** The tracks of a run as they stand after `length` bars. `specs` say which column holds what. */
export function tracksOf(
  specs: readonly TrackSpec[],
  options: readonly PlotTrack['options'][],
  data: readonly ColumnData[],
  length: number,
): readonly PlotTrack[] {
  const numbers = (columns: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, numberColumn(data[column], length)]),
    )
  return specs.map((spec, i) => {
    const { title } = options[i] ?? {}
    return {
      kind: spec.kind as PlotTrack['kind'],
      title: typeof title === 'string' ? title : '',
      options: options[i] ?? {},
      columns: Object.fromEntries(
        Object.entries(numbers(spec.columns)).map(([name, values]) => [name, drawn(values)]),
      ),
      colors: numbers(spec.colors),
      texts: Object.fromEntries(
        Object.entries(spec.texts).map(([name, column]) => [
          name,
          Array.from({ length }, (_, bar) => (data[column]?.[bar] ?? null) as string | null),
        ]),
      ),
      between: spec.between,
    }
  })
}

/** The values that plot() recorded on bars `from` to `to` - 1, by title. */
export function plotValues(
  specs: readonly TrackSpec[],
  options: readonly PlotTrack['options'][],
  data: readonly ColumnData[],
  from: number,
  to: number,
): (readonly [title: string, values: Float64Array])[] {
  return specs.flatMap(({ kind, columns: { series } }, i) => {
    if (kind !== 'plot' || series === undefined) return []
    const { title } = options[i] ?? {}
    const column = data[series]
    const values = Array.isArray(column) ? undefined : column?.subarray(from, to)
    return [[typeof title === 'string' ? title : '', drawn(numberColumn(values, to - from).slice())] as const]
  })
}

/** K20: a value of 1e100 or more, of either sign, is not drawn. */
const DRAWN_BELOW = 1e100

function drawn(values: Float64Array): Float64Array {
  const isDrawn = (value: number) => !(Math.abs(value) >= DRAWN_BELOW)
  return values.every(isDrawn) ? values : values.map((value) => (isDrawn(value) ? value : Number.NaN))
}

/** Bools become 1 and 0, na is NaN. */
function numberColumn(data: ColumnData | undefined, length: number): Float64Array {
  if (data instanceof Float64Array) return data.subarray(0, length)
  if (data instanceof Uint8Array)
    return Float64Array.from(data.subarray(0, length), (value) => (value === 2 ? Number.NaN : value))
  return new Float64Array(length).fill(Number.NaN)
}
