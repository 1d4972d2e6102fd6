// Alerts on the chart: their lines are dragged with a mouse, a finger and the arrow keys, and what has fired is told.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { violations } from './axe.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'

const QUIET = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }

interface Kept {
  readonly id: string
  readonly name: string
  readonly price: number
  readonly state: string
}

describe.skipIf(noBrowser)('alerts on the chart', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  async function openChart(
    options: { readonly width?: number; readonly height?: number; readonly own?: boolean } = {},
  ) {
    const { page, complaints } = await site.open({ remembered: QUIET, ...options })
    await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
    await page
      .getByText(/^Vol|^C /)
      .first()
      .waitFor()
    return { page, complaints }
  }
  const alerts = async (page: Page): Promise<readonly Kept[]> =>
    ((await (await page.request.get(`${site.url}/api/platform/alerts`)).json()) as { alerts: Kept[] }).alerts
  /** Waits until the server has what the page shows. */
  async function keptWhen(page: Page, holds: (kept: readonly Kept[]) => boolean): Promise<readonly Kept[]> {
    for (let attempt = 0; attempt < 600; attempt++) {
      const kept = await alerts(page)
      if (holds(kept)) return kept
      await page.waitForTimeout(100)
    }
    throw new Error(`It never came to hold: ${JSON.stringify(await alerts(page))}`)
  }
  async function makeAlert(page: Page, fields: object): Promise<void> {
    const body = {
      exchange: 'SP',
      symbol: 'SPX',
      interval: '1d',
      kind: 'price',
      channels: ['email'],
      ...fields,
    }
    const made = await page.request.post(`${site.url}/api/platform/alerts`, { data: body })
    expect(made.status()).toBe(200)
  }
  const removeAll = async (page: Page) => {
    for (const { id } of await alerts(page))
      await page.request.delete(`${site.url}/api/platform/alerts/${id}`)
  }
  /** A name as it is shown: `SPX crosses 2,850.5`. */
  const shown = (name: string) =>
    name.replace(/\d+(\.\d+)?$/, (level) => Number(level).toLocaleString('en-US'))
  const lineOf = (page: Page, name: string) =>
    page.getByRole('spinbutton', { name: `Alert: ${shown(name)}`, exact: true })
  /** The middle of a label, which is the height of its line. */
  async function middleOf(page: Page, name: string): Promise<{ readonly x: number; readonly y: number }> {
    await lineOf(page, name).waitFor()
    await painted(page)
    const { x, y, width, height } = (await lineOf(page, name).boundingBox())!
    return { x: x + width / 2, y: y + height / 2 }
  }

  test('a line is dragged anywhere along it, undone, moved by keys and deleted', async () => {
    const { page, complaints } = await openChart()
    await makeAlert(page, { op: 'crossing_up', price: 2850 })
    await page.reload()
    const { y } = await middleOf(page, 'SPX crosses above 2850')
    // Its name would lie on candles, so it is a bell until somebody points at the line.
    const name = page.locator('[data-bell]').getByText('SPX crosses above 2,850')
    await name.waitFor({ state: 'hidden' })
    await page.mouse.move(500, y)
    await name.waitFor()
    // The toolbar of drawings is there when what is drawn can be taken hold of.
    await page.getByRole('button', { name: /^List of drawings/ }).waitFor()
    await page.mouse.move(400, y)
    await page.mouse.down()
    await page.mouse.move(400, y + 60, { steps: 4 })
    await page.mouse.up()
    const [moved] = await keptWhen(page, ([one]) => one!.price < 2850)
    expect(moved!.name).toBe(`SPX crosses above ${moved!.price}`)
    await lineOf(page, moved!.name).waitFor()
    await page.getByRole('application').focus()
    await page.keyboard.press('Control+z')
    await keptWhen(page, ([one]) => one!.price === 2850)
    await page.keyboard.press('Control+y')
    await keptWhen(page, ([one]) => one!.price === moved!.price)
    await page.keyboard.press('Control+z')
    await keptWhen(page, ([one]) => one!.price === 2850)

    await lineOf(page, 'SPX crosses above 2850').focus()
    await page.keyboard.press('ArrowUp')
    await keptWhen(page, ([one]) => one!.price === 2850.01)
    await page.keyboard.press('Shift+ArrowDown')
    await keptWhen(page, ([one]) => one!.price === 2849.91)
    await page.keyboard.press('Delete')
    await keptWhen(page, (all) => all.length === 0)
    await page.getByRole('application').focus()
    await page.keyboard.press('Control+z')
    await keptWhen(page, ([one]) => one?.price === 2849.91)
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('an answer from before a line was moved does not move it back', async () => {
    const { page, complaints } = await openChart()
    await makeAlert(page, { op: 'crossing_up', price: 2850 })
    await page.reload()
    const line = lineOf(page, 'SPX crosses above 2850')
    await line.waitFor()
    const [asked, answered, change] = [1, 2, 3].map(() => Promise.withResolvers<void>())
    await page.route('**/api/platform/alerts', async (route) => {
      const response = await route.fetch()
      asked!.resolve()
      await answered!.promise
      await route.fulfill({ response })
    })
    await line.focus()
    await page.keyboard.press('ArrowUp')
    await asked!.promise
    await page.route('**/api/platform/alerts/*', async (route) => {
      await change!.promise
      await route.continue()
    })
    await page.keyboard.press('ArrowUp')
    const seen = page.waitForResponse('**/api/platform/alerts')
    answered!.resolve()
    await (await seen).finished()
    await painted(page)
    expect(await page.locator('[role=spinbutton][aria-label^="Alert:"]').getAttribute('aria-valuenow')).toBe(
      '2850.02',
    )
    change!.resolve()
    await keptWhen(page, ([one]) => one!.price === 2850.02)
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('the button on the price axis and the menu set one at their price; a menu changes it', async () => {
    const { page, complaints } = await openChart()
    const chart = page.getByRole('application')
    const plus = page.getByRole('button', { name: 'Set an alert at this price' })
    await plus.waitFor({ state: 'attached' })
    const box = (await chart.boundingBox())!
    await page.mouse.move(box.x + 300, box.y + 200)
    await page.mouse.move(box.x + 310, box.y + 200)
    await page.locator('button[data-on][aria-label="Set an alert at this price"]').waitFor()
    const at = (await plus.boundingBox())!
    await page.mouse.click(at.x + at.width / 2, at.y + at.height / 2)
    const [made] = await keptWhen(page, (all) => all.length === 1)
    expect(made!.name).toBe(`SPX crosses ${made!.price}`)
    await page.getByText(`Alert is on: ${shown(made!.name)}`).waitFor()
    expect(Math.abs((await middleOf(page, made!.name)).y - (box.y + 200))).toBeLessThan(3)

    expect(await violations(page)).toEqual([])
    await chart.click({ button: 'right', position: { x: 400, y: 300 } })
    await page.getByRole('menuitem', { name: /^Alert when SPX crosses/ }).click()
    await keptWhen(page, (all) => all.length === 2)
    await lineOf(page, made!.name).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Change…' }).click()
    const form = page.getByRole('dialog', { name: 'Change the alert' })
    await form.getByLabel('Level').fill('2800')
    await form.getByRole('button', { name: 'Save' }).click()
    await lineOf(page, 'SPX crosses 2800').waitFor({ state: 'attached' })
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('one is set as the newest is told, without the ways that are gone since', async () => {
    const { page, complaints } = await openChart()
    const api = `${site.url}/api/platform`
    const make = async (path: string, data: object) =>
      ((await (await page.request.post(`${api}${path}`, { data })).json()) as { id: string }).id
    const channel = (name: string) =>
      make('/channels', { name, kind: 'http', settings: { url: 'http://127.0.0.1:9/' } })
    const [old, kept] = [await channel('Old'), await channel('Kept')]
    const hook = await make('/webhooks', {
      name: 'Hook',
      url: 'http://127.0.0.1:9/',
      events: ['alert.triggered'],
    })
    const ways = { channels: ['webhook'], webhookIds: [hook], channelIds: [old, kept] }
    await makeAlert(page, { op: 'crossing', price: 1, ...ways, escalation: { channelId: old, minutes: 5 } })
    await page.reload()
    await page.getByRole('button', { name: 'Set an alert at this price' }).waitFor({ state: 'attached' })
    const remove = async (path: string) => expect((await page.request.delete(api + path)).status()).toBe(200)
    const setOne = async () => {
      await page.getByRole('application').click({ button: 'right', position: { x: 400, y: 300 } })
      await page.getByRole('menuitem', { name: /^Alert when SPX crosses/ }).click()
    }
    await remove(`/webhooks/${hook}`)
    await remove(`/channels/${old}`)
    await setOne()
    const isNew = ({ price }: Kept) => price !== 1
    const [made] = (await keptWhen(page, (all) => all.length === 2)).filter(isNew)
    expect(made).toMatchObject({ channels: [], webhookIds: [], channelIds: [kept] })
    await remove(`/channels/${kept}`)
    await setOne()
    const [last] = (await keptWhen(page, (all) => all.length === 3)).filter(
      (one) => isNew(one) && one.id !== made!.id,
    )
    expect(last).toMatchObject({ channels: ['email'], webhookIds: [], channelIds: [] })
    await removeAll(page)
    expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
  }, 300_000)

  test('one that fires is told as an alert, by what has happened, and its line goes', async () => {
    const { page, complaints } = await openChart()
    await makeAlert(page, { op: 'above', price: 2900 })
    await page.reload()
    await lineOf(page, 'SPX is above 2900').waitFor({ state: 'attached' })
    const csv = (volume: number) =>
      `time,open,high,low,close,volume\n2100-01-04,2900,2960,2890,2950,${volume}`
    // Who is not connected yet is not told: the stream tells what came meanwhile.
    const imported = await page.request.post(
      `${site.url}/api/platform/bars/import?exchange=SP&symbol=SPX&interval=1d`,
      { headers: { 'content-type': 'text/csv' }, data: csv(1) },
    )
    expect(imported.status()).toBe(200)
    const told = page.getByRole('status').filter({ hasText: 'SPX is above 2900' })
    await told.waitFor()
    expect(await told.innerText()).toContain('Alert')
    await lineOf(page, 'SPX is above 2900').waitFor({ state: 'detached' })
    await told.getByRole('button', { name: 'Show on the chart' }).click()
    await told.waitFor({ state: 'detached' })
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('beside bars that end below it a name is shown, but never over the legend', async () => {
    const { page, complaints } = await openChart({ width: 780 })
    const legend = page.locator('[class*=legendLine]').first()
    const { y, height } = (await legend.boundingBox())!
    const chart = (await page.getByRole('application').boundingBox())!
    await page.mouse.move(chart.x + 300, y + height / 2)
    await page.locator('button[data-on][aria-label="Set an alert at this price"]').click()
    const [made] = await keptWhen(page, (all) => all.length === 1)
    await lineOf(page, made!.name).waitFor()
    await page.mouse.move(chart.x + 200, chart.y + 400)
    await painted(page)
    const label = (await lineOf(page, made!.name).boundingBox())!
    const volume = (await legend.getByText(/^Vol/).boundingBox())!
    expect(Math.abs(label.y + label.height / 2 - (y + height / 2))).toBeLessThan(3)
    expect(label.x).toBeGreaterThan(volume.x + volume.width)
    await page.locator('[data-bell]').getByText(shown(made!.name)).waitFor({ state: 'hidden' })
    await page.setViewportSize({ width: 1900, height: 800 })
    await page.locator('[data-bell]').waitFor({ state: 'detached' })
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('lines come though the server was too busy to answer at first', async () => {
    const { page, complaints } = await openChart({ own: true })
    // Above the last bar, the one too that another test imports.
    await makeAlert(page, { op: 'above', price: 3000.5 })
    await page.clock.install()
    const busy = Promise.withResolvers<void>()
    await page.route(
      /\/api\/platform\/alerts(?:\?|$)/,
      async (route) => {
        await route.fulfill({ status: 503, json: { ok: false, error: { code: 'overloaded', message: '' } } })
        busy.resolve()
      },
      { times: 1 },
    )
    await page.reload()
    await busy.promise
    const line = page.getByRole('spinbutton', { name: /^Alert: .* 3,000.5$/ })
    while ((await line.count()) === 0) await page.clock.runFor(500)
    await removeAll(page)
    expect(complaints.filter((one) => !one.includes('503'))).toEqual([])
  }, 300_000)

  test('how long ago an alert was made moves on while the list of alerts is open', async () => {
    const { page, complaints } = await openChart({ own: true })
    const apple = { exchange: 'NASDAQ', symbol: 'AAPL' }
    await makeAlert(page, { ...apple, op: 'above', price: 9000 })
    await page.clock.install()
    // No provider follows it: what one would say of a machine without a network is another story.
    const providers = [{ name: 'Yahoo', exchanges: ['NASDAQ'] }]
    const feed = {
      ...apple,
      interval: '1d',
      state: 'live',
      followed: true,
      failures: 0,
      newestBar: 1,
      said: '',
    }
    let feeds: object[] = []
    await page.route(/\/api\/platform\/feeds(?:\?|$)/, (route) => {
      if (route.request().method() === 'POST') feeds = [feed]
      return route.fulfill({ json: { ok: true, ...apple, feeds, providers, nextCursor: null } })
    })
    await page.goto(`${site.url}/chart/NASDAQ%3AAAPL/1d`)
    await page.getByRole('button', { name: /^Alerts/ }).click()
    const rows = page.getByRole('list', { name: 'Alerts' }).getByRole('listitem')
    const row = rows.filter({ hasText: '9,000' })
    await row.getByText('made just now').waitFor()
    expect(await row.innerText()).toContain('AAPL is above 9,000')
    // Its bars are of a file that ended years ago, and so is what fires on them.
    await row.getByText(/^No new bars come: the newest of NASDAQ:AAPL 1D is of \d/).waitFor()
    // One button follows what it waits for. That nobody answers is known soon after.
    await row.getByRole('button', { name: 'Follow AAPL' }).click()
    await row.getByText(/^No new bars come/).waitFor({ state: 'detached' })
    const said = 'Yahoo cannot be reached.'
    feeds = [{ ...feed, state: 'retrying', failures: 1, said }]
    await page.clock.fastForward('00:10')
    await row.getByText(`No new bars come. ${said}`).waitFor()
    await makeAlert(page, { ...apple, op: 'above', price: 1 })
    await page
      .getByRole('list', { name: 'Firings' })
      .getByText(/ · bar of \d{4}-\d\d-\d\d/)
      .waitFor()
    await page.clock.fastForward('03:00')
    await row.getByText('made 3 minutes ago').waitFor()
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)

  test('mail is not offered where none is sent, nor told of when an alert is made', async () => {
    const { page, complaints } = await openChart()
    await page.goto(`${site.url}/alerts`)
    await page.getByRole('button', { name: 'New alert' }).first().click()
    await page.getByText('This server sends no e-mail.').waitFor()
    expect(await page.getByRole('checkbox', { name: /E-mail/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Create alert' }).click()
    const refused = page.getByText('Say at which price.')
    await refused.waitFor()
    await page.getByLabel('What').selectOption('Volume')
    await refused.waitFor({ state: 'detached' })
    await page.getByLabel('What').selectOption('Price')
    await page.getByLabel('Level').or(page.getByLabel('Price')).fill('2850')
    // Why nothing came of it is in view, however long the form is.
    await page.setViewportSize({ width: 390, height: 600 })
    await page.route('**/api/platform/alerts', (route) => route.abort())
    await page.getByRole('button', { name: 'Create alert' }).click()
    const problem = page.getByRole('alert').filter({ hasText: 'Chartroom cannot be reached' })
    await problem.waitFor()
    const isSeen = (one: Element) => {
      const { x, y, width, height } = one.getBoundingClientRect()
      return one.contains(document.elementFromPoint(x + width / 2, y + height / 2))
    }
    expect(await problem.evaluate(isSeen)).toBe(true)
    await page.unroute('**/api/platform/alerts')
    await page.getByRole('button', { name: 'Create alert' }).click()
    await page.getByText('Alert is on').waitFor()
    expect(await page.getByText(/mail server/).count()).toBe(0)
    await page.getByText(/ · only listed here$/).waitFor()
    await removeAll(page)
    expect(complaints.filter((one) => !/422|ERR_FAILED/.test(one))).toEqual([])
  }, 300_000)

  test('on a phone a finger drags the line', async () => {
    const { page, complaints } = await openChart({ width: 390, height: 844 })
    await makeAlert(page, { op: 'crossing_down', price: 2850 })
    await page.reload()
    const name = 'SPX crosses below 2850'
    const { x, y } = await middleOf(page, name)
    const tools = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', to: number | null) =>
      tools.send('Input.dispatchTouchEvent', { type, touchPoints: to === null ? [] : [{ x, y: to }] })
    await touch('touchStart', y)
    for (let step = 1; step <= 5; step++) await touch('touchMove', y - step * 10)
    await touch('touchEnd', null)
    await keptWhen(page, ([one]) => one!.price > 2850)
    await removeAll(page)
    expect(complaints).toEqual([])
  }, 300_000)
})
