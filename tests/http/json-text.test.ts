import { expect, test } from 'bun:test'
import { barColumns, barsTag } from '../../src/http/bar-columns.ts'
import { chunkStream } from '../../src/http/chunks.ts'
import {
  answerChunks,
  answerText,
  isLarge,
  JsonText,
  keptResultOf,
  keptText,
} from '../../src/http/json-text.ts'
import type { AnswerFields } from '../../src/http/columns.ts'
import { BAR_FIELDS, emptyBars, sliceBars } from '../../src/market/bars.ts'
import { TurnCounter } from '../turns.ts'

test('a large answer leaves in pieces and says the same', async () => {
  // Pairs that no chunk may cut.
  const text = JSON.stringify('a😀'.repeat(400_000))
  async function* parts() {
    yield text.slice(0, 1 + 3 * 300_000)
    yield text.slice(1 + 3 * 300_000)
  }
  const answer = {
    ok: true,
    left: undefined,
    tracks: new JsonText(['[', { length: text.length, parts: { [Symbol.asyncIterator]: parts } }, ']']),
    n: null,
  }
  expect([isLarge(answer), isLarge({ ok: true })]).toEqual([true, false])
  const chunks = await Array.fromAsync(chunkStream(answerChunks(answer), false))
  expect(chunks.length).toBeGreaterThan(4)
  const sent = Buffer.concat(chunks).toString()
  expect(sent === (await answerText(answer))).toBe(true)
  expect(JSON.parse(sent)).toEqual({ ok: true, tracks: [JSON.parse(text)], n: null })
})

test('bytes of a large answer are let go of as they are sent', async () => {
  const bytes = Array.from({ length: 5 }, (_, i) => new Uint8Array(300_000).fill(48 + i))
  const answer = { ok: true, result: new JsonText(['[', bytes, ']']) }
  const whole = await answerText(answer)
  const sent: Uint8Array[] = []
  // The first is what stands before them.
  const left: number[] = []
  for await (const chunk of chunkStream(answerChunks(answer), false)) {
    left.push(bytes.length)
    sent.push(chunk)
  }
  expect(left.slice(0, 3).every((count) => count >= 3)).toBe(true)
  expect([Buffer.concat(sent).toString() === whole, bytes.length]).toEqual([true, 0])
})

test('an answer of texts alone is what JSON makes of it', async () => {
  const answers: readonly [AnswerFields, object][] = [
    [{ list: new JsonText(['[', '1', ',', '"é"', ']']) }, { list: [1, 'é'] }],
    [
      { ok: true, list: new JsonText('[]'), next: null },
      { ok: true, list: [], next: null },
    ],
    [{ none: undefined, list: new JsonText('{}') }, { list: {} }],
    [{ list: new JsonText([new TextEncoder().encode('"é"')].map((bytes) => [bytes])) }, { list: 'é' }],
  ]
  for (const [answer, expected] of answers) expect(await answerText(answer)).toBe(JSON.stringify(expected))
})

test('what can be had again is kept by its name only', async () => {
  const kept = await keptText({
    ok: true,
    id: 'bt_1',
    result: new JsonText('{"report":{}}', { resultOf: 'bt_1' }),
  })
  expect(kept).toBe('{"ok":true,"id":"bt_1","result":{"$resultOf":"bt_1"}}')
  expect(keptResultOf(JSON.parse(kept).result)).toBe('bt_1')
  expect([keptResultOf(null), keptResultOf({ report: {} })]).toEqual([null, null])
})

test('fifty thousand bars are made text a few thousand numbers a turn, and are what JSON makes of them', async () => {
  const bars = emptyBars(50_000)
  for (const field of BAR_FIELDS) bars[field].forEach((_, i) => (bars[field][i] = i / 7))
  using counter = new TurnCounter()
  const text = await answerText({ ok: true, bars: new JsonText([barColumns(bars)]) })
  expect(counter.turns).toBeGreaterThan(30)
  const columns = Object.fromEntries(BAR_FIELDS.map((field) => [field, [...bars[field]]]))
  expect(text).toBe(JSON.stringify({ ok: true, bars: columns }))
  const [few, none] = [3, 0].map((length) => sliceBars(bars, 0, length))
  for (const some of [few!, none!])
    expect(
      Object.keys(JSON.parse(await answerText({ bars: new JsonText([barColumns(some)]) })).bars),
    ).toEqual([...BAR_FIELDS])
})

test('the tag of bars is that of their numbers', () => {
  const bars = emptyBars(10, { shared: true })
  const before = barsTag(bars)
  expect(barsTag(emptyBars(10))).toBe(before)
  bars.close[9] = 1
  expect(barsTag(bars)).not.toBe(before)
})
