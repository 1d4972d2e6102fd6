// Drawings: what a user drew on the chart of a symbol. Their data are times and prices, never pixels.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  IntervalName,
  Listed,
  MarketName,
  nullable,
  oneOf,
  PageQuery,
  Prose,
  Time,
  type Wire,
} from './schema.ts'

/** For each tool, the least and the most points that its drawings have. */
export const DRAWING_TOOLS = {
  'trend-line': [2, 2],
  ray: [2, 2],
  'extended-line': [2, 2],
  arrow: [2, 2],
  'horizontal-line': [1, 1],
  'horizontal-ray': [1, 1],
  'vertical-line': [1, 1],
  'cross-line': [1, 1],
  'parallel-channel': [3, 3],
  'regression-channel': [2, 2],
  pitchfork: [3, 3],
  'schiff-pitchfork': [3, 3],
  'fib-retracement': [2, 2],
  'fib-extension': [3, 3],
  'fib-channel': [3, 3],
  'fib-time-zone': [2, 2],
  'fib-fan': [2, 2],
  'gann-fan': [2, 2],
  'gann-box': [2, 2],
  rectangle: [2, 2],
  'rotated-rectangle': [3, 3],
  circle: [2, 2],
  ellipse: [2, 2],
  triangle: [3, 3],
  arc: [3, 3],
  curve: [3, 3],
  'double-curve': [3, 3],
  polyline: [2, 2000],
  path: [2, 2000],
  brush: [2, 2000],
  highlighter: [2, 2000],
  text: [1, 1],
  note: [1, 1],
  callout: [2, 2],
  'price-label': [1, 1],
  'flag-mark': [1, 1],
  'arrow-up': [1, 1],
  'arrow-down': [1, 1],
  'long-position': [3, 3],
  'short-position': [3, 3],
  forecast: [2, 2],
  measure: [2, 2],
  'price-range': [2, 2],
  'date-range': [2, 2],
  'anchored-vwap': [1, 1],
  'volume-profile': [2, 2],
  'cyclic-lines': [2, 2],
  'time-cycles': [2, 2],
  'sine-line': [2, 2],
} as const satisfies Readonly<Record<string, readonly [number, number]>>
export type DrawingTool = keyof typeof DRAWING_TOOLS

/** The limit for one symbol. */
export const DRAWINGS_MAX = 1000

const Color = Type.String({
  pattern: '^#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?$',
  expected: 'a color as #rrggbb or #rrggbbaa',
})
const Share = Type.Number({ minimum: 0, maximum: 1 })

const DrawingStyle = Type.Partial(
  Type.Object({
    color: Color,
    lineWidth: Type.Number({ minimum: 0.5, maximum: 40 }),
    lineStyle: oneOf(['solid', 'dashed', 'dotted']),
    fill: Type.Boolean(),
    fillColor: Color,
    fillOpacity: Share,
    extendLeft: Type.Boolean(),
    extendRight: Type.Boolean(),
    showLabels: Type.Boolean(),
    levels: Type.Array(Type.Number({ minimum: -100, maximum: 100 }), { maxItems: 40 }),
    text: Prose(2000, 0),
    fontSize: Type.Number({ minimum: 6, maximum: 96 }),
    fontColor: Color,
    fontWeight: oneOf(['normal', 'bold']),
    fontStyle: oneOf(['normal', 'italic']),
    background: Type.Boolean(),
    backgroundColor: Color,
    textAlign: oneOf(['left', 'center', 'right']),
    accountSize: Type.Number({ minimum: 0, maximum: 1e15 }),
    risk: Type.Number({ minimum: 0, maximum: 100, description: 'In per cent of the account.' }),
  }),
)
export type DrawingStyle = Wire<typeof DrawingStyle>

const Drawing = Type.Object(
  {
    id: Type.String({
      pattern: '^[0-9A-Za-z_-]{1,40}$',
      description: 'Made by the client, so that a deletion can be undone; unique among those of the symbol.',
      expected: 'an id of 1 to 40 letters, digits, - and _',
    }),
    tool: oneOf(Object.keys(DRAWING_TOOLS) as DrawingTool[]),
    points: Type.Array(Type.Object({ time: Time, price: Type.Number() }), { minItems: 1, maxItems: 2000 }),
    style: DrawingStyle,
    intervals: Type.Optional(
      nullable(
        Type.Array(IntervalName, {
          maxItems: 100,
          description: 'The intervals it is shown on; null = all of them.',
        }),
      ),
    ),
    locked: Type.Optional(Type.Boolean()),
    hidden: Type.Optional(Type.Boolean()),
    group: Type.Optional(nullable(Type.String({ pattern: '^[0-9A-Za-z_-]{1,40}$' }))),
  },
  { $id: 'Drawing' },
)
export type Drawing = Wire<typeof Drawing>

const market = { exchange: MarketName, symbol: MarketName }
const Revision = Type.Integer({
  description: 'Grows with every change of the drawings of the symbol; 0 = none yet.',
})

const DrawnMarket = Type.Object(
  { exchange: Type.String(), symbol: Type.String(), drawings: Type.Integer(), updatedAt: Time },
  { $id: 'DrawnMarket' },
)

export const DRAWINGS = {
  'GET /api/platform/drawings': {
    access: 'session ideas:read',
    summary: 'The drawings on a symbol',
    description: 'Drawings in front of others come last.',
    query: Type.Object(market),
    answer: {
      exchange: Type.String(),
      symbol: Type.String(),
      revision: Revision,
      drawings: Type.Array(Drawing),
    },
  },
  'PATCH /api/platform/drawings': {
    access: 'session ideas:write',
    summary: 'Change the drawings on a symbol',
    description: `What is in \`put\` takes the place of the drawing of its id, or is added in front; what is in \`remove\` goes, if it is there; the others stay. All or nothing. A symbol has at most ${DRAWINGS_MAX} drawings, of 512 kB in all.`,
    body: Type.Object({
      ...market,
      put: Type.Optional(Type.Array(Drawing, { maxItems: DRAWINGS_MAX })),
      remove: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { maxItems: DRAWINGS_MAX }),
      ),
    }),
    answer: { revision: Revision, count: Type.Integer() },
  },
  'GET /api/platform/drawings/markets': {
    access: 'session ideas:read',
    summary: 'The symbols that have drawings',
    query: PageQuery,
    answer: Listed('markets', DrawnMarket),
  },
} as const satisfies OperationTable
