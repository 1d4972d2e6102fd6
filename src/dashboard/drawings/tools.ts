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
  readonly tools: readonly DrawingTool[]
}

export const TOOL_GROUPS = [
  {
    id: 'lines',
    title: 'Lines',
    icon: 'M3.5 12.5l9-9M2.5 13.5a1 1 0 1 0 2 0 1 1 0 1 0-2 0M11.5 2.5a1 1 0 1 0 2 0 1 1 0 1 0-2 0',
    tools: words(
      'trend-line ray extended-line arrow horizontal-line horizontal-ray vertical-line cross-line',
    ),
  },
  {
    id: 'channels',
    title: 'Channels and pitchforks',
    icon: 'M2.5 9.5l8-7M5.5 13.5l8-7',
    tools: words('parallel-channel regression-channel pitchfork schiff-pitchfork'),
  },
  {
    id: 'fibonacci',
    title: 'Fibonacci and Gann',
    icon: 'M2.5 3h11M2.5 6.5h11M2.5 9.5h11M2.5 13h11',
    tools: words('fib-retracement fib-extension fib-channel fib-time-zone fib-fan gann-fan gann-box'),
  },
  {
    id: 'shapes',
    title: 'Shapes',
    icon: 'M2.5 4.5h11v7h-11z',
    tools: words('rectangle rotated-rectangle circle ellipse triangle arc curve double-curve polyline path'),
  },
  {
    id: 'brushes',
    title: 'Brushes',
    icon: 'M3 13c2 0 3-1 3-2.5 0-1-.8-1.5-1.5-1.5C3 9 3 11 2.5 12M6 9.5l6.5-7 1 1L7 10.5',
    tools: words('brush highlighter'),
  },
  {
    id: 'texts',
    title: 'Text and marks',
    icon: 'M3.5 5V3.5h9V5M8 3.5v9M6.5 12.5h3',
    tools: words('text note callout price-label flag-mark arrow-up arrow-down'),
  },
  {
    id: 'positions',
    title: 'Positions and measures',
    icon: 'M2.5 3h8v5h-8zM2.5 8h8v5h-8zM13 3v10M11.8 4.2 13 3l1.2 1.2M11.8 11.8 13 13l1.2-1.2',
    tools: words('long-position short-position forecast measure price-range date-range'),
  },
  {
    id: 'volume',
    title: 'Volume and cycles',
    icon: 'M2.5 3.5h7M2.5 6.5h10M2.5 9.5h5M2.5 12.5h3',
    tools: words('anchored-vwap volume-profile cyclic-lines time-cycles sine-line'),
  },
] as const satisfies readonly ToolGroup[]

type Grouped = (typeof TOOL_GROUPS)[number]['tools'][number]
/** Those that are not called what their id says. */
const OWN_NAMES: Readonly<Partial<Record<DrawingTool, string>>> = {
  'fib-time-zone': 'Fibonacci time zones',
  'flag-mark': 'Flag',
  'anchored-vwap': 'Anchored VWAP',
  'volume-profile': 'Volume profile of a range',
}
function nameOf(tool: DrawingTool): string {
  const name = tool.replace(/^fib-/, 'fibonacci-').replaceAll('-', ' ')
  return OWN_NAMES[tool] ?? name[0]!.toUpperCase() + name.slice(1)
}
/** Names for people to read. The compiler sees that each tool is in a group. */
export const TOOL_NAMES = Object.fromEntries(
  TOOL_GROUPS.flatMap(({ tools }) => tools.map((tool) => [tool, nameOf(tool)])),
) as Readonly<Record<Grouped, string>> satisfies Readonly<Record<DrawingTool, string>>

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
