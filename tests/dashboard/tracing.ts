// What a browser does while something happens to a page, by its own tracing: the frames, and how busy the main thread was.

import { loadavg } from 'node:os'
import type { CDPSession, Page } from 'playwright-core'
import { noteRow } from '../bench-rows.ts'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly ts: number
  readonly dur?: number
  /** The processor's time, which other programs do not lengthen. */
  readonly tdur?: number
  readonly pid: number
  readonly tid: number
  readonly args: Readonly<Record<string, unknown>>
}

/** A random walk as CSV, the same each time. */
export function walk(count: number): string {
  let state = 1
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const rows = ['time,open,high,low,close,volume']
  let price = 1000
  const start = Date.UTC(2024, 0, 1) / 1000
  for (let i = 0; i < count; i++) {
    const open = price
    price = Math.max(10, price + (random() - 0.5) * 2)
    const [high, low] = [Math.max(open, price) + random(), Math.min(open, price) - random()]
    const volume = Math.round(random() * 1000)
    rows.push(
      `${start + i * 60},${open.toFixed(2)},${high.toFixed(2)},${low.toFixed(2)},${price.toFixed(2)},${volume}`,
    )
  }
  return rows.join('\n')
}

/** Imports `walk` as a symbol of the exchange BENCH. */
export async function importWalk(page: Page, url: string, symbol: string, count: number): Promise<void> {
  const imported = await page.request.post(
    `${url}/api/platform/bars/import?exchange=BENCH&symbol=${symbol}&interval=1m`,
    { headers: { 'content-type': 'text/csv' }, data: walk(count), timeout: 120_000 },
  )
  if (!imported.ok()) throw new Error(await imported.text())
}

/** Zooms the active chart; a key press shows a quarter more. */
export async function zoom(page: Page, spacing: string): Promise<void> {
  await page.getByRole('application').first().focus()
  await page.keyboard.press(spacing === 'all bars' ? 'Home' : 'End')
  const presses = { '1 px': 9, '0.1 px': 19 }[spacing] ?? 0
  for (let i = 0; i < presses; i++) await page.keyboard.press('ArrowDown')
  await page.waitForTimeout(300)
}

/** Drags the first chart to and fro, 60 moves a second. */
export async function drag(page: Page, seconds: number): Promise<void> {
  const box = (await page.getByRole('application').first().boundingBox())!
  const y = box.y + box.height * 0.3
  const [left, right] = [box.x + box.width * 0.15, box.x + box.width * 0.8]
  await page.mouse.move(left, y)
  await page.mouse.down()
  const begun = performance.now()
  for (let now = begun; now - begun < seconds * 1000; now = performance.now()) {
    const phase = ((now - begun) / 1000) % 2
    const x = left + (right - left) * (phase < 1 ? phase : 2 - phase)
    await page.mouse.move(x, y)
    await Bun.sleep(Math.max(0, 16 - (performance.now() - now)))
  }
  await page.mouse.up()
}

export async function traced(tools: CDPSession, act: () => Promise<void>): Promise<readonly TraceEvent[]> {
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]))
  tools.on('Tracing.dataCollected', collect)
  await tools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'toplevel'],
    },
  })
  await act()
  const done = new Promise<void>((resolve) => tools.once('Tracing.tracingComplete', () => resolve()))
  await tools.send('Tracing.end')
  await done
  tools.off('Tracing.dataCollected', collect)
  return events
}

/** Prints the frames of a trace, and the processor time that the main thread needed for each, which a busy machine changes least. */
export function printFrames(row: string, what: string, events: readonly TraceEvent[]): void {
  const sorted = events.toSorted((a, b) => a.ts - b.ts)
  const named = (name: string) => sorted.filter((event) => event.name === name)
  const begun = named('BeginMainThreadFrame')
  const [first] = begun
  if (!first) return console.log(`${what}: nothing was drawn`)
  const drawn = named('DrawFrame')
  const gaps = drawn.slice(1).map((event, i) => (event.ts - drawn[i]!.ts) / 1000)
  const mine = sorted.filter(({ pid, tid }) => pid === first.pid && tid === first.tid)
  const tasks = mine.filter(({ name, ph }) => ph === 'X' && name.endsWith('RunTask'))
  // From the beginning of one frame to that of the next: what the main thread worked, events and drawing together.
  const costs = begun.slice(1).map((next, i) => {
    const [from, to] = [begun[i]!.ts, next.ts]
    return tasks
      .filter(({ ts, dur = 0 }) => ts + dur > from && ts < to)
      .reduce((sum, { ts, dur = 0, tdur = dur }) => {
        const share = (Math.min(ts + dur, to) - Math.max(ts, from)) / Math.max(1, dur)
        return sum + (share * tdur) / 1000
      }, 0)
  })
  noteRow(`${row}, ${what}: main thread a frame`, median(costs), 'ms', { wanted: '≤ 16.7 ms' })
  console.log(
    `${what.padEnd(10)} ${drawn.length} frames drawn, ${named('DroppedFrame').length} dropped;` +
      ` between frames ${spread(gaps)}; processor time of the main thread a frame ${spread(costs)}`,
  )
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1)
  return `${at(0.5)} ms (p95 ${at(0.95)}, most ${at(1)})`
}

/** How busy the machine is, without which a time says little. */
export const loadText = (): string => `load ${loadavg()[0]!.toFixed(1)}`
