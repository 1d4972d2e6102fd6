import { expect, test } from 'bun:test'
import {
  answerStream,
  answerText,
  isLarge,
  JsonText,
  keptResultOf,
  keptText,
} from '../../src/api/json-text.ts'

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
  const chunks = await Array.fromAsync(answerStream(answer))
  expect(chunks.length).toBeGreaterThan(4)
  const sent = Buffer.concat(chunks).toString()
  expect(sent === (await answerText(answer))).toBe(true)
  expect(JSON.parse(sent)).toEqual({ ok: true, tracks: [JSON.parse(text)], n: null })
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
