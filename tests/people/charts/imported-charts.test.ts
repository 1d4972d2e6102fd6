// Charts that came with bars: which files are taken for one, and where they are kept.

import { expect, test } from 'bun:test'
import {
  ChartTap,
  forgetChart,
  importedChart,
  keepChart,
} from '../../../src/people/charts/imported-charts.ts'
import { testKv } from '../../store/test-store.ts'

const SERIES = { exchange: 'X', symbol: 'ABC', interval: '1d' }
const MINE = { ...SERIES, owner: 'usr_1' }
const HEAD = 'time,open,high,low,close,Ума'

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function tapped(...chunks: readonly (string | Uint8Array)[]) {
  const tap = new ChartTap()
  const bytes = chunks.map((one) => (typeof one === 'string' ? Buffer.from(one) : one))
  const passed: Uint8Array[] = []
  for await (const chunk of tap.through(each(bytes))) {
    passed.push(new Uint8Array(chunk))
    // As a reader may that hands its memory on.
    chunk.fill(0)
  }
  expect(passed.reduce((sum, { length }) => sum + length, 0)).toBe(
    bytes.reduce((sum, { length }) => sum + length, 0),
  )
  return tap.chart
}

test('a chart with plots is kept as it came, wherever it was cut', async () => {
  const text = `${HEAD}\n1,1,1,1,1,7\n`
  const bytes = Buffer.from(text)
  for (let at = 0; at <= bytes.length; at++)
    expect(await tapped(new Uint8Array(bytes.subarray(0, at)), new Uint8Array(bytes.subarray(at)))).toEqual({
      text,
      plots: ['Ума'],
    })
})

test('bars alone, other files and none at all are no charts', async () => {
  expect(await tapped('time,open,high,low,close,volume\n1,1,1,1,1,1')).toBeNull()
  expect(await tapped('Date,Open,High,Low,Close,RSI\n2020-01-01,1,1,1,1,1')).toBeNull()
  expect(await tapped(Buffer.from([0x50, 0x4b, 3, 4, 0xff]))).toBeNull()
  expect(await tapped()).toBeNull()
})

test('a file of any length passes, and one above 16 MiB is no chart', async () => {
  const rows = (letters: number) => 'x'.repeat(letters)
  const most = (16 << 20) - Buffer.byteLength(HEAD) - 1
  expect((await tapped(`${HEAD}\n`, rows(most)))?.plots).toEqual(['Ума'])
  expect(await tapped(`${HEAD}\n`, rows(most), 'x')).toBeNull()
})

test("one's own goes before everybody's, the last before the ones before, and each goes alone", async () => {
  const kv = testKv()
  const of = (isTextWanted = false) => importedChart(kv, [MINE, SERIES], isTextWanted)
  const chart = (name: string) => ({ fileName: name, plots: [name], importedAt: 5, text: `text ${name}` })
  expect(await of()).toBeNull()
  await keepChart(kv, SERIES, chart('shared'))
  expect(await of(true)).toEqual(chart('shared'))
  await keepChart(kv, MINE, chart('old'))
  await keepChart(kv, MINE, chart('mine'))
  expect(await of()).toEqual({ ...chart('mine'), text: null })
  expect(await importedChart(kv, [{ ...SERIES, interval: '1h' }], true)).toBeNull()
  await forgetChart(kv, MINE)
  expect(await of(true)).toEqual(chart('shared'))
  await forgetChart(kv, SERIES)
  expect(await of()).toBeNull()
  expect(await kv.list({ prefix: ['imported-charts'] }, { limit: 9 })).toEqual([])
})
