// A run counts the bytes it takes and stops itself, with the line, at its limit; one that lets go of what it makes is
// never stopped.

import { describe, expect, test } from 'bun:test'
import { Budget } from '../../src/language/runtime/budget.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { runBacktest } from '../../src/broker/run.ts'
import { barsOf, runScript, SYMBOL, walk } from './run-script.ts'

const HEAD = '//@version=6\nindicator("x")\n'
const MEGABYTE = 2 ** 20
const BARS = barsOf(walk(500))

/** Where and why the run ends, and what it counted last; null = it came to its end. */
function ended(source: string, memoryBytes = 8 * MEGABYTE): { line: number; message: string } | null {
  const text = HEAD + source
  try {
    runScript(text, BARS, { limits: { ...DEFAULT_LIMITS, memoryBytes } })
    return null
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    expect(error.code).toBe('script_limit_exceeded')
    return { line: text.slice(0, error.offset).split('\n').length, message: error.message }
  }
}

describe('a run is stopped at its memory when it keeps', () => {
  const cases: readonly (readonly [what: string, source: string, line: number])[] = [
    [
      'arrays in an array of objects',
      'type T\n    array<float> a\nvar l = array.new<T>()\nl.push(T.new(array.new<float>(10000)))\nplot(l.size())',
      6,
    ],
    [
      'texts in an array',
      'var l = array.new<string>()\nl.push(str.repeat("a", 20000) + str.tostring(bar_index))\nplot(l.size())',
      4,
    ],
    [
      'texts of built-ins that know no run',
      'var l = array.new<string>()\nx = str.repeat("a", 20000) + str.tostring(bar_index)\nl.push(str.upper(x))\nplot(l.size())',
      4,
    ],
    [
      'objects that hold each other',
      'type T\n    T next\nvar T head = na\nfor i = 0 to 2000\n    head := T.new(head)\nplot(1)',
      6,
    ],
    [
      'matrices in objects',
      'type T\n    matrix<float> m\nvar l = array.new<T>()\nl.push(T.new(matrix.new<float>(100, 100, 0)))\nplot(1)',
      6,
    ],
    [
      'short texts',
      'var l = array.new<string>()\nfor i = 0 to 190\n    l.push(str.tostring(1000 * bar_index + i))\nplot(l.size())',
      5,
    ],
    [
      'labels that are no longer shown',
      'var l = array.new<label>()\nfor i = 0 to 90\n    l.push(label.new(bar_index, close, "x"))\nplot(l.size())',
      5,
    ],
    [
      'points in objects',
      'type T\n    chart.point p\nvar l = array.new<T>()\nfor i = 0 to 180\n    l.push(T.new(chart.point.now(i)))\nplot(l.size())',
      7,
    ],
    ['texts by bar', 's = str.repeat("a", 20000) + str.tostring(bar_index)\nplot(str.length(s[1]))', 3],
    [
      'the texts of labels',
      'label.new(bar_index, close, str.repeat("a", 40000) + str.tostring(bar_index))',
      3,
    ],
    ['log lines', 'log.info(str.repeat("a", 40000))', 3],
    ['alerts', 'alert(str.repeat("a", 40000))', 3],
  ]
  test.each(cases)('%s', (_, source, line) => {
    const end = ended(source)
    expect(end?.message).toStartWith('The script took more than 8 MB of memory')
    expect(end?.line).toBe(line)
  })
})

describe('a run is not blamed for', () => {
  test('texts it makes and lets go of', () => {
    expect(ended('s = str.repeat("a", 20000) + str.tostring(bar_index)\nplot(str.length(s))')).toBeNull()
  })

  test('arrays it makes and lets go of', () => {
    expect(ended('a = array.new<float>(10000)\nplot(a.size())')).toBeNull()
  })

  test('a queue that many elements go through', () => {
    const source =
      'var q = array.new<float>()\nfor i = 0 to 5000\n    q.push(i)\n    if q.size() > 10\n        q.shift()\nplot(1)'
    expect(ended(source, MEGABYTE)).toBeNull()
  })

  test('the same text held many times', () => {
    const source = 'var l = array.new<string>()\nl.push(str.repeat("ab", 10000))\nplot(l.size())'
    expect(ended(source, 2 * MEGABYTE)).toBeNull()
  })
})

