// Tracks: what a chart draws of a run. There are several kinds, with columns that share one time axis, which is track 0.
//
// A column has one value for each bar; null is na. A colour is `#RRGGBBAA`. A colour that changes from bar to bar is a
// palette with an index for each bar (-1 = na), under the plural of its name. Options are Pine's arguments under Pine's
// names.

import { Type, type TProperties } from '@sinclair/typebox'
import { nullable, oneOf, type Wire } from './schema.ts'

const Column = Type.Array(nullable(Type.Number()))
const Colors = Type.Object({ palette: Type.Array(Type.String()), index: Type.Array(Type.Integer()) })
const color = Type.Optional(nullable(Type.String()))
const colors = Type.Optional(Colors)
const word = Type.Optional(nullable(Type.String()))
const amount = Type.Optional(nullable(Type.Number()))
const flag = Type.Optional(nullable(Type.Boolean()))
const texts = Type.Optional(
  Type.Record(Type.String(), Type.Array(nullable(Type.String())), {
    description: 'Texts by argument, one for each bar, where they are not the same on all bars.',
  }),
)

/** The fields of all tracks except the time axis. */
const shown = {
  id: Type.String({ description: 'The title; further tracks of the same title get `#2` and so on.' }),
  title: Type.String(),
  pane: Type.String({ description: "`price`, `equity`, `position`, or `1` for the script's own pane." }),
  overlay: Type.Boolean({ description: 'Whether it is drawn over the prices.' }),
}
const display = {
  editable: flag,
  display: Type.Optional(nullable(Type.Integer({ description: "Pine's `display` bits." }))),
  force_overlay: flag,
  zorder: Type.Integer({ description: 'Tracks with a higher one are drawn above.' }),
}
const formatted = { format: word, precision: amount }
const last = { show_last: amount }

const plotOf = <K extends string, P extends TProperties>(kind: K, properties: P) =>
  Type.Object({ kind: Type.Literal(kind), ...shown, ...display, ...last, ...properties })

const Plot = plotOf('plot', {
  ...formatted,
  texts,
  style: word,
  linewidth: amount,
  linestyle: word,
  trackprice: flag,
  histbase: amount,
  offset: amount,
  join: flag,
  color,
  colors,
  data: Column,
})

const marked = {
  ...formatted,
  texts,
  location: word,
  size: word,
  text: word,
  offset: amount,
  color,
  colors,
  textcolor: color,
  textcolors: colors,
  data: Column,
}
const Shape = plotOf('shape', { ...marked, style: word })
const Char = plotOf('char', { ...marked, char: word })

const Arrow = plotOf('arrow', {
  ...formatted,
  texts,
  offset: amount,
  minheight: amount,
  maxheight: amount,
  colorup: color,
  colorups: colors,
  colordown: color,
  colordowns: colors,
  data: Column,
})

const barred = {
  ...formatted,
  texts,
  color,
  colors,
  open: Column,
  high: Column,
  low: Column,
  close: Column,
}
const Candle = plotOf('candle', {
  ...barred,
  wickcolor: color,
  wickcolors: colors,
  bordercolor: color,
  bordercolors: colors,
})
const Bar = plotOf('bar', barred)

const Level = plotOf('hline', { price: amount, color, linestyle: word, linewidth: amount })

const Fill = plotOf('fill', {
  between: Type.Array(Type.String(), {
    minItems: 2,
    maxItems: 2,
    description: 'Ids of the two tracks it fills the space between.',
  }),
  fillgaps: flag,
  color,
  colors,
  top_value: Type.Optional(Type.Union([Column, Type.Number(), Type.Null()])),
  bottom_value: Type.Optional(Type.Union([Column, Type.Number(), Type.Null()])),
  top_color: color,
  top_colors: colors,
  bottom_color: color,
  bottom_colors: colors,
  data: Type.Optional(Column),
})

