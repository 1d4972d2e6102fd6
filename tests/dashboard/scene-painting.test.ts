// Whatever comes first, the chart shows the same in the end: what arrives is dealt in every order to a real chart in a real
// browser, and the pictures are compared.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { foundChromium, launchOptions } from '../browser/chromium.ts'
import { isLong } from '../long.ts'

const CHROMIUM = foundChromium()

/** A blank page with `scene-child.ts` in it: no server, since nothing is asked for. */
async function blankPage(browser: Browser): Promise<Page> {
  const { outputs } = await Bun.build({
    entrypoints: [`${import.meta.dir}/scene-child.ts`],
    target: 'browser',
  })
  const page = await browser.newPage({ viewport: { width: 700, height: 500 } })
  // Settings are remembered, which a page without an address may not do.
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
  await page.goto('http://chart.test/')
  await page.addScriptTag({ content: await outputs[0]!.text(), type: 'module' })
  await page.waitForFunction(() => 'allOrders' in globalThis)
  return page
}

const PAGE = `<!doctype html><style>:root {
  --surface: #0f1216; --raised: #161b22; --line: #222933; --line-strong: #323b48; --text: #d6dae1; --muted: #8f98a6;
  --accent: #5b9dff; --up: #2fbf8f; --down: #f0616d; --warn: #e0a83c; --font: sans-serif }</style>`

interface InPage {
  readonly allOrders: () => readonly string[]
  readonly edges: (scrolled: number, names: readonly string[]) => Promise<readonly (number | null)[]>
  readonly someOrders: (count: number, seed: number) => Promise<readonly string[]>
}

describe.skipIf(CHROMIUM === null)('in whatever order things arrive', () => {
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions(CHROMIUM!))
    page = await blankPage(browser)
    page.on('pageerror', ({ message }) => complaints.push(message))
  }, 60_000)
  afterAll(() => browser.close())

  test('the scene and what the library holds are the same in the end: all orders of nine arrivals', async () => {
    expect(await page.evaluate(() => (globalThis as unknown as InPage).allOrders())).toEqual([])
  }, 120_000)

  test('bars in view stay there when others come, and the newest is followed', async () => {
    const edges = (by: number) =>
      page.evaluate(
        (scrolled) =>
          (globalThis as unknown as InPage).edges(scrolled, [
            'forming',
            'older',
            'studyB',
            'zone',
            'forming',
          ]),
        by,
      )
    const [edge, ...later] = await edges(-120)
    expect(edge).toBeNumber()
    expect(later).toEqual(later.map(() => edge!))
    expect(await edges(0)).toEqual(Array.from({ length: 6 }, () => null))
  }, 120_000)

  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const count = isLong ? 200 : 20
  test(`so is the picture: ${count} orders by seed ${seed}`, async () => {
    const deal = ([many, from]: readonly [number, number]) =>
      (globalThis as unknown as InPage).someOrders(many, from)
    expect(await page.evaluate(deal, [count, seed] as const)).toEqual([])
    expect(complaints).toEqual([])
  }, 120_000)
})