describe('a built-in that takes long looks at the clock in between', () => {
  const long = 'm = matrix.new<float>(300, 300, 1.01)\nfor i = 0 to 299\n    m.set(i, i, i)\n'
  const cases: readonly (readonly [what: string, source: string, line: number])[] = [
    ['a power of a matrix', `${long}k = matrix.pow(m, 1000000)\nplot(k.get(0, 0))`, 6],
    ['an inverse', `${long}k = matrix.inv(m)\nplot(k.get(0, 0))`, 6],
    ['eigenvectors', `${long}k = matrix.eigenvectors(m)\nplot(k.get(0, 0))`, 6],
    ['a rank', `${long}plot(matrix.rank(m))`, 6],
    [
      'sorting long texts',
      'a = array.new<string>(10000, str.repeat("x", 40000))\na.set(5, str.repeat("x", 40000))\na.sort()\nplot(1)',
      5,
    ],
  ]
  test.each(cases)('%s', (_, source, line) => {
    // Time is over at the thirty-first look; the loop before takes six.
    let looks = 0
    const watch = () => {
      if (++looks > 30) throw new ScriptError('time is over', 'script_limit_exceeded')
      return 0
    }
    const bars = barsOf([1])
    let stopped: unknown = null
    try {
      runScript(HEAD + source, bars, { watch })
    } catch (error) {
      stopped = error
    }
    expect(stopped).toBeInstanceOf(ScriptError)
    if (!(stopped instanceof ScriptError)) return
    expect((HEAD + source).slice(0, stopped.offset).split('\n').length).toBe(line)
  })

  test('functions that call functions a million times a bar', () => {
    const functions = Array.from({ length: 7 }, (_, i) => {
      const calls = Array.from({ length: 8 }, () => `f${i}(x)`).join(' + ')
      return `f${i + 1}(x) => ${calls}`
    })
    let looks = 0
    const watch = () => {
      if (++looks > 30) throw new ScriptError('time is over', 'script_limit_exceeded')
      return 0
    }
    const source = `${HEAD}f0(x) => x + close\n${functions.join('\n')}\nplot(f7(open))`
    expect(() => runScript(source, barsOf([1]), { watch })).toThrow('time is over')
  })
})

test('more than 10,000 orders at once are refused, on their line', () => {
  const source =
    '//@version=6\nstrategy("x", pyramiding=100000)\nfor i = 0 to 20000\n    strategy.entry("a" + str.tostring(i), strategy.long)\n'
  const run = () =>
    runBacktest({
      source,
      inputs: {},
      bars: barsOf([1, 2, 3]),
      symbol: SYMBOL,
      interval: '15m',
      limits: DEFAULT_LIMITS,
      series: () => null,
    })
  expect(run).toThrow('More than 10,000 orders wait at once')
})

test('what a run counts is told, and never more than its limit', () => {
  const told: number[] = []
  const source =
    'var l = array.new<float>()\nfor i = 0 to 10000\n    if l.size() < 50000\n        l.push(i)\nplot(1)'
  runScript(HEAD + source, BARS, {
    limits: { ...DEFAULT_LIMITS, memoryBytes: 500_000 },
    used: (bytes) => told.push(bytes),
  })
  expect(Math.max(...told)).toBeGreaterThan(400_000)
  expect(Math.max(...told)).toBeLessThanOrEqual(500_000)
})

test('only a walk that finds much let go of collects: an alert goes on for a bar without', () => {
  const budget = new Budget({ collectionSize: 1000, memoryBytes: 2 ** 30 })
  let collected = 0
  budget.collect = () => collected++
  budget.add(() => [], [])
  budget.take(2 ** 20)
  budget.recount()
  expect(collected).toBe(0)
  budget.take(2 ** 25)
  budget.recount()
  expect(collected).toBe(1)
  budget.recount()
  expect(collected).toBe(1)
})

test('a run that counts a tenth more than it keeps is stopped before it keeps a tenth more than it may', () => {
  const budget = new Budget({ collectionSize: 1000, memoryBytes: MEGABYTE })
  let kept = 0
  budget.add(() => [new Uint8Array(kept)], [])
  const keepMore = () => {
    for (;;) {
      budget.take(1100)
      kept += 1000
    }
  }
  expect(keepMore).toThrow('more than 1 MB')
  expect(kept).toBeGreaterThan(MEGABYTE - 1100)
  expect(kept).toBeLessThan(1.1 * MEGABYTE)
})

test('what is over the limit is collected first, walked through once, and refused again without', () => {
  const budget = new Budget({ collectionSize: 1000, memoryBytes: 2 ** 20 })
  const done: string[] = []
  budget.collect = () => done.push('collect')
  budget.add(() => {
    done.push('walk')
    return [new Float64Array(2 ** 18)]
  }, [])
  expect(() => budget.take(2 ** 21)).toThrow('more than 1 MB')
  expect(() => budget.check()).toThrow('more than 1 MB')
  expect(done).toEqual(['collect', 'walk'])
})
