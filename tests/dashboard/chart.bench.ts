// How long a cold browser takes until the chart is drawn, and what it fetches until then, by its own clock.
//
// Every round is a new browser profile, so nothing is cached: its first visit, and that of somebody who left a strategy on the
// chart. Told are the frame after the one in which the bars were drawn, that of the strategy's marks, and the bytes that came
// over the wire until each.

import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { noteRow } from '../bench-rows.ts'
import { noBrowser, startSite, type Site } from './browser.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { rounds: { type: 'string', default: '9' } },
})
const SCRIPT = `//@version=6
strategy("Cross", overlay = true)
fast = ta.sma(close, 10)
slow = ta.sma(close, 30)
plot(fast, color = color.orange)
plot(slow, color = color.blue)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("Long")
`
const LEFT = { 'tour.done': true, script: { id: null, name: 'Cross', source: SCRIPT } }

interface Seen {
  readonly barsMs: number
  readonly scriptMs: number | null
  readonly barsKb: number
  readonly allKb: number
}

if (!noBrowser) {
  const site = await startSite({ offline: true })
  try {
    const lastRun = await stored(site)
    const visits = {
      'first visit': {},
      'back to a strategy': { ...LEFT, 'run.last': lastRun },
    }
    for (const [name, remembered] of Object.entries(visits)) {
      const rounds: Seen[] = []
      for (let i = 0; i < Number(values.rounds); i++) rounds.push(await visit(site, remembered, i === 0))
      const of = (get: (seen: Seen) => number | null) => spread(rounds.map((one) => get(one) ?? Number.NaN))
      const drawn = middle(rounds.map(({ barsMs }) => barsMs))
      noteRow(`a cold browser, ${name}: bars drawn`, drawn, 'ms', { wanted: '≤ 350 ms' })
      const fetched = middle(rounds.map(({ barsKb }) => barsKb))
      noteRow(`a cold browser, ${name}: fetched until then`, fetched, 'kB', { wanted: '≤ 400 kB' })
      console.log(
        `${name.padEnd(20)} bars after ${of(({ barsMs }) => barsMs)} ms, ${of(({ barsKb }) => barsKb)} kB; script after ${of(({ scriptMs }) => scriptMs)} ms; in all ${of(({ allKb }) => allKb)} kB`,
      )
    }
  } finally {
    await site.close()
  }
}

/** Id of a run that is kept. */
async function stored(site: Site): Promise<string> {
  const { page } = await site.open()
  await page.goto(`${site.url}/settings/about`)
  const body = {
    name: 'Cross',
    exchange: 'SP',
    symbol: 'SPX',
    interval: '1d',
    bars: 20_000,
    source: SCRIPT,
    inputs: {},
  }
  const answer = await page.request.post(`${site.url}/api/platform/backtests`, { data: body })
  if (!answer.ok()) throw new Error(await answer.text())
  return ((await answer.json()) as { id: string }).id
}

async function visit(
  site: Site,
  remembered: Readonly<Record<string, unknown>>,
  tells: boolean,
): Promise<Seen> {
  const { page } = await site.open({ remembered })
  const tools = await page.context().newCDPSession(page)
  await tools.send('Network.enable')
  const names = new Map<string, string>()
  const came: { readonly name: string; readonly bytes: number; readonly at: number }[] = []
  let begun = Infinity
  tools.on('Network.requestWillBeSent', ({ timestamp }) => (begun = Math.min(begun, timestamp)))
  tools.on('Network.responseReceived', ({ requestId, response }) => names.set(requestId, response.url))
  tools.on('Network.loadingFinished', ({ requestId, encodedDataLength: bytes, timestamp: at }) => {
    came.push({ name: names.get(requestId) ?? '', bytes, at })
  })
  await page.addInitScript(watch)
  await page.goto(site.url, { waitUntil: 'commit' })
  const withScript = 'run.last' in remembered
  await page.waitForFunction((name) => name in globalThis, withScript ? 'scriptDrawn' : 'barsDrawn')
  await page.waitForTimeout(300)
  const { barsDrawn, scriptDrawn = null } = await drawn(page)
  if (tells)
    for (const { name, bytes, at } of came)
      console.log(
        `  ${((at - begun) * 1000).toFixed(0).padStart(5)} ms ${(bytes / 1000).toFixed(1).padStart(7)} kB  ${new URL(name).pathname}`,
      )
  const kb = (until: number) =>
    came.filter(({ at }) => at - begun <= until).reduce((sum, { bytes }) => sum + bytes / 1000, 0)
  await page.context().close()
  return { barsMs: barsDrawn, scriptMs: scriptDrawn, barsKb: kb(barsDrawn / 1000), allKb: kb(Infinity) }
}

function drawn(page: Page) {
  return page.evaluate(() => {
    const { barsDrawn, scriptDrawn } = globalThis as unknown as { barsDrawn: number; scriptDrawn?: number }
    return { barsDrawn, ...(scriptDrawn !== undefined && { scriptDrawn }) }
  })
}

/** In the page: notes the frame after that in which something was drawn first. */
function watch(): void {
  const noted = globalThis as unknown as Record<'barsDrawn' | 'scriptDrawn', number | undefined>
  const look = () => {
    const chart = document.querySelector('[role="application"]')
    const isBusy = chart?.parentElement?.querySelector('[aria-busy="true"]')
    if (chart?.querySelector('canvas') && !isBusy) noted.barsDrawn ??= performance.now()
    if (
      noted.barsDrawn !== undefined &&
      document.querySelector('[aria-label="Take the script off the chart"]')
    )
      noted.scriptDrawn ??= performance.now()
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

function middle(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[list.length >> 1] ?? Number.NaN
}

function spread(list: readonly number[]): string {
  const sorted = list.filter((one) => one === one).toSorted((a, b) => a - b)
  if (sorted.length === 0) return '–'
  return `${sorted[sorted.length >> 1]!.toFixed(0)} (${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)})`
}
