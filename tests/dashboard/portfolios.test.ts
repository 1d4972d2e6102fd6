// Portfolios in a real browser: from kept backtests to what they made of one account, at a desk and on a phone.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { noBrowser, startSite, type Site } from './browser.ts'
import { sideways } from './sideways.ts'

const AXE = readFileSync(`${import.meta.dir}/../../node_modules/axe-core/axe.min.js`, 'utf8')
const averages = (fast: number, slow: number) => `//@version=6
strategy("Averages", initial_capital=10000, default_qty_type=strategy.percent_of_equity, default_qty_value=50)
if ta.crossover(ta.sma(close, ${fast}), ta.sma(close, ${slow}))
    strategy.entry("L", strategy.long)
if ta.crossunder(ta.sma(close, ${fast}), ta.sma(close, ${slow}))
    strategy.close("L")
`
const REMEMBERED = { 'tour.done': true }
const SLOW = `Slow ${'w'.repeat(60)} and a title that was pasted whole`

async function violations(page: Page): Promise<string[]> {
  const tools = await page.context().newCDPSession(page)
  await tools.send('Runtime.evaluate', { expression: AXE })
  const { result } = await tools.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target.join(' ')).join(', '))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  return JSON.parse(String(result.value)) as string[]
}

/** For whoever wants to look: SHOTS=folder. */
/** What stands over the next column. */
const beyondTheirCells = (page: Page): Promise<(string | null)[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('td')]
      .filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => one.textContent),
  )

async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env['SHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

describe.skipIf(noBrowser)('portfolios', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterAll(() => site.close())

  test('are made of kept backtests by keys, and say what each part did for the whole', async () => {
    const { page, complaints } = await site.open({ remembered: REMEMBERED, width: 1440 })
    await page.goto(`${site.url}/portfolios`)
    await page.waitForURL(/\/research\?kind=portfolio$/)
    await page.getByText('No portfolios yet').waitFor()
    for (const [name, fast, slow] of [
      ['Quick', 5, 20],
      [SLOW, 20, 80],
    ] as const) {
      const answer = await page.request.post(`${site.url}/api/platform/backtests`, {
        headers: { origin: site.url },
        data: {
          name,
          exchange: 'SP',
          symbol: 'SPX',
          interval: '1d',
          bars: 1500,
          source: averages(fast, slow),
        },
      })
      expect(answer.status()).toBe(200)
    }
    await page.getByRole('button', { name: 'Backtests', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Choose Quick' }).focus()
    await page.keyboard.press('Space')
    await page.getByRole('checkbox', { name: `Choose ${SLOW}` }).check()
    await page.getByRole('button', { name: 'Put in a portfolio' }).click()
    await page.getByLabel(`Priority of ${SLOW}`).selectOption('2')
    const form = page.url()
    const name = page.getByLabel('Name', { exact: true })
    expect((await name.inputValue()).split(' + ')).toContain('Quick')
    await name.fill('Both')
    await page.getByLabel('Capital').fill('20000')
    expect(await violations(page)).toEqual([])
    await shot(page, 'portfolio-form')
    await page.getByLabel('Capital').press('Enter')
    await page.getByText(/^20,000\.00 USD became /).waitFor({ timeout: 60_000 })
    await page.getByRole('img', { name: /^Equity of .*, All\. The legend/ }).waitFor()
    const parts = page.getByRole('region', { name: 'Parts' }).or(page.getByRole('table', { name: 'Parts' }))
    await parts.first().getByText('1 Quick').or(parts.first().getByText('2 Quick')).first().waitFor()
    await page.getByRole('heading', { name: 'How they go together' }).waitFor()
    expect(await beyondTheirCells(page)).toEqual([])
    await page.getByText('The numbers').click()
    expect(await violations(page)).toEqual([])
    await shot(page, 'portfolio')
    // A part on its chart, with its trades.
    await page.getByRole('button', { name: 'Show part 1, Quick, on the chart' }).click()
    await page.getByRole('tab', { name: 'Report', selected: true }).waitFor()
    await page.getByText('Both: Quick').first().waitFor()
    await shot(page, 'portfolio-part')
    await page.goto(`${site.url}/portfolios`)
    await page.getByRole('link', { name: 'Both' }).waitFor()
    await shot(page, 'portfolios')
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByText(SLOW).first().waitFor()
    expect(await beyondTheirCells(page)).toEqual([])

    const phone = await site.open({ remembered: { ...REMEMBERED, theme: 'light' }, width: 390 })
    const fits = async () => expect(await sideways(phone.page)).toEqual([])
    await phone.page.goto(form)
    await phone.page.getByLabel('Priority of Quick').waitFor()
    await fits()
    await shot(phone.page, 'phone-portfolio-form')
    await phone.page.goto(`${site.url}/portfolios`)
    await phone.page.getByRole('link', { name: 'Both' }).click()
    await phone.page.getByText(/^20,000\.00 USD became /).waitFor()
    await fits()
    expect(await violations(phone.page)).toEqual([])
    await shot(phone.page, 'phone-portfolio')
    await phone.page
      .getByRole('button', { name: /^More for/ })
      .first()
      .click()
    await phone.page.getByRole('menuitem', { name: 'Delete' }).click()
    await phone.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await phone.page.waitForURL(/\/research\?kind=portfolio$/)
    expect([...complaints, ...phone.complaints]).toEqual([])
  }, 300_000)
})
