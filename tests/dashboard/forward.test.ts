// A forward run in a real browser: from a kept backtest to its orders, and to what a backtest of today says, at a desk and on
// a phone.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { violations } from './axe.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { sideways } from './sideways.ts'

const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const SOURCE =
  '//@version=6\nstrategy("mine", default_qty_type = strategy.fixed, default_qty_value = 1)\nif bar_index % 3 == 0\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")'
const REMEMBERED = { 'tour.done': true }

describe.skipIf(noBrowser)('forward runs', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterAll(() => site.close())

  test('a kept strategy is followed, its orders appear as bars close, and it is compared and removed', async () => {
    const { page, complaints } = await site.open({ remembered: REMEMBERED, width: 1440 })
    const lines = barCsv(80).trimEnd().split('\n')
    const bring = async (count: number) => {
      const address = `${site.url}/api/platform/bars/import?${new URLSearchParams(MARKET).toString()}`
      const headers = { origin: site.url, 'content-type': 'text/csv' }
      const data = `${lines.slice(0, count + 1).join('\n')}\n`
      expect((await page.request.post(address, { headers, data })).status()).toBe(200)
    }
    await bring(40)
    await page.goto(`${site.url}/forward`)
    await page.getByText('No forward runs yet').waitFor()
    await page.locator('nav a[aria-current=page]', { hasText: 'Research' }).waitFor()
    const kept = await page.request.post(`${site.url}/api/platform/backtests`, {
      headers: { origin: site.url },
      data: { name: 'Threes', ...MARKET, bars: 40, source: SOURCE, overrides: { initial_capital: 200000 } },
    })
    expect(kept.status()).toBe(200)
    await page.getByRole('button', { name: 'Backtests', exact: true }).click()
    // Its row says what was set for it, and the page of what follows it does, too.
    await page.getByText('40 bars · initial capital 200,000').waitFor()
    await page.getByRole('button', { name: 'More for Threes' }).press('Enter')
    expect(await violations(page)).toEqual([])
    await page.getByRole('menuitem', { name: 'Follow from now on' }).press('Enter')
    await page.getByText('They appear here as bars close.').waitFor()
    await page.getByText(/with initial capital 200,000, .*followed for 0 bars so far/).waitFor()
    await page.getByText('Newest closed bar').waitFor()
    await bring(50)
    await page.getByRole('table', { name: 'Orders' }).getByText('filled').first().waitFor()
    await page.getByRole('img', { name: /^Equity of Backtest of today’s bars, Forward run\./ }).waitFor()
    await page.getByRole('button', { name: 'Compare with a backtest' }).click()
    await page.getByText('A backtest of the stored bars is the same').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByText('followed for 10 bars').waitFor()
    await page.reload()
    await page.getByRole('img', { name: /^Equity of Backtest of today’s bars, Forward run\./ }).waitFor()
    // A bar that is corrected is named with what is another, and the fills that differ with whose they are.
    lines[45] = lines[45]!.replace(/^([^,]*),([^,]*)/, (_, at, open) => `${at},${Number(open) + 1 / 4}`)
    await bring(50)
    await page.getByRole('button', { name: 'Compare with a backtest' }).click()
    const corrected = page.getByRole('table', { name: 'Corrected bars' })
    await corrected
      .getByRole('cell', { name: /^open [0-9.]+$/ })
      .first()
      .waitFor()
    const differing = page.getByRole('table', { name: 'Fills that differ' })
    await differing.getByText('Forward run').waitFor()
    await differing.getByText('Backtest of today’s bars').waitFor()
    // The curve of the backtest is that of the corrected bars, too.
    await page.waitForFunction(() => {
      const worths = [...document.querySelectorAll('[aria-label="Equity"] li .num')]
      return new Set(worths.map(({ textContent }) => textContent)).size === 2
    })
    expect(await violations(page)).toEqual([])
    const shots = process.env['SHOTS']
    if (shots) await page.screenshot({ path: `${shots}/forward.png`, fullPage: true })
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText(/stopped after \d+ bars/).waitFor()
    // Its trades are shown on the chart of its market, with its report.
    await page.getByRole('button', { name: 'Show on the chart' }).click()
    await page.getByRole('application', { name: /^Chart of S, 1h/ }).waitFor()
    await page.getByRole('heading', { name: 'Threes' }).waitFor()
    // The newest bar may not be over.
    await page.getByText('One bar has come since').waitFor()

    const phone = await site.open({ remembered: { ...REMEMBERED, theme: 'light' }, width: 390 })
    await phone.page.goto(site.url)
    await phone.page.getByRole('link', { name: 'Research' }).click()
    await phone.page.getByRole('button', { name: 'Forward runs' }).click()
    await phone.page.getByRole('link', { name: 'Threes' }).click()
    await phone.page.getByText(/stopped after \d+ bars/).waitFor()
    expect(await sideways(phone.page)).toEqual([])
    expect(await violations(phone.page)).toEqual([])
    if (shots) await phone.page.screenshot({ path: `${shots}/forward-phone.png`, fullPage: true })
    await phone.page
      .getByRole('button', { name: /^More for/ })
      .first()
      .click()
    await phone.page.getByRole('menuitem', { name: 'Delete' }).click()
    await phone.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await phone.page.getByText('No forward runs yet').waitFor()
    expect([...complaints, ...phone.complaints]).toEqual([])
  }, 300_000)
})
