// Drawing on the chart: with the mouse, by keyboard alone, with a finger.

import { afterAll, afterEach, beforeAll, describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { noBrowser, painted, startSite, type Site } from './browser.ts'
import { dealtTests } from './dealt.ts'

const QUIET = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }

interface Drawn {
  readonly id: string
  readonly tool: string
  readonly points: readonly { readonly time: number; readonly price: number }[]
  readonly style: { readonly text?: string; readonly color?: string }
  readonly locked?: boolean
}

const journey = dealtTests()

/** For a page: takes Esc in the very moment in which the search is there, as on a busy machine whose keys are behind. */
const leaveSearchAtOnce = () =>
  new Promise<void>((resolve) => {
    const press = (on: Element | null, init: KeyboardEventInit) =>
      on?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))
    new MutationObserver((_, observer) => {
      const field = document.querySelector('[role=dialog] [role=combobox]')
      if (!field) return
      observer.disconnect()
      press(field, { key: 'Escape' })
      resolve()
    }).observe(document.body, { childList: true, subtree: true })
    press(document.activeElement, { key: 'k', ctrlKey: true })
  })

describe.skipIf(noBrowser)('drawings', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  async function openChart(
    market: string,
    options: { readonly width?: number; readonly height?: number } = {},
  ) {
    const { page, complaints } = await site.open({ remembered: QUIET, ...options })
    await page.goto(`${site.url}/chart/${encodeURIComponent(market)}/1d`)
    await page.getByRole('button', { name: /^Interval/ }).waitFor()
    await page.getByText(/^Vol/).first().waitFor()
    return { page, complaints }
  }
  const chartOf = (page: Page) => page.getByRole('application')
  /** Takes the horizontal line in hand, once there are tools. */
  async function takeLine(page: Page): Promise<void> {
    while ((await chartOf(page).evaluate((host) => host.style.cursor)) !== 'crosshair') {
      await page.keyboard.press('Alt+h')
      await page.waitForTimeout(20)
    }
  }
  /** A place on the chart, as shares of its width and height. */
  async function at(page: Page, x: number, y: number): Promise<[number, number]> {
    const box = (await chartOf(page).boundingBox())!
    return [box.x + box.width * x, box.y + box.height * y]
  }
  const stored = async (page: Page, market: string): Promise<readonly Drawn[]> => {
    const [exchange, symbol] = market.split(':')
    const answer = await page.request.get(
      `${site.url}/api/platform/drawings?exchange=${exchange}&symbol=${symbol}`,
    )
    return ((await answer.json()) as { drawings: Drawn[] }).drawings
  }
  /** Moves down along `x` to where something drawn is under the pointer: older bars that come may have moved it. */
  async function lineAt(page: Page, x: number): Promise<number> {
    for (let step = 0; ; step = (step + 1) % 40) {
      const y = 0.3 + step / 100
      await page.mouse.move(...(await at(page, x, y)))
      if ((await chartOf(page).evaluate((host) => host.style.cursor)) === 'pointer') return y
    }
  }
  /** Waits until the server has what the page shows. */
  async function storedWhen(
    page: Page,
    market: string,
    holds: (drawings: readonly Drawn[]) => boolean,
  ): Promise<readonly Drawn[]> {
    for (let attempt = 0; attempt < 300; attempt++) {
      const found = await stored(page, market)
      if (holds(found)) return found
      await page.waitForTimeout(100)
    }
    throw new Error(`It never came to hold: ${JSON.stringify(await stored(page, market))}`)
  }

  journey(
    'a line is drawn with two clicks, moved, undone, seen by another tab and after a reload',
    async () => {
      const market = 'SP:SPX'
      const { page, complaints } = await openChart(market)
      const tools = page.getByRole('toolbar', { name: 'Drawing tools' })
      await tools.getByRole('button', { name: 'Trend line' }).click()
      await page.mouse.click(...(await at(page, 0.3, 0.6)))
      await page.mouse.click(...(await at(page, 0.6, 0.4)))
      await page.getByRole('toolbar', { name: 'Trend line: style' }).waitFor()
      const [line] = await storedWhen(page, market, (all) => all.length === 1)
      expect([line!.tool, line!.points.length]).toEqual(['trend-line', 2])

      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('button', { name: 'List of drawings (1)' }).waitFor()

      // A tab behind another paints once in a while only, and the pointer's shape comes with the paint.
      await page.bringToFront()
      // Its middle is taken hold of and pulled down.
      const middle = await lineAt(page, 0.45)
      await page.mouse.down()
      await page.mouse.move(...(await at(page, 0.45, middle + 0.1)), { steps: 4 })
      await page.mouse.up()
      const [moved] = await storedWhen(
        page,
        market,
        ([one]) => one!.points[0]!.price < line!.points[0]!.price,
      )
      expect(moved!.points[0]!.time).toBe(line!.points[0]!.time)
      await page.keyboard.press('Control+z')
      await storedWhen(page, market, ([one]) => one!.points[0]!.price === line!.points[0]!.price)
      await page.keyboard.press('Control+Shift+z')
      await storedWhen(page, market, ([one]) => one!.points[0]!.price === moved!.points[0]!.price)
      // What is begun is taken back before what was done.
      await tools.getByRole('button', { name: 'Trend line' }).click()
      await page.mouse.click(...(await at(page, 0.2, 0.2)))
      await page.keyboard.press('Control+z')
      await page.mouse.click(...(await at(page, 0.3, 0.2)))
      await page.mouse.click(...(await at(page, 0.4, 0.2)))
      const [, level] = await storedWhen(page, market, (all) => all.length === 2)
      expect(level!.points[0]!.price).toBe(level!.points[1]!.price)
      await page.keyboard.press('Control+z')
      await storedWhen(page, market, (all) => all.length === 1)
      await tools.getByRole('button', { name: 'Trend line' }).click()
      await page.mouse.click(...(await at(page, 0.2, 0.2)))
      await tools.getByRole('button', { name: 'Undo' }).click()
      // The step before is still there to be taken back.
      await tools.getByRole('button', { name: 'Undo' }).click()
      await storedWhen(page, market, ([one]) => one?.points[0]!.price === line!.points[0]!.price)

      await page.reload()
      await page.getByRole('button', { name: 'List of drawings (1)' }).waitFor()
      await tools.getByRole('button', { name: 'Remove all drawings' }).click()
      await other.getByRole('button', { name: 'List of drawings (0)' }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'what the server refuses does not stay on the chart',
    async () => {
      const { page } = await openChart('SP:SPX')
      const list = page.getByRole('button', { name: /^List of drawings/ })
      await list.waitFor()
      const before = (await stored(page, 'SP:SPX')).length
      await page.getByRole('button', { name: `List of drawings (${before})` }).waitFor()
      const error = { code: 'quota_exceeded', message: 'A symbol can have no more drawings.' }
      await page.route('**/api/platform/drawings', (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({ status: 422, json: { ok: false, error } })
          : route.continue(),
      )
      await chartOf(page).focus()
      await takeLine(page)
      await page.keyboard.press('Enter')
      await page.getByText(error.message).waitFor()
      await page.getByRole('button', { name: `List of drawings (${before})` }).waitFor()
    },
    300_000,
  )

  journey(
    'one drawing that is refused takes no other with it',
    async () => {
      const line = (id: string, price: number | null) => ({
        id,
        tool: 'horizontal-line',
        points: [{ time: 1_500_000_000_000, price }],
        style: {},
      })
      const waiting = { a1: line('a1', 100), a2: line('a2', null), a3: line('a3', 300), a4: line('a4', 400) }
      const { page } = await site.open({
        remembered: { ...QUIET, 'drawings.pending': { '["NASDAQ","REFUSED"]': waiting } },
      })
      await page.goto(`${site.url}/chart/${encodeURIComponent('SP:SPX')}/1d`)
      const all = await storedWhen(page, 'NASDAQ:REFUSED', (found) => found.length === 3)
      expect(all.map(({ id }) => id)).toEqual(['a1', 'a3', 'a4'])
    },
    300_000,
  )

  journey(
    'what two tabs draw without a connection is all there once one of them has it again',
    async () => {
      const market = 'NASDAQ:AAPL'
      const { page } = await openChart(market)
      const other = await page.context().newPage()
      await other.goto(page.url())
      for (const tab of [page, other]) {
        await tab.bringToFront()
        await tab.getByRole('button', { name: 'List of drawings (0)' }).waitFor()
      }
      // Each tab writes down what it could not send; a request that fails tells that it could not.
      await page.context().setOffline(true)
      for (const [tab, count] of [
        [page, 1],
        [other, 2],
        [page, 3],
      ] as const) {
        await tab.bringToFront()
        await chartOf(tab).focus()
        await tab.keyboard.press('Alt+h')
        await tab.keyboard.press('Enter')
        await tab.getByRole('button', { name: `List of drawings (${count})` }).waitFor()
      }
      // Nothing was sent, and the tab that drew two of the three is gone.
      expect(await stored(page, market)).toEqual([])
      await other.bringToFront()
      await other.getByRole('button', { name: 'List of drawings (3)' }).waitFor()
      await page.close()
      await other.context().setOffline(false)
      // A page that is loaded sends at once what it finds.
      await other.reload()
      const kept = await storedWhen(other, market, (all) => all.length === 3)
      expect(new Set(kept.map(({ tool }) => tool))).toEqual(new Set(['horizontal-line']))
      await other
        .getByRole('toolbar', { name: 'Drawing tools' })
        .getByRole('button', { name: 'Remove all drawings' })
        .click()
      await storedWhen(other, market, (all) => all.length === 0)
    },
    300_000,
  )

  journey(
    'what one user left in a browser is neither shown to the next nor sent, and there on return',
    async () => {
      const market = 'SP:SPX'
      const { page: first } = await openChart(market)
      await first.request.patch(`${site.url}/api/platform/drawings`, {
        data: { exchange: 'SP', symbol: 'SPX', remove: (await stored(first, market)).map(({ id }) => id) },
      })
      const invited = await first.request.post(`${site.url}/api/auth/invitations`, { data: {} })
      const { code } = (await invited.json()) as { code: string }
      const next = await site.open({ fresh: true })
      await next.page.request.post(`${site.url}/api/auth/sign-up`, {
        data: { email: 'next@example.com', password: 'a long enough password', invitation: code },
      })
      const { page } = await site.open({ fresh: true, remembered: QUIET })
      const enter = async (email: string) => {
        await page.getByLabel('E-mail').fill(email)
        await page.getByLabel('Password').fill('a long enough password')
        await page.keyboard.press('Enter')
        await page.getByTitle('Search everything').waitFor()
        await page.goto(`${site.url}/chart/${encodeURIComponent(market)}/1d`)
      }
      const leave = async () => {
        await page.goto(`${site.url}/settings/profile`)
        await page.getByRole('button', { name: 'Sign out' }).click()
        await page.getByLabel('E-mail').waitFor()
      }
      await page.goto(site.url)
      await enter('owner@example.com')
      await page.getByText(/^Vol/).first().waitFor()
      // Put on the chart, and kept from the server.
      await page.route('**/api/platform/drawings', (route) =>
        route.request().method() === 'PATCH' ? route.abort() : route.continue(),
      )
      await page.evaluate(() => {
        localStorage.setItem('chartroom.layout', JSON.stringify({ id: 'lay_0', name: 'Secret plan' }))
        const study = {
          id: 's1',
          name: 'Mine',
          shortName: 'Mine',
          source: 'indicator("Mine")\nplot(1)',
          from: '',
        }
        const look = { inputs: {}, hidden: false, intervals: null, plots: {} }
        // As a version that had one chart only left it.
        localStorage.removeItem('chartroom.charts')
        localStorage.setItem('chartroom.chart.studies', JSON.stringify([{ ...study, ...look }]))
        localStorage.setItem(
          'chartroom.script',
          JSON.stringify({ id: null, name: 'Secret', source: '//@version=6\nindicator("Secret")\nplot(1)' }),
        )
      })
      await page.reload()
      await page.getByRole('button', { name: 'Settings of Mine' }).waitFor()
      await chartOf(page).focus()
      await page.keyboard.press('Alt+h')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'List of drawings (1)' }).waitFor()

      await leave()
      await page.unrouteAll()
      const sent: string[] = []
      page.on('request', (request) => {
        if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`)
      })
      await enter('next@example.com')
      await page.getByRole('button', { name: 'List of drawings (0)' }).waitFor()
      expect(await page.getByText('Secret').count()).toBe(0)
      expect(await page.getByRole('button', { name: 'Settings of Mine' }).count()).toBe(0)
      expect(sent.filter((one) => /drawings|layouts|preview/.test(one))).toEqual([])

      await leave()
      await enter('owner@example.com')
      await page.getByRole('button', { name: 'List of drawings (1)' }).waitFor()
      await storedWhen(page, market, (all) => all.length === 1)
      await page.getByRole('button', { name: 'Settings of Mine' }).waitFor()
    },
    300_000,
  )

  journey(
    'keys that come before the tools wait for those of the chart and for the commands, which come apart',
    async () => {
      const market = 'SP:SPX'
      const { page, complaints } = await site.open({ remembered: QUIET, own: true })
      // The page asks twice for the module, and a busy browser paints between the two answers.
      await page.addInitScript(() => {
        const { then } = Promise.prototype
        let go = () => undefined as void
        const held = new Promise<void>((resolve) => (go = resolve))
        Object.assign(window, { go })
        const waiting = function (this: Promise<unknown>, heard: unknown, ...rest: []) {
          const module = String(heard).includes('attachTools')
            ? then.call(this, (loaded) => then.call(held, () => loaded))
            : this
          return then.call(module, heard as () => void, ...rest)
        }
        Reflect.set(Promise.prototype, 'then', waiting)
      })
      await page.goto(`${site.url}/chart/${encodeURIComponent(market)}/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      const before = (await stored(page, market)).length
      await chartOf(page).focus()
      await page.keyboard.press('Alt+h')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: `List of drawings (${before})` }).waitFor()
      await painted(page)
      await page.evaluate(() => (window as unknown as { go(): void }).go())
      await storedWhen(page, market, (all) => all.length === before + 1)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'by keyboard alone: placed, nudged, given a price, locked against removal',
    async () => {
      const market = 'NASDAQ:AAPL'
      const { page, complaints } = await site.open({ remembered: QUIET })
      let release = () => undefined as void
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route('**/attach-*.js', async (route) => {
        await held
        await route.continue()
      })
      await page.goto(`${site.url}/chart/${encodeURIComponent(market)}/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      await chartOf(page).focus()
      // The tools are not there yet: the keys wait for them.
      await page.keyboard.press('Alt+h')
      await page.keyboard.press('Enter')
      release()
      const [line] = await storedWhen(page, market, (all) => all.length === 1)
      await page.keyboard.press('Shift+ArrowUp')
      await storedWhen(page, market, ([one]) => one!.points[0]!.price > line!.points[0]!.price)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).waitFor()
      await page.keyboard.type('list of drawings')
      await page.getByRole('option', { name: 'List of drawings', selected: true }).waitFor()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Drawings' })
      await dialog.getByLabel('Point 1: price').fill('123.5')
      await storedWhen(page, market, ([one]) => one!.points[0]!.price === 123.5)
      await dialog.getByRole('button', { name: 'Lock' }).click()
      await page.keyboard.press('Escape')
      await storedWhen(page, market, ([one]) => one!.locked === true)
      await chartOf(page).focus()
      await page.keyboard.press('Delete')
      await page.keyboard.press('Escape')
      expect(await stored(page, market)).toHaveLength(1)
      // Whoever looks for nothing, and for a tool, goes on where they were.
      const search = page.getByRole('combobox', { name: 'Search' })
      await page.evaluate(leaveSearchAtOnce)
      await chartOf(page).and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Control+k')
      await search.fill('draw: long position')
      await page.getByRole('option', { name: 'Draw: long position', selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await chartOf(page).and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Enter')
      await storedWhen(page, market, ([, one]) => one?.points.length === 3)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a style is kept under a name, and given to another drawing',
    async () => {
      const market = 'NASDAQ:AAPL'
      const { page, complaints } = await openChart(market)
      await page.getByRole('button', { name: /^List of drawings/ }).waitFor()
      await chartOf(page).focus()
      await page.keyboard.press('Alt+h')
      await page.keyboard.press('Enter')
      const bar = page.getByRole('toolbar', { name: 'Horizontal line: style' })
      await bar.getByLabel('Any colour').fill('#f23645')
      await bar.getByRole('button', { name: 'More for this drawing' }).click()
      // The bar is low and scrolls sideways; its menus are whole all the same.
      const isWhole = await page.getByRole('menuitem', { name: /^Remove/ }).evaluate((item) => {
        const { left, top } = item.getBoundingClientRect()
        return item.contains(document.elementFromPoint(left + 20, top + 15))
      })
      expect(isWhole).toBe(true)
      await page.getByRole('menuitem', { name: 'Styles…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Styles' })
      await dialog.getByLabel('Keep this style as').fill('Поддержка')
      await page.keyboard.press('Enter')
      await dialog.getByRole('button', { name: 'Use Поддержка' }).waitFor()
      await page.keyboard.press('Escape')
      await bar.getByLabel('Any colour').fill('#089981')
      await storedWhen(page, market, (all) => all.at(-1)?.style.color === '#089981')
      await bar.getByRole('button', { name: 'More for this drawing' }).click()
      await page.getByRole('menuitem', { name: 'Styles…' }).click()
      await dialog.getByRole('button', { name: 'Use Поддержка' }).click()
      await storedWhen(page, market, (all) => all.at(-1)?.style.color === '#f23645')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a text is typed at once, and an alert on a line opens filled in',
    async () => {
      const market = 'SP:SPX'
      const { page, complaints } = await openChart(market)
      const tools = page.getByRole('toolbar', { name: 'Drawing tools' })
      await tools.getByRole('button', { name: 'Text', exact: true }).click()
      await page.mouse.click(...(await at(page, 0.2, 0.2)))
      // Letters that are not on the keyboard come without keys, so nothing could keep them for a field that is not there yet.
      const field = page.getByRole('textbox', { name: 'Text', exact: true }).and(page.locator(':focus'))
      await field.waitFor()
      await page.keyboard.type('Поддержка 支撑')
      // What somebody draws elsewhere meanwhile brings the drawings anew, but takes nothing of what is being typed.
      const list = page.getByRole('button', { name: /^List of drawings/ })
      const before = Number(/\d+/.exec((await list.getAttribute('aria-label')) ?? '')![0])
      const elsewhere = {
        id: 'elsewhere',
        tool: 'horizontal-line',
        points: [{ time: 1.5e12, price: 9 }],
        style: {},
      }
      const body = { exchange: 'SP', symbol: 'SPX', put: [elsewhere] }
      expect((await page.request.patch(`${site.url}/api/platform/drawings`, { data: body })).ok()).toBe(true)
      await page.getByRole('button', { name: `List of drawings (${before + 1})` }).waitFor()
      await page.keyboard.press('Tab')
      await storedWhen(page, market, (all) => all.some(({ style }) => style.text === 'Поддержка 支撑'))
      // The press that places a text may not take the focus back from where it is typed.
      for (const [text, y] of [
        ['bought here', 0.3],
        ['sold there', 0.4],
      ] as const) {
        await tools.getByRole('button', { name: 'Text', exact: true }).click()
        await page.mouse.click(...(await at(page, 0.2, y)))
        await field.waitFor()
        await painted(page)
        await page.keyboard.type(text)
        await page.keyboard.press('Tab')
        await storedWhen(page, market, (all) => all.some(({ style }) => style.text === text))
      }
      await tools.getByRole('button', { name: 'Trend line' }).click()
      // Pressed and pulled: one gesture is enough.
      await page.mouse.move(...(await at(page, 0.3, 0.6)))
      await page.mouse.down()
      await page.mouse.move(...(await at(page, 0.6, 0.4)), { steps: 4 })
      await page.mouse.up()
      await page.getByRole('button', { name: 'More for this drawing' }).click()
      await page.getByRole('menuitem', { name: 'Alert on this line as it runs on…' }).click()
      const form = page.getByRole('dialog', { name: 'New alert' })
      await form.getByText('Inputs').waitFor()
      await form.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('Alert is on').waitFor()
      const { alerts } = (await (await page.request.get(`${site.url}/api/platform/alerts`)).json()) as {
        alerts: { name: string; state: string; inputs: object }[]
      }
      expect(alerts).toMatchObject([{ name: 'SPX crosses the trend line', state: 'active' }])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'with a finger, on a phone',
    async () => {
      const market = 'SP:SPX'
      const { page, complaints } = await openChart(market, { width: 390, height: 800 })
      await page.getByRole('button', { name: 'Show the drawing tools' }).click()
      await page.getByRole('button', { name: 'Rectangle' }).click()
      const client = await page.context().newCDPSession(page)
      const touch = async (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) => {
        const [left, top] = type === 'touchEnd' ? [0, 0] : await at(page, x, y)
        const touchPoints = type === 'touchEnd' ? [] : [{ x: left, y: top }]
        await client.send('Input.dispatchTouchEvent', { type, touchPoints })
      }
      await touch('touchStart', 0.3, 0.3)
      for (let i = 1; i <= 5; i++) await touch('touchMove', 0.3 + i * 0.05, 0.3 + i * 0.05)
      await touch('touchEnd')
      const isDrawn = ({ tool }: Drawn) => tool === 'rectangle'
      const drawn = (await storedWhen(page, market, (all) => all.some(isDrawn))).find(isDrawn)!
      expect(drawn.points[1]!.time).toBeGreaterThan(drawn.points[0]!.time)
      expect(complaints).toEqual([])
    },
    300_000,
  )
})
