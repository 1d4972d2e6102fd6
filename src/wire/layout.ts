// Layouts: one to eight charts as somebody set them up, with their indicators, under a name, to be opened on any machine.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  idOf,
  IntervalName,
  Listed,
  namesSeries,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { words } from '../lib/words.ts'

const Study = Type.Object({
  id: Text(64),
  name: Text(200),
  shortName: Text(200),
  source: Raw(100_000),
  from: Text(200, 0),
  inputs: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'Values that differ from the script’s defaults, by label. A source may be a plot of another study of the chart, as `{study, plot}`.',
  }),
  hidden: Type.Boolean(),
  intervals: nullable(Type.Array(IntervalName, { maxItems: 100 })),
  plots: Type.Record(
    Type.String(),
    Type.Object({
      color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$' })),
      width: Type.Optional(Type.Number({ minimum: 1, maximum: 20 })),
      dash: Type.Optional(oneOf(['solid', 'dashed', 'dotted'])),
      precision: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 8, description: 'Decimal places of its values.' }),
      ),
      price: Type.Optional(Type.Number({ description: 'Where a level stands instead.' })),
      hidden: Type.Optional(Type.Boolean()),
    }),
    {
      description:
        'Looks that differ from the script’s, by title, or by number where there is none; of an `hline()` with `level ` before it.',
    },
  ),
  pane: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Where it is drawn: `price`, `own`, or with another study, by its id. Absent or empty: as the script says.',
    }),
  ),
})

/** `percent`: both begin at the same height of what is in view; `own`: as high as the chart; `price`: the chart's own scale. */
export const COMPARE_SCALES = ['percent', 'own', 'price'] as const

const oneChart = {
  ...namesSeries,
  type: Text(40),
  scale: oneOf(['linear', 'log', 'percent']),
  volume: Type.Boolean(),
  trades: Type.Boolean(),
  studies: Type.Array(Study, { maxItems: 25 }),
  boxes: Type.Optional(
    Type.Object(
      {
        by: oneOf(['atr', 'price']),
        length: Type.Integer({ minimum: 1, maximum: 500 }),
        size: Type.Number({ exclusiveMinimum: 0 }),
        reversal: Type.Integer({ minimum: 1, maximum: 20 }),
        lines: Type.Integer({ minimum: 1, maximum: 20 }),
      },
      {
        description: 'How far the price has to move for a bar of Renko, Kagi, point and figure and the like.',
      },
    ),
  ),
  heights: Type.Optional(
    Type.Record(Type.String({ maxLength: 64 }), Type.Number({ exclusiveMinimum: 0 }), {
      description: 'How high panes are in proportion to each other, by name: `price`, or the id of a study.',
    }),
  ),
  compared: Type.Optional(
    Type.Array(
      Type.Object({
        exchange: namesSeries.exchange,
        symbol: namesSeries.symbol,
        scale: oneOf(COMPARE_SCALES),
        color: Type.String({ pattern: '^#[0-9a-fA-F]{6}$' }),
        hidden: Type.Boolean(),
      }),
      { maxItems: 10, description: 'Other symbols drawn over the chart.' },
    ),
  ),
}

/** The arrangement of the charts: their number, and which of several ways. */
export const GRID_SHAPES = words(
  '1 2-beside 2-below 3-beside 3-below 3-left 3-top 4 4-left 4-top 5 6 6-below 7 8 8-below',
)
export type GridShape = (typeof GRID_SHAPES)[number]

/** What charts of one grid do together. */
export const CHART_LINKS = ['symbol', 'interval', 'crosshair', 'time', 'range'] as const
export type ChartLink = (typeof CHART_LINKS)[number]

const Grid = Type.Object({
  shape: Type.Union(
    GRID_SHAPES.map((shape) => Type.Literal(shape)),
    { description: 'How the charts stand. The number it begins with is how many there are.' },
  ),
  active: Type.Integer({
    minimum: 0,
    maximum: 7,
    description: 'The place of the active chart, which is `chart` itself, in reading order.',
  }),
  script: Type.Integer({
    minimum: 0,
    maximum: 7,
    description: 'The place of the chart that the script runs on.',
  }),
  links: Type.Array(oneOf(CHART_LINKS), { maxItems: CHART_LINKS.length, uniqueItems: true }),
  others: Type.Array(Type.Object(oneChart), {
    maxItems: 7,
    description: 'The charts beside the active one, in reading order.',
  }),
})

/** What a layout holds: the active chart, and in `grid` how others stand around it. */
const Chart = Type.Object({
  ...oneChart,
  scriptId: nullable(idOf('scr')),
  grid: Type.Optional(Grid),
})
export type LayoutChart = Wire<typeof Chart>

const Layout = Type.Object(
  { id: idOf('lay'), name: Type.String(), chart: Chart, createdAt: Time, updatedAt: Time },
  { $id: 'Layout' },
)
export type Layout = Wire<typeof Layout>

export const LAYOUTS = {
  'POST /api/platform/layouts': {
    access: 'session ideas:write',
    summary: 'Keep a layout of the chart',
    body: Type.Object({ name: Text(200), chart: Chart }),
    answer: { id: idOf('lay'), layout: Layout },
  },
  'GET /api/platform/layouts': {
    access: 'session ideas:read',
    summary: 'List layouts, newest first',
    query: PageQuery,
    answer: Listed('layouts', Layout),
  },
  'GET /api/platform/layouts/{id}': {
    access: 'session ideas:read',
    summary: 'One layout',
    answer: { layout: Layout },
  },
  'PATCH /api/platform/layouts/{id}': {
    access: 'session ideas:write',
    summary: 'Change a layout',
    body: Type.Object({
      name: Type.Optional(Text(200)),
      chart: Type.Optional(Chart),
      seen: Type.Optional(
        Type.Integer({
          description:
            'The `updatedAt` of the layout that is changed. If it has been changed since, nothing is, and the answer is 409 `conflict`. Without it the last change wins.',
        }),
      ),
    }),
    answer: { layout: Layout },
  },
  'DELETE /api/platform/layouts/{id}': {
    access: 'session ideas:write',
    summary: 'Delete a layout',
    answer: { id: idOf('lay') },
  },
} as const satisfies OperationTable
