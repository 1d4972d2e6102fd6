// Journeys through pages and editor in a real browser. What must hold on every page is in `every-page.test.ts`.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { decryptedPush, startPushService, subscribed } from '../notify/channels/push-service.ts'
import { zip } from '../market/archives.ts'
import { violations } from './axe.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'
import { dealtTests } from './dealt.ts'
import { cutOff, sideways } from './sideways.ts'

const ARCHIVE = zip([
  { name: 'BTCUSDT-1m-2024-03.csv', text: '1709632800000000,10,12,9,11,5,1709632859999999,55,3,2,22,0\n' },
])
const QUIET = { 'tour.done': true }

/** How the words of each row of a list stand. */
const rowsOf = (page: Page) =>
  page.locator('#main ul > li').evaluateAll((items) =>
    items.map((item) => {
      const brokenWords: string[] = []
      const texts = document.createTreeWalker(item, NodeFilter.SHOW_TEXT)
      while (texts.nextNode())
        for (const { index, 0: word } of texts.currentNode.textContent!.matchAll(/\S+/g)) {
          const range = document.createRange()
          range.setStart(texts.currentNode, index)
          range.setEnd(texts.currentNode, index + word.length)
          if (range.getClientRects().length > 1) brokenWords.push(word)
        }
      const { height } = item.getBoundingClientRect()
      const nameWidth = item.firstElementChild!.getBoundingClientRect().width
      return { brokenWords, isTall: height > 140, isNameSqueezed: nameWidth < 149 }
    }),
  )

/** The page has its heading and nothing on it is still loading. */
async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => !document.querySelector('main [aria-busy="true"]'))
}

const journey = dealtTests()

