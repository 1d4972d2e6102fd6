// Runs beside each other: chosen by search, as curves and as figures.

import { expect, test } from 'bun:test'
import { noBrowser, painted, startSite } from './browser.ts'
import { violations } from './axe.ts'

const SCRIPT = `//@version=6
strategy("Cross", overlay = true, default_qty_type = strategy.fixed, default_qty_value = 1)
fast = ta.sma(close, input.int(10, "Fast"))
slow = ta.sma(close, 30)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("Long")
`

const number = (text: string) => Number.parseFloat(text.replace('−', '-'))

test.skipIf(noBrowser)(
  'runs of different markets are found by search and stand together as curves and figures',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open({ remembered: { 'tour.done': true } })
      await page.goto(`${site.url}/settings/about`)
      const ids: string[] = []
      for (const [name, exchange, symbol, interval, fast] of [
        ['Slow cross', 'SP', 'SPX', '1d', 12],
        ['Quick cross', 'SP', 'SPX', '1d', 5],
        ['Apple cross', 'NASDAQ', 'AAPL', '1d', 10],
      ] as const) {
        const data = { name, exchange, symbol, interval, bars: 2000, source: SCRIPT, inputs: { Fast: fast } }
        const answer = await page.request.post(`${site.url}/api/platform/backtests`, { data })
        if (!answer.ok()) throw new Error(await answer.text())
        ids.push(((await answer.json()) as { id: string }).id)
      }

      // Chosen in the list.
      await page.goto(`${site.url}/research?kind=backtest`)
      await page.getByRole('checkbox', { name: 'Slow cross' }).check()
      await page.getByRole('checkbox', { name: 'Quick cross' }).check()
      await page.getByRole('button', { name: 'Compare' }).click()
      const table = page.getByRole('table', { name: 'Figures of the runs' })
      await table.getByText('Quick cross').waitFor()
      await table.getByRole('columnheader', { name: 'Fast' }).waitFor()
      // A drawdown that is deeper than the first run's differs by less than nothing.
      const place = await table
        .getByRole('columnheader')
        .allInnerTexts()
        .then((heads) => heads.findIndex((head) => head.startsWith('Max drawdown')))
      const cell = (row: number) => table.locator('tbody tr').nth(row).locator('td').nth(place).innerText()
      const [there = 0] = (await cell(0)).split('\n').map(number)
      const [here = 0, difference = 0] = (await cell(1)).split('\n').map(number)
      expect(here).toBeLessThan(0)
      expect(Math.abs(here - there - difference)).toBeLessThan(0.02)

      // A third by search, by keyboard.
      const search = page.getByRole('combobox', { name: 'Add a run' })
      await search.focus()
      await page.keyboard.type('apple aapl')
      await page.getByRole('option', { name: /Apple cross/ }).waitFor()
      await page.keyboard.press('Enter')
      await table.getByText('Apple cross').waitFor()
      await page
        .getByText('All runs that are done are shown.')
        .or(page.getByText('No run is called'))
        .waitFor()
      await page.keyboard.press('Escape')
      expect(new URL(page.url()).searchParams.get('runs')?.split(',').toSorted()).toEqual(ids.toSorted())

      // Each scale draws something else; a hidden curve is not drawn.
      const pixels = async () => {
        await painted(page)
        return page
          .getByRole('img', { name: /^Equity of/ })
          .locator('canvas')
          .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL())
      }
      const scale = page.getByRole('group', { name: 'Scale of the curves' })
      const seen = new Set<string>()
      for (const name of ['Money', 'Log', 'Own', '%']) {
        await scale.getByRole('button', { name, exact: true }).click()
        await scale.getByRole('button', { name, exact: true, pressed: true }).waitFor()
        seen.add(await pixels())
      }
      expect(seen.size).toBe(4)
      await page.getByRole('button', { name: /^Apple cross NASDAQ/ }).click()
      await page.getByRole('img', { name: 'Equity of Slow cross, Quick cross.', exact: false }).waitFor()
      expect(seen.has(await pixels())).toBe(false)
      expect(await violations(page)).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
      expect(await violations(page)).toEqual([])

      // Taken out again; and an address with a run that is gone.
      await page.getByRole('button', { name: 'Take Quick cross out of the comparison' }).click()
      await table.getByText('Quick cross').waitFor({ state: 'detached' })
      await page.goto(`${site.url}/backtests/compare?runs=${ids[0]},bt_gone`)
      await page.getByText('One run is not there any more').waitFor()
      await page.getByRole('button', { name: 'Leave it out' }).click()
      await page.getByText('One run is not there any more').waitFor({ state: 'detached' })
      await table.getByText('Slow cross').waitFor()
      expect(complaints.filter((line) => !line.includes('404'))).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
