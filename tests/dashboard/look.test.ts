// What the page looks like: the theme, and pictures of many states in both themes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { noBrowser, painted } from './browser.ts'
import { seededSite, type SeededSite } from './seeded-site.ts'

const ground = (page: Page): Promise<string> =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor)
const [DARK, LIGHT] = ['rgb(10, 13, 17)', 'rgb(242, 243, 245)']

describe.skipIf(noBrowser)('the look', () => {
  let site: SeededSite
  beforeAll(async () => {
    site = await seededSite()
  }, 300_000)
  afterAll(() => site.close())

  test('the theme is the system’s as it changes, until one is chosen', async () => {
    const page = await site.open([1000, 700], { bottom: '', side: '' })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${site.url}/settings/appearance`)
    const theme = (name: string) => page.getByRole('button', { name, exact: true })
    await theme('System').and(page.locator('[aria-pressed=true]')).waitFor()
    expect(await ground(page)).toBe(LIGHT)
    await page.emulateMedia({ colorScheme: 'dark' })
    await painted(page)
    expect(await ground(page)).toBe(DARK)
    expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#0f1216')
    await theme('Light').click()
    await painted(page)
    expect(await ground(page)).toBe(LIGHT)
    expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#ffffff')

    // What was chosen is there before the page's own code is: nothing dark flashes by.
    await page.route(/\/assets\/(?!early-)[^/]*\.js$/, (route) => route.abort())
    await page.goto(`${site.url}/settings/appearance`, { waitUntil: 'commit' })
    await page.waitForFunction(() => document.body !== null && document.styleSheets.length > 0)
    expect(await ground(page)).toBe(LIGHT)
    await page.unroute(/\/assets\//)
  }, 300_000)
})
