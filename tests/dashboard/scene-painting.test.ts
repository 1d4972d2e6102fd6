// Whatever comes first, the chart shows the same in the end: what arrives is dealt in every order to a real chart in a real
// browser, and the pictures are compared.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chromium, type Browser, type Page } from 'playwright-core'
import { foundChromium, launchOptions } from '../browser/chromium.ts'

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
  await page.waitForFunction(() => 'dealt' in globalThis)
  return page
}

const PAGE = `<!doctype html><style>:root {
  --surface: #0f1216; --raised: #161b22; --line: #222933; --line-strong: #323b48; --text: #d6dae1; --muted: #8f98a6;
  --accent: #5b9dff; --up: #2fbf8f; --down: #f0616d; --warn: #e0a83c; --font: sans-serif }</style>`

function orders(names: readonly string[]): readonly (readonly string[])[] {
  if (names.length < 2) return [names]
  return names.flatMap((one) => orders(names.filter((other) => other !== one)).map((rest) => [one, ...rest]))
}

describe.skipIf(CHROMIUM === null)('in whatever order things arrive', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions(CHROMIUM!))
    page = await blankPage(browser)
  }, 60_000)
  afterAll(() => browser.close())

  test('zone, preview and older bars, dealt after the first bars, end in the same picture', async () => {
    const dealt = (order: readonly string[]) =>
      page.evaluate(
        (names) =>
          (globalThis as unknown as { dealt: (names: readonly string[]) => Promise<string> }).dealt(names),
        order,
      )
    const [first = [], ...others] = orders(['zone', 'preview', 'older'])
    const wanted = await dealt(first)
    const odd: string[] = []
    for (const order of others) if ((await dealt(order)) !== wanted) odd.push(order.join(' → '))
    expect(odd).toEqual([])
  }, 60_000)
})