describe.skipIf(noBrowser)('pages', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  const openAt = async (
    path: string,
    remembered: Record<string, unknown> = QUIET,
    { width = 1280, own = false } = {},
  ) => {
    const opened = await site.open({ remembered, width, own })
    await opened.page.goto(site.url + path)
    await settled(opened.page)
    return opened
  }

  journey(
    'a watchlist file comes in as a whole or names its bad rows',
    async () => {
      const { page, complaints } = await openAt('/markets')
      await page.getByRole('button', { name: 'Import a list' }).click()
      const choose = (text: string) =>
        page
          .locator('input[type=file]')
          .setInputFiles({ name: 'Tech.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      await choose('symbol,exchange\nAAPL,NASDAQ\nBAD SYMBOL,NYSE\n')
      await page.getByRole('button', { name: 'Import 2 symbols' }).click()
      await page.getByText('1 of 2 rows cannot be read').waitFor()
      await page.getByRole('cell', { name: /without spaces/ }).waitFor()
      await choose('###Tech,NASDAQ:AAPL,SP:SPX')
      await page.getByRole('button', { name: 'Import 2 symbols' }).click()
      await page.getByRole('heading', { name: 'Tech' }).waitFor()
      // Last price of the sample bars.
      await page.getByText('2,874.56').waitFor()
      // The refused import is an answer of 422, which the browser itself notes.
      expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'a watchlist is put in order by hand and by keys, and its rows carry notes',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const items = ['AAPL', 'SPX', 'MSFT', 'TSLA'].map((symbol) => ({ symbol, exchange: 'X', note: null }))
      await page.request.post(`${site.url}/api/platform/watchlists/import`, {
        headers: { 'content-type': 'application/json' },
        data: { name: 'In order', items },
      })
      await page.goto(`${site.url}/markets`)
      await page.getByRole('link', { name: 'In order' }).click()
      const list = page.getByRole('list', { name: 'In order' })
      await list.waitFor()
      const order = async () => (await list.locator('strong').allInnerTexts()).join(' ')
      const stored = async () => {
        const answer = await page.request.get(`${site.url}/api/platform/watchlists`)
        const { watchlists } = (await answer.json()) as {
          watchlists: { name: string; items: { symbol: string; note: string | null }[] }[]
        }
        return watchlists.find((one) => one.name === 'In order')!.items
      }
      // Keys: the focus stays with the row, and a reader is told.
      await list.getByRole('button', { name: /^TSLA/ }).focus()
      await page.keyboard.press('Alt+ArrowUp')
      await page.keyboard.press('Alt+ArrowUp')
      expect(await order()).toBe('AAPL TSLA SPX MSFT')
      await page.getByText('TSLA is number 2 of 4 now.').waitFor()
      expect(await page.evaluate(() => document.activeElement?.querySelector('strong')?.textContent)).toBe(
        'TSLA',
      )
      // By hand: the handle of a row, dropped on another.
      const middle = async (symbol: string) => {
        const box = (await list.getByRole('listitem').filter({ hasText: symbol }).boundingBox())!
        return { x: box.x + 8, y: box.y + box.height / 2 }
      }
      const drag = async (from: string, to: string) => {
        const [start, end] = [await middle(from), await middle(to)]
        await page.mouse.move(start.x, start.y)
        await page.mouse.down()
        await page.mouse.move(start.x, (start.y + end.y) / 2)
        await page.mouse.move(end.x, end.y)
      }
      await drag('AAPL', 'MSFT')
      expect(await order()).toBe('TSLA SPX MSFT AAPL')
      await page.mouse.up()
      await drag('AAPL', 'TSLA')
      await page.keyboard.press('Escape')
      await page.mouse.up()
      expect(await order()).toBe('TSLA SPX MSFT AAPL')
      // From the menu.
      await list.getByRole('button', { name: 'More for AAPL' }).click()
      await page.getByRole('menuitem', { name: 'Move up' }).click()
      expect(await order()).toBe('TSLA SPX AAPL MSFT')
      // A note, taken and taken back.
      await list.getByRole('button', { name: /^SPX/ }).focus()
      await page.keyboard.press('F2')
      await page.getByRole('textbox', { name: 'Note' }).fill('Buy above 3,000')
      await page.keyboard.press('Control+Enter')
      await list.getByText('Buy above 3,000').waitFor()
      // A change is saved behind the one before it.
      const isStored = async (what: (items: Awaited<ReturnType<typeof stored>>) => boolean) => {
        while (!what(await stored())) await page.waitForTimeout(20)
      }
      await isStored((rows) => rows.some(({ note }) => note !== null))
      expect(await stored()).toEqual([
        { symbol: 'TSLA', exchange: 'X', note: null },
        { symbol: 'SPX', exchange: 'X', note: 'Buy above 3,000' },
        { symbol: 'AAPL', exchange: 'X', note: null },
        { symbol: 'MSFT', exchange: 'X', note: null },
      ] as never)
      await list.getByRole('button', { name: 'More for TSLA' }).click()
      await page.getByRole('menuitem', { name: 'Remove' }).click()
      await page.waitForFunction(() => document.activeElement?.querySelector('strong')?.textContent === 'SPX')
      await isStored((rows) => rows.length === 3)
      expect((await stored()).map((one) => one.symbol)).toEqual(['SPX', 'AAPL', 'MSFT'])
      await page.reload()
      await list.waitFor()
      expect(await order()).toBe('SPX AAPL MSFT')
      expect(await violations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a watchlist of thousands is there at once, and whole',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const items = Array.from({ length: 1500 }, (_, i) => ({ symbol: `S${i}`, exchange: 'X', note: null }))
      const made = await page.request.post(`${site.url}/api/platform/watchlists/import`, {
        headers: { 'content-type': 'application/json' },
        data: { name: 'Thousands', items },
      })
      await page.goto(`${site.url}/markets/${((await made.json()) as { id: string }).id}`)
      // By roles each count would work out the names of thousands of buttons.
      const rows = page.locator('main ul[aria-label="Thousands"] > li')
      await rows.first().waitFor()
      expect(await rows.count()).toBeLessThan(500)
      while ((await rows.count()) < 1500) {
        await page.evaluate(() => document.getElementById('main')!.scrollTo(0, 1e9))
        await page.waitForTimeout(20)
      }
      const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
      await rows
        .last()
        .getByRole('button', { name: /^S1499/ })
        .focus()
      await page.keyboard.press('Alt+ArrowUp')
      await page.getByText('S1499 is number 1,499 of 1,500 now.').waitFor()
      await saved
      await page.request.delete(
        `${site.url}/api/platform/watchlists/${((await made.json()) as { id: string }).id}`,
      )
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an order the server refuses is taken back',
    async () => {
      const { page } = await openAt('/settings/about')
      const items = ['SPX', 'AAPL', 'MSFT'].map((symbol) => ({ symbol, exchange: 'X', note: null }))
      const made = await page.request.post(`${site.url}/api/platform/watchlists/import`, {
        headers: { 'content-type': 'application/json' },
        data: { name: 'Refused', items },
      })
      await page.goto(`${site.url}/markets/${((await made.json()) as { id: string }).id}`)
      const list = page.getByRole('list', { name: 'Refused' })
      await list.waitFor()
      await page.route('**/api/platform/watchlists/wl_*', (route) =>
        route.request().method() === 'PATCH' ? route.abort() : route.continue(),
      )
      await list.getByRole('button', { name: /^MSFT/ }).focus()
      await page.keyboard.press('Alt+ArrowUp')
      await page.getByText('Chartroom cannot be reached').waitFor()
      await page.waitForFunction(
        () =>
          [...document.querySelectorAll('main ul[aria-label="Refused"] strong')]
            .map((one) => one.textContent)
            .join() === 'SPX,AAPL,MSFT',
      )
    },
    300_000,
  )

  journey(
    'an alert is made, paused and deleted',
    async () => {
      const { page, complaints } = await openAt('/alerts')
      await page.getByRole('button', { name: 'New alert' }).click()
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('Say at which price.').waitFor()
      await page.getByLabel('Level').fill('3000')
      await page.getByLabel('Name').fill('Back up')
      await page.getByRole('button', { name: 'Create alert' }).click()
      const row = page.getByRole('listitem').filter({ hasText: 'Back up' })
      await row.getByText('gets no bars').waitFor()
      await row.getByRole('button', { name: 'Back up', exact: true }).click()
      await page.getByRole('dialog', { name: 'Change the alert' }).waitFor()
      await page.keyboard.press('Escape')
      await row.getByRole('button', { name: /More for/ }).click()
      await page.getByRole('menuitem', { name: 'Pause' }).click()
      await row.getByText('paused').waitFor()
      await row.getByRole('button', { name: /More for/ }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete alert' }).click()
      await page.getByText('No alerts yet').waitFor()
      expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'an alert goes to the webhooks one chose, and runs a script with the inputs one gave',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const headers = { 'content-type': 'application/json' }
      const api = `${site.url}/api/platform`
      const receiver = async (name: string, event: string) => {
        const data = { name, url: `http://127.0.0.1:9/${name.toLowerCase()}`, events: [event] }
        return (
          (await (await page.request.post(`${api}/webhooks`, { data, headers })).json()) as { id: string }
        ).id
      }
      await receiver('Office', 'alert.triggered')
      const desk = await receiver('Desk', 'alert.triggered')
      await receiver('Reports', 'backtest.reportReady')
      const source =
        '//@version=6\nindicator("Far")\nlength = input.int(14, "Length", minval = 2)\nplot(ta.sma(close, length))\nplot(close, "Near")\n'
      await page.request.post(`${api}/scripts`, { data: { name: 'Far average', source }, headers })
      // The list of scripts comes after the name of one was typed.
      const typed = Promise.withResolvers<void>()
      await page.route('**/api/platform/scripts', async (route) => {
        await typed.promise
        await route.fallback()
      })
      await page.goto(`${site.url}/alerts`)
      await page.getByRole('button', { name: 'New alert' }).click()
      await page.getByLabel('What', { exact: true }).selectOption('An indicator')
      await page.getByLabel('Script', { exact: true }).fill('Far average')
      typed.resolve()
      await page.getByText('1, all as the script has them').click()
      await page.getByLabel('Plot', { exact: true }).selectOption('Near crosses a level')
      await page.getByLabel('Length').fill('1')
      await page.getByText('2 or more.').waitFor()
      await page.getByLabel('Length').fill('200')
      await page.getByText('1, 1 changed').waitFor()
      await page.getByLabel('Level').fill('3000')
      await page.getByRole('checkbox', { name: /^Webhook/ }).check()
      await page.getByText('The 2 that listen to alerts now').waitFor()
      await page.getByRole('button', { name: 'Only some' }).click()
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('Choose at least one webhook').waitFor()
      expect(await page.getByRole('checkbox', { name: /Reports/ }).isDisabled()).toBe(true)
      await page.getByRole('checkbox', { name: /Desk/ }).check()
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Create alert' }).click()
      const row = page
        .getByRole('list', { name: 'Alerts' })
        .getByRole('listitem')
        .filter({ hasText: 'to 1 webhook' })
      await row.waitFor()
      const stored = async () =>
        ((await (await page.request.get(`${api}/alerts`)).json()) as { alerts: object[] }).alerts[0]
      expect(await stored()).toMatchObject({
        kind: 'indicator',
        inputs: { Length: 200 },
        plot: 'Near',
        channels: ['webhook'],
        webhookIds: [desk],
      })
      // Changing it starts from what it is.
      await row.getByRole('button', { name: /More for/ }).click()
      await page.getByRole('menuitem', { name: 'Change' }).click()
      expect(await page.getByLabel('Length').inputValue()).toBe('200')
      expect(await page.getByRole('checkbox', { name: /Desk/ }).isChecked()).toBe(true)
      await page.getByRole('button', { name: 'All', exact: true }).last().click()
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('to all webhooks').waitFor()
      expect(await stored()).toMatchObject({ inputs: { Length: 200 }, webhookIds: [] })
      await page.request.delete(`${api}/alerts/${((await stored()) as { id: string }).id}`)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a phone is set up with a test, and told when an alert fires',
    async () => {
      const { page, complaints } = await openAt('/alerts/channels')
      const api = `${site.url}/api/platform`
      let answers = 403
      const topics: unknown[] = []
      const ntfy = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        async fetch(request) {
          // A message that comes with a chart is the file; what it says is in its head.
          if (request.method === 'PUT') topics.push(new URL(request.url).pathname.slice(1))
          else topics.push(((await request.json()) as Record<string, unknown>)['topic'])
          return answers === 200
            ? Response.json({ id: 'x', event: 'message' })
            : Response.json({ code: 40301, http: 403, error: 'forbidden' }, { status: 403 })
        },
      })
      // Nobody would hear of it: this server sends no mail.
      const data = { symbol: 'SPX', exchange: 'SP', interval: '1d', kind: 'price', op: 'above', price: 1e6 }
      const made = await page.request.post(`${api}/alerts`, { data: { ...data, channels: ['email'] } })
      const { id: untold } = (await made.json()) as { id: string }
      await page.getByRole('button', { name: 'Add a channel' }).click()
      await page.getByLabel('Service').selectOption('ntfy')
      await page.getByLabel('Name').fill('Телефон')
      await page.getByLabel('Topic').fill('my topic')
      await page.getByLabel('Server (optional)').fill(`http://127.0.0.1:${ntfy.port}`)
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText('Topic must be up to 64 letters').waitFor()
      // The button lost the focus while it was disabled: the refused field has it, and Esc asks as before.
      await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'settings/topic')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Keep editing' }).click()
      await page.getByLabel('Topic').fill('my-topic')
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      const row = page.getByRole('list', { name: 'Channels' }).getByRole('listitem')
      await row.filter({ hasText: 'not tried yet' }).waitFor()
      await page.getByText('One alert is told to nobody.').waitFor()
      await page.getByRole('button', { name: 'Tell Телефон' }).click()
      const told = async () => (await page.request.get(`${api}/alerts/${untold}`)).json()
      while (!(await told()).alert.channelIds.length) await page.waitForTimeout(20)
      await page.request.delete(`${api}/alerts/${untold}`)
      await page.getByRole('button', { name: 'Send a test to Телефон' }).click()
      await page.getByText(/did not take the test: 403: .*forbidden/).waitFor()
      await row.filter({ hasText: 'failing since' }).waitFor()
      answers = 200
      await page.getByRole('button', { name: 'Send a test to Телефон' }).click()
      await page.getByText('has taken the test').waitFor()
      await row.filter({ hasText: 'works' }).waitFor()

      await page.getByRole('button', { name: 'More for Телефон' }).click()
      await page.getByRole('menuitem', { name: 'Change' }).click()
      await page.getByText('Quiet hours and digest').click()
      await page.getByLabel('Quiet from').fill('03:00')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Quiet hours need both ends').waitFor()
      await page.getByLabel('Quiet until').fill('03:01')
      await page.getByLabel('Time zone').fill('Mars')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('This is no time zone').waitFor()
      expect(await violations(page)).toEqual([])
      await page.getByLabel('Time zone').fill('Asia/Tokyo')
      await page.getByRole('button', { name: 'Save' }).click()
      await row.filter({ hasText: 'quiet 03:00 to 03:01' }).waitFor()

      // What TradingView still sends is forwarded to it.
      await page.getByRole('tab', { name: 'From TradingView' }).click()
      await page.getByRole('button', { name: 'Make an address' }).click()
      await page.getByRole('checkbox', { name: 'Телефон' }).check()
      await page.getByRole('button', { name: 'Make it' }).click()
      const address = (await page.getByLabel('Address', { exact: true }).textContent()) ?? ''
      await page.getByRole('button', { name: 'I have kept it' }).click()
      expect(
        (
          await page.request.post(address, { data: 'Crossing 5', headers: { 'content-type': 'text/plain' } })
        ).status(),
      ).toBe(200)
      await page.getByRole('button', { name: 'Messages of TradingView' }).click()
      await page.getByRole('list', { name: 'Messages' }).getByText('Crossing 5').waitFor()
      expect(await violations(page)).toEqual([])

      await page.goto(`${site.url}/alerts`)
      await page.getByRole('button', { name: 'New alert' }).first().click()
      await page.getByLabel('Level').fill('1')
      // There is no mail server: mail gives way to what is chosen.
      await page.getByRole('checkbox', { name: /^Телефон/ }).check()
      await page.getByLabel('Condition').selectOption('above')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('to a channel').waitFor()
      for (let tries = 0; topics.length < 4 && tries < 600; tries++) await page.waitForTimeout(100)
      expect(topics).toEqual(['my-topic', 'my-topic', 'my-topic', 'my-topic'])
      const { alerts } = (await (await page.request.get(`${api}/alerts`)).json()) as {
        alerts: { id: string }[]
      }
      await page.request.delete(`${api}/alerts/${alerts[0]?.id}`)
      await ntfy.stop(true)
      // The refused topic.
      expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'what was sent has the width of a phone for its words, and says when what waits goes out',
    async () => {
      const { page, complaints } = await openAt('/settings/about', QUIET, { own: true })
      const channel = {
        id: 'ch_1',
        name: 'Phone',
        kind: 'ntfy',
        settings: {},
        secrets: [],
        picture: 'dark',
        quiet: null,
        digestMinutes: 0,
        status: 'active',
        disabledReason: null,
        failingSince: null,
        lastSuccessAt: null,
        createdAt: 0,
        updatedAt: 0,
      }
      const now = Date.now()
      const attempt = {
        at: now,
        status: 429,
        durationMs: 9,
        failure: null,
        excerpt: 'You have sent too much.',
      }
      const notification = (id: string, part: object) => ({
        id,
        channelId: 'ch_1',
        title: 'BTC above 70,000',
        text: '',
        attempts: [],
        state: 'pending',
        nextAt: now,
        createdAt: now,
        resendOf: null,
        digestId: null,
        joined: 1,
        ...part,
      })
      const test = notification('ntc_1', {})
      const asked = notification('ntc_2', { attempts: [attempt], nextAt: now + 3_300_000 })
      const notifications = [test, asked, notification('ntc_3', { nextAt: now + 5 * 3_600_000 })]
      await page.route('**/api/platform/channels', (route) =>
        route.fulfill({ json: { channels: [channel] } }),
      )
      await page.route('**/channels/ch_1/notifications*', (route) =>
        route.fulfill({ json: { notifications, nextCursor: null } }),
      )
      await page.route('**/channels/ch_1/test', (route) => route.fulfill({ json: { notification: test } }))
      await page.setViewportSize({ width: 390, height: 800 })
      await page.goto(`${site.url}/alerts/channels`)
      await page.getByRole('button', { name: 'More for Phone' }).click()
      await page.getByRole('menuitem', { name: 'What was sent' }).click()
      const rows = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')
      await rows.nth(2).waitFor()
      const texts = await rows.allInnerTexts()
      expect(texts.map((text) => /on its way|goes out in .*|You have[^·]*/g[Symbol.match](text))).toEqual([
        ['on its way'],
        ['You have sent too much. ', 'goes out in 55 minutes'],
        ['on its way', 'goes out in 5 hours'],
      ])
      const box = await rows.nth(1).locator('div').first().boundingBox()
      expect(box!.width).toBeGreaterThan(300)
      expect(await sideways(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.clock.install()
      await page.getByRole('button', { name: 'Send a test to Phone' }).click()
      const told = page.getByText('Phone has asked for a break, for which the test waits: it goes out in 5')
      while (!(await told.isVisible())) await page.clock.runFor(500)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'rows of channels keep room for their names whatever their state, at every width',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      // States that take a service days to come to.
      const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
      const usual = { settings: {}, secrets: [], quiet: null, digestMinutes: 0, picture: 'dark' }
      const working = {
        status: 'active',
        disabledReason: null,
        failingSince: null,
        lastSuccessAt: minutesAgo(90),
      }
      const made = { createdAt: 0, updatedAt: 0 }
      const channel = (name: string, kind: string, state: object) => ({
        id: name,
        name,
        kind,
        ...usual,
        ...working,
        ...made,
        ...state,
      })
      const disabled = (disabledReason: string) => ({ status: 'disabled', disabledReason })
      const channels = [
        channel('Chrome on the telephone', 'push', disabled('gone')),
        channel('Desk in the office', 'ntfy', disabled('secret_lost')),
        channel('Telegram of everybody', 'telegram', { failingSince: minutesAgo(2), digestMinutes: 15 }),
      ]
      const inbox = { id: 'inb_1', name: 'TradingView', senders: 'anyone', ...made }
      const come = { channelIds: channels.map(({ id }) => id), received: 151, lastAt: minutesAgo(5) }
      await page.route('**/api/platform/channels', (route) => route.fulfill({ json: { channels } }))
      await page.route('**/api/platform/inboxes', (route) =>
        route.fulfill({ json: { inboxes: [{ ...inbox, ...come }], nextCursor: null } }),
      )
      const fine = { brokenWords: [], isTall: false, isNameSqueezed: false }
      for (const [tab, shows, rows] of [
        ['channels', 'Telegram of everybody', 3],
        ['inbox', '151 received', 1],
      ] as const) {
        await page.goto(`${site.url}/alerts/${tab}`)
        await settled(page)
        await page.getByText(shows).waitFor()
        for (const width of [360, 390, 780, 1440]) {
          await page.setViewportSize({ width, height: 800 })
          await painted(page)
          expect({ width, found: await rowsOf(page) }).toEqual({
            width,
            found: Array.from({ length: rows }, () => fine),
          })
          expect({ width, wide: await sideways(page) }).toEqual({ width, wide: [] })
          expect({ width, cut: await cutOff(page) }).toEqual({ width, cut: [] })
          if (tab === 'channels') continue
          const list = await page.getByRole('list', { name: 'Addresses for TradingView' }).boundingBox()
          const button = await page.getByRole('button', { name: 'Make an address' }).boundingBox()
          expect(button!.y - list!.y - list!.height).toBeGreaterThanOrEqual(12)
        }
      }
      expect(await violations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a browser is set up as a channel, shows what it is sent, and a tap opens the chart',
    async () => {
      const service = startPushService()
      const browser = subscribed(`${service.url}/push/mine`)
      const { page, complaints } = await site.open({ remembered: QUIET, offline: true })
      await page.goto(`${site.url}/alerts/channels`)
      await settled(page)
      await page.context().grantPermissions(['notifications'])
      // The push service of the browser's maker cannot be reached from a test.
      await page.evaluate((settings) => {
        const made = {
          toJSON: () => ({ endpoint: settings.endpoint, keys: settings }),
          unsubscribe: async () => true,
        }
        let current: typeof made | null = null
        let asked = 0
        Object.assign(PushManager.prototype, {
          subscribe: async () => {
            if (asked++ === 0) throw new DOMException('Registration failed - permission denied', 'AbortError')
            return (current = made)
          },
          getSubscription: async () => current,
        })
      }, browser.settings)
      const name = 'Мой браузер'
      const list = page.getByRole('list', { name: 'Channels' })
      await page.getByRole('button', { name: 'Add a channel' }).click()
      // What is nearest comes first.
      expect(await page.getByLabel('Service').inputValue()).toBe('push')
      await page.getByText('It will ask whether it may').waitFor()
      await page.getByLabel('Name').fill(name)
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText(/^The push service of this browser cannot.*Choose ntfy above/).waitFor()
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      const row = list.getByRole('listitem').filter({ hasText: name })
      await row.getByText('This browser').waitFor()
      await page.getByRole('button', { name: `Send a test to ${name}` }).click()
      await page.getByText('has taken the test').waitFor()

      const [got] = service.received
      const data = decryptedPush(got?.body ?? new Uint8Array(), browser.keys)
      expect(JSON.parse(data)).toMatchObject({ title: 'Test from Chartroom', path: '/alerts/channels' })
      // Not every browser of these tests can show notifications: what the service worker does is told here.
      await page.evaluate(async () => void (await navigator.serviceWorker.ready))
      const shown = await page
        .context()
        .serviceWorkers()[0]
        ?.evaluate(
          async (message) => {
            const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
            const calls: [string, NotificationOptions | undefined][] = []
            registration.showNotification = async (title, options) => void calls.push([title, options])
            const waiting: Promise<unknown>[] = []
            const dispatch = (type: string, rest: object) =>
              dispatchEvent(
                Object.assign(new Event(type), {
                  ...rest,
                  waitUntil: (work: Promise<unknown>) => waiting.push(work),
                }),
              )
            dispatch('push', { data: { json: () => message } })
            await Promise.all(waiting)
            // A browser lets a page be focused only by a real tap.
            dispatch('notificationclick', { notification: { ...calls[0]?.[1], close: () => undefined } })
            await Promise.allSettled(waiting)
            return calls
          },
          { ...JSON.parse(data), path: '/watchlists' },
        )
      expect(shown).toEqual([
        ['Test from Chartroom', expect.objectContaining({ body: expect.stringContaining(name) })],
      ])
      // An address of an earlier version leads on.
      await page.waitForURL(`${site.url}/markets`)

      // An alert that somebody has to have seen, with its links opened where nobody is signed in.
      const api = `${site.url}/api/platform`
      const { channels } = (await (await page.request.get(`${api}/channels`)).json()) as {
        channels: { id: string; name: string }[]
      }
      const channelId = channels.find((one) => one.name === name)?.id ?? ''
      await page.goto(`${site.url}/alerts`)
      await page.getByRole('button', { name: 'New alert' }).first().click()
      await page.getByLabel('Level').fill('1')
      await page.getByLabel('Condition').selectOption('above')
      await page.getByLabel('Fires').selectOption('every_time')
      await page.getByRole('checkbox', { name: new RegExp(name) }).check()
      await page.getByLabel('If nobody has seen it, tell').selectOption(name)
      await page.getByLabel('After minutes').fill('2000')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('another channel is told: 1 to 1,440').waitFor()
      await page.getByLabel('After minutes').fill('30')
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('Alert is on').waitFor()
      while (service.received.length < 2) await Bun.sleep(20)
      const told = JSON.parse(decryptedPush(service.received[1]?.body ?? new Uint8Array(), browser.keys)) as {
        actions: { action: string; token: string }[]
      }
      const tokenOf = (wanted: string) => told.actions.find(({ action }) => action === wanted)?.token ?? ''
      const { page: phone, complaints: onPhone } = await site.open({ fresh: true, width: 390 })
      for (const [action, button, done] of [
        ['acknowledge', 'I have seen it', 'nobody else will be told'],
        ['pause', 'Pause this alert', 'The alert is not watching'],
      ] as const) {
        await phone.goto('about:blank')
        await phone.goto(`${site.url}/tap#${tokenOf(action)}`)
        await phone.getByRole('button', { name: button }).waitFor()
        expect([await violations(phone), await cutOff(phone)]).toEqual([[], []])
        await phone.getByRole('button', { name: button }).press('Enter')
        await phone.getByText(done).waitFor()
      }
      await phone.goto('about:blank')
      await phone.goto(`${site.url}/tap#nonsense`)
      await phone.getByText('This link is none of this server’s').waitFor()
      expect(onPhone.filter((one) => !one.includes('404'))).toEqual([])
      await page.reload()
      await page.getByRole('list', { name: 'Alerts' }).getByText('paused').waitFor()
      await page.getByRole('tab', { name: 'Fired' }).click()
      await page
        .getByRole('list', { name: 'Firings' })
        .getByText(/^seen /)
        .waitFor()
      expect(await violations(page)).toEqual([])
      const { alerts } = (await (await page.request.get(`${api}/alerts`)).json()) as {
        alerts: { id: string; channelIds: string[] }[]
      }
      for (const { id, channelIds } of alerts)
        if (channelIds.includes(channelId)) await page.request.delete(`${api}/alerts/${id}`)

      await page.goto(`${site.url}/alerts/channels`)
      await page.getByRole('button', { name: `More for ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await row.waitFor({ state: 'detached' })
      await service.stop()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an alert that fires is shown and sounds once, however many tabs are open',
    async () => {
      const { page, complaints } = await openAt('/alerts/channels', QUIET, { own: true })
      const context = page.context()
      await context.grantPermissions(['notifications'])
      // Neither is there in every browser of these tests; what is asked of them is counted.
      await context.addInitScript(() => {
        const done: string[] = []
        const show = (title: string) => void done.push(`shown ${title}`)
        Object.assign(globalThis, {
          done,
          Notification: Object.assign(
            function (title: string) {
              show(title)
            },
            { permission: 'granted', requestPermission: async () => 'granted' },
          ),
        })
        ServiceWorkerRegistration.prototype.showNotification = async (title) => show(title)
        globalThis.AudioContext = function () {
          done.push('rang')
          throw new Error('no sound in tests')
        } as never
      })
      await page.reload()
      await settled(page)
      await page.getByRole('checkbox', { name: 'Show a notification' }).check()
      await page.getByRole('checkbox', { name: 'Play a sound' }).check()
      expect(await violations(page)).toEqual([])
      const tabs = [page]
      for (let i = 0; i < 3; i++) {
        const tab = await context.newPage()
        tabs.push(tab)
        await tab.goto(`${site.url}/markets`)
        await settled(tab)
        // Only a page in which something was clicked may ring.
        await tab.getByRole('heading').first().click()
      }
      const api = `${site.url}/api/platform`
      const { symbols } = (await (await page.request.get(`${api}/symbols`)).json()) as {
        symbols: { exchange: string; symbol: string; series: { interval: string }[] }[]
      }
      const [{ exchange, symbol, series } = { exchange: '', symbol: '', series: [] }] = symbols
      const interval = series[0]?.interval ?? '1d'
      const condition = { exchange, symbol, interval, kind: 'price', op: 'above', price: 0.0001 }
      const data = { ...condition, name: 'Громко 🔔', channels: ['email'] }
      const { id } = (await (await page.request.post(`${api}/alerts`, { data })).json()) as { id: string }
      for (const tab of tabs) await tab.getByText('Громко 🔔').first().waitFor()
      const doneIn = (tab: Page) => tab.evaluate(() => (globalThis as unknown as { done: string[] }).done)
      // One ring was its sample.
      const all = async () => (await Promise.all(tabs.map(doneIn))).flat().toSorted()
      while ((await all()).length < 3) await Bun.sleep(20)
      expect(await all()).toEqual(['rang', 'rang', 'shown Громко 🔔'])
      await page.request.delete(`${api}/alerts/${id}`)
      expect(complaints.filter((one) => !one.includes('no sound in tests'))).toEqual([])
    },
    300_000,
  )

  journey(
    'an alert that fires is told wherever one is',
    async () => {
      const { page, complaints } = await openAt('/markets')
      const api = page.request
      const json = { headers: { 'content-type': 'application/json' } }
      const alert = {
        symbol: 'LIVE',
        exchange: 'TEST',
        interval: '1d',
        kind: 'price',
        op: 'above',
        price: 100,
        channels: ['email'],
        message: 'LIVE is at {{close}}',
      }
      const made = await api.post(`${site.url}/api/platform/alerts`, { ...json, data: alert })
      expect(made.ok()).toBe(true)
      const bars = 'time,open,high,low,close,volume\n2024-01-02,90,95,89,94,1\n2024-01-03,94,120,93,110,1\n'
      await api.post(`${site.url}/api/platform/bars/import?exchange=TEST&symbol=LIVE&interval=1d`, {
        headers: { 'content-type': 'text/csv' },
        data: bars,
      })
      await page.getByText('LIVE is at 110').waitFor()
      await page.goto(`${site.url}/alerts/fired`)
      await page.getByRole('list', { name: 'Firings' }).getByText('LIVE is at 110').waitFor()
      await api.delete(`${site.url}/api/platform/alerts/${((await made.json()) as { id: string }).id}`)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a token is shown once, listed without its secret, and revoked',
    async () => {
      const { page, complaints } = await openAt('/settings/tokens')
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('Name').fill('Night runs')
      await page.getByLabel('backtests write').check()
      await page.getByRole('button', { name: 'Make the token' }).click()
      const secret = await page.getByLabel('API token', { exact: true }).textContent()
      expect(secret).toMatch(/^crm_pat_[0-9A-Za-z]{36}$/)
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByText('Night runs').waitFor()
      expect(await page.content()).not.toContain(secret!)
      await page.getByRole('button', { name: 'Revoke Night runs' }).click()
      await page.getByRole('button', { name: 'Revoke token' }).click()
      await page.getByText('revoked').waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a webhook is registered by hand, with a secret that is shown once',
    async () => {
      const { page, complaints } = await openAt('/alerts/webhooks')
      await page.getByRole('button', { name: 'Register a webhook' }).first().click()
      const form = page.getByRole('dialog')
      await form.getByLabel('Name').fill('Бот 🤖')
      await form.getByLabel('Address').fill('http://127.0.0.1:9/hook')
      await form.getByLabel('A backtest is ready').uncheck()
      await form.getByRole('button', { name: 'Register' }).click()
      await form.getByText('Choose at least one.').waitFor()
      await form.getByLabel('An alert fires').check()
      await form.getByRole('button', { name: 'Register' }).click()
      await page.getByRole('button', { name: 'I have kept it' }).click()
      await page.getByRole('heading', { name: 'Бот 🤖' }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an idea is previewed, published and read',
    async () => {
      const { page, complaints } = await openAt('/ideas')
      await page.getByRole('button', { name: 'Write one' }).click()
      const dialog = await page.getByRole('dialog').boundingBox()
      expect(Math.round(dialog!.x + dialog!.width / 2)).toBe(640)
      await page.getByLabel('Title').fill('Cut losses')
      await page.getByLabel('Text').fill('Let **profits** run.\n\n- one\n- two')
      await page.getByRole('button', { name: 'Preview' }).click()
      expect(await page.locator('strong', { hasText: 'profits' }).count()).toBe(1)
      await page.getByRole('button', { name: 'Publish' }).click()
      await page.waitForURL(/\/ideas\/idea_/)
      await page.getByRole('heading', { level: 1, name: 'Cut losses' }).waitFor()
      await page.locator('li', { hasText: 'two' }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a report is shared, read without an account, replayed, and taken back',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const source = `//@version=6
strategy("Now and then", overlay = true, default_qty_type = strategy.fixed, default_qty_value = 1)
days = input.int(7, "Private days")
if bar_index % (days * 6) == 0
    strategy.entry("In", strategy.long)
if bar_index % (days * 6) == 9
    strategy.close("In")
`
      const data = {
        name: 'Now and then',
        exchange: 'SP',
        symbol: 'SPX',
        interval: '1d',
        bars: 500,
        source,
        inputs: {},
      }
      const run = await page.request.post(`${site.url}/api/platform/backtests`, { data })
      const { id } = (await run.json()) as { id: string }
      await page.goto(`${site.url}/?backtest=${id}`)
      await page.getByRole('tab', { name: 'Report' }).click()
      await page.getByRole('button', { name: 'Share' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Share' }).click()
      // The server of the journeys has an address that only its own machine reaches.
      await page.getByText('This link works on this machine only').waitFor()
      // Enter copies the link, and does not follow it.
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Copy the link')
      const link = (await dialog.locator('a code').textContent()) ?? ''
      // The address names a run as long as it is the one that is shown.
      await page.keyboard.press('Escape')
      expect(page.url()).toEndWith(`?backtest=${id}`)
      await page.getByRole('tab', { name: 'Script' }).click()
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.waitForURL(({ search }) => search === '')
      expect(complaints).toEqual([])

      const visitor = await site.open({ fresh: true, width: 390 })
      const opened = await visitor.page.goto(link)
      expect(await opened!.text()).toContain('<meta property="og:image" content="')
      await visitor.page.getByRole('button', { name: 'Replay' }).click()
      await visitor.page.getByRole('button', { name: 'Pause' }).click()
      await visitor.page.getByText('Net profit').first().waitFor()
      await visitor.page.getByRole('table', { name: 'Trades' }).waitFor()
      expect(await violations(visitor.page)).toEqual([])
      expect(await cutOff(visitor.page)).toEqual([])
      expect(await visitor.page.content()).not.toContain('Private')
      expect(visitor.complaints).toEqual([])

      await page.goto(link)
      await page.getByRole('button', { name: 'More for this idea' }).click()
      await page.getByRole('menuitem', { name: 'Take the backtest back' }).click()
      await page.getByText('Nobody sees the backtest any more').waitFor()
      await visitor.page.reload()
      await settled(visitor.page)
      expect(await visitor.page.getByText('Net profit:').count()).toBe(1)
      expect(await visitor.page.getByRole('button', { name: 'Replay' }).count()).toBe(0)
    },
    300_000,
  )

  journey(
    'bars are imported by file and shown',
    async () => {
      const { page, complaints } = await openAt('/markets')
      // What is followed stands there, with how it goes: no provider is asked from here.
      const series = { exchange: 'BINANCE', symbol: 'BTCUSDT', interval: '1d', followed: true }
      const said = 'Binance cannot be reached.'
      const providers = [{ name: 'Binance', exchanges: ['BINANCE'] }]
      let feeds: object[] = []
      await page.route('**/api/platform/feeds*', (route) => {
        const method = route.request().method()
        if (method !== 'GET') feeds = method === 'POST' ? [{ ...series, state: 'retrying', said }] : []
        return route.fulfill({ json: { ok: true, ...series, deleted: true, feeds, providers } })
      })
      await page.getByRole('link', { name: 'Sources' }).click()
      await page.getByLabel('Symbol').fill('BTCUSDT')
      await page.getByRole('button', { name: 'Follow', exact: true }).click()
      const feed = page.getByRole('row').filter({ hasText: 'BINANCE:BTCUSDT 1D' })
      await feed.getByText(said).waitFor()
      await feed.getByRole('button', { name: 'Stop following' }).click()
      await feed.waitFor({ state: 'detached' })
      await page.unrouteAll()
      const rows = Array.from({ length: 30 }, (_, i) => `${1_700_000_000 + i * 3600},10,12,9,11,5`)
      const csv = `time,open,high,low,close,volume\n${rows.join('\n')}\n`
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'TEST_ABC, 60.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
      // How it is read is said before anything is stored.
      const form = page.getByRole('form', { name: 'TEST_ABC, 60.csv' })
      const preview = form.getByRole('status', { name: 'How the file is read' })
      await preview.getByText('times in seconds since 1970, UTC').waitFor()
      await preview.getByText('30 bars, from 2023-11-14 22:13').waitFor()
      await form.getByText('1 kB').waitFor()
      // On a phone its sentences break instead of moving the fields off the screen.
      await page.setViewportSize({ width: 390, height: 844 })
      expect(await preview.evaluate((one) => one.getBoundingClientRect().right)).toBeLessThanOrEqual(390)
      await page.setViewportSize({ width: 1280, height: 800 })
      await form.getByText('Read it differently').click()
      await form.getByLabel('Rows of the same time').selectOption('Keep the last')
      // A refused file is looked at again once its remedy is filled in.
      await form.getByLabel('Columns').fill('time=when')
      await form.getByLabel('Columns').blur()
      await form.getByRole('alert').getByText('names when, but the columns are time, open').waitFor()
      await form.getByLabel('Columns').fill('time=1')
      await form.getByLabel('Columns').blur()
      await preview.getByText('30 bars, from 2023-11-14 22:13').waitFor()
      await form.getByRole('button', { name: 'Import', exact: true }).click()
      await page.getByText('30 rows read: 30 new bars').waitFor()
      // Times that state no zone are where the broker is.
      const german = 'Datum;Open;High;Low;Close\n01.02.2024 10:00;1,5;2;1;1,5\n01.02.2024 11:00;1,5;2;1;1,5\n'
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'TEST_DE, 60.csv', mimeType: 'text/csv', buffer: Buffer.from(german) })
      const broker = page.getByRole('form', { name: 'TEST_DE, 60.csv' })
      await broker.getByText('2 bars, from 2024-02-01 10:00').waitFor()
      await broker.getByLabel('Its times are in').selectOption('Europe/Berlin')
      await broker.getByText('2 bars, from 2024-02-01 09:00').waitFor()
      await page.getByRole('link', { name: 'All symbols' }).click()
      await page.getByRole('button', { name: 'TEST:ABC' }).click()
      await page.getByRole('application', { name: /^Chart of ABC/ }).waitFor()
      await page.goBack()
      await page.getByRole('link', { name: 'Sources' }).click()
      // Two pieces of one minute's trades, one by one.
      for (const [name, trades] of [
        ['TEST_TRD, 1.csv', '1709632800,10,1\n'],
        ['TEST_TRD, 1 (1).csv', '1709632830,12,2\n'],
      ] as const) {
        const text = `timestamp,price,quantity\n${trades}`
        await page
          .locator('input[type=file]')
          .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
        const piece = page.getByRole('form', { name, exact: true })
        await piece.getByLabel('Exchange').fill('TEST')
        await piece.getByLabel('Symbol').fill('TRD')
        await piece.getByLabel('Interval').fill('1m')
        await piece.getByRole('button', { name: 'Import', exact: true }).click()
        await piece.getByText('1 rows read').waitFor()
      }
      await page.getByText('One bar that was stored already is now made of these trades alone.').waitFor()
      await page.locator('input[type=file]').setInputFiles([
        { name: 'BTCUSDT-1m-2024-03.zip', mimeType: 'application/zip', buffer: Buffer.from(ARCHIVE) },
        {
          name: 'BTCUSDT-1m-2024-03.zip.CHECKSUM',
          mimeType: '',
          buffer: Buffer.from(`${'0'.repeat(64)}  x`),
        },
      ])
      const packed = page.getByRole('form', { name: 'BTCUSDT-1m-2024-03.zip' })
      await packed.getByText('CSV as Binance writes it, packed as zip').waitFor()
      await packed.getByRole('button', { name: 'Import', exact: true }).click()
      await packed.getByText('the check sum does not agree').waitFor()
      // Why a file is refused stands beside its name, and no taller than it is.
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'TEST_ABC, 1D.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b\n1,2\n') })
      const refused = page.getByRole('form', { name: 'TEST_ABC, 1D.csv' })
      await refused.getByRole('alert').getByText('the header has no column time').waitFor()
      expect((await refused.getByRole('alert').boundingBox())!.height).toBeLessThan(100)
      expect(await refused.getByLabel('Interval').inputValue()).toBe('1D')
      await refused.getByRole('button', { name: 'Remove' }).click()
      await refused.waitFor({ state: 'detached' })
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Import bars')
      expect(complaints.filter((line) => !line.includes('422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'the palette finds symbols, commands and help by keyboard alone',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const field = page.getByRole('combobox', { name: 'Search' })
      await page.keyboard.press('Control+k')
      await field.waitFor()
      await page.keyboard.type('api tok')
      await page.getByRole('option', { name: 'API tokens', selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(/settings\/tokens/)
      await page.keyboard.press('Control+k')
      await field.waitFor()
      await page.keyboard.type('drawdown')
      await page.getByRole('option', { name: 'Drawdown and run-up' }).waitFor()
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('Enter')
      await page.waitForURL(/help\/drawdown/)
      // No title has these words, but texts do.
      await page.keyboard.press('Control+k')
      await field.waitFor()
      await page.keyboard.type('trailing stop')
      await page.getByRole('option', { name: 'How orders fill' }).waitFor()
      // A built-in study is watched without the chart.
      await field.fill('rsi')
      await page.getByRole('option', { name: /^Alert on RSI/ }).click()
      await page.getByRole('dialog', { name: 'New alert' }).waitFor()
      expect(await page.getByLabel('Level').inputValue()).toBe('70')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'help answers with its articles',
    async () => {
      const { page, complaints } = await openAt('/help')
      await page.getByLabel('Ask a question').fill('how do I verify a webhook signature?')
      await page.getByRole('button', { name: 'Ask' }).click()
      await page
        .getByRole('link', { name: /Verify a webhook signature/ })
        .first()
        .click()
      await page.getByRole('heading', { level: 1, name: 'Verify a webhook signature' }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'the editor marks mistakes, completes names, keeps versions',
    async () => {
      const { page, complaints } = await openAt('/', {
        ...QUIET,
        script: {
          id: null,
          name: 'Mine',
          source: '//@version=6\nstrategy("Mine")\nx = ta.sma(close, input.int(9, "Bars"))\nplot(x)\n',
        },
        bottom: 'script',
      })
      await page.getByLabel('Bars').waitFor()
      const text = page.locator('.cm-content')
      await text.click()
      await page.keyboard.press('Control+End')
      await page.keyboard.type('y = ta.ata')
      await page.locator('.cm-tooltip-autocomplete').getByText('ta.atan').waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await page.getByText('1 error').waitFor()
      // Run goes to the first mistake, which is one that the browser complains of as well.
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement)
      const problems = page.getByRole('list', { name: 'Problems' })
      await problems.getByRole('button').first().click()
      // The click put the cursor into the text.
      await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement)
      await problems.getByRole('button', { name: 'Change to atr' }).click()
      await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement)
      await text.locator('.cm-line', { hasText: 'y = ta.atr' }).waitFor()
      // F2 puts a cursor on each place of the name.
      await page.keyboard.press('Control+Home')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('F2')
      await page.waitForFunction(
        () => document.activeElement?.shadowRoot?.querySelectorAll('.cm-cursor').length === 2,
      )
      await page.keyboard.type('avg')
      await page.keyboard.press('Escape')
      await text.locator('.cm-line', { hasText: 'plot(avg)' }).waitFor()
      await page.keyboard.press('Control+End')
      await page.keyboard.press('Shift+Home')
      await page.keyboard.press('Delete')
      await page.keyboard.type('z = ta.em')
      await page.locator('.cm-tooltip-autocomplete').getByText('ta.ema').first().waitFor()
      // A list that has just come up under the fingers does not take Enter yet (75 ms).
      await page.waitForTimeout(200)
      await page.keyboard.press('Enter')
      await page.keyboard.type('close, ')
      await page.locator('.pine-argument', { hasText: 'length' }).waitFor()
      await page.keyboard.type('5')
      await page.getByText('No problems').waitFor()
      await page.keyboard.press('Control+s')
      await page.getByText('Saved as version 1').waitFor()
      await page.keyboard.press('Control+End')
      await page.keyboard.type(' // again')
      await page.keyboard.press('Control+s')
      await page.getByText('Saved as version 2').waitFor()
      await page.getByRole('button', { name: 'More for this script' }).click()
      await page.getByRole('menuitem', { name: 'Versions' }).click()
      await page.getByRole('button', { name: 'Bring back version 1' }).click()
      await page.getByText('Not saved').waitFor()
      expect(complaints.filter((one) => !one.includes('status of 422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'an unsaved script is kept when another takes its place, and comes back',
    async () => {
      const { page, complaints } = await openAt('/', {
        ...QUIET,
        script: { id: null, name: '', source: '//@version=6\nindicator("x")\nplot(close)\n' },
        bottom: 'script',
      })
      const text = page.locator('.cm-content')
      await text.click()
      await page.keyboard.press('Control+a')
      await text.evaluate((element, pasted) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', pasted)
        element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      }, '//@version=6\nindicator("An hour of work")\nplot(close * 2)\n')
      // What is pasted brings its name.
      const name = page.getByRole('textbox', { name: 'Name of the script' })
      expect(await name.inputValue()).toBe('An hour of work')
      await page.getByRole('button', { name: 'Examples' }).click()
      await page.getByRole('button', { name: /Turtle/ }).click()
      await page.getByText('it is kept under Open, Drafts').waitFor()
      expect(await name.inputValue()).not.toBe('An hour of work')
      // An example that nobody changed leaves nothing behind.
      await page.getByRole('button', { name: 'Indicators' }).click()
      await page.getByRole('combobox', { name: 'Search indicators' }).fill('macd')
      await page.getByRole('option', { name: /MACD.*Examples/ }).click()
      await page.reload()
      await page.getByRole('button', { name: 'Open', exact: true }).click()
      await page.getByRole('button', { name: 'Drafts' }).click()
      expect(await page.getByText('not saved', { exact: true }).count()).toBe(1)
      await page.getByRole('button', { name: /An hour of work/ }).click()
      expect(await name.inputValue()).toBe('An hour of work')
      await text.getByText('close * 2').waitFor()
      await page.getByRole('button', { name: 'Run', exact: true, disabled: false }).waitFor()
      expect(await violations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an answer of 500 does not look like a success',
    async () => {
      const receiver = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        fetch: () => new Response('broken', { status: 500 }),
      })
      try {
        const { page } = await openAt('/alerts/webhooks')
        const answer = await page.request.post(`${site.url}/api/platform/webhooks`, {
          data: { name: 'Broken', url: `http://127.0.0.1:${receiver.port}/`, events: ['alert.triggered'] },
          headers: { 'content-type': 'application/json' },
        })
        const { id } = (await answer.json()) as { id: string }
        await page.goto(`${site.url}/alerts/webhooks/${id}`)
        await page.getByRole('button', { name: 'Send a test' }).click()
        const badge = page.getByText('500, will retry')
        await badge.waitFor()
        expect(await badge.getAttribute('data-tone')).toBe('warn')
        await badge.click()
        expect(await page.getByText('500', { exact: true }).getAttribute('class')).toBe('down')
        await page.getByRole('button', { name: '1 with failures' }).waitFor()
      } finally {
        await receiver.stop(true)
      }
    },
    300_000,
  )

  journey(
    'backtests are found, and put in order by what they made',
    async () => {
      const { page, complaints } = await openAt('/settings/about', QUIET, { own: true })
      const run = async (name: string, symbol: string, exchange: string, side: string) => {
        const source = `//@version=6\nstrategy("s", default_qty_value = 10)\nif bar_index == 9\n    strategy.entry("e", strategy.${side})\nif bar_index == 900\n    strategy.close("e")\n`
        const data = { name, symbol, exchange, interval: '1d', bars: 4000, source, inputs: {} }
        const answer = await page.request.post(`${site.url}/api/platform/backtests`, {
          data,
          headers: { 'content-type': 'application/json' },
        })
        expect(answer.ok()).toBe(true)
      }
      await run('Bought once', 'SPX', 'SP', 'long')
      await run('Sold once', 'SPX', 'SP', 'short')
      await run('Bought Apple', 'AAPL', 'NASDAQ', 'long')
      await page.goto(`${site.url}/research?kind=backtest`)
      const names = async () =>
        (await page.locator('tbody td:nth-child(3) button').allInnerTexts()).join(', ')
      await page
        .getByRole('row', { name: /Sold once/ })
        .getByText(/^−[\d,.]+ USD$/)
        .waitFor()
      expect(await names()).toStartWith('Bought Apple, Sold once, Bought once')
      const head = page.getByRole('columnheader', { name: 'Net profit' })
      await head.getByRole('button').click()
      expect(await head.getAttribute('aria-sort')).toBe('descending')
      expect(await names()).toEndWith('Sold once')
      await head.getByRole('button').click()
      expect(await names()).toStartWith('Sold once')
      await page.getByRole('searchbox', { name: 'Find a run' }).fill('nasdaq')
      expect(await names()).toBe('Bought Apple')
      // A look at one of them, and its way back, keep what it was found by.
      await page.getByRole('button', { name: 'Bought Apple', exact: true }).click()
      await page.getByRole('application', { name: /^Chart of AAPL/ }).waitFor()
      await page.goBack()
      await page.getByRole('row', { name: /Bought Apple/ }).waitFor()
      expect(await names()).toBe('Bought Apple')
      await page.getByRole('searchbox', { name: 'Find a run' }).fill('gold')
      await page.getByRole('button', { name: 'Show all' }).click()
      expect(await names()).toStartWith('Sold once')
      // Of a phone's cards one says the order in a list; a period is chosen everywhere.
      await page.setViewportSize({ width: 390, height: 844 })
      await page.getByLabel('Order').selectOption('Net profit ↓')
      expect(await names()).toEndWith('Sold once')
      await page.clock.setFixedTime(Date.now() + 8 * 86_400_000)
      await page.getByLabel('Made', { exact: true }).selectOption('Last 7 days')
      await page.getByText('No run was made then.').waitFor()
      await page.getByLabel('Made', { exact: true }).selectOption('Last 30 days')
      expect(await names()).toEndWith('Sold once')
      expect([await violations(page), await sideways(page)]).toEqual([[], []])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'backtests are kept for good with a star, and deleted together, by keyboard',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const { request } = page
      const names = ['Keep me', 'Wipe 1', 'Wipe 2', '删除 3 🗑']
      for (const name of names) {
        const market = { symbol: 'SPX', exchange: 'SP', interval: '1d', bars: 30 }
        const source = '//@version=6\nindicator("i")\nplot(close)'
        const answer = await request.post(`${site.url}/api/platform/backtests`, {
          data: { name, ...market, source, inputs: {} },
        })
        expect(answer.ok()).toBe(true)
      }
      const stored = async () =>
        (
          (await (await request.get(`${site.url}/api/platform/backtests`)).json()) as {
            backtests: { name: string; pinned: boolean }[]
          }
        ).backtests.filter(({ name }) => names.includes(name))
      await page.goto(`${site.url}/research?kind=backtest`)
      const star = page.getByRole('button', { name: 'Keep Keep me for good' })
      await star.focus()
      await page.keyboard.press('Space')
      await page.getByRole('button', { name: 'Keep Keep me for good', pressed: true }).waitFor()
      expect((await stored()).find(({ name }) => name === 'Keep me')?.pinned).toBe(true)
      for (const name of names.slice(1)) {
        await page.getByRole('checkbox', { name: `Choose ${name}` }).focus()
        await page.keyboard.press('Space')
      }
      const all = page.getByRole('checkbox', { name: 'Choose all that are shown' })
      expect(await all.evaluate((box) => (box as HTMLInputElement).indeterminate)).toBe(true)
      expect((await all.locator('xpath=ancestor::label').boundingBox())?.width).toBeGreaterThanOrEqual(24)
      expect(await violations(page)).toEqual([])
      await page.getByRole('button', { name: 'Delete 3' }).focus()
      await page.keyboard.press('Enter')
      await page.getByText('Reports, chart data and replays are deleted too.').waitFor()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Enter')
      await page.getByRole('row', { name: /Wipe 1/ }).waitFor({ state: 'detached' })
      expect((await stored()).map(({ name }) => name)).toEqual(['Keep me'])
      await page.getByRole('searchbox', { name: 'Find a run' }).fill('pinned')
      await all.check()
      await page.getByRole('button', { name: 'Delete 1' }).click()
      await page.getByText('It has a star').waitFor()
      await page.keyboard.press('Escape')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'what is written into a form is asked for before it goes, and is there after a reload',
    async () => {
      const { page, complaints } = await openAt('/ideas')
      const open = () => page.getByRole('button', { name: 'Write one' }).first().click()
      const title = page.getByRole('textbox', { name: 'Title' })
      const text = page.getByRole('textbox', { name: 'Text' })
      await open()
      await title.waitFor()
      // Nothing written, nothing asked.
      await page.keyboard.press('Escape')
      await title.waitFor({ state: 'detached' })
      await open()
      await title.fill('Gold and silver')
      await text.fill('An hour of work')
      await page.keyboard.press('Escape')
      await page.getByText('Discard what you wrote?').waitFor()
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Enter')
      expect(await text.inputValue()).toBe('An hour of work')
      // The browser dies here.
      await page.reload()
      await open()
      expect([await title.inputValue(), await text.inputValue()]).toEqual([
        'Gold and silver',
        'An hour of work',
      ])
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Discard', exact: true }).click()
      await open()
      expect(await text.inputValue()).toBe('')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a form says in a trader’s words what is wrong, before anything is sent',
    async () => {
      const { page, complaints } = await openAt('/alerts')
      await page.getByRole('button', { name: 'New alert' }).click()
      await page.getByText('A number, like 12.5.').waitFor()
      await page.getByLabel('Symbol').fill('')
      await page.getByLabel('Level').fill('about three')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('This is needed.').waitFor()
      const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'))
      expect(await focused()).toBe('symbol')
      expect(await page.getByLabel('Level').getAttribute('aria-invalid')).toBe('true')
      // Nothing was asked of the server, so the browser noted no refusal.
      expect(complaints).toEqual([])
      await page.getByLabel('Symbol').fill('nowhere')
      await page.getByLabel('Level').fill('3000')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByText('Write its exchange too, like NASDAQ:AAPL.').waitFor()
      // Without its exchange where one alone is meant.
      await page.getByLabel('Symbol').fill('spx')
      await page.getByLabel('Interval').fill('fortnight')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await page.getByLabel('Interval').and(page.locator('[aria-invalid=true]')).waitFor()
      const said = await page.getByRole('dialog').innerText()
      expect(said).not.toMatch(/expected|string|body \//)
      await page.getByLabel('Interval').fill('1d')
      await page.locator('[aria-invalid=true]').waitFor({ state: 'detached' })
    },
    300_000,
  )

  journey(
    'a table is put in order by its heads, walked by arrow keys, and becomes cards on a phone',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      for (const name of ['Beta', 'alpha', 'Gamma'])
        await page.request.post(`${site.url}/api/platform/tokens`, {
          data: { name },
          headers: { 'content-type': 'application/json' },
        })
      await page.goto(`${site.url}/settings/tokens`)
      const table = page.getByRole('table', { name: 'API tokens' })
      const revokes = async () =>
        (await table.getByRole('button', { name: /^Revoke/ }).all()).map((one) =>
          one.getAttribute('aria-label'),
        )
      const names = async () => (await Promise.all(await revokes())).map((name) => name?.slice(7)).join(' ')
      const focused = (name: string) =>
        page.waitForFunction((label) => document.activeElement?.getAttribute('aria-label') === label, name)
      const head = table.getByRole('columnheader', { name: 'Name' })
      await head.getByRole('button').click()
      expect(await head.getAttribute('aria-sort')).toBe('ascending')
      expect(await names()).toBe('alpha Beta Gamma')
      await head.getByRole('button').click()
      expect(await names()).toBe('Gamma Beta alpha')
      await table.getByRole('button', { name: 'Revoke Gamma' }).focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await focused('Revoke alpha')
      await page.keyboard.press('Home')
      await focused('Revoke Gamma')
      await page.setViewportSize({ width: 390, height: 800 })
      const cell = table.getByRole('cell', { name: 'never' }).first()
      expect(await cell.evaluate((one) => getComputedStyle(one, '::before').content)).toBe('"Last used"')
      const [name, button] = await Promise.all([
        table.getByText('Gamma').boundingBox(),
        table.getByRole('button', { name: 'Revoke Gamma' }).boundingBox(),
      ])
      expect(button!.x + button!.width).toBeLessThanOrEqual(390)
      expect(Math.abs(button!.y - name!.y)).toBeLessThan(20)
      expect(await violations(page)).toEqual([])
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'somebody else’s public script is found, read, copied and run',
    async () => {
      const { page, complaints } = await openAt('/settings/about')
      const headers = { 'content-type': 'application/json' }
      const source = `//@version=6
// This source code is subject to the terms of a license.
// © grace
//
// Buys after a quiet week.
// Sells when it is over.
//
// Made for daily bars.
strategy("Quiet week", overlay = true)
days = input.int(5, "Days", minval = 2, maxval = 30, tooltip = "How long a week is")
if bar_index % (days * 20) == 0
    strategy.entry("In", strategy.long)
if bar_index % (days * 20) == 50
    strategy.close("In")
`
      // A second user, with a browser of her own.
      const invitation = await page.request.post(`${site.url}/api/auth/invitations`, { headers, data: {} })
      const { code } = (await invitation.json()) as { code: string }
      const grace = await site.open({ fresh: true })
      const data = {
        email: 'grace@example.com',
        password: 'a long enough password',
        name: 'Grace',
        invitation: code,
      }
      expect((await grace.page.request.post(`${site.url}/api/auth/sign-up`, { headers, data })).ok()).toBe(
        true,
      )
      const made = await grace.page.request.post(`${site.url}/api/platform/scripts`, {
        headers,
        data: { name: 'Quiet week', source, visibility: 'public' },
      })
      const { id } = (await made.json()) as { id: string }
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).waitFor()
      await page.keyboard.type('quiet week')
      const hit = page.getByRole('option', { name: /Quiet week.*Grace/ })
      await hit.waitFor()
      await hit.click()
      await page.waitForURL(new RegExp(`/research/${id}$`))
      await page.getByRole('heading', { level: 1, name: 'Quiet week' }).waitFor()
      await page.getByText('by Grace').waitFor()
      await page.getByText('Buys after a quiet week. Sells when it is over.', { exact: true }).waitFor()
      expect(
        await page
          .getByText('subject to the terms', { exact: false })
          .first()
          .evaluate((one) => one.tagName),
      ).not.toBe('P')
      await page.getByRole('cell', { name: '2 to 30' }).waitFor()
      const text = page.getByRole('textbox', { name: 'Pine Script source' })
      expect(await text.getAttribute('aria-readonly')).toBe('true')
      await text.click()
      await page.keyboard.type('x')
      expect(await text.innerText()).toStartWith('//@version=6')
      expect(await violations(page)).toEqual([])
      // A copy of one's own, which can be changed.
      await page.getByRole('button', { name: 'Save a copy' }).click()
      await page.getByText('A copy is among your scripts').waitFor()
      await page.getByLabel('Days').waitFor()
      // Published from its place; the editor, where it is open, knows and takes it back.
      await page.goto(`${site.url}/research`)
      await page
        .getByRole('region', { name: 'Yours' })
        .getByRole('link', { name: /^Quiet week/ })
        .click()
      await page.getByRole('tab', { name: 'Publish' }).click()
      await page.getByRole('button', { name: 'Publish' }).click()
      await page.getByText('Everybody can find it and read its source now').waitFor()
      await page.getByRole('link', { name: 'Chart', exact: true }).click()
      await page.getByRole('button', { name: 'More for this script' }).click()
      await page.getByRole('menuitem', { name: 'Make private' }).click()
      await page.getByText('Only you can see it now').waitFor()
      await page.getByRole('link', { name: 'Research' }).click()
      // From the list of others, straight onto the chart.
      await page
        .getByRole('region', { name: 'Of others' })
        .getByRole('link', { name: /^Quiet week/ })
        .click()
      await page.getByRole('button', { name: /^Run on SPX/ }).click()
      await page.getByText('Net profit').first().waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a session that is over is begun again over the page, and what was asked for goes on',
    async () => {
      const { page } = await site.open({ fresh: true, remembered: QUIET })
      const headers = { 'content-type': 'application/json' }
      const data = { email: 'owner@example.com', password: 'a long enough password' }
      expect((await page.request.post(`${site.url}/api/auth/sign-in`, { headers, data })).ok()).toBe(true)
      await page.goto(`${site.url}/alerts`)
      await settled(page)
      await page.getByRole('button', { name: 'New alert' }).click()
      await page.getByLabel('Level').fill('3100')
      await page.getByLabel('Name').fill('Asked before the end')
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Create alert' }).click()
      const dialog = page.getByRole('dialog', { name: 'Your session is over' })
      await dialog.waitFor()
      expect(await violations(page)).toEqual([])
      await dialog.locator('input[name=password]:focus').waitFor()
      await page.keyboard.type('not this one')
      await page.keyboard.press('Enter')
      await dialog.getByRole('alert').waitFor()
      await dialog.getByLabel(/^Password/).fill('a long enough password')
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await page.getByText('Alert is on').waitFor()
      await page.getByRole('listitem').filter({ hasText: 'Asked before the end' }).waitFor()
      // Who declines keeps the page, and is asked again for what is to be written.
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'New alert' }).click()
      const decline = async () => {
        await dialog.waitFor()
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
      await decline()
      await page.getByLabel('Level').fill('3200')
      await page.getByRole('button', { name: 'Create alert' }).click()
      await decline()
      expect(await page.getByLabel('Level').inputValue()).toBe('3200')
    },
    300_000,
  )

  journey(
    'a server that does not answer is said quietly, until it does',
    async () => {
      const { page } = await openAt('/settings/about')
      await page.route('**/api/**', (route) => route.abort())
      await page.getByRole('link', { name: 'Research' }).click()
      const said = page.getByRole('status').filter({ hasText: 'The server does not answer.' })
      await said.waitFor()
      expect(await violations(page)).toEqual([])
      await page.unroute('**/api/**')
      await said.waitFor({ state: 'detached' })
    },
    300_000,
  )

  journey(
    'a wrong password is said so, and the right one opens',
    async () => {
      const { page } = await openAt('/settings/profile')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByLabel('E-mail').fill('owner@example.com')
      await page.getByLabel('Password').fill('not this one')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
      expect(await violations(page)).toEqual([])
    },
    300_000,
  )
})

describe.skipIf(noBrowser)('the first start', () => {
  test('the first account owns the server and lands on a strategy that has run', async () => {
    const site = await startSite({ owner: false })
    try {
      const { page, complaints } = await site.open()
      await page.goto(site.url)
      await page.getByRole('heading', { name: 'Welcome to your Chartroom' }).waitFor()
      expect(await violations(page)).toEqual([])
      // On the server's own machine nobody has to find a code.
      expect(await page.getByLabel('Setup or invitation code').count()).toBe(0)
      await page.getByLabel('Name').fill('Ada')
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill('a sentence that is long enough')
      await page.getByRole('button', { name: 'Create account' }).click()
      // Real bars, the sample's own plots, and one click to the report.
      await page.getByText('S&P 500 Index').first().waitFor()
      const tour = page.getByRole('dialog', { name: 'Tour' })
      await tour.getByText('already tested').waitFor()
      await tour.getByRole('button', { name: 'Close the tour' }).click()
      await page.getByRole('button', { name: 'Open the report' }).click()
      await page.getByText('Net profit').first().waitFor()
      await page.reload()
      await page.getByText('S&P 500 Index').first().waitFor()
      expect(await tour.count()).toBe(0)
      expect(complaints).toEqual([])
    } finally {
      await site.close()
    }
  }, 300_000)
})
