// Panning the chart of 200,000 bars with a script on it, measured by the browser's own tracing.
//
// The pointer drags at 60 moves a second, at four zooms: from two hundred bars on screen to all of them. Where nothing
// else runs on the machine, a frame that is late is the page's; the main thread's time is so in any case.

import type { CDPSession, Page } from 'playwright-core'
import { noteRow } from '../bench-rows.ts'
import { noBrowser, startSite } from './browser.ts'

const BARS = 200_000
const SECONDS = 4
const SCRIPT = `//@version=6
strategy("Cross", overlay = true)
fast = ta.sma(close, 50)
slow = ta.sma(close, 200)
plot(fast, color = color.orange)
plot(slow, color = color.blue)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("Long")
`

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly ts: number
  readonly dur?: number
  readonly pid: number
  readonly tid: number
  readonly args: Readonly<Record<string, unknown>>
}

if (!noBrowser) {
  const site = await startSite()
  const { page, complaints } = await site.open({
    width: 1600,
    height: 900,
    remembered: {
      'tour.done': true,
      side: '',
      bottom: '',
      market: { exchange: 'BENCH', symbol: 'WALK', interval: '1m' },
      script: { id: null, name: 'Cross', source: SCRIPT },
      'run.bars': BARS,
    },
  })
  await page.goto(`${site.url}/settings/about`)
  const imported = await page.request.post(
    `${site.url}/api/platform/bars/import?exchange=BENCH&symbol=WALK&interval=1m`,
    { headers: { 'content-type': 'text/csv' }, data: walk(BARS), timeout: 60_000 },
  )
  if (!imported.ok()) throw new Error(await imported.text())
  await page.goto(site.url)
  await page.getByText('Cross').first().waitFor()
  await page.waitForTimeout(1500)
  const tools = await page.context().newCDPSession(page)
  console.log(`${BARS.toLocaleString('en-US')} bars, two averages, ${SECONDS} s of dragging each`)
  for (const spacing of ['7 px a bar', '1 px', '0.1 px', 'all bars']) {
    await zoom(page, spacing)
    print(spacing, await traced(page, tools))
  }
  if (complaints.length > 0) console.log(complaints)
  await site.close()
}

/** A random walk as CSV, the same each time. */
function walk(count: number): string {
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

async function zoom(page: Page, spacing: string): Promise<void> {
  await page.getByRole('application').focus()
  await page.keyboard.press(spacing === 'all bars' ? 'Home' : 'End')
  // A key press shows a quarter more.
  const presses = { '1 px': 9, '0.1 px': 19 }[spacing] ?? 0
  for (let i = 0; i < presses; i++) await page.keyboard.press('ArrowDown')
  await page.waitForTimeout(300)
}

/** Drags to and fro while the browser writes down what it does. */
async function traced(page: Page, tools: CDPSession): Promise<TraceEvent[]> {
  const box = (await page.getByRole('application').boundingBox())!
  const events: TraceEvent[] = []
  const collect = ({ value }: { value: object[] }) => events.push(...(value as TraceEvent[]))
  tools.on('Tracing.dataCollected', collect)
  await tools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'toplevel'],
    },
  })
  const y = box.y + 200
  const [left, right] = [box.x + 200, box.x + box.width - 300]
  await page.mouse.move(left, y)
  await page.mouse.down()
  const begun = performance.now()
  for (let now = begun; now - begun < SECONDS * 1000; now = performance.now()) {
    const phase = ((now - begun) / 1000) % 2
    const x = left + (right - left) * (phase < 1 ? phase : 2 - phase)
    await page.mouse.move(x, y)
    await Bun.sleep(Math.max(0, 16 - (performance.now() - now)))
  }
  await page.mouse.up()
  const done = new Promise<void>((resolve) => tools.once('Tracing.tracingComplete', () => resolve()))
  await tools.send('Tracing.end')
  await done
  tools.off('Tracing.dataCollected', collect)
  return events
}

function print(what: string, events: readonly TraceEvent[]): void {
  const sorted = events.toSorted((a, b) => a.ts - b.ts)
  const named = (name: string) => sorted.filter((event) => event.name === name)
  const begun = named('BeginMainThreadFrame')
  const [first] = begun
  if (!first) return console.log(`${what}: nothing was drawn`)
  const drawn = named('DrawFrame')
  const gaps = drawn.slice(1).map((event, i) => (event.ts - drawn[i]!.ts) / 1000)
  const mine = sorted.filter(({ pid, tid }) => pid === first.pid && tid === first.tid)
  const tasks = mine.filter(({ name, ph }) => ph === 'X' && name.endsWith('RunTask'))
  // From the beginning of one frame to that of the next: what the main thread was busy, events and drawing together.
  const costs = begun.slice(1).map((next, i) => {
    const [from, to] = [begun[i]!.ts, next.ts]
    return tasks
      .filter(({ ts, dur = 0 }) => ts + dur > from && ts < to)
      .reduce((sum, { ts, dur = 0 }) => sum + (Math.min(ts + dur, to) - Math.max(ts, from)) / 1000, 0)
  })
  noteRow(
    `panning, ${what}: main thread a frame`,
    costs.toSorted((a, b) => a - b)[costs.length >> 1] ?? Number.NaN,
    'ms',
  )
  console.log(
    `${what.padEnd(10)} ${drawn.length} frames drawn, ${named('DroppedFrame').length} dropped;` +
      ` between frames ${spread(gaps)}; main thread busy a frame ${spread(costs)}`,
  )
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN).toFixed(1)
  return `${at(0.5)} ms (p95 ${at(0.95)}, most ${at(1)})`
}
