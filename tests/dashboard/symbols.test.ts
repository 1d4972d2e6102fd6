// A symbol that is looked for and has no bars.

import { expect, test } from 'bun:test'
import { noBrowser, startSite } from './browser.ts'

test.skipIf(noBrowser)(
  'a symbol without bars is fetched in one step, from where one chooses',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open({
        remembered: { 'tour.done': true, market: { exchange: 'SP', symbol: 'SPX', interval: '1d' } },
      })
      const asked: object[] = []
      // The provider is not reached: what it would bring is imported.
      await page.route('**/api/platform/bars/fetch', async (route) => {
        asked.push(route.request().postDataJSON() as object)
        const data = 'time,open,high,low,close,volume\n2024-01-01,1,2,1,2,5\n2024-01-02,2,3,2,3,5\n'
        const { symbol } = asked.at(-1) as { symbol: string }
        const at = `exchange=BINANCE&symbol=${symbol}&interval=1d`
        await page.request.post(`${site.url}/api/platform/bars/import?${at}`, {
          data,
          headers: { 'content-type': 'text/csv' },
        })
        const series = { exchange: 'BINANCE', symbol, interval: '1d' }
        await route.fulfill({ json: { ok: true, ...series, inserted: 2, updated: 0, pages: 1 } })
      })
      await page.goto(site.url)
      const chart = page.getByRole('application').first()
      await chart.waitFor()
      await chart.focus()
      await page.keyboard.type('zzzusdt')
      const fetch = page.getByRole('button', { name: 'Fetch 1D from BINANCE' })
      await fetch.waitFor()
      expect(asked).toEqual([])
      await fetch.click()
      await page.getByRole('application', { name: /ZZZUSDT, 1d/ }).waitFor()
      expect(asked).toEqual([{ exchange: 'BINANCE', symbol: 'ZZZUSDT', interval: '1d' }])

      // Also where an address leads to a chart of it.
      await page.goto(`${site.url}/chart/BINANCE%3AYYYUSDT/1d`)
      await page.getByText('No bars of BINANCE:YYYUSDT at 1D').waitFor()
      await fetch.click()
      await page.getByText(/^Vol/).first().waitFor()
      expect(asked).toHaveLength(2)
      expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
