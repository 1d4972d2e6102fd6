// What a run answers is weighed while it is made.

import { expect, test } from 'bun:test'
import { runBacktest } from '../../../src/broker/run.ts'
import { AnswerScales, type TextBytes } from '../../../src/work/workers/answer.ts'
import type { RunJob } from '../../../src/work/workers/job.ts'
import { previewJob, runJob } from '../../../src/work/workers/run-job.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { columnPieces, decodeColumns } from '../../../src/wire/columns.ts'
import type { Problem } from '../../../src/lib/problem.ts'
import { defaultSymbol } from '../../../src/market/symbols.ts'
import { DEFAULT_LIMITS } from '../../../src/language/runtime/limits.ts'
import { barsOfCloses } from '../../language/library/script.ts'
import { rejection } from '../../rejection.ts'

const BARS = barsOfCloses(Array.from({ length: 300 }, (_, i) => 100 + (i % 7)))
const SCRIPT = `//@version=6
strategy("é")
if bar_index % 10 == 0
    strategy.entry("L", strategy.long)
if bar_index % 10 == 5
    strategy.close("L")
    log.info("words")
plot(close, color = close > open ? color.red : na)
plot(bar_index % 3 == 0 ? na : open)
bgcolor(close > 103 ? color.blue : na)
a = line.new(bar_index, close, bar_index + 1, open)
linefill.new(a, a, color.red)
label.new(bar_index, close, "\\"text\\"")
var t = table.new(position.top_right, 2, 2)
table.cell(t, 0, 0, str.tostring(close))
alert("now")`

const job = (source: string, limits: Partial<RunJob['limits']> = {}): RunJob => ({
  source,
  inputs: {},
  overrides: {},
  bars: BARS,
  symbol: defaultSymbol('X', 'Y'),
  interval: '1d',
  limits: { ...DEFAULT_LIMITS, ...limits },
})

function deskThatNotes(noted: number[] = []): Desk {
  const host = { library: async () => null, series: async () => null, finer: async () => null }
  return { host: host as unknown as Desk['host'], progress: () => {}, used: (bytes) => noted.push(bytes) }
}

const textOf = (bytes: TextBytes) => Buffer.concat(bytes).toString()

test('an answer made in pieces is the text of the whole', async () => {
  const output = await runJob(job(SCRIPT), deskThatNotes())
  const [report, tracks] = [textOf(output.report), textOf(output.tracks)]
  const whole = runBacktest({ ...job(SCRIPT), series: () => null })
  const untimed = (text: string) => text.replace(/"timings":\{[^}]*\}/, '')
  expect(untimed(report)).toBe(untimed(JSON.stringify({ ...whole.report })))
  expect(tracks).toBe(JSON.stringify(whole.tracks))
  expect((JSON.parse(report) as { trades: unknown[] }).trades.length).toBeGreaterThan(10)
})

test('an answer that is too large is given up before the rest of it is made', () => {
  let made = 0
  function* endless() {
    for (;;) {
      made++
      yield 'x'.repeat(100_000)
    }
  }
  const weighed: number[] = []
  const scales = new AnswerScales(5_000_000, (bytes) => weighed.push(bytes))
  expect(() => scales.bytes(endless())).toThrow('SCRIPT_ANSWER_MB')
  expect(made).toBeLessThan(70)
  expect(Math.max(...weighed)).toBeLessThan(7_000_000)
})

test('a text is put into bytes whole, however long its pieces are and wherever a buffer ends', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  const { uniform: random } = seededRandom(seed)
  const signs = ['a', 'é', '多', '🚀', '\ufeff']
  const pieces = Array.from({ length: 400 }, (_, i) =>
    signs[Math.floor(random() * signs.length)]!.repeat(Math.floor(random() * (i % 50 === 0 ? 300_000 : 40))),
  )
  const weighed: number[] = []
  const bytes = new AnswerScales(1e9, (sum) => weighed.push(sum)).bytes(pieces)
  expect(textOf(bytes) === pieces.join('')).toBe(true)
  expect(weighed.at(-1)).toBe(Buffer.byteLength(pieces.join('')))
  // Each is whole characters.
  for (const piece of bytes)
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(piece)).not.toThrow()
})

