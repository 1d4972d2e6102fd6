// What a sweep varies, the stretches of time it looks at, and its trials as lines of a table.

import { describe, expect, test } from 'bun:test'
import type { Problem } from '../../../src/lib/problem.ts'
import { spaceOf, type Varied } from '../../../src/work/sweeps/space.ts'
import { csvHead, csvLine } from '../../../src/work/sweeps/trials.ts'
import { cellsOf, heldOut, type Windows } from '../../../src/work/sweeps/windows.ts'

const spaceOver = (...varied: Varied[]) => spaceOf(varied, [])
/** Field, code and message of what is refused. */
function refusal(attempt: () => unknown): readonly string[] {
  try {
    attempt()
    return []
  } catch (error) {
    const { status, details } = error as Problem
    const [field] = details.fields ?? []
    return [String(status), field?.path ?? '', field?.code ?? '', field?.message ?? '']
  }
}
/** The values along one input, each from the middle of its place. */
function valuesOf(varied: Varied): unknown[] {
  const space = spaceOver(varied)
  const count = space.size ?? 0
  return Array.from({ length: count }, (_, i) => space.choose(Float64Array.of((i + 0.5) / count))[0])
}

describe('an axis', () => {
  test('over values takes each of them, and has an order only where numbers ascend', () => {
    const kinds = ['a', true, 7] as const
    expect(valuesOf({ input: 'x', values: [...kinds] })).toEqual([...kinds])
    const ordered = (values: (number | string)[]) => spaceOver({ input: 'x', values }).axes[0]!.ordered
    expect([
      ordered([1, 2, 9]),
      ordered([5]),
      ordered([1, 3, 2]),
      ordered(['a', 'b']),
      ordered([1, 'b']),
    ]).toEqual([true, true, false, false, false])
    const space = spaceOver({ input: 'x', values: [1, 2, 3, 4] })
    expect([0, 0.2499, 0.25, 0.9999, 1].map((u) => space.choose(Float64Array.of(u))[0])).toEqual([
      1, 1, 2, 4, 4,
    ])
  })
  test('over a range with a step ends at the last step that fits, without the noise of binary fractions', () => {
    expect(valuesOf({ input: 'x', min: 1, max: 10, step: 3 })).toEqual([1, 4, 7, 10])
    expect(valuesOf({ input: 'x', min: 1, max: 9, step: 3 })).toEqual([1, 4, 7])
    expect(valuesOf({ input: 'x', min: 0.1, max: 0.3, step: 0.1 })).toEqual([0.1, 0.2, 0.3])
    expect(valuesOf({ input: 'x', min: -0.3, max: 0.3, step: 0.1 })).toEqual([
      -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3,
    ])
    const time = 1_700_000_000_001
    expect(valuesOf({ input: 'x', min: time, max: time + 3, step: 1 })).toEqual(
      [0, 1, 2, 3].map((n) => time + n),
    )
    expect(valuesOf({ input: 'x', min: 2, max: 3, step: 5 })).toEqual([2])
    expect(spaceOver({ input: 'x', min: 1, max: 10, step: 3 }).choose(Float64Array.of(1))).toEqual([10])
    expect(spaceOver({ input: 'x', min: 1, max: 10, step: 3 }).axes).toEqual([{ count: 4, ordered: true }])
  })
  test('over a range without a step is every number between the ends, or one where they meet', () => {
    const space = spaceOver({ input: 'x', min: 10, max: 20 })
    expect([space.size, space.axes]).toEqual([null, [{ count: null, ordered: true }]])
    expect([0, 0.25, 1].map((u) => space.choose(Float64Array.of(u))[0])).toEqual([10, 12.5, 20])
    expect(spaceOver({ input: 'x', min: 10, max: 10 }).size).toBe(1)
  })
  test('on a logarithmic scale has as much room from 1 to 10 as from 10 to 100', () => {
    const space = spaceOver({ input: 'x', min: 1, max: 100, log: true })
    expect([0, 0.5, 1].map((u) => space.choose(Float64Array.of(u))[0])).toEqual([1, 10, 100])
    // 8^(i / 7): 1, 1.3, 1.8, 2.4, 3.3, 4.4, 5.9, 8; rounded, each once.
    expect(valuesOf({ input: 'x', min: 1, max: 8, step: 1, log: true })).toEqual([1, 2, 3, 4, 6, 8])
    expect(valuesOf({ input: 'x', min: 5, max: 5, step: 1, log: true })).toEqual([5])
    expect(valuesOf({ input: 'x', min: 1.5, max: 4.5, step: 1, log: true })).toEqual([1.5, 2.5, 3.5, 4.5])
  })
})

