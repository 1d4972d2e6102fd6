// What must hold on every page: no complaint of the console or the policy, nothing that a reader's tools stumble over, no
// other host that is asked, and no stored text that runs, although names and texts of all kinds try to.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { isTurn } from '../long.ts'
import { violations } from './axe.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'
import { cutOff, sideways } from './sideways.ts'

const PAGES = [
  '/research',
  '/research/sample%3ASMA%20cross',
  '/research/sample%3ASMA%20cross/optimise',
  '/research/library%3Arsi/scan',
  '/research/sample%3ASMA%20cross/forward',
  '/research/portfolios/new',
  '/markets',
  '/markets/sources',
  '/alerts',
  '/alerts/fired',
  '/alerts/channels',
  '/alerts/webhooks',
  '/alerts/broker',
  '/alerts/inbox',
  '/ideas',
  '/reference',
  '/reference/alerts',
  '/help',
  '/help/fills',
  '/settings/profile',
  '/settings/sign-in',
  '/settings/tokens',
  '/settings/appearance',
  '/settings/app',
  '/settings/inbox',
  '/settings/about',
  '/nowhere',
]
const QUIET = { 'tour.done': true }

/** As a click on a link leads: the page's code stays, and only a first address is loaded whole. */
async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    const link = Object.assign(document.createElement('a'), { href: to })
    document.body.append(link)
    link.click()
    link.remove()
  }, address)
  await page.waitForURL(address)
  await settled(page)
}

/** The page has its heading and nothing on it is still loading. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => !document.querySelector('main [aria-busy="true"]'))
}

describe.skipIf(noBrowser)('every page', () => {
  let site: Site
  let ideas: readonly string[]
  beforeAll(async () => {
    site = await startSite()
    const { page } = await site.open({ remembered: QUIET })
    ideas = await storeHostileTexts(site, page)
    await site.closePages()
  }, 300_000)
  afterAll(() => site.close())

  for (const [way, mode, theme, width] of [
    [0, 'wide and light', 'light', 1440],
    [1, 'narrow and dark', 'dark', 380],
  ] as const)
    test(`all are quiet and accessible, run no stored text, and ask no other host, ${mode}`, async () => {
      const { page, complaints } = await site.open({ remembered: { ...QUIET, theme }, width })
      const hosts = new Set<string>()
      page.on('request', (request) => hosts.add(new URL(request.url()).origin))
      // The chart, whose own accessibility has a suite of its own.
      await page.goto(site.url)
      await settled(page)
      const paths = [...PAGES, ...ideas.map((id) => `/ideas/${id}`)]
      for (const path of paths.filter((_, at) => isTurn(at, way, 2))) {
        await follow(page, site.url + path)
        expect({ path, found: await violations(page) }).toEqual({ path, found: [] })
        expect({ path, wide: await sideways(page) }).toEqual({ path, wide: [] })
        expect({ path, cut: await cutOff(page) }).toEqual({ path, cut: [] })
        if (width > 380) continue
        // Half of a screen, where the rail stands beside the page.
        await page.setViewportSize({ width: 780, height: 800 })
        await painted(page)
        expect({ path, wide: await sideways(page) }).toEqual({ path, wide: [] })
        await page.setViewportSize({ width, height: 800 })
      }
      expect(await whatRan(page)).toBeUndefined()
      expect([...hosts].filter((origin) => origin !== 'null')).toEqual([site.url])
      // A policy that had to step in would have said so.
      expect(complaints).toEqual([])
      await site.closePages()
    }, 300_000)

  test('stored text never runs beside the chart, nor in what a search finds', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    for (const side of ['Watchlist', 'Alerts', 'Ideas']) {
      await page.goto(site.url)
      const drawers = page.getByRole('group', { name: 'Side drawer' })
      const button = drawers.getByRole('button', { name: side })
      if ((await button.getAttribute('aria-pressed')) !== 'true') await button.click()
      await page.getByRole('tab', { name: side, selected: true }).waitFor()
      await painted(page)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search', exact: true }).waitFor()
    const searched = page.waitForResponse((response) => response.url().includes('/api/search'))
    await page.keyboard.type('ran')
    await searched
    await painted(page)
    expect(await whatRan(page)).toBeUndefined()
    expect(complaints).toEqual([])
  }, 300_000)
})

const whatRan = (page: Page) => page.evaluate(() => (globalThis as { ran?: number }).ran)

const HOSTILE = [
  '<script>globalThis.ran=1</script>',
  '"><img src=x onerror="globalThis.ran=2">',
  '<svg onload=globalThis.ran=3>',
  '[x](javascript:globalThis.ran=4)',
  '{{constructor.constructor("globalThis.ran=5")()}}',
  '<iframe srcdoc="<script>parent.ran=6</script>">',
  '</textarea></title><style>*{display:none}</style>',
]

/** In everything that people name or write; gives the ideas' ids. */
async function storeHostileTexts(site: Site, page: Page): Promise<readonly string[]> {
  const post = async (path: string, data: unknown) => {
    const answer = await page.request.post(site.url + path, {
      data,
      headers: { 'content-type': 'application/json' },
    })
    if (!answer.ok()) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as { id: string }
  }
  const ideas: string[] = []
  for (const [i, text] of HOSTILE.entries()) {
    await post('/api/platform/watchlists/import', {
      name: text,
      items: [{ symbol: `X${i}`, exchange: 'Y', note: text }],
    })
    await post('/api/platform/alerts', {
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1d',
      kind: 'price',
      op: 'above',
      price: 1e6,
      channels: ['email'],
      name: text,
      message: text,
    })
    ideas.push(
      (
        await post('/api/platform/ideas', {
          title: text,
          body: `${text}\n\n# ${text}\n\n> ${text}\n\n\`${text}\``,
          tags: [text.slice(0, 50)],
          visibility: 'public',
        })
      ).id,
    )
    await post('/api/platform/scripts', {
      name: text,
      source: `//@version=6\nindicator("x")\nplot(close, '${text.replaceAll("'", '')}')`,
      visibility: 'public',
    })
    await post('/api/platform/tokens', { name: text })
    await post('/api/support/contact', { email: 'a@example.com', subject: text, body: text }).catch(
      () => undefined,
    )
  }
  const strategy =
    '//@version=6\nstrategy("s", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index == 9\n    strategy.entry("<img src=x onerror=globalThis.ran=7>", strategy.long, comment = "<script>globalThis.ran=8</script>")\n'
  await post('/api/platform/backtests', {
    name: HOSTILE[1],
    symbol: 'SPX',
    exchange: 'SP',
    interval: '1d',
    bars: 100,
    source: strategy,
    inputs: {},
  })
  return ideas
}
