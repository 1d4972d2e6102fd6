// Answers that come late, in another order, or not at first: the page ends up as if they had come at once.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { noBrowser, painted, startSite, type Site } from './browser.ts'

const QUIET = { 'tour.done': true, bottom: '', side: '' }
const RSI = {
  id: 's1',
  name: 'RSI',
  shortName: 'RSI',
  source: '//@version=6\nindicator("RSI")\nplot(ta.rsi(close, 14))\n',
  from: '',
  inputs: {},
  hidden: false,
  intervals: null,
  plots: {},
}
const strategy = (name: string, input = 'Length') =>
  `//@version=6\nstrategy("${name}")\nn = input.int(9, "${input}")\nif ta.crossover(close, ta.sma(close, n))\n    strategy.entry("L", strategy.long)\n`

/** Holds back what is asked of the addresses until the returned function is called. */
async function holdBack(page: Page, address: string, methods = ['GET']): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    if (methods.includes(route.request().method())) await promise
    // Whoever asked may have given it up.
    await route.fallback().catch(() => undefined)
  })
  return resolve
}

describe.skipIf(noBrowser)('late answers', () => {
  let site: Site
  let api = ''
  beforeAll(async () => {
    site = await startSite()
    api = `${site.url}/api/platform`
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  const made = async (page: Page, path: string, data: object): Promise<{ id: string }> => {
    const answer = await page.request.post(`${api}/${path}`, { data })
    if (!answer.ok()) throw new Error(await answer.text())
    return (await answer.json()) as { id: string }
  }

  test('a chart comes by itself though an answer is refused, and bars and code are lost once', async () => {
    const charts = {
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
          studies: [RSI],
        },
      ],
    }
    const { page } = await site.open({ own: true, remembered: { ...QUIET, charts } })
    const lost: string[] = []
    for (const address of ['**/assets/chart-page-*', '**/api/platform/bars?*'])
      await page.route(address, (route) => {
        if (lost.includes(address)) return route.fallback()
        lost.push(address)
        return route.abort('connectionreset')
      })
    await page.route('**/api/auth/visitor', (route) => route.fulfill({ status: 500, body: '{}' }), {
      times: 1,
    })
    await page.goto(site.url)
    await page.getByRole('button', { name: 'More for RSI', exact: true }).waitFor()
    expect(lost).toHaveLength(2)
  }, 300_000)

  test('what is asked for again before it has come is shown all the same', async () => {
    const { page } = await site.open({ own: true, remembered: QUIET })
    const source = '//@version=6\nindicator("Screen")\nalertcondition(close > 0, "Priced")\n'
    const { id } = await made(page, 'scans', { name: 'Screen', interval: '1d', bars: 100, source })
    const path = `${api}/scans/${id}`
    const state = async () =>
      ((await (await page.request.get(path)).json()) as { scan: { state: string } }).scan
    while ((await state()).state !== 'done');
    const answers: (() => void)[] = []
    const polled = Promise.withResolvers<void>()
    let asked = 0
    await page.route(path, async (route) => {
      const scan = { ...(await state()), ...(asked++ === 0 && { state: 'running' }) }
      if (asked > 1) {
        polled.resolve()
        await new Promise<void>((resolve) => answers.push(resolve))
      }
      await route.fulfill({ json: { ok: true, scan } }).catch(() => undefined)
    })
    await page.clock.install()
    await page.goto(`${site.url}/research/scans/${id}`)
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
    // Each answer takes longer than the page waits before it asks again.
    for (let round = 0; round < 4; round++) {
      await page.clock.runFor(1500)
      await polled.promise
      if (round > 0) answers.shift()?.()
    }
    await page.clock.resume()
    await page.getByRole('button', { name: 'Scan again' }).waitFor()
  }, 300_000)

  test('of two reports that are opened the later one is shown, whichever comes last', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    const market = { exchange: 'SP', symbol: 'SPX', interval: '1d' }
    const run = (name: string) =>
      made(page, 'backtests', { name, ...market, bars: 1000, source: strategy(name), inputs: {} })
    const { id } = await run('First')
    await run('Second')
    await page.goto(`${site.url}/research`)
    const release = await holdBack(page, `${api}/backtests/${id}`)
    const givenUp = page.waitForEvent('requestfailed', (request) => request.url().endsWith(id))
    await page.getByRole('button', { name: 'First', exact: true }).click()
    await page.getByRole('button', { name: 'Second', exact: true }).click()
    await page.getByRole('tab', { name: 'Report', selected: true }).waitFor()
    await givenUp
    release()
    await page.getByRole('button', { name: 'More for Second', exact: true }).waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('a script that was opened while another is saved or fetched stays in the editor as it is', async () => {
    const script = { id: null, name: 'One', source: strategy('One') }
    const { page, complaints } = await site.open({ remembered: { ...QUIET, bottom: 'script', script } })
    await page.goto(site.url)
    const name = page.getByLabel('Name of the script')
    const saveIt = page.getByRole('button', { name: 'Save', exact: true })
    const answered = (method: string, path: string) =>
      page.waitForResponse((one) => one.request().method() === method && one.url() === `${api}/${path}`)
    const save = await holdBack(page, `${api}/scripts`, ['POST'])
    // Twice, as somebody does who sees nothing happen.
    await saveIt.click()
    await saveIt.click()
    await page.getByRole('button', { name: 'More for this script' }).click()
    await page.getByRole('menuitem', { name: 'New script' }).click()
    const first = answered('POST', 'scripts')
    save()
    await first
    await painted(page)
    const second = answered('POST', 'scripts')
    await saveIt.click()
    await second
    const list = await page.request.get(`${api}/scripts`)
    const { scripts } = (await list.json()) as { scripts: { id: string; name: string }[] }
    expect(scripts.map((one) => one.name).toSorted()).toEqual(['My strategy', 'One'])
    const [own, one] = ['My strategy', 'One'].map((text) => scripts.find((each) => each.name === text)!.id)
    const release = await holdBack(page, `${api}/scripts/${one}`)
    const open = async (text: string) => {
      await page.getByRole('button', { name: 'Open', exact: true }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: new RegExp(`^${text}`) })
        .click()
    }
    await open('One')
    const sooner = answered('GET', `scripts/${own}`)
    await open('My strategy')
    await sooner
    const later = answered('GET', `scripts/${one}`)
    release()
    await later
    await painted(page)
    expect(await name.inputValue()).toBe('My strategy')
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
  }, 300_000)

  test('symbols that are typed before the list of symbols has come are all in the watchlist', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    const { id } = await made(page, 'watchlists/import', { name: 'Next', items: [] })
    const release = await holdBack(page, `${api}/symbols`)
    await page.goto(`${site.url}/markets/${id}`)
    const field = page.getByRole('combobox', { name: 'Add a symbol' })
    for (const symbol of ['spx', 'mine:own']) {
      await field.fill(symbol)
      await field.press('Enter')
    }
    release()
    await page.getByRole('list', { name: 'Next' }).getByRole('listitem').nth(1).waitFor()
    const kept = async () => JSON.stringify(await (await page.request.get(`${api}/watchlists/${id}`)).json())
    while (!/"OWN"/.test(await kept()));
    expect(await kept()).toContain('"SPX"')
    expect(complaints).toEqual([])
  }, 300_000)

  test('the form of a sweep has the market that was typed, and the inputs of the version that was chosen', async () => {
    const { page, complaints } = await site.open({ remembered: QUIET })
    const { id } = await made(page, 'scripts', { name: 'Two versions', source: strategy('Two', 'Fast') })
    await page.request.patch(`${api}/scripts/${id}`, { data: { source: strategy('Two', 'Slow') } })
    const release = await holdBack(page, `${api}/symbols`)
    await page.goto(`${site.url}/research/${id}/optimise`)
    const market = page.getByLabel('Market', { exact: true })
    await market.fill('spx')
    await market.blur()
    release()
    await page.getByLabel('Slow: step').waitFor()
    while ((await market.inputValue()) !== 'SP:SPX') await painted(page)
    await page.getByLabel(/^Version/).selectOption('1')
    await page.getByLabel('Fast: step').waitFor()
    expect(await page.getByLabel('Slow: step').count()).toBe(0)
    expect(complaints).toEqual([])
  }, 300_000)
})