test('columns say what the rows say, of trades that are open, or have names of their own, and of none', async () => {
  const named = SCRIPT.replace(
    '"L", strategy.long',
    'str.tostring(bar_index), strategy.long, comment = bar_index % 20 == 0 ? "c" : na',
  )
  const open = SCRIPT.replace('strategy.close("L")', 'log.info("x")')
  for (const source of [
    SCRIPT,
    named,
    open,
    '//@version=6\nstrategy("none")',
    '//@version=6\nindicator("i")\nplot(close)',
  ])
    for (const tracks of [null, ['markers', 'time']]) {
      const { result } = await previewJob({ ...job(source), tracks }, deskThatNotes())
      const bytes = Buffer.concat(columnPieces(`{"result":${result.text}}`, [result]))
      const decoded = decodeColumns(
        bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
      ) as {
        result: { report: object; tracks: object }
      }
      const output = await runJob({ ...job(source), tracks }, deskThatNotes())
      const untimed = (report: object) => ({ ...report, timings: null })
      expect(JSON.stringify(untimed(decoded.result.report))).toBe(
        JSON.stringify(untimed(JSON.parse(textOf(output.report)) as object)),
      )
      expect(JSON.stringify(decoded.result.tracks)).toBe(textOf(output.tracks))
    }
})

test('report and tracks are weighed together', () => {
  const scales = new AnswerScales(1000, () => {})
  scales.bytes(['x'.repeat(600)])
  expect(() => scales.bytes(['x'.repeat(600)])).toThrow('the most that a run may answer')
})

test.each([
  [
    'polylines',
    'var p = array.new<chart.point>()\np.push(chart.point.from_index(bar_index, close))\npolyline.new(p)',
  ],
  ['labels', 'label.new(bar_index, close, str.repeat("x", 1000))'],
  ['log lines', 'log.info(str.repeat("x", 1000))'],
  ['alerts', 'alert(str.repeat("x", 1000) + str.tostring(bar_index))'],
  ['cells', 'var t = table.new(position.top_left, 1, 1)\ntable.cell(t, 0, 0, str.repeat("x", 1000))'],
])('a run that answers too many %s is refused with the limit and what to do', async (_what, body) => {
  const source = `//@version=6\nindicator("x")\n${body}`
  const refusal = (await rejection(runJob(job(source, { answerBytes: 100_000 }), deskThatNotes()))) as Problem
  expect(refusal).toMatchObject({ status: 422, code: 'script_limit_exceeded' })
  expect(refusal.message).toContain('Plot and draw less')
})

test('what the answer takes counts as memory of the job', async () => {
  const noted: number[] = []
  await runJob(job(SCRIPT), deskThatNotes(noted))
  const { report, tracks } = await runJob(job(SCRIPT), deskThatNotes())
  const bytes = Buffer.concat([...report, ...tracks]).length
  expect(Math.max(...noted)).toBeGreaterThanOrEqual(bytes + noted[0]!)
  expect(Math.max(...noted)).toBeLessThan(bytes + 2 ** 20)
})

test('pieces of bytes are copied, over the ends of buffers too, and may change afterwards', () => {
  const piece = new Uint8Array(100_000)
  function* pieces() {
    yield '['
    for (let i = 0; i < 20; i++) {
      yield piece.fill(65 + i)
      yield i % 2 === 0 ? 'é' : ''
    }
    yield piece.subarray(0, 0)
    yield ']'
  }
  const parts = new AnswerScales(1e9, () => {}).bytes(pieces())
  const wanted = Array.from({ length: 20 }, (_, i) => {
    const letters = String.fromCodePoint(65 + i).repeat(100_000)
    return i % 2 === 0 ? `${letters}é` : letters
  })
  expect(parts.length).toBeGreaterThan(2)
  expect(Buffer.concat(parts).toString() === `[${wanted.join('')}]`).toBe(true)
})

test('the answer of a thread is put into one buffer once another of about its size was', async () => {
  const last = { report: 0, tracks: 0 }
  const output = () => runJob(job(SCRIPT), { ...deskThatNotes(), last })
  const first = await output()
  const second = await output()
  expect(textOf(second.tracks)).toBe(textOf(first.tracks))
  expect(second.tracks).toHaveLength(1)
  expect(last.tracks).toBe(Buffer.byteLength(textOf(first.tracks)))
})

test('a text is whole whatever size was expected of it', () => {
  const pieces = ['x'.repeat(70_000), 'é'.repeat(200_000)]
  for (const expected of [0, 1, 1000, 470_000, 5_000_000]) {
    const bytes = new AnswerScales(1e9, () => {}).bytes(pieces, expected)
    expect(textOf(bytes) === pieces.join('')).toBe(true)
  }
})