describe('a space', () => {
  test('is as large as its axes together, and infinite with one that is', () => {
    const stepped: Varied = { input: 'a', min: 1, max: 4, step: 1 }
    const listed: Varied = { property: 'pyramiding', values: [0, 1, 2] }
    expect(spaceOver(stepped, listed).size).toBe(12)
    expect(spaceOver(stepped, { input: 'b', min: 0, max: 1 }).size).toBeNull()
    const space = spaceOver(stepped, listed)
    expect(space.names).toEqual(['a', 'pyramiding'])
    expect(space.choose(Float64Array.of(0.99, 0.4))).toEqual([4, 1])
    expect(space.pointOf([4, 1])).toEqual({ inputs: { a: 4 }, overrides: { pyramiding: 1 } })
  })
  test('allows what all of its conditions hold for', () => {
    const space = spaceOf(
      [
        { input: 'fast', min: 1, max: 9, step: 1 },
        { input: 'slow', min: 1, max: 9, step: 1 },
      ],
      ['fast < slow', 'slow - fast > 2'],
    )
    expect(
      [
        [1, 4],
        [1, 3],
        [4, 1],
        [3, 3],
      ].map((choices) => space.allows(choices)),
    ).toEqual([true, false, false, false])
  })
  const x: Varied = { input: 'x', min: 1, max: 2 }
  test.each<[string, Varied[], string[], string, string]>([
    ['nothing', [], [], '/space', 'required'],
    ['the same twice', [x, { input: 'y', values: [1] }, x], [], '/space/2', 'duplicate'],
    ['neither input nor property', [x, { values: [1] }], [], '/space/1', 'required'],
    ['both', [{ input: 'x', property: 'pyramiding', values: [1] }], [], '/space/0', 'required'],
    [
      'what all trials share',
      [{ property: 'calc_bars_count', values: [1] }],
      [],
      '/space/0/property',
      'fixed',
    ],
    ['a word for a number', [{ property: 'initial_capital', values: [1, 'x'] }], [], '/space/0', 'setting'],
    [
      'what is below the least',
      [{ property: 'pyramiding', min: -1, max: 3, step: 1 }],
      [],
      '/space/0',
      'setting',
    ],
    ['halves of a whole', [{ property: 'slippage', min: 0, max: 3, step: 0.5 }], [], '/space/0', 'setting'],
    ['no values', [{ input: 'x', values: [] }], [], '/space/0/values', 'required'],
    ['a value twice', [{ input: 'x', values: [1, 2, 1] }], [], '/space/0/values', 'duplicate'],
    ['no end', [{ input: 'x', min: 1 }], [], '/space/0', 'required'],
    ['no beginning', [{ input: 'x', max: 1 }], [], '/space/0', 'required'],
    ['an end before the beginning', [{ input: 'x', min: 2, max: 1.9 }], [], '/space/0/max', 'range'],
    ['a scale that begins at 0', [{ input: 'x', min: 0, max: 1, log: true }], [], '/space/0/min', 'range'],
    ['more than numbers reach', [{ input: 'x', min: -1e308, max: 1e308 }], [], '/space/0/max', 'range'],
    [
      'a scale of more than they reach',
      [{ input: 'x', min: 1e-300, max: 1e300, log: true }],
      [],
      '/space/0/max',
      'range',
    ],
    ['steps of nothing', [{ input: 'x', min: 0, max: 1, step: 0 }], [], '/space/0/step', 'range'],
    ['too many steps', [{ input: 'x', min: 1, max: 100_001, step: 1 }], [], '/space/0/step', 'range'],
    [
      'too many on a scale',
      [{ input: 'x', min: 1, max: 5001, step: 1, log: true }],
      [],
      '/space/0/step',
      'range',
    ],
    ['a condition about something else', [x], ['x > 1', 'x < y'], '/where/1', 'unknown_name'],
    ['half a condition', [x], ['x >'], '/where/0', 'expression'],
  ])('of %s is refused by its field', (_, varied, where, path, code) => {
    expect(refusal(() => spaceOf(varied, where)).slice(0, 3)).toEqual(['422', path, code])
  })
  test('may just have 100,000 steps, or 5,000 on a logarithmic scale', () => {
    expect(spaceOver({ input: 'x', min: 1, max: 100_000, step: 1 }).size).toBe(100_000)
    expect(spaceOver({ input: 'x', min: 1, max: 5000, step: 1, log: true }).size).toBeGreaterThan(1000)
    expect(refusal(() => spaceOver({ input: 'x', min: 1, max: 9000, step: 1, log: true }))[3]).toBe(
      'That would be more than 5000 values. Take larger steps, or none.',
    )
    expect(refusal(() => spaceOver({ input: 'x', min: 1, max: 2e5, step: 1 }))[3]).toBe(
      'That would be more than 100000 values. Take larger steps.',
    )
  })
})

