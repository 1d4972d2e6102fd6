// A list of trades beside the run: what is shown is always of the file that came last.

import { expect, test } from 'bun:test'
import type { Explanation } from '../../src/wire/explanation.ts'
import {
  type Compared,
  Comparing,
  type ExportBody,
  isRunnable,
  type Shown,
} from '../../src/dashboard/report/comparing.ts'

const FIRST = { n: 1, agrees: false, differences: [], bar: 0, time: 1 }

function answer(exact: number, explanation: string | null, warnings: Compared['warnings'] = []): Compared {
  const comparison = { exact, expected: 9, found: 9, firstDivergence: exact === 9 ? null : FIRST }
  return {
    comparison,
    explanation: explanation === null ? null : { message: explanation },
    settings: null,
    figures: null,
    warnings,
  } as unknown as Compared
}

/** Asks that wait until they are answered, in their order. */
function world() {
  const asked: {
    body: ExportBody
    explain: boolean
    signal: AbortSignal
    with: PromiseWithResolvers<Compared>
  }[] = []
  const seen: Shown[] = []
  const comparing = new Comparing({
    ask(body, explain, signal) {
      const waits = Promise.withResolvers<Compared>()
      asked.push({ body, explain, signal, with: waits })
      return waits.promise
    },
    rerun: () => Promise.reject(new Error('nothing is set')),
    lookAt: () => undefined,
    show: (shown) => seen.push(shown),
  })
  return { comparing, asked, shown: () => seen.at(-1)! }
}

/** Until all that waits for nothing has gone on. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('a second file takes the result and the explanation of the first away, and what comes late of it is dropped', async () => {
  const { comparing, asked, shown } = world()
  const first = comparing.compare({ csv: 'first' })
  asked[0]!.with.resolve(answer(4, null))
  await settled()
  expect([shown().result?.exact, shown().why]).toEqual([4, 'looking'])
  const second = comparing.compare({ csv: 'second' })
  expect(shown()).toMatchObject({ busy: true, result: null, why: null })
  expect(asked[1]!.signal.aborted).toBe(true)
  asked[1]!.with.resolve(answer(4, 'of the first'))
  await first
  expect(shown()).toMatchObject({ busy: true, result: null, why: null })
  asked[2]!.with.resolve(answer(6, null))
  await settled()
  expect([shown().result?.exact, shown().why]).toEqual([6, 'looking'])
  asked[3]!.with.resolve(answer(6, 'of the second'))
  await second
  expect(shown()).toMatchObject({ busy: false, why: { message: 'of the second' } })
})

test('a file that is refused leaves nothing of the one before', async () => {
  const { comparing, asked, shown } = world()
  const good = comparing.compare({ csv: 'good' })
  asked[0]!.with.resolve(answer(9, null))
  await good
  expect(shown().result?.exact).toBe(9)
  const empty = comparing.compare({ csv: '' })
  asked[1]!.with.reject(new Error('The file has no rows.'))
  await empty
  expect(shown()).toMatchObject({ busy: false, problem: new Error('The file has no rows.'), result: null })
})

test('rows that could not be read are named', async () => {
  const { comparing, asked, shown } = world()
  const done = comparing.compare({ csv: 'bad' })
  const warnings = [
    { code: 'unknown_heading', message: 'The heading "x" is not understood.' },
    { code: 'unreadable_row', message: 'Row 8: no number' },
  ]
  asked[0]!.with.resolve(answer(9, null, warnings))
  await done
  expect(shown().unread).toEqual(['Row 8: no number'])
})

test('a run is offered with what it can be set to, not with facts of its symbol', () => {
  const found = (part: object) =>
    ({ overrides: {}, inputs: {}, symbol: {}, bars: null, asOf: null, ...part }) as Explanation
  expect(isRunnable(found({}))).toBe(false)
  expect(isRunnable(found({ symbol: { mintick: 0.5 } }))).toBe(false)
  expect(isRunnable(found({ asOf: '2026-01-01' }))).toBe(true)
})
