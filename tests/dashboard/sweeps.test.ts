// Optimising in a real browser: choose inputs, watch the map fill, read the verdict, run the best on the chart. At a desk, on
// a phone, and with the keyboard alone.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { sideways } from './sideways.ts'

const SOURCE = `//@version=6
strategy("Averages", initial_capital=10000, default_qty_type = strategy.fixed, default_qty_value = 1)
fast = input.int(10, "Fast length", minval=2)
slow = input.int(40, "Slow length", minval=3)
both = input.bool(true, "Short too")
f = ta.sma(close, fast)
s = ta.sma(close, slow)
if ta.crossover(f, s)
    strategy.entry("L", strategy.long)
if ta.crossunder(f, s)
    if both
        strategy.entry("S", strategy.short)
    else
        strategy.close("L")
`
const REMEMBERED = { 'tour.done': true, script: { id: null, name: 'Averages', source: SOURCE } }

/** For whoever wants to look: SHOTS=folder. */
async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

describe.skipIf(noBrowser)('optimising', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  test('finds the best inputs of the script in the editor, and runs them on the chart', async () => {
    const { page, complaints } = await site.open({ remembered: REMEMBERED, width: 1280 })
    await page.goto(`${site.url}/`)
    await page.getByRole('button', { name: 'Optimise', exact: true }).click()
    await page.getByRole('heading', { name: 'Averages', exact: true }).waitFor()
    await page.getByLabel('Fast length: step').fill('2')
    await page
      .getByText('combinations')
      .or(page.getByText(/\d+ trials, on (?:all|the last)/))
      .first()
      .waitFor()
    expect(await page.getByLabel('Condition between them').inputValue()).toBe('"Fast length" < "Slow length"')
    expect(await violations(page)).toEqual([])
    await shot(page, 'optimise')
    await page.getByText('Properties of the strategy').click()
    await page.getByRole('checkbox', { name: 'Pyramiding' }).check()
    await page.getByLabel('Pyramiding: to').fill('1')
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Optimise', exact: true }).click()
    await page.getByText(/^Best of \d+ tried\. Chance that luck alone did this/).waitFor({ timeout: 60_000 })
    await page.getByRole('heading', { name: 'Map of the scores' }).waitFor()
    // The best comes first, without looking for it.
    const scores = page.getByRole('table', { name: 'Trials' }).locator('tbody tr td:nth-child(5)')
    const texts = (await scores.allInnerTexts()).filter((text) => /\d/.test(text))
    const values = texts.map((text) => Number(text.replace('−', '-').replaceAll(',', '')))
    expect(values).toEqual(values.toSorted((a, b) => b - a))
    expect(values.length).toBeGreaterThan(2)
    await page.getByText('of the first 70% of the bars').first().waitFor()
    await shot(page, 'verdict')
    expect(await violations(page)).toEqual([])
    await page.locator('details summary').first().click()
    expect(await violations(page)).toEqual([])

    // By keys and by mouse: a band on an axis leaves the trials that pass there.
    await page.getByRole('slider', { name: 'Fast length, to' }).focus()
    await page.keyboard.press('Home')
    const some = page.getByText(/^\d+ of \d+ trials, the best of them/)
    await page.getByRole('button', { name: 'All trials' }).waitFor()
    const [few = 0, all = 0] = (await some.innerText()).match(/\d+/g)!.map(Number)
    expect(few).toBeGreaterThan(0)
    expect(few).toBeLessThan(all)
    await shot(page, 'brushed')
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'All trials' }).click()
    await page.getByText(`${all} of ${all} trials`).waitFor()

    // By keys: from cell to cell, and Enter runs it.
    const cells = page.getByRole('region', { name: /^Score by/ }).getByRole('button')
    await cells.first().focus()
    await page.keyboard.press('ArrowRight')
    const second = await page.evaluate(() => (document.activeElement as HTMLElement).title)
    expect(second).toContain('Fast length')
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Report', selected: true }).waitFor()
    await page
      .getByText(/Averages, trial \d+/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Luck', exact: true }).click()
    await page.getByText(/^One of \d+ tried\. Chance that luck alone did this/).waitFor()
    expect(await violations(page)).toEqual([])
    await shot(page, 'luck')
    await page.goto(`${site.url}/sweeps`)
    const late = Promise.withResolvers<void>()
    await page.route('**/results*', (route) => late.promise.then(() => route.continue()))
    await page.getByRole('link', { name: 'Averages', exact: true }).click()
    await shot(page, 'sweeps')

    // Its proof goes with it, and it is not shared before its trials have come.
    await page.getByText(/^Best of \d+ tried\./).waitFor()
    const share = page.getByRole('button', { name: 'Share', exact: true })
    expect(await share.count()).toBe(0)
    late.resolve()
    await share.click()
    await page.getByLabel('Title').fill('Averages that cross')
    expect(await violations(page)).toEqual([])
    await shot(page, 'share-sweep')
    await page.getByRole('dialog').getByRole('button', { name: 'Share', exact: true }).click()
    const proof = page.getByRole('region', { name: 'Proof' })
    await proof.getByText(/^Best of \d+ tried\. Chance that luck alone did this/).waitFor()
    await proof.getByText(/trials over \d+ inputs/).waitFor()
    // The wheel over its chart goes on down the page.
    const chart = page.getByRole('img', { name: /^Chart of/ })
    await chart.locator('canvas').first().waitFor()
    await chart.hover()
    const before = await chart.boundingBox()
    await page.mouse.wheel(0, 120)
    await page.waitForFunction(
      (top) => document.querySelector('[aria-label^="Chart of"]')!.getBoundingClientRect().top < top,
      before!.y,
    )
    expect(await violations(page)).toEqual([])
    await proof.scrollIntoViewIfNeeded()
    await shot(page, 'proof')
    expect(complaints).toEqual([])
  }, 300_000)

  test('fits a phone', async () => {
    const { page, complaints } = await site.open({
      remembered: { ...REMEMBERED, theme: 'light' },
      width: 390,
    })
    await page.goto(`${site.url}/sweeps/new`)
    await page.getByLabel('Test', { exact: true }).selectOption('rolling')
    await shot(page, 'phone-form')
    const fits = async () => expect(await sideways(page)).toEqual([])
    await fits()
    await page.getByRole('button', { name: 'Optimise', exact: true }).click()
    await page.getByText(/^Best of \d+ tried/).waitFor({ timeout: 60_000 })
    await page
      .getByRole('img', { name: /^Equity out of sample, window after window: .*% of the capital/ })
      .waitFor()
    await page.getByRole('table', { name: 'Windows' }).waitFor()
    await fits()
    expect(await violations(page)).toEqual([])
    await shot(page, 'phone-verdict')
    await page
      .getByRole('button', { name: /^More for/ })
      .first()
      .click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/\/research\?kind=sweep$/)
    expect(complaints).toEqual([])
  }, 300_000)

  test('finds a best for a script that trades rarely, as the first one does', async () => {
    const { page } = await site.open({ remembered: REMEMBERED })
    const preview = Promise.withResolvers<void>()
    await page.route('**/api/platform/backtests/preview', async (route) => {
      await preview.promise
      await route.continue()
    })
    await page.goto(`${site.url}/`)
    const button = page.getByRole('button', { name: 'Optimise', exact: true })
    const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
    await cancel.waitFor()
    const before = await button.boundingBox()
    preview.resolve()
    await cancel.waitFor({ state: 'detached' })
    // What a preview shows for a moment moves nothing from under the pointer.
    expect(await button.boundingBox()).toEqual(before)
    await button.click()
    await page.waitForURL(/\/research\/editor\/optimise$/)
    const wanted = await page.getByLabel('A trial counts if').inputValue()
    const [, least] = /^trades >= (\d+)$/.exec(wanted)!
    // 50 over 200 days of daily bars cross a handful of times in fourteen years.
    expect(Number(least)).toBeLessThanOrEqual(5)
  }, 300_000)

  test('says what is wrong beside the field that is wrong', async () => {
    const { page } = await site.open({ remembered: REMEMBERED })
    await page.goto(`${site.url}/sweeps/new`)
    await page.getByLabel('Wanted as large as possible').selectOption('Another figure, or an expression')
    await page.getByLabel('Figure or expression').fill('netProfits')
    await page.getByRole('button', { name: 'Optimise', exact: true }).click()
    await page.getByText(/these figures: trades, netProfit/).waitFor()
    await page.getByLabel('Fast length: from').fill('')
    await page.getByText('Say from where.', { exact: true }).waitFor()
    await page.getByText('Fast length: Say from where.').waitFor()
    expect(await page.getByLabel('Fast length: from').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('Fast length: to').getAttribute('aria-invalid')).toBe('false')
    expect(await page.getByRole('button', { name: 'Optimise', exact: true }).isDisabled()).toBe(true)
  }, 300_000)
})
