// Many tabs of one browser on one server: all of them load, all of them hear, over one connection.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { noBrowser, startSite, type Site } from './browser.ts'

const TABS = 8
const QUIET = { 'tour.done': true }

describe.skipIf(noBrowser)('tabs', () => {
  let site: Site
  let bars = 0
  beforeAll(async () => {
    site = await startSite({ offline: true })
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  /** Brings a bar that makes a new alert fire. */
  async function fire(context: BrowserContext, message: string): Promise<void> {
    const symbol = `TAB${++bars}`
    const { request } = context
    const alert = { symbol, exchange: 'ME', interval: '1d', kind: 'price', op: 'above', price: 10 }
    const made = await request.post(`${site.url}/api/platform/alerts`, {
      data: { ...alert, channels: ['email'], message },
    })
    expect(made.ok()).toBe(true)
    const brought = await request.post(
      `${site.url}/api/platform/bars/import?symbol=${symbol}&exchange=ME&interval=1d`,
      {
        headers: { 'content-type': 'text/csv' },
        data: 'time,open,high,low,close,volume\n2024-01-01,11,12,10,11,5\n',
      },
    )
    expect(brought.ok()).toBe(true)
  }

  /** Asked for before it happens: what is told goes away by itself after a few seconds. */
  const hears = (page: Page, text: string) => page.getByText(text).first().waitFor()
  const streams = async () =>
    Number(/chartroom_event_streams (\d+)/.exec(await (await fetch(`${site.url}/metrics`)).text())?.[1])

  test('each keeps the text of its own, and all have the theme that is chosen in one', async () => {
    const { page: first } = await site.open({ remembered: { ...QUIET, bottom: 'script' } })
    const second = await first.context().newPage()
    const editor = (page: Page) => page.getByRole('textbox', { name: /Pine/ })
    for (const page of [first, second]) await page.goto(site.url)
    for (const [page, line] of [
      [second, '// of the second'],
      [first, '// of the first'],
    ] as const) {
      await editor(page).click()
      await page.keyboard.press('Control+Home')
      await page.keyboard.type(`${line}\n`)
    }
    const theme = first.locator('html')
    expect(await theme.getAttribute('data-theme')).toBe('light')
    await second.goto(`${site.url}/settings/appearance`)
    await second.getByRole('button', { name: 'Dark', exact: true }).click()
    await first.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
    for (const [page, line, other] of [
      [second, '// of the second', '// of the first'],
      [first, '// of the first', '// of the second'],
    ] as const) {
      await page.goto(site.url)
      await page.getByText(line, { exact: true }).waitFor()
      expect(await page.getByText(other, { exact: true }).count()).toBe(0)
    }
  }, 300_000)

  test('eight load, hear an alert and a finished run over one stream, and go on when the first is closed', async () => {
    const { page: first, complaints } = await site.open({ remembered: QUIET })
    const context = first.context()
    const pages = [first]
    while (pages.length < TABS) pages.push(await context.newPage())
    for (const [i, page] of pages.entries()) {
      await page.goto(`${site.url}/${i % 2 ? 'alerts' : 'research'}`)
      await page.locator('h1').first().waitFor()
    }
    const all = Promise.all(pages.map((page) => hears(page, 'everybody hears this')))
    await fire(context, 'everybody hears this')
    await all
    expect(await streams()).toBe(1)

    const ran = await context.request.post(`${site.url}/api/platform/backtests`, {
      data: {
        name: 'A run of another tab',
        symbol: 'SPX',
        exchange: 'SP',
        interval: '1d',
        bars: 50,
        inputs: {},
        source:
          '//@version=6\nstrategy("s", default_qty_type = strategy.fixed, default_qty_value = 1)\nstrategy.entry("L", strategy.long)',
      },
    })
    expect(ran.ok()).toBe(true)
    for (const page of pages.filter((_, i) => i % 2 === 0)) await hears(page, 'A run of another tab')

    await first.close()
    const others = Promise.all(pages.slice(1).map((page) => hears(page, 'also without the first')))
    await fire(context, 'also without the first')
    await others
    expect(await streams()).toBe(1)
    for (const page of pages.slice(1)) await page.close()
    expect(complaints).toEqual([])
  }, 300_000)

  test('without shared workers a tab has a stream of its own', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
    let release = () => undefined as void
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/api/platform/stream?*', async (route) => {
      await held
      await route.continue()
    })
    await page.goto(`${site.url}/alerts`)
    await page.locator('h1').first().waitFor()
    const heard = hears(page, 'heard all the same')
    await fire(page.context(), 'heard all the same')
    // What comes before the stream is open is told when it is.
    release()
    await heard
    expect(complaints).toEqual([])
  }, 300_000)
})
