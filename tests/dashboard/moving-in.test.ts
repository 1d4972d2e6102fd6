// Files of TradingView that are dropped together: one report of what came, and bars that are looked at first.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { zipSync } from 'fflate'
import { noBrowser, startSite, type Site } from './browser.ts'

describe.skipIf(noBrowser)('moving in', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterAll(() => site.close())

  test('takes a list, a log of alerts and a zip of scripts at once, and says why the rest could not come', async () => {
    const { page, complaints } = await site.open({ remembered: { 'tour.done': true }, own: true })
    await page.goto(`${site.url}/markets/sources`)
    const text = (name: string, content: string) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.from(content),
    })
    const pine = new TextEncoder().encode('//@version=6\nindicator("Мой")\nplot(close)')
    await page
      .locator('input[type=file]')
      .setInputFiles([
        text('Список.txt', '###Chips,NASDAQ:NVDA,NYSE:JPM'),
        text(
          'TradingView_Alerts_Log.csv',
          'Alert ID,Ticker,Name,Description,Time\n1,NASDAQ:NVDA,Level,NVDA Crossing 5,2026-01-01\n2,NASDAQ:NVDA,Bot,go,2026-01-01',
        ),
        { name: 'pine.zip', mimeType: 'application/zip', buffer: Buffer.from(zipSync({ 'a/s.pine': pine })) },
        text(
          'NASDAQ_NVDA, 60.csv',
          'time,open,high,low,close,RSI\n1767225600,1,2,1,2,50\n1767229200,2,3,2,3,51\n',
        ),
      ])
    const report = page.getByRole('table', { name: 'What came' })
    await report.getByText('watchlist: Список').waitFor()
    await report.getByText('alert, made paused: Level').waitFor()
    await report.getByText('script: Мой').waitFor()
    await report.getByText('Row 3, “Bot”: its text names no price').waitFor()
    await page
      .getByRole('form', { name: 'NASDAQ_NVDA, 60.csv' })
      .getByRole('button', { name: 'Import' })
      .click()
    const { alerts } = (await (await page.request.get(`${site.url}/api/platform/alerts`)).json()) as {
      alerts: { state: string; price: number }[]
    }
    expect(alerts).toMatchObject([{ state: 'paused', price: 5 }])
    if (process.env['SHOTS'])
      await page.screenshot({ path: `${process.env['SHOTS']}/moving.png`, fullPage: true })
    expect(complaints).toEqual([])
  }, 60_000)
})
