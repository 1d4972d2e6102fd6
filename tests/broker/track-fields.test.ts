// Every field of the tracks that a script plots, worked out by hand from a script that sets all of them.

import { expect, test } from 'bun:test'
import { runBacktest } from '../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { barsFrom, TEST_SYMBOL } from './drive.ts'

const SCRIPT = `//@version=6
indicator("Tracks", overlay = false, precision = 3, format = format.volume)
up = close > open
p = plot(close, "P", up ? color.red : color.blue, 3, plot.style_stepline, true, 95, 1, true, true, 5, display.pane, format.price, 1, force_overlay = true, linestyle = plot.linestyle_dashed)
q = plot(open, "Q", color.new(color.green, 50))
plotshape(up, "S", shape.flag, location.top, color.red, -1, "hi", up ? color.white : color.black, true, size.large, 4)
plotchar(up ? high : na, "C", "k", location.absolute, up ? color.red : color.lime, 2, "yo", color.black, false, size.tiny)
plotarrow(close - open, "A", up ? color.red : color.blue, up ? color.lime : color.navy, 1, 5, 50)
plotcandle(open, high, low, close, "K", up ? color.red : color.blue, up ? color.white : color.black, bordercolor = up ? color.lime : color.navy)
plotbar(open, high, low, close, "B", color.red)
hline(100, "H", color.gray, hline.style_dotted, 2)
fill(p, q, up ? color.red : color.blue, "F", fillgaps = true)
fill(p, q, 110, 90, up ? color.red : color.blue, up ? color.lime : color.navy, "G")
fill(p, q, close, open, color.red, color.blue, "V")
bgcolor(up ? color.red : na, 1, title = "BG")
barcolor(up ? color.red : color.blue, title = "BC")
`

const RED = '#F23645FF'
const BLUE = '#2962FFFF'
const LIME = '#00E676FF'
const NAVY = '#311B92FF'
const WHITE = '#FFFFFFFF'
const BLACK = '#363A45FF'
/** The first and the third bar rise, the second falls. */
const by = (up: string, down: string) => ({ palette: [up, down], index: [0, 1, 0] })
const own = { pane: '1', overlay: false }
const PRICES = { open: [100, 102, 99], high: [105, 103, 112], low: [95, 90, 98], close: [102, 99, 110] }

const TRACKS = [
  {
    title: 'P',
    linewidth: 3,
    style: 'stepline',
    trackprice: true,
    histbase: 95,
    offset: 1,
    join: true,
    editable: true,
    show_last: 5,
    display: 1,
    format: 'price',
    precision: 1,
    force_overlay: true,
    linestyle: 'dashed',
    id: 'P',
    kind: 'plot',
    pane: 'price',
    overlay: true,
    zorder: 1,
    data: [102, 99, 110],
    colors: by(RED, BLUE),
  },
  {
    ...own,
    title: 'Q',
    color: '#4CAF5080',
    linewidth: 1,
    style: 'line',
    trackprice: false,
    histbase: 0,
    offset: 0,
    join: false,
    editable: true,
    display: 31,
    force_overlay: false,
    linestyle: 'solid',
    id: 'Q',
    kind: 'plot',
    zorder: 2,
    data: [100, 102, 99],
  },
  {
    ...own,
    title: 'S',
    style: 'flag',
    location: 'top',
    color: RED,
    offset: -1,
    text: 'hi',
    editable: true,
    size: 'large',
    show_last: 4,
    display: 31,
    force_overlay: false,
    id: 'S',
    kind: 'shape',
    zorder: 3,
    data: [1, 0, 1],
    textcolors: by(WHITE, BLACK),
  },
  {
    ...own,
    title: 'C',
    char: 'k',
    location: 'absolute',
    offset: 2,
    text: 'yo',
    textcolor: BLACK,
    editable: false,
    size: 'tiny',
    display: 31,
    force_overlay: false,
    id: 'C',
    kind: 'char',
    zorder: 4,
    data: [105, null, 112],
    colors: by(RED, LIME),
  },
  {
    ...own,
    title: 'A',
    offset: 1,
    minheight: 5,
    maxheight: 50,
    editable: true,
    display: 31,
    force_overlay: false,
    id: 'A',
    kind: 'arrow',
    zorder: 5,
    data: [2, -3, 11],
    colorups: by(RED, BLUE),
    colordowns: by(LIME, NAVY),
  },
  {
    ...own,
    ...PRICES,
    title: 'K',
    editable: true,
    display: 31,
    force_overlay: false,
    id: 'K',
    kind: 'candle',
    zorder: 6,
    colors: by(RED, BLUE),
    wickcolors: by(WHITE, BLACK),
    bordercolors: by(LIME, NAVY),
  },
  {
    ...own,
    ...PRICES,
    title: 'B',
    color: RED,
    editable: true,
    display: 31,
    force_overlay: false,
    id: 'B',
    kind: 'bar',
    zorder: 7,
  },
  {
    ...own,
    price: 100,
    title: 'H',
    color: '#787B86FF',
    linestyle: 'dotted',
    linewidth: 2,
    editable: true,
    display: 31,
    id: 'H',
    kind: 'hline',
    zorder: 8,
  },
  {
    ...own,
    title: 'F',
    editable: true,
    fillgaps: true,
    display: 31,
    id: 'F',
    kind: 'fill',
    zorder: 9,
    colors: by(RED, BLUE),
    between: ['P', 'Q'],
  },
  {
    ...own,
    title: 'G',
    display: 31,
    fillgaps: false,
    editable: true,
    id: 'G',
    kind: 'fill',
    zorder: 10,
    top_value: [110, 110, 110],
    bottom_value: [90, 90, 90],
    top_colors: by(RED, BLUE),
    bottom_colors: by(LIME, NAVY),
    between: ['P', 'Q'],
  },
  {
    ...own,
    title: 'V',
    display: 31,
    fillgaps: false,
    editable: true,
    id: 'V',
    kind: 'fill',
    zorder: 11,
    top_value: PRICES.close,
    bottom_value: PRICES.open,
    top_color: RED,
    bottom_color: BLUE,
    between: ['P', 'Q'],
  },
  {
    ...own,
    offset: 1,
    editable: true,
    title: 'BG',
    display: 31,
    force_overlay: false,
    id: 'BG',
    kind: 'bgcolor',
    zorder: 12,
    palette: [RED],
    runs: [
      [0, 1, 0],
      [2, 1, 0],
    ],
  },
  {
    ...own,
    offset: 0,
    editable: true,
    title: 'BC',
    display: 31,
    id: 'BC',
    kind: 'barcolor',
    zorder: 13,
    palette: [RED, BLUE],
    runs: [
      [0, 1, 0],
      [1, 1, 1],
      [2, 1, 0],
    ],
  },
]

const { tracks } = runBacktest({
  source: SCRIPT,
  inputs: {},
  bars: barsFrom('100/105/95/102 102/103/90/99 99/112/98/110'),
  symbol: TEST_SYMBOL,
  interval: '1h',
  limits: DEFAULT_LIMITS,
  series: () => null,
})
const [, ...plotted] = JSON.parse(JSON.stringify(tracks)) as object[]

test.each(TRACKS.map((track, i) => [track.title, track, plotted[i]] as const))(
  'the track %s says all that the script did',
  (_title, expected, found) => {
    expect(found).toEqual(expected)
  },
)

test('there are no further tracks', () => {
  expect(plotted).toHaveLength(TRACKS.length)
})
