// How fast the page answers a hand, by the browser's own clock and tracing:
//
// - frames while a chart of 100,000 bars with 200 drawings and 5 scripts is dragged, and while eight linked charts are;
// - from a changed input to the frame that shows the new result, on some 5,000 bars;
// - from a key to its frame, in a script of 1,000 lines.
//
// What the main thread needs is the page's own; the rest hangs on what else runs on the machine, so its load is told.

import { readFileSync } from 'node:fs'
import { noteRow } from '../bench-rows.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { drag, importWalk, loadText, median, printFrames, spread, traced, walk, zoom } from './tracing.ts'

const SECONDS = 4
const [BARS, DRAWINGS] = [100_000, 200]
/** By their files, with the names that their legends show. */
const STUDIES = [
  ['bollinger', 'BB'],
  ['ichimoku', 'Ichimoku'],
  ['supertrend', 'Supertrend'],
  ['rsi', 'RSI'],
] as const
const SCRIPT = `//@version=6
strategy("Cross", overlay = true)
fast = ta.sma(close, input.int(10, "Fast"))
slow = ta.sma(close, input.int(50, "Slow"))
plot(fast, color = color.orange)
plot(slow, color = color.blue)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("Long")
`
const BARE = { 'tour.done': true, side: '', bottom: '' }
const EDITED = { id: null, name: 'Cross', source: SCRIPT }

const chart = (id: string, market: object, studies: readonly object[] = []) => ({
  id,
  market,
  type: 'candles',
  scale: 'linear',
  volume: true,
  trades: true,
  studies,
})
const study = (id: string) => ({
  id,
  name: id,
  shortName: id,
  source: readFileSync(`${import.meta.dir}/../../data/indicators/${id}.pine`, 'utf8'),
  from: `library:${id}`,
  inputs: {},
  hidden: false,
  intervals: null,
  plots: {},
})

if (!noBrowser) {
  const site = await startSite({ offline: true })
  try {
    for (const measure of [frames, eightCharts, inputs, keys]) await measure(site)
  } finally {
    await site.close()
  }
}

/** 100,000 bars, 200 drawings, 5 scripts. */
async function frames(site: Site): Promise<void> {
  const market = { exchange: 'BENCH', symbol: 'WALK', interval: '1m' }
  const { page } = await site.open({
    width: 1600,
    height: 900,
    remembered: {
      ...BARE,
      script: EDITED,
      'run.bars': BARS,
      charts: {
        shape: '1',
        links: [],
        active: 'c1',
        script: 'c1',
        all: [
          chart(
            'c1',
            market,
            STUDIES.map(([file]) => study(file)),
          ),
        ],
      },
    },
  })
  await page.goto(`${site.url}/settings/about`)
  await importWalk(page, site.url, 'WALK', BARS)
  const drawn = await page.request.patch(`${site.url}/api/platform/drawings`, {
    data: { exchange: 'BENCH', symbol: 'WALK', put: drawings() },
  })
  if (!drawn.ok()) throw new Error(await drawn.text())
  await page.goto(site.url)
  const legend = page.locator('[data-chart]')
  for (const name of ['Cross', ...STUDIES.map(([, shown]) => shown)])
    await legend.getByText(name, { exact: true }).first().waitFor({ timeout: 300_000 })
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'))
  await page.waitForTimeout(3000)
  const tools = await page.context().newCDPSession(page)
  console.log(
    `${BARS.toLocaleString('en-US')} bars, ${DRAWINGS} drawings, ${STUDIES.length + 1} scripts, dragged, ${loadText()}`,
  )
  for (const spacing of ['7 px a bar', '1 px', '0.1 px', 'all bars']) {
    await zoom(page, spacing)
    printFrames('drawn on', spacing, await traced(tools, () => drag(page, SECONDS)))
  }
  await page.context().close()
}

/** Of the common tools. */
function drawings(): readonly object[] {
  const tools = ['trend-line', 'rectangle', 'fib-retracement', 'horizontal-line', 'text', 'parallel-channel']
  const points = [2, 2, 2, 1, 1, 3]
  const closes = walk(BARS)
    .split('\n')
    .slice(1)
    .map((row) => Number(row.split(',')[4]))
  return Array.from({ length: DRAWINGS }, (_, i) => {
    // Half of them among the last two hundred bars, which are on screen first, the others all along.
    const bar = i % 2 === 0 ? BARS - 1 - i : BARS - 1 - Math.round((i / DRAWINGS) * (BARS - 200))
    return {
      id: `bench_${i}`,
      tool: tools[i % tools.length],
      points: Array.from({ length: points[i % points.length]! }, (_none, p) => ({
        time: Date.UTC(2024, 0, 1) + (bar - p * 30) * 60_000,
        price: closes[bar - p * 30]! + p,
      })),
      style: i % tools.length === 4 ? { text: `Note ${i}` } : {},
    }
  })
}

