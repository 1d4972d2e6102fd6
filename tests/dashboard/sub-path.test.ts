// The whole dashboard as one path of another site, in a real browser: every address that is made in the page, and both
// kinds of connection that stay open, have the path.

import { expect, test } from 'bun:test'
import { noBrowser, startSite } from './browser.ts'

test.skipIf(noBrowser)(
  'below a path: sign up, chart, editor, deep links, reload and what happens meanwhile',
  async () => {
    const site = await startSite({ owner: false, below: '/charts', offline: true })
    try {
      const { page, complaints } = await site.open({ remembered: { 'tour.done': true } })
      const elsewhere: string[] = []
      page.on('request', (request) => {
        const { origin, pathname } = new URL(request.url())
        if (origin !== 'null' && !`${origin}${pathname}`.startsWith(`${site.url}/`))
          elsewhere.push(request.url())
      })
      expect(site.url).toEndWith('/charts')
      await page.goto(site.setupLink)
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill('a sentence that is long enough')
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByText('2,874.56').first().waitFor()
      // The cookie is for this path only.
      expect((await page.context().cookies()).map(({ path }) => path)).toEqual(['/charts'])

      // The editor checks and runs over the API; the report is one click away.
      await page.getByLabel('Fast length').fill('40')
      await page.getByRole('button', { name: 'Open the report' }).click()
      await page.getByText('Net profit').first().waitFor()

      // Links and the browser's own way back.
      await page.getByRole('link', { name: 'Research' }).click()
      await page.getByRole('heading', { name: 'Research' }).waitFor()
      expect(page.url()).toBe(`${site.url}/research`)
      await page.goBack()
      await page.getByText('Net profit').first().waitFor()

      // Deep links from outside, and a reload where one is.
      await page.goto(`${site.url}/chart/NASDAQ:AAPL/1w`)
      await page.getByText('Apple Inc.').first().waitFor()
      await page.goto(`${site.url}/help/fills`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.reload()
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(page.url()).toBe(`${site.url}/help/fills`)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).waitFor()
      await page.keyboard.type('api tok')
      await page.getByRole('option', { name: 'API tokens', selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`${site.url}/settings/tokens`)

      // The stream tells of bars and alerts through the proxy, as they come.
      await page.goto(`${site.url}/chart/TEST:LIVE/1d`)
      await page.getByText('No bars of TEST:LIVE').waitFor()
      const alert = {
        symbol: 'LIVE',
        exchange: 'TEST',
        interval: '1d',
        kind: 'price',
        op: 'above',
        price: 100,
      }
      const json = { 'content-type': 'application/json' }
      const made = await page.request.post(`${site.url}/api/platform/alerts`, {
        headers: json,
        data: { ...alert, channels: ['email'], message: 'LIVE is at {{close}}' },
      })
      expect(made.status()).toBe(200)
      const bars = 'time,open,high,low,close,volume\n2024-01-02,90,95,89,94,1\n2024-01-03,94,120,93,110,1\n'
      await page.request.post(`${site.url}/api/platform/bars/import?exchange=TEST&symbol=LIVE&interval=1d`, {
        headers: { 'content-type': 'text/csv' },
        data: bars,
      })
      await page.getByText('LIVE is at 110').waitFor()

      // Files and pages the API itself serves.
      const watchlist = await page.request.post(`${site.url}/api/platform/watchlists/import`, {
        headers: json,
        data: { name: 'Mine', items: [{ symbol: 'SPX', exchange: 'SP', note: null }] },
      })
      expect(watchlist.status()).toBe(200)
      // An address of an earlier version leads on below the path, too.
      await page.goto(`${site.url}/watchlists`)
      expect(page.url()).toBe(`${site.url}/markets`)
      await page.getByRole('link', { name: 'Mine' }).click()
      await page.getByRole('button', { name: 'More for this list' }).click()
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Export as CSV' }).click(),
      ])
      expect(file.url()).toStartWith(`${site.url}/api/`)

      // The market without bars is an answer of 404, which the browser itself notes.
      expect(complaints.filter((line) => !line.includes('404'))).toEqual([])
      await page.goto(`${site.url}/settings/profile`)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill('a sentence that is long enough')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Sign out' }).waitFor()

      expect(elsewhere).toEqual([])
      // So is one of 401, to what the page still asks for while it signs out.
      expect(complaints.filter((line) => !/40[14]/.test(line))).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
