// The tools of the bar in groups, and their code: most are a library's, the rest are ours.
//
// A tool of the library is data and two functions: one draws given points on a canvas, one answers how far a place is from
// the drawing. The model, the gestures, undo and the store are ours, so that drawings are the server's data and not a
// library's format.

import { getDrawingTool, type DrawingTool as ToolCode } from 'openalgo-charts/draw'
import type { DrawingTool } from '../../wire/drawing.ts'
import { OWN_TOOLS } from './own-tools.ts'
import { words } from '../../lib/words.ts'

export interface ToolGroup {
  readonly id: string
  readonly title: string
  /** A path on a grid of 16 px. */
  readonly icon: string
  /** With their names for people to read. */
  readonly tools: Readonly<Partial<Record<DrawingTool, string>>>
}

export const TOOL_GROUPS = [
  {
    id: 'lines',
    title: 'Lines',
    icon: 'M3.5 12.5l9-9M2.5 13.5a1 1 0 1 0 2 0 1 1 0 1 0-2 0M11.5 2.5a1 1 0 1 0 2 0 1 1 0 1 0-2 0',
    tools: {
      'trend-line': 'Trend line',
      ray: 'Ray',
      'extended-line': 'Extended line',
      arrow: 'Arrow',
      'horizontal-line': 'Horizontal line',
      'horizontal-ray': 'Horizontal ray',
      'vertical-line': 'Vertical line',
      'cross-line': 'Cross line',
    },
  },
  {
    id: 'channels',
    title: 'Channels and pitchforks',
    icon: 'M2.5 9.5l8-7M5.5 13.5l8-7',
    tools: {
      'parallel-channel': 'Parallel channel',
      'regression-channel': 'Regression channel',
      pitchfork: 'Pitchfork',
      'schiff-pitchfork': 'Schiff pitchfork',
    },
  },
  {
    id: 'fibonacci',
    title: 'Fibonacci and Gann',
    icon: 'M2.5 3h11M2.5 6.5h11M2.5 9.5h11M2.5 13h11',
    tools: {
      'fib-retracement': 'Fibonacci retracement',
      'fib-extension': 'Fibonacci extension',
      'fib-channel': 'Fibonacci channel',
      'fib-time-zone': 'Fibonacci time zones',
      'fib-fan': 'Fibonacci fan',
      'gann-fan': 'Gann fan',
      'gann-box': 'Gann box',
    },
  },
  {
    id: 'shapes',
    title: 'Shapes',
    icon: 'M2.5 4.5h11v7h-11z',
    tools: {
      rectangle: 'Rectangle',
      'rotated-rectangle': 'Rotated rectangle',
      circle: 'Circle',
      ellipse: 'Ellipse',
      triangle: 'Triangle',
      arc: 'Arc',
      curve: 'Curve',
      'double-curve': 'Double curve',
      polyline: 'Polyline',
      path: 'Path',
    },
  },
  {
    id: 'brushes',
    title: 'Brushes',
    icon: 'M3 13c2 0 3-1 3-2.5 0-1-.8-1.5-1.5-1.5C3 9 3 11 2.5 12M6 9.5l6.5-7 1 1L7 10.5',
    tools: { brush: 'Brush', highlighter: 'Highlighter' },
  },
  {
    id: 'texts',
    title: 'Text and marks',
    icon: 'M3.5 5V3.5h9V5M8 3.5v9M6.5 12.5h3',
    tools: {
      text: 'Text',
      note: 'Note',
      callout: 'Callout',
      'price-label': 'Price label',
      'flag-mark': 'Flag',
      'arrow-up': 'Arrow up',
      'arrow-down': 'Arrow down',
    },
  },
  {
    id: 'positions',
    title: 'Positions and measures',
    icon: 'M2.5 3h8v5h-8zM2.5 8h8v5h-8zM13 3v10M11.8 4.2 13 3l1.2 1.2M11.8 11.8 13 13l1.2-1.2',
    tools: {
      'long-position': 'Long position',
      'short-position': 'Short position',
      forecast: 'Forecast',
      measure: 'Measure',
      'price-range': 'Price range',
      'date-range': 'Date range',
    },
  },
  {
    id: 'volume',
    title: 'Volume and cycles',
    icon: 'M2.5 3.5h7M2.5 6.5h10M2.5 9.5h5M2.5 12.5h3',
    tools: {
      'anchored-vwap': 'Anchored VWAP',
      'volume-profile': 'Volume profile of a range',
      'cyclic-lines': 'Cyclic lines',
      'time-cycles': 'Time cycles',
      'sine-line': 'Sine line',
    },
  },
] as const satisfies readonly ToolGroup[]

type Named<G> = G extends { readonly tools: infer T } ? keyof T : never
/** Names for people to read. The compiler sees that each tool is in a group. */
export const TOOL_NAMES = Object.assign({}, ...TOOL_GROUPS.map(({ tools }) => tools)) as Readonly<
  Record<Named<(typeof TOOL_GROUPS)[number]>, string>
> satisfies Readonly<Record<DrawingTool, string>>
export const toolsOf = ({ tools }: ToolGroup): readonly DrawingTool[] => Object.keys(tools) as DrawingTool[]

export const TOOL_KEYS: Readonly<Partial<Record<DrawingTool, string>>> = {
  'trend-line': 'Alt+T',
  'horizontal-line': 'Alt+H',
  'horizontal-ray': 'Alt+J',
  'vertical-line': 'Alt+V',
  'cross-line': 'Alt+Shift+C',
  rectangle: 'Alt+Shift+R',
}

/** Tools whose drawings contain text. */
export const HAS_TEXT: ReadonlySet<DrawingTool> = new Set(['text', 'note', 'callout', 'rectangle', 'ellipse'])
export const HAS_FILL: ReadonlySet<DrawingTool> = new Set(
  words(
    'parallel-channel rectangle rotated-rectangle circle ellipse triangle polyline fib-retracement',
    'fib-extension',
  ),
)
export const IS_POSITION: ReadonlySet<DrawingTool> = new Set(['long-position', 'short-position'])
export const HAS_LEVELS: ReadonlySet<DrawingTool> = new Set(
  words('fib-retracement fib-extension fib-channel fib-fan'),
)

export const codeOf = (tool: DrawingTool): ToolCode => OWN_TOOLS[tool] ?? getDrawingTool(tool)
export type { ToolCode }