/** Eight charts of four intervals that scroll together. */
async function eightCharts(site: Site): Promise<void> {
  const markets = [
    { exchange: 'SP', symbol: 'SPX', interval: '1d' },
    { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' },
  ]
  const all = Array.from({ length: 8 }, (_, i) => chart(`c${i + 1}`, markets[i % 2]!))
  const { page } = await site.open({
    width: 1920,
    height: 1080,
    remembered: {
      ...BARE,
      script: EDITED,
      charts: { shape: '8', links: ['crosshair', 'range'], active: 'c1', script: 'c1', all },
    },
  })
  await page.goto(site.url)
  await page.getByRole('application').nth(7).waitFor()
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'))
  await page.waitForTimeout(2000)
  const tools = await page.context().newCDPSession(page)
  console.log(`Eight charts with linked ranges and crosshair, dragged, ${loadText()}`)
  for (const spacing of ['7 px a bar', '1 px']) {
    await zoom(page, spacing)
    printFrames('eight charts', spacing, await traced(tools, () => drag(page, SECONDS)))
  }
  await page.context().close()
}

/** From a value typed into an input to the frame in which the legend has the new average. */
async function inputs(site: Site): Promise<void> {
  const { page } = await site.open({
    width: 1440,
    height: 900,
    remembered: { ...BARE, bottom: 'script', script: EDITED, 'run.bars': 5000 },
  })
  await page.goto(site.url)
  await page.getByLabel('Fast').waitFor()
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'))
  await page.waitForTimeout(2000)
  const times: number[] = []
  for (let i = 0; i < 40; i++) times.push(await page.evaluate(inputToFrame, String(5 + (i % 30))))
  // The first ones find code cold that a person has warm after a moment.
  const warm = times.slice(8)
  console.log(`Input to redrawn result, 5,000 bars: ${spread(warm)}, ${loadText()}`)
  noteRow('input to redrawn result', median(warm), 'ms')
  await page.context().close()
}

/** In the page. */
function inputToFrame(value: string): Promise<number> {
  const field = [...document.querySelectorAll<HTMLInputElement>('input')].find(
    (one) => one.labels?.[0]?.textContent?.includes('Fast') === true,
  )!
  const legend = document.querySelector('[data-chart]')!
  return new Promise((resolve) => {
    const begun = performance.now()
    const watch = new MutationObserver(() => {
      watch.disconnect()
      requestAnimationFrame(() => {
        const painted = new MessageChannel()
        painted.port1.addEventListener('message', () => resolve(performance.now() - begun))
        painted.port1.start()
        painted.port2.postMessage(null)
      })
    })
    const numbers = [...legend.querySelectorAll('.num')].at(-1)!
    watch.observe(numbers.parentElement!, { subtree: true, characterData: true, childList: true })
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, value)
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    field.dispatchEvent(new Event('change', { bubbles: true }))
  })
}

/** From a key in the middle of a long script to the frame with the letter. */
async function keys(site: Site): Promise<void> {
  const lines = Array.from(
    { length: 990 },
    (_, i) => `value${i} = ta.ema(close, ${2 + (i % 50)}) + math.abs(open - high) // line ${i}`,
  )
  const source = `//@version=6\nindicator("Long", overlay = true)\n${lines.join('\n')}\nplot(value1)\n`
  const { page } = await site.open({
    width: 1440,
    height: 900,
    remembered: { ...BARE, bottom: 'script', script: { id: null, name: 'Long', source }, 'run.bars': 500 },
  })
  await page.goto(site.url)
  const editor = page.getByRole('textbox', { name: 'Pine Script source' })
  await editor.click()
  await page.waitForTimeout(3000)
  await page.keyboard.press('Control+Home')
  for (let i = 0; i < 20; i++) await page.keyboard.press('PageDown')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.evaluate(noteKeys)
  const tools = await page.context().newCDPSession(page)
  console.log(`Typing in a script of 1,000 lines, ${loadText()}`)
  // As fast as quick hands type, so that checks of the text fall between keys as they do for a person.
  const trace = await traced(tools, async () => {
    for (const letter of 'averageOfTheLastBars = ta.sma(close, 14) + ta.rsi(close, 14) * 2 ') {
      await page.keyboard.press(letter === ' ' ? 'Space' : letter)
      await page.waitForTimeout(90)
    }
  })
  printFrames('typing', 'a key', trace)
  const noted = await page.evaluate(() => (globalThis as unknown as { noted: number[] }).noted)
  console.log(`Key to frame, with the wait for the screen: ${spread(noted)}`)
  noteRow('key to frame', median(noted), 'ms')
  await page.context().close()
}

/** In the page: notes for each key how long after it the next frame was painted. */
function noteKeys(): void {
  const noted: number[] = []
  Object.assign(globalThis, { noted })
  addEventListener(
    'keydown',
    (event) =>
      requestAnimationFrame(() => {
        const painted = new MessageChannel()
        painted.port1.addEventListener('message', () => noted.push(performance.now() - event.timeStamp))
        painted.port1.start()
        painted.port2.postMessage(null)
      }),
    { capture: true },
  )
}