describe('windows', () => {
  const spans = (windows: Windows, bars: number) =>
    cellsOf(windows, bars).map((cell) =>
      cell.windows.map(({ inside, outside }) => [inside.from, inside.to, outside.from, outside.to]),
    )

  test('that hold the end back keep 30 % of it, or the share that is asked for', () => {
    expect(heldOut({ kind: 'holdout' }, 100)).toEqual({
      inside: { from: 0, to: 70 },
      outside: { from: 70, to: 100 },
    })
    expect(heldOut({ kind: 'holdout', share: 0.25 }, 99).outside).toEqual({ from: 74, to: 99 })
    for (const kind of ['none', 'rolling', 'anchored', 'matrix'] as const)
      expect(heldOut({ kind, share: 0.25 }, 99)).toEqual({ inside: { from: 0, to: 99 }, outside: null })
    expect([spans({ kind: 'none' }, 100), spans({ kind: 'holdout' }, 100)]).toEqual([[], []])
  })
  test('that roll are of one length, each shifted by what is out of sample', () => {
    expect(spans({ kind: 'rolling', share: 0.2, runs: 2 }, 120)).toEqual([
      [
        [0, 80, 80, 100],
        [20, 100, 100, 120],
      ],
    ])
    expect(spans({ kind: 'anchored', share: 0.2, runs: 2 }, 120)).toEqual([
      [
        [0, 80, 80, 100],
        [0, 100, 100, 120],
      ],
    ])
  })
  test('are ten with a fifth out of sample where nothing is said, up to the last bar', () => {
    const [cell] = cellsOf({ kind: 'rolling' }, 280)
    expect([cell?.share, cell?.runs, cell?.windows.length]).toEqual([0.2, 10, 10])
    expect([cell?.windows[0], cell?.windows[9]]).toEqual([
      { inside: { from: 0, to: 80 }, outside: { from: 80, to: 100 } },
      { inside: { from: 180, to: 260 }, outside: { from: 260, to: 280 } },
    ])
    const [odd] = spans({ kind: 'rolling', share: 0.3, runs: 7 }, 1001)
    expect(odd?.at(-1)?.[3]).toBe(1001)
    for (const [i, window] of odd!.entries()) if (i > 0) expect(window[2]).toBe(odd![i - 1]![3])
  })
  test('in a matrix are five shares by six numbers of runs', () => {
    const cells = cellsOf({ kind: 'matrix', share: 0.5, runs: 2 }, 1000)
    expect(cells.map(({ share, runs }) => `${share}×${runs}`)).toEqual(
      [0.1, 0.15, 0.2, 0.25, 0.3].flatMap((share) =>
        [5, 10, 15, 20, 25, 30].map((runs) => `${share}×${runs}`),
      ),
    )
    expect(cells.every(({ runs, windows }) => windows.length === runs)).toBe(true)
  })
  test('have ten bars out of sample at least', () => {
    expect(spans({ kind: 'rolling', share: 0.5, runs: 3 }, 40)[0]).toEqual([
      [0, 10, 10, 20],
      [10, 20, 20, 30],
      [20, 30, 30, 40],
    ])
    expect(refusal(() => cellsOf({ kind: 'rolling', share: 0.5, runs: 3 }, 38))).toEqual([
      '422',
      '/windows',
      'too_few_bars',
      'Some windows would have fewer than 10 bars out of sample. Take more bars, or fewer runs.',
    ])
  })
})

describe('a trial in a table', () => {
  const trial = {
    trial: 3,
    choices: [5, true, '=x'],
    score: null,
    sharpe: 0.5,
    figures: { netProfit: -3 },
    outside: null,
    error: null,
  }
  const measured = { figures: ['netProfit'], outside: null } as unknown as Parameters<
    typeof csvHead
  >[0]['measured']

  test('has a cell for each choice and figure, empty where nothing is known, and no formula', () => {
    expect(csvHead({ measured }, ['length', 'on', 'text'])).toBe(
      'trial,length,on,text,score,sharpe a bar,netProfit,error',
    )
    expect(csvLine(trial)).toBe("3,5,true,'=x,,0.5,-3,")
  })
  test('has no number that stands for a factor of wins without losses', () => {
    const figures = { netProfit: 1e6, profitFactor: 1e6 }
    expect(csvLine({ ...trial, figures })).toBe("3,5,true,'=x,,0.5,1000000,Infinity,")
  })
  test('says why it failed, and what it was worth out of sample', () => {
    const outside = { score: 1, netProfit: null } as unknown as NonNullable<
      Parameters<typeof csvLine>[0]['outside']
    >
    const failed = { ...trial, outside, error: { code: 'x', message: 'It failed, alas.' } }
    expect(csvLine(failed)).toBe(`3,5,true,'=x,,0.5,-3,1,,"It failed, alas."`)
    const head = csvHead({ measured: { ...measured, outside: { from: 0, to: 1 } } }, ['length'])
    expect(head.split(',').slice(0, 6)).toEqual([
      'trial',
      'length',
      'score',
      'sharpe a bar',
      'netProfit',
      'outside.score',
    ])
    expect(head.split(',').at(-1)).toBe('error')
  })
})
