// plotchar(), plotarrow(), plotbar(), plotcandle(), barcolor(): what the chart is given of each. And inputs and log lines
// of the less usual kinds.

import { describe, expect, test } from 'bun:test'
import { runBacktest } from '../../../src/broker/run.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { answer, barsOfCloses, runScript, SYMBOL } from './script.ts'

function trackOf(body: string, kind: string): unknown {
  return runScript(body).tracks.find((track) => track.kind === kind)
}

// Five bars that close at 10 to 14, each with high and low 1 away.
describe('marks', () => {
  test('plotchar() has a value a bar, its character and its place', () => {
    const body =
      'plotchar(close > 12, "Up", "↑", location.belowbar, color.lime, text = "up", textcolor = color.white, size = size.tiny)'
    expect(trackOf(body, 'char')).toMatchObject({
      title: 'Up',
      char: '↑',
      location: 'belowbar',
      color: '#00E676FF',
      text: 'up',
      textcolor: '#FFFFFFFF',
      size: 'tiny',
      data: [0, 0, 0, 1, 1],
    })
  })
  test('plotarrow() has lengths with their sign, and a colour each way', () => {
    const body = 'plotarrow(close - 12, "A", color.lime, color.maroon, minheight = 2, maxheight = 20)'
    expect(trackOf(body, 'arrow')).toMatchObject({
      title: 'A',
      colorup: '#00E676FF',
      colordown: '#880E4FFF',
      minheight: 2,
      maxheight: 20,
      data: [-2, -1, 0, 1, 2],
    })
  })
})

describe('bars of one’s own', () => {
  const PRICES = { open: [9, 10, 11, 12, 13], high: [11, 12, 13, 14, 15], low: [9, 10, 11, 12, 13] }
  test('plotbar()', () => {
    const body = 'plotbar(close - 1, high, low, close, "B", close > 12 ? color.lime : color.maroon)'
    expect(trackOf(body, 'bar')).toMatchObject({
      title: 'B',
      ...PRICES,
      close: [10, 11, 12, 13, 14],
      colors: { palette: ['#880E4FFF', '#00E676FF'], index: [0, 0, 0, 1, 1] },
    })
  })
  test('plotcandle()', () => {
    const body =
      'plotcandle(close - 1, high, low, close, "C", color.lime, wickcolor = color.navy, bordercolor = color.gray)'
    expect(trackOf(body, 'candle')).toMatchObject({
      title: 'C',
      ...PRICES,
      close: [10, 11, 12, 13, 14],
      color: '#00E676FF',
      wickcolor: '#311B92FF',
      bordercolor: '#787B86FF',
    })
  })
  test('barcolor() has the stretches of each colour, and none where it is na', () => {
    const body = 'barcolor(bar_index == 2 ? na : close > 12 ? color.lime : color.maroon)'
    expect(trackOf(body, 'barcolor')).toMatchObject({
      palette: ['#880E4FFF', '#00E676FF'],
      runs: [
        [0, 2, 0],
        [3, 2, 1],
      ],
    })
  })
  test.each([
    ['bgcolor(color.lime)', 'bgcolor', { palette: ['#00E676FF'], runs: [[0, 5, 0]] }],
    ['barcolor(color.new(color.lime, 50))', 'barcolor', { palette: ['#00E67680'], runs: [[0, 5, 0]] }],
    ['c = input.color(color.lime)\nbgcolor(c)', 'bgcolor', { palette: ['#00E676FF'], runs: [[0, 5, 0]] }],
    ['bgcolor(na)', 'bgcolor', { palette: [], runs: [] }],
  ])('%s colours every bar, though nothing changes from bar to bar', (body, kind, expected) => {
    expect(trackOf(body, kind)).toMatchObject(expected)
  })
})

describe('inputs', () => {
  const SOURCE = `//@version=6
indicator("I")
price = input.price(12.5, "Price")
hours = input.session("0930-1600", "Hours", options = ["0930-1600", "1000-1500"])
words = input.text_area("a\\nb", "Words")
if barstate.islast
    log.info("{0} {1} {2}", price, hours, words)
`
  const said = (inputs: Record<string, string | number>) =>
    runBacktest({
      source: SOURCE,
      inputs,
      bars: barsOfCloses([1]),
      symbol: SYMBOL,
      interval: '1h',
      limits: DEFAULT_LIMITS,
      series: () => null,
    }).report.logs.map((entry) => entry.message)
  test('input.price, input.session and input.text_area have their defaults', () => {
    expect(said({})).toEqual(['12.5 0930-1600 a\nb'])
  })
  test('and what they are set to', () => {
    expect(said({ Price: 3, Hours: '1000-1500', Words: 'c' })).toEqual(['3 1000-1500 c'])
  })
  test.each([
    [{ Hours: '0000-0100' }, 'Hours'],
    [{ Price: 'x' }, 'Price'],
    [{ Words: 1 }, 'Words'],
  ])('%p is refused by name', (inputs: Record<string, string | number>, name) => {
    expect(() => said(inputs)).toThrow(name)
  })
})

describe('an input whose default is none of its options', () => {
  const run = (inputs: Record<string, number>) =>
    runBacktest({
      source:
        '//@version=6\nindicator("I")\nx = input.int(5, "X", options = [1, 2])\ny = input.int(5, "Y", minval = 6)\nif barstate.islast\n    log.info("{0} {1}", x, y)',
      inputs,
      bars: barsOfCloses([1]),
      symbol: SYMBOL,
      interval: '1h',
      limits: DEFAULT_LIMITS,
      series: () => null,
    }).report
  test('is warned of, and runs', () => {
    const { logs, warnings } = run({})
    expect(logs.map(({ message }) => message)).toEqual(['5 5'])
    expect(warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('The default 5 is not among the options.'),
    )
  })
  test('may be set to what the script says itself, and to nothing else that is not listed', () => {
    expect(run({ X: 5, Y: 5 }).logs).toMatchObject([{ message: '5 5' }])
    expect(run({ X: 2, Y: 7 }).logs).toMatchObject([{ message: '2 7' }])
    expect(() => run({ X: 3 })).toThrow('one of 1, 2')
    expect(() => run({ Y: 4 })).toThrow('6 or more')
  })
})

test('log.info, log.warning and log.error keep their level and their order', () => {
  const { report } = runBacktest({
    source:
      '//@version=6\nindicator("L")\nlog.info("i")\nlog.warning("w {0}", close)\nlog.error("e")\nlog.warning("plain {0}")',
    inputs: {},
    bars: barsOfCloses([10]),
    symbol: SYMBOL,
    interval: '1h',
    limits: DEFAULT_LIMITS,
    series: () => null,
  })
  expect(report.logs.map(({ level, message }) => `${level}: ${message}`)).toEqual([
    'info: i',
    'warning: w 10',
    'error: e',
    'warning: plain {0}',
  ])
})

test('a name that a format asks for twice is said twice', () => {
  expect(answer('str.format("{0} {0}", 1)')).toBe('1 1')
})