const ground = {
  offset: amount,
  color,
  palette: Type.Array(Type.String()),
  runs: Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.Integer()]), {
    description: 'Stretches of one colour: the first bar, the number of bars, and an index into the palette.',
  }),
}
const Background = plotOf('bgcolor', ground)
const BarColor = plotOf('barcolor', ground)

const drawingsOf = <K extends string>(kind: K) =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      ...shown,
      items: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
        description:
          'Fields by their Pine names, as they are at the end; `createdBar` and `deletedBar` (-1 = never); and `changes`, the earlier fields and the bar until which they held. A reference to another drawing is its index among those of its kind.',
      }),
    },
    { description: 'Drawings of the kind.' },
  )
const Lines = drawingsOf('line')
const Labels = drawingsOf('label')
const Boxes = drawingsOf('box')
const Tables = drawingsOf('table')
const Polylines = drawingsOf('polyline')
const Linefills = drawingsOf('linefill')

const Time = Type.Object({
  id: Type.Literal('time'),
  kind: Type.Literal('time'),
  data: Type.Array(Type.Number(), { description: 'Openings of the bars, UTC milliseconds.' }),
})

const curveOf = <K extends string>(kind: K, description: string) =>
  Type.Object({ kind: Type.Literal(kind), ...shown, data: Column }, { description })
const Equity = curveOf('equity', 'Equity at the close of each bar, in account currency.')
const Drawdown = curveOf('drawdown', 'Equity less its peak so far, ≤ 0, in account currency.')
const BuyAndHold = curveOf('buyhold', 'The initial capital put into the symbol at the first entry, and held.')
const Position = curveOf('position', 'Contracts held at the close of each bar, negative when short.')

const Marker = Type.Object({
  bar: Type.Integer({ description: 'Index into the time axis.' }),
  time: Type.Number({ description: 'UTC seconds.' }),
  position: oneOf(['belowBar', 'aboveBar']),
  shape: oneOf(['arrowUp', 'arrowDown']),
  color: Type.String(),
  text: Type.String(),
  id: Type.String({ description: "The order's." }),
  price: Type.Number(),
  qty: Type.Number({ description: 'Contracts.' }),
  size: Type.Number(),
  after: Type.Number({ description: 'Contracts held after it.' }),
})
export type Marker = Wire<typeof Marker>
const Markers = Type.Object(
  { kind: Type.Literal('markers'), ...shown, items: Type.Array(Marker) },
  { description: "Fills, as lightweight-charts' SeriesMarker." },
)

const indexes = Type.Array(Type.Integer())
const Resting = Type.Object(
  {
    kind: Type.Literal('resting'),
    ...shown,
    names: Type.Array(Type.String()),
    types: Type.Array(oneOf(['limit', 'stop', 'trail'])),
    name: Type.Array(Type.Integer(), { description: 'Index into `names`.' }),
    type: Type.Array(Type.Integer(), { description: 'Index into `types`.' }),
    from: indexes,
    to: Type.Array(Type.Integer(), {
      description: 'The first bar on which it waits no longer; -1 = it waits to the end.',
    }),
    price: Type.Array(Type.Number()),
    qty: Type.Array(Type.Number(), { description: 'Contracts, negative to sell.' }),
  },
  { description: 'Orders while they wait: one row for each, as columns.' },
)
export type RestingTrack = Wire<typeof Resting>

const KINDS = [
  Time,
  Plot,
  Shape,
  Char,
  Arrow,
  Candle,
  Bar,
  Level,
  Fill,
  Background,
  BarColor,
  Lines,
  Labels,
  Boxes,
  Tables,
  Polylines,
  Linefills,
  Equity,
  Drawdown,
  BuyAndHold,
  Position,
  Markers,
  Resting,
]
export const Track = Type.Union(KINDS, { $id: 'Track', description: 'Told apart by `kind`.' })
export const TRACK_KINDS: readonly string[] = KINDS.map(({ properties }) => properties.kind.const)
export type Track = Wire<typeof Track>
