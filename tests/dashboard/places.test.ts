// The five places, and what leads from one to another: a script's menu, a file that is dropped, the first day.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { sideways } from './sideways.ts'

const study = (id: string, file: string, name: string, inputs: object = {}) => ({
  id,
  name,
  shortName: name,
  source: readFileSync(`${import.meta.dir}/../../data/indicators/${file}.pine`, 'utf8'),
  from: `library:${file}`,
  inputs,
  hidden: false,
  intervals: null,
  plots: {},
})
const CHARTS = {
  shape: '1',
  links: [],
  active: 'c1',
  script: 'c1',
  all: [
    {
      id: 'c1',
      market: { exchange: 'SP', symbol: 'SPX', interval: '1d' },
      type: 'candles',
      scale: 'linear',
      volume: true,
      trades: true,
      studies: [
        study('s1', 'rsi', 'RSI', { Length: 21 }),
        study('s2', 'macd', 'MACD'),
        study('s3', 'ema', 'EMA'),
      ],
    },
  ],
}
const QUIET = { 'tour.done': true, bottom: '', side: '' }

describe.skipIf(noBrowser)('places', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  test('before anything was run, Research shows an example with its run, which one button keeps', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    await page.goto(`${site.url}/research`)
    await page.getByRole('heading', { name: 'An example: SMA cross' }).waitFor()
    await page.getByText('Net profit').waitFor()
    await page.getByRole('button', { name: 'Keep this run and open its report' }).click()
    await page.getByRole('tab', { name: 'Report', selected: true }).waitFor()
    await page.getByRole('link', { name: 'Research' }).click()
    const row = page.getByRole('row', { name: /SMA cross/ })
    await row.getByText('Backtest').waitFor()
    expect(await row.locator('svg polyline').getAttribute('points')).toMatch(/^(?:[\d.]+,[\d.]+ ?){25}$/)
    // A link to it takes two taps from the list.
    await page.getByRole('button', { name: 'More for SMA cross' }).click()
    await page.getByRole('menuitem', { name: 'Share…' }).click()
    const share = page.getByRole('dialog', { name: 'Share as an unlisted idea' })
    await share.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Research' }).click()
    // Once more, and both go together.
    await page.getByRole('button', { name: 'More for SMA cross' }).click()
    await page.getByRole('menuitem', { name: 'Run again' }).click()
    await row.nth(1).waitFor()
    await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check()
    await page.getByRole('button', { name: 'Delete 2' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'An example: SMA cross' }).waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('an alert on a built-in study is three clicks from the legend, with the inputs it has there', async () => {
    const { page, complaints } = await site.open({ remembered: { ...QUIET, charts: CHARTS } })
    await page.goto(site.url)
    const add = async (name: string) => {
      await page.getByRole('button', { name: `More for ${name}`, exact: true }).click()
      await page.getByRole('menuitem', { name: 'Add alert…' }).click()
      const form = page.getByRole('dialog', { name: 'New alert' })
      await form.waitFor()
      if (name === 'RSI') expect(await violations(page)).toEqual([])
      await form.getByRole('button', { name: 'Create alert' }).click()
      await form.waitFor({ state: 'detached' })
    }
    await add('RSI')
    await add('MACD')
    await add('EMA')
    const of = async (path: string) => (await page.request.get(`${site.url}/api/platform/${path}`)).json()
    const { alerts } = (await of('alerts')) as { alerts: { name: string; scriptId: string }[] }
    const kept = alerts.toSorted((a, b) => a.name.localeCompare(b.name))
    expect(kept).toMatchObject([
      { name: 'MACD crosses Signal', kind: 'indicator', plot: 'MACD less Signal', price: 0 },
      { name: 'Price crosses EMA', kind: 'indicator', plot: 'Price less EMA', op: 'crossing', price: 0 },
      { name: 'RSI crosses 70', plot: 'RSI', price: 70, inputs: { Length: 21 } },
    ])
    const { scripts } = (await of('scripts')) as { scripts: { id: string; kind: string }[] }
    expect(scripts.map(({ id }) => id).toSorted()).toEqual(kept.map(({ scriptId }) => scriptId).toSorted())
    expect(scripts.map(({ kind }) => kind)).toEqual(['indicator', 'indicator', 'indicator'])
    // Another alert runs the same copy.
    await add('RSI')
    expect(((await of('scripts')) as { scripts: unknown[] }).scripts).toHaveLength(3)
    // The page of alerts offers what stands on the chart by name, and what comes with the product.
    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByRole('button', { name: 'New alert' }).click()
    const form = page.getByRole('dialog', { name: 'New alert' })
    const script = form.getByLabel('Script', { exact: true })
    const plot = form.getByLabel('Plot', { exact: true })
    await form.getByLabel('What', { exact: true }).selectOption('An indicator')
    expect(await script.inputValue()).toBe('RSI 21, on the chart')
    expect(await form.getByLabel('Level').inputValue()).toBe('70')
    await script.fill('MACD, on the chart')
    expect(await plot.locator('option:checked').innerText()).toBe('MACD crosses Signal')
    await script.fill('Bollinger Bands, built in')
    await plot.selectOption('Price crosses Upper')
    expect([await violations(page), await form.getByLabel('Level').count()]).toEqual([[], 0])
    await form.getByRole('button', { name: 'Create alert' }).click()
    await page.getByText('Price crosses Upper', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Chart', exact: true }).click()
    // The same menu leads to the form of a scan, which names what it is about.
    await page.getByRole('button', { name: 'More for RSI', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Scan a list…' }).click()
    await page.waitForURL(/\/research\/library%3Arsi\/scan$/)
    await page.getByRole('group', { name: 'What it is about' }).getByText('RSI').waitFor()
    await page.getByRole('tab', { name: 'Alerts' }).click()
    await page
      .getByRole('list', { name: 'Alerts' })
      .getByText('RSI crosses 70', { exact: true })
      .nth(1)
      .waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('the menu of a study stays open when its line goes to a pane of its own', async () => {
    const { page, complaints } = await site.open({ remembered: { ...QUIET, charts: CHARTS } })
    const answered = Promise.withResolvers<void>()
    await page.route('**/backtests/preview', async (route) => {
      await answered.promise
      await route.fallback()
    })
    await page.goto(site.url)
    const more = page.getByRole('button', { name: 'More for RSI', exact: true })
    const before = (await more.boundingBox())!
    await more.click()
    const item = page.getByRole('menuitem', { name: 'Add alert…' })
    await item.waitFor()
    answered.resolve()
    while (((await more.boundingBox())?.y ?? 0) <= before.y)
      await page.evaluate(() => new Promise(requestAnimationFrame))
    await item.click()
    await page.getByRole('dialog', { name: 'New alert' }).getByRole('button', { name: 'Cancel' }).click()
    await more.click()
    await item.waitFor()
    // The words of each item are in one line, and nothing of the page lies over them.
    const hidden = await page.getByRole('menuitem').evaluateAll((items) =>
      items
        .filter((one) => {
          const { x, y, width, height } = one.getBoundingClientRect()
          const top = document.elementFromPoint(x + width / 2, y + height / 2)
          return one.scrollWidth > one.clientWidth || width < 150 || !one.contains(top)
        })
        .map((one) => one.textContent),
    )
    expect(hidden).toEqual([])
    expect(complaints).toEqual([])
  }, 300_000)

  test('a finger finds what can be done with a study; only what a provider has can be followed', async () => {
    const { page, complaints } = await site.open({
      own: true,
      width: 390,
      remembered: { ...QUIET, charts: CHARTS },
    })
    const tools = await page.context().newCDPSession(page)
    await tools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
    await page.goto(site.url)
    // Its line has gone to the legend of its own pane.
    await page.getByRole('button', { name: 'RSI 21 · 70 · 30' }).waitFor()
    const hide = page.getByRole('button', { name: 'Hide RSI' })
    expect(await hide.evaluate((one) => getComputedStyle(one.parentElement!).opacity)).toBe('1')
    const widths = await hide.evaluate((one) =>
      [...one.parentElement!.querySelectorAll('svg')].map((icon) => icon.getBoundingClientRect().width),
    )
    expect(new Set(widths).size).toBe(1)
    const bar = page.locator('#bar-slot')
    expect(await bar.evaluate((one) => getComputedStyle(one).maskImage)).toContain('linear-gradient')
    await page.request.post(`${site.url}/api/platform/bars/import?exchange=MINE&symbol=OWN&interval=1d`, {
      headers: { 'content-type': 'text/csv' },
      data: 'time,open,high,low,close,volume\n1700000000,10,12,9,11,5\n',
    })
    await page.goto(`${site.url}/markets`)
    const follow = page.getByRole('menuitem', { name: 'Follow: new bars come by themselves' })
    for (const [name, count] of [
      ['OWN 1d', 0],
      ['SPX 1d', 1],
    ] as const) {
      await page.getByRole('button', { name: `More for ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Show on the chart' }).waitFor()
      expect(await follow.count()).toBe(count)
      await page.keyboard.press('Escape')
    }
    expect(complaints).toEqual([])
  }, 300_000)

  test('a file that is dropped on the chart is shown under Markets before anything is stored', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET, width: 390 })
    await page.goto(site.url)
    await page.getByRole('application').waitFor()
    await drop(page, 'XETR_ABC, 60.csv', 'time,open,high,low,close,volume\n2023-11-14 22:13,10,12,9,11,5\n')
    await page.waitForURL(/\/markets\/sources$/)
    const form = page.getByRole('form', { name: 'XETR_ABC, 60.csv' })
    await form.getByText('1 bar, from 2023-11-14 22:13').waitFor()
    expect(await violations(page)).toEqual([])
    expect(await sideways(page)).toEqual([])
    const head = form.locator('div', { has: page.getByText('XETR_ABC, 60.csv') }).first()
    expect(await head.evaluate((one) => one === document.activeElement)).toBe(true)
    await form.getByLabel('Exchange').fill('xetr')
    await form.getByRole('button', { name: 'Import', exact: true }).click()
    await form.getByText('1 rows read').waitFor()
    expect(await form.getByText('the file does not say the zone of its times').count()).toBe(1)
    expect(await head.evaluate((one) => one === document.activeElement)).toBe(true)
    // The chart was open before there was such a symbol.
    await form.getByRole('button', { name: 'Show on the chart' }).click()
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Scale and time zone: Auto · Berlin' }).waitFor()
    await page.getByText('ABC · 1h · XETR').waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    // On a phone the bar has the five places and nothing else.
    const bar = page.getByRole('navigation', { name: 'Main' }).getByRole('link').and(page.locator(':visible'))
    expect(await bar.allInnerTexts()).toEqual(['Chart', 'Research', 'Markets', 'Alerts', 'Ideas'])
    await page.getByRole('link', { name: 'Markets' }).click()
    await page.getByText('XETR:ABC').waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('a dialog gives the focus back to what opened it, and goes with the page that it was opened on', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    await page.goto(site.url)
    await page.getByRole('link', { name: 'Markets' }).click()
    const opens = page.getByRole('button', { name: 'New list' })
    const dialog = page.getByRole('dialog', { name: 'New list' })
    await opens.click()
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await opens.and(page.locator(':focus')).waitFor()
    expect(await dialog.count()).toBe(0)
    await opens.click()
    await dialog.waitFor()
    await page.goBack()
    await page.getByRole('application').waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  }, 300_000)

  test('the focus goes where one goes on: into a new list, and past the chart to its drawer', async () => {
    const wrong = { id: null, name: 'x', source: '//@version=6\nindicator("x")\nplot(fooo)' }
    const { page, complaints } = await site.open({
      remembered: { ...QUIET, bottom: 'report', script: wrong },
    })
    await page.goto(`${site.url}/markets`)
    await page.getByRole('button', { name: 'New list' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Next')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Next' }).waitFor()
    await page.getByRole('combobox', { name: 'Add a symbol' }).and(page.locator(':focus')).waitFor()
    // An exchange that nobody has named yet is not one that nobody has.
    await page.getByRole('link', { name: 'Sources' }).click()
    const exchange = page.getByRole('textbox', { name: 'Exchange' })
    const unknown = page.getByText('No provider has this exchange.')
    await exchange.fill('NOWHERE')
    await unknown.waitFor()
    await exchange.fill('')
    await unknown.waitFor({ state: 'detached' })
    await exchange.fill('binance')
    await page.getByRole('textbox', { name: 'Symbol' }).fill('BTCUSDT')
    await page.locator('button:enabled', { hasText: 'Fetch' }).waitFor()
    await page.goto(site.url)
    await page.getByRole('application').waitFor()
    for (const [link, target] of [
      ['Skip to content', page.getByRole('main')],
      ['Skip to the drawer', page.getByRole('tabpanel', { name: 'Report' })],
    ] as const) {
      await page.getByRole('link', { name: link }).focus()
      await page.keyboard.press('Enter')
      await target.and(page.locator(':focus')).waitFor()
    }
    expect(page.url()).not.toContain('#')
    // What is code in a message of the server looks like code.
    const report = page.getByRole('tabpanel', { name: 'Report' })
    await report.locator('code', { hasText: /^fooo$/ }).waitFor()
    // That such a script does not run is an answer of 422, which the browser itself notes.
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
  }, 300_000)
})

/** Drops a file on the middle of the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(
    ([file, content]) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([content!], file!, { type: 'text/csv' }))
      const target = document.elementFromPoint(innerWidth / 2, innerHeight / 2)!
      for (const type of ['dragover', 'drop'])
        target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
    },
    [name, text],
  )
}
