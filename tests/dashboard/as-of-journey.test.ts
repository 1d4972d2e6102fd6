// TradingView as of a day, in a real browser: a run of before is run again, the page says what has changed, and offers it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Report } from '../../src/wire/report.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'

const SOURCE = `//@version=6
strategy("Open", overlay = true)
if ta.crossover(close, ta.sma(close, 20))
    strategy.entry("L", strategy.long)
if ta.crossunder(close, ta.sma(close, 20))
    strategy.close("L")
`
const RUN = {
  name: 'Open',
  exchange: 'SP',
  symbol: 'SPX',
  interval: '1d',
  bars: 1000,
  source: SOURCE,
}
const SENTENCE =
  'Since 24 September 2026 a strategy of version 6 that does not say otherwise starts with 100,000 and puts 100% of its equity into an order, where it started with 1,000,000 and ordered one contract.'

describe.skipIf(noBrowser)('TradingView as of a day', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterAll(() => site.close())

  const post = async (page: Page, path: string, data: object) => {
    const answer = await page.request.post(`${site.url}/api/platform${path}`, {
      headers: { origin: site.url },
      data,
    })
    expect(answer.status()).toBe(200)
    return (await answer.json()) as { id: string }
  }

  test('a run of before that is run again says what has changed, and goes back by one press', async () => {
    const { page: first } = await site.open({ remembered: { 'tour.done': true } })
    const { id } = await post(first, '/backtests', { ...RUN, asOf: '2026-09-23' })
    const { page, complaints } = await site.open({
      own: true,
      width: 1440,
      remembered: {
        'tour.done': true,
        'run.last': id,
        bottom: 'report',
        script: { id: null, name: 'Open', source: SOURCE },
        market: { exchange: 'SP', symbol: 'SPX', interval: '1d' },
      },
    })
    await page.goto(site.url)
    await page.getByText('Net profit').first().waitFor()
    const view = (name: string) =>
      page.getByRole('group', { name: 'View of the report' }).getByRole('button', { name })
    await view('Properties').click()
    await page.getByText("TradingView's rules of before 24 September 2026").waitFor()
    await page.getByText('1,000,000.00').first().waitFor()
    expect(await page.getByText(SENTENCE).count()).toBe(0)

    // Run again as a user does it.
    const drawer = (name: string) =>
      page
        .getByRole('tab', { name })
        .or(page.getByRole('button', { name, exact: true }))
        .first()
        .click()
    await drawer('Script')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(SENTENCE).waitFor({ timeout: 60_000 })
    await page.getByText("TradingView's rules of 24 September 2026", { exact: true }).waitFor()

    await page.getByRole('button', { name: 'Run as before' }).click()
    await page.getByText(SENTENCE).waitFor({ state: 'detached', timeout: 60_000 })
    await page.getByText("TradingView's rules of before 24 September 2026").waitFor()

    // The choice is a property of the script now, and today's is offered there.
    await drawer('Script')
    await page
      .getByRole('radio', { name: 'Properties' })
      .or(page.getByRole('heading', { name: 'Properties' }))
      .first()
      .waitFor()
    const day = page.getByLabel('TradingView as of')
    expect(await day.inputValue()).toBe('2026-09-23')
    expect(await day.locator('option').allTextContents()).toEqual(['Today', 'Before 24 September 2026'])
    expect(await page.getByLabel('Initial capital').inputValue()).toBe('1000000')
    await page.getByText('1 property changed').waitFor()
    await day.selectOption('')
    await page.getByText('1 property changed').waitFor({ state: 'detached' })
    // The server says what the script has by default as of that day.
    while ((await page.getByLabel('Initial capital').inputValue()) !== '100000') await painted(page)
    expect(await page.getByLabel('Size is in').inputValue()).toBe('percent_of_equity')
    await day.selectOption('2026-09-23')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as version 1').waitFor()
    const { scripts } = (await (await page.request.get(`${site.url}/api/platform/scripts`)).json()) as {
      scripts: { asOf?: string }[]
    }
    expect(scripts[0]?.asOf).toBe('2026-09-23')
    expect(complaints).toEqual([])
  }, 300_000)

  test('an export of before the change is told to be one, and the run is done again so', async () => {
    const { page, complaints } = await site.open({
      own: true,
      width: 1440,
      remembered: {
        'tour.done': true,
        bottom: 'report',
        script: { id: null, name: 'Open', source: SOURCE },
        market: { exchange: 'SP', symbol: 'SPX', interval: '1d' },
      },
    })
    await page.goto(site.url)
    const answer = await page.request.post(`${site.url}/api/platform/backtests/preview`, {
      headers: { origin: site.url },
      data: { ...RUN, bars: 20_000, asOf: '2026-09-23' },
    })
    const { result } = (await answer.json()) as { result: { report: Pick<Report, 'trades'> } }
    const date = (time: number) => new Date(time).toISOString().slice(0, 10)
    const rows = result.report.trades
      .filter(({ status }) => status === 'closed')
      .flatMap((one, i) => [
        `${i + 1},Exit long,${date(one.exitTime)},${one.exitId},${one.exitPrice},${one.qty},${one.profit.toFixed(2)}`,
        `${i + 1},Entry long,${date(one.entryTime)},L,${one.entryPrice},${one.qty},${one.profit.toFixed(2)}`,
      ])
    const csv = ['Trade #,Type,Date/Time,Signal,Price USD,Contracts,Profit USD', ...rows].join('\n')
    await page.getByRole('group', { name: 'View of the report' }).getByText('Compare').click()
    await page
      .getByLabel("TradingView's list of trades, as CSV")
      .setInputFiles({ name: 'trades.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    const why = page.getByRole('region', { name: 'Why it differs' })
    await why.getByText(/This export was made before 24 September 2026/).waitFor({ timeout: 60_000 })
    await why.getByRole('button', { name: 'Run with these settings' }).click()
    await page.getByText('Every trade agrees').waitFor({ timeout: 60_000 })
    expect(complaints).toEqual([])
  }, 300_000)
})
