// Panning the chart of 200,000 bars with a script on it, measured by the browser's own tracing.
//
// The pointer drags at 60 moves a second, at four zooms: from two hundred bars on screen to all of them. Where nothing
// else runs on the machine, a frame that is late is the page's; the main thread's time is so in any case.

import { noBrowser, startSite } from './browser.ts'
import { drag, importWalk, loadText, printFrames, traced, zoom } from './tracing.ts'

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

if (!noBrowser) {
  const site = await startSite({ offline: true })
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
  await importWalk(page, site.url, 'WALK', BARS)
  await page.goto(site.url)
  await page.getByText('Cross').first().waitFor()
  await page.waitForTimeout(1500)
  const tools = await page.context().newCDPSession(page)
  console.log(
    `${BARS.toLocaleString('en-US')} bars, two averages, ${SECONDS} s of dragging each, ${loadText()}`,
  )
  for (const spacing of ['7 px a bar', '1 px', '0.1 px', 'all bars']) {
    await zoom(page, spacing)
    printFrames('panning', spacing, await traced(tools, () => drag(page, SECONDS)))
  }
  if (complaints.length > 0) console.log(complaints)
  await site.close()
}
