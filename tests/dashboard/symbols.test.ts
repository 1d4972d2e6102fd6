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
      // In parts, oldest first, so that one sees how far it is.
      expect(asked).toHaveLength(5)
      expect(asked[0]).toMatchObject({ exchange: 'BINANCE', symbol: 'ZZZUSDT', interval: '1d' })
      expect(asked[4]).not.toHaveProperty('to')

      // Also where an address leads to a chart of it.
      await page.goto(`${site.url}/chart/BINANCE%3AYYYUSDT/1d`)
      await page.getByText('No bars of BINANCE:YYYUSDT at 1D').waitFor()
      await fetch.click()
      await page.getByText(/^Vol/).first().waitFor()
      expect(asked).toHaveLength(10)
      expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)

test.skipIf(noBrowser)(
  'a symbol of a provider is found by its name, fetched, followed and shown live',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open({
        remembered: { 'tour.done': true, market: { exchange: 'SP', symbol: 'SPX', interval: '1d' } },
      })
      // No provider is reached: its list, its bars and its stream are this test's.
      const series = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1d' }
      let state = 'unchosen'
      const listOf = () => ({
        provider: 'Binance',
        exchanges: ['BINANCE'],
        state,
        count: state === 'ready' ? 1500 : 0,
        fetchedAt: null,
        lastError: null,
        nextAt: null,
      })
      const found = { ...series, description: 'BTC / USDT', type: 'crypto', stored: false }
      await page.route('**/api/platform/symbols/search?*', async (route) => {
        const symbols = state === 'ready' ? [found] : []
        await route.fulfill({ json: { ok: true, symbols, lists: [listOf()] } })
        if (state === 'fetching') state = 'ready'
      })
      await page.route('**/api/platform/symbols/lists', async (route) => {
        state = 'fetching'
        await route.fulfill({ json: { ok: true, list: listOf() } })
      })
      let parts = 0
      await page.route('**/api/platform/bars/fetch', async (route) => {
        parts++
        const data = `time,open,high,low,close,volume\n2024-01-0${parts},1,2,1,2,5\n`
        await page.request.post(`${site.url}/api/platform/bars/import?${new URLSearchParams(series)}`, {
          data,
          headers: { 'content-type': 'text/csv' },
        })
        await route.fulfill({ json: { ok: true, ...series, inserted: 1, updated: 0, pages: 1 } })
      })
      const followed: unknown[] = []
      await page.route('**/api/platform/feeds', async (route) => {
        if (route.request().method() !== 'POST') return route.continue()
        followed.push(route.request().postDataJSON())
        return route.fulfill({ json: { ok: true, ...series } })
      })
      await page.goto(site.url)
      const chart = page.getByRole('application').first()
      await chart.waitFor()
      await chart.focus()
      await page.keyboard.type('btcusdt')
      await page.getByLabel(/^Search the list of a provider/).selectOption('Binance')
      await page.getByText('Lists of symbols: Binance 1,500').waitFor()
      const option = page.getByRole('option', { name: /BTCUSDT.*Fetched and followed when chosen/ })
      await option.waitFor()
      await page.getByRole('combobox', { name: 'Symbol, name or exchange' }).press('Enter')
      await page.getByRole('application', { name: /BTCUSDT, 1d/ }).waitFor()
      expect([parts, followed]).toEqual([5, [series]])
      expect(complaints.filter((one) => !one.includes('404'))).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)

test.skipIf(noBrowser)(
  'a phone shows where a symbol is from, and what is found has intervals as the chart writes them',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open({
        width: 390,
        remembered: { 'tour.done': true, market: { exchange: 'SP', symbol: 'SPX', interval: '1d' } },
      })
      const kept = await page.request.post(`${site.url}/api/platform/backtests`, {
        headers: { origin: site.url },
        data: {
          name: 'Kept one',
          exchange: 'SP',
          symbol: 'SPX',
          interval: '1d',
          bars: 50,
          source: '//@version=6\nstrategy("Kept one")',
        },
      })
      expect(kept.status()).toBe(200)
      await page.goto(site.url)
      const chart = page.getByRole('application').first()
      await chart.focus()
      await page.keyboard.type('aa')
      const option = page.getByRole('option', { name: /^AAPL/ })
      await option.getByText('NASDAQ', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).fill('kept one')
      await page.getByRole('option', { name: /SP:SPX 1D/ }).waitFor()
      expect(complaints).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
