// Scanning in a real browser: from the script in the editor to the markets on which it holds, and one of them on the chart.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { sideways } from './sideways.ts'

const SOURCE = `//@version=6
indicator("Screen")
average = ta.sma(close, 50)
plot(average, "Average 50")
alertcondition(close > average, "Above it")
alertcondition(close > 0, "Priced")
`
const REMEMBERED = { 'tour.done': true, script: { id: null, name: 'Screen', source: SOURCE } }

/** For whoever wants to look: SHOTS=folder. */
async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: false })
}

describe.skipIf(noBrowser)('scanning', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  test('shows where the conditions of the script in the editor hold, and a market of them on the chart', async () => {
    const { page, complaints } = await site.open({ remembered: REMEMBERED, width: 1280 })
    await page.goto(site.url)
    await page.getByRole('button', { name: 'More for this script' }).click()
    await page.getByRole('menuitem', { name: 'Scan a list…' }).click()
    await page.getByLabel('Interval', { exact: true }).fill('1d')
    expect(await violations(page)).toEqual([])
    await shot(page, 'scan-form')
    await page.getByRole('button', { name: 'Scan', exact: true }).click()
    await page.locator('p', { hasText: /^\d+ of \d+ markets$/ }).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Scan again' }).waitFor()
    await page.getByRole('columnheader', { name: 'Average 50' }).waitFor()
    expect(await violations(page)).toEqual([])
    await shot(page, 'scan')

    await page.getByRole('button', { name: /^Priced \d+$/ }).click()
    expect(await page.getByLabel('Rows where').inputValue()).toBe('Priced')
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByText('the markets where Priced becomes true are only listed here').waitFor()
    await page.getByRole('button', { name: 'Stop watching' }).click()
    await page.getByRole('button', { name: 'Watch', exact: true }).waitFor()
    await page.getByLabel('Rows where').fill('close < 0')
    await page.getByRole('button', { name: 'Choose', exact: true }).click()
    await page.getByText('No market is so now.').waitFor()
    await page.getByLabel('Rows where').fill('RSI < 30')
    await page.getByRole('button', { name: 'Choose', exact: true }).click()
    await page
      .getByText(/Nothing is called "RSI" here. There are: "Average 50"/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: /^All \d+$/ }).click()
    await page.getByRole('button', { name: 'Show SP:SPX on the chart' }).click()
    await page.waitForURL(/\/chart\/SP%3ASPX\/1d$/)
    await page.goto(`${site.url}/scans`)
    await page.getByRole('link', { name: 'Screen', exact: true }).waitFor()
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
  }, 300_000)

  test('fits a phone', async () => {
    const { page, complaints } = await site.open({
      remembered: { ...REMEMBERED, theme: 'light' },
      width: 390,
    })
    await page.goto(`${site.url}/scans/new`)
    const fits = async () => expect(await sideways(page)).toEqual([])
    await page.getByLabel('Interval', { exact: true }).fill('1d')
    await fits()
    await page.getByRole('button', { name: 'Scan', exact: true }).click()
    await page.locator('p', { hasText: /^\d+ of \d+ markets$/ }).waitFor({ timeout: 60_000 })
    await fits()
    expect(await violations(page)).toEqual([])
    await shot(page, 'phone-scan')
    await page
      .getByRole('button', { name: /^More for/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/\/research\?kind=scan$/)
    expect(complaints).toEqual([])
  }, 300_000)
})
