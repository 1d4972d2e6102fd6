// Other symbols over a chart, and formulas of symbols.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { gain } from '../../src/dashboard/format.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { sinceFirst } from '../../src/dashboard/chart/axis-labels.ts'
import { changeBy, closesOn, factorOf, rangeOfLine } from '../../src/dashboard/chart/compared.ts'
import { noBrowser, startSite, type Site } from './browser.ts'

function barsOf(rows: readonly (readonly [time: number, close: number])[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, [time, close]] of rows.entries()) {
    bars.time[i] = time
    bars.close[i] = close
  }
  return bars
}

describe('a symbol over a chart', () => {
  const chart = barsOf([
    [0, 10],
    [10, 20],
    [20, 30],
    [30, 40],
    [40, 50],
  ])
  const other = barsOf([
    [10, 1],
    [25, 2],
    [30, 4],
  ])
  const values = closesOn(chart, other, 10)

  test('has on each bar what had opened by then, and nothing before or after it', () => {
    expect([...values]).toEqual([Number.NaN, 1, 1, 4, Number.NaN])
    expect([...closesOn(chart, barsOf([]), 10)]).toEqual(Array.from({ length: 5 }, () => Number.NaN))
    expect([...closesOn(barsOf([]), other, 10)]).toEqual([])
  })

  test('begins in view at 0% of the scale, and makes room on it', () => {
    const line = { values, scale: 'percent', color: '#000000' } as const
    expect(factorOf(line, chart, 0, 4)).toBe(10)
    expect(rangeOfLine(line, chart, 0, 4)).toEqual({ low: 10, high: 40 })
    expect(factorOf(line, chart, 3, 4)).toBe(10)
    expect(factorOf(line, chart, 4, 4)).toBeNaN()
    expect(rangeOfLine({ ...line, scale: 'price' }, chart, 0, 4)).toEqual({ low: 1, high: 4 })
    expect(rangeOfLine({ ...line, scale: 'own' }, chart, 0, 4)).toEqual({ low: Infinity, high: -Infinity })
  })

  // A view mostly begins between two bars, and the scale counts from the first of them, which is partly in view.
  test.each([0, 0.4, 1, 1.6, 2, 2.9])(
    'says at each bar what the scale has at the line, from %d on',
    (left) => {
      for (const name of ['itself', 'other'] as const) {
        const own = name === 'itself' ? closesOn(chart, chart, 10) : values
        const factor = factorOf({ values: own, scale: 'percent' }, chart, left, 4)
        for (let bar = Math.floor(left); bar <= 4; bar++) {
          if (Number.isNaN(own[bar]!)) continue
          const read = sinceFirst(own[bar]! * factor, chart, left)
          expect([bar, gain(changeBy(own, left, bar))]).toEqual([bar, read!])
        }
      }
      // What ended before the view, and has no bars in it.
      expect(changeBy(closesOn(chart, barsOf([[0, 1]]), 10), 2, 0)).toBeNaN()
    },
  )
})

describe.skipIf(noBrowser)('on the page', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  test('a symbol is put over the chart by keyboard and taken off, a formula is typed, and what is missing is named', async () => {
    const { page, complaints } = await site.open({
      remembered: {
        market: { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' },
        script: { id: null, name: '', source: '' },
        side: '',
        bottom: '',
        'tour.done': true,
      },
    })
    await page.goto(site.url)
    await page.getByText(/^Vol/).first().waitFor()
    await page.getByRole('application').press('Alt+c')
    const search = page.getByRole('dialog', { name: 'Compare' }).getByLabel('Symbol, name or exchange')
    // Nothing is compared with itself.
    await search.fill('aapl')
    await page.getByText('It is on the chart already').waitFor()
    expect(await page.getByRole('listbox').count()).toBe(0)
    await search.fill('spx')
    await page.getByRole('option', { name: /SPX/, selected: true }).waitFor()
    await search.press('Enter')
    const off = page.getByRole('button', { name: 'Take SPX off the chart' })
    await off.waitFor()
    await page.getByRole('button', { name: '%', exact: true, pressed: true }).waitFor()
    await off.press('Enter')
    await off.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: '%', exact: true, pressed: false }).waitFor()

    await page.getByRole('application').press('/')
    const symbol = page.getByRole('dialog', { name: 'Symbol' }).getByLabel('Symbol, name or exchange')
    await symbol.fill('SPX/NONE')
    await page.getByText('Write the exchange before “NONE”').waitFor()
    await symbol.fill('SPX/E:NONE')
    await page.getByText('No bars of E:NONE are cached.').waitFor()
    await symbol.fill('spx/aapl')
    await page.getByRole('option', { name: /SPX \/ AAPL/, selected: true }).waitFor()
    await symbol.press('Enter')
    await page.getByRole('application', { name: 'SP:SPX/NASDAQ:AAPL, 1d' }).waitFor()
    await page.getByRole('button', { name: /^SPX \/ AAPL/ }).waitFor()
    // The address opens it again.
    await page.reload()
    await page.getByRole('button', { name: /^SPX \/ AAPL/ }).waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('a symbol without bars says so, and where they can be had', async () => {
    const over = (exchange: string, symbol: string) => ({
      exchange,
      symbol,
      scale: 'percent',
      color: '#ff9800',
      hidden: false,
    })
    const one = {
      id: 'c1',
      market: { exchange: 'SP', symbol: 'SPX', interval: '1d' },
      type: 'candles',
      scale: 'percent',
      volume: true,
      trades: true,
      studies: [],
      compared: [over('BINANCE', 'BTCUSDT'), over('NOWHERE', 'FOO')],
    }
    const { page } = await site.open({
      remembered: {
        charts: { shape: '1', links: [], active: 'c1', script: 'c1', all: [one] },
        script: { id: null, name: '', source: '' },
        side: '',
        bottom: '',
        'tour.done': true,
      },
    })
    // Nothing is fetched from outside: the button asks the server for it, and says what that answers.
    let asked: unknown = null
    await page.route('**/api/platform/bars/fetch', (route) => {
      asked = route.request().postDataJSON()
      return route.fulfill({ status: 422, json: { error: { code: 'refused', message: 'BINANCE is away.' } } })
    })
    await page.goto(site.url)
    await page.getByRole('button', { name: 'Import bars' }).waitFor()
    expect(await page.getByText('no bars at 1D').count()).toBe(2)
    const fetchThem = page.getByRole('button', { name: 'Fetch from BINANCE' })
    await fetchThem.click()
    await page.getByText('BINANCE is away.').waitFor()
    expect(asked).toMatchObject({ exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1d' })
    await fetchThem.waitFor()
  }, 300_000)
})
