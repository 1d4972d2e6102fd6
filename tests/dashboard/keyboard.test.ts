// The first ten minutes without a mouse: every step of this test is a key.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { noBrowser, startSite } from './browser.ts'

/** What has the focus, as it is named, also inside of a shadow root; and whether one sees that it has it. */
const focus = (page: Page): Promise<{ name: string; seen: boolean }> =>
  page.evaluate(() => {
    let element = document.activeElement
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
    if (!element || element === document.body) return { name: '', seen: false }
    const labelled = element.id && document.querySelector(`label[for="${CSS.escape(element.id)}"]`)
    const name =
      element.getAttribute('aria-label') ??
      (labelled ? labelled.textContent : null) ??
      element.closest('label')?.textContent ??
      element.textContent ??
      ''
    return { name: name.trim(), seen: element.matches(':focus-visible') }
  })
const focused = async (page: Page): Promise<string> => (await focus(page)).name

/** Tab after Tab until what is looked for has the focus. */
async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press(key)
    const { name: now, seen } = await focus(page)
    if (typeof name === 'string' ? now === name : name.test(now)) {
      // One sees where one is: an outline, or another ring.
      expect({ now, seen }).toEqual({ now, seen: true })
      return
    }
    passed.push(now)
  }
  throw new Error(`Not reached by Tab: ${name}. Passed: ${passed.join(' | ')}`)
}

async function palette(page: Page, words: string, option: string | RegExp): Promise<void> {
  await page.keyboard.press('Control+k')
  // What is typed before the palette is there is not lost.
  await page.keyboard.type(words)
  await page.getByRole('option', { name: option }).first().waitFor()
  const selected = page.getByRole('option', { selected: true })
  for (let i = 0; i < 20 && !(await selected.filter({ hasText: option }).count()); i++)
    await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

test.skipIf(noBrowser)(
  'the first ten minutes by keyboard alone',
  async () => {
    const site = await startSite({ owner: false })
    try {
      const { page, complaints } = await site.open()
      let release = () => undefined as void
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route('**/palette-*.js', (route) => held.then(() => route.continue()))
      await page.goto(site.url)
      await page.getByRole('heading', { name: 'Welcome to your Chartroom' }).waitFor()
      await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'name')
      await page.keyboard.type('Ada')
      await tabTo(page, 'E-mail')
      await page.keyboard.type('ada@example.com')
      await tabTo(page, 'Password')
      await page.keyboard.type('a sentence that is long enough')
      await page.keyboard.press('Enter')

      // The tour, then the chart with a sample that has run.
      await page.getByRole('dialog', { name: 'Tour' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog', { name: 'Tour' }).waitFor({ state: 'detached' })
      await page.getByText('SMA cross').first().waitFor()
      // Whoever has no list yet has the room for the chart.
      expect(await page.getByRole('complementary', { name: 'Side drawer' }).count()).toBe(0)

      // The palette's code is on its way while its first words are typed.
      await page.keyboard.press('Control+k')
      await page.keyboard.type('script')
      release()
      const search = page.getByRole('combobox', { name: 'Search' })
      await search.waitFor()
      expect(await search.inputValue()).toBe('script')
      await page.keyboard.press('Escape')

      // Another value of an input; the report; its views.
      await palette(page, 'show script', 'Show script')
      await page.getByLabel('Fast length').waitFor()
      await tabTo(page, 'Fast length')
      await page.keyboard.press('Control+a')
      await page.keyboard.type('40')
      await palette(page, 'show report', 'Show report')
      await page.getByText('Net profit').first().waitFor()
      await tabTo(page, 'Performance')
      await page.keyboard.press('Enter')
      await page.getByRole('columnheader', { name: 'Short' }).waitFor()

      // The list of trades; Enter on one shows its bars.
      await palette(page, 'show trades', 'Show trades')
      await tabTo(page, /^\d+ trades$/)
      await tabTo(page, 'Profit')
      await page.keyboard.press('Enter')
      expect(
        await page.getByRole('columnheader', { name: 'Profit', exact: true }).getAttribute('aria-sort'),
      ).toBe('descending')
      await tabTo(page, /^\d+ trades$/, 'Shift+Tab')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.getByRole('grid').locator('[aria-selected="true"]').first().waitFor()

      // The editor: typed into, run, saved, and left again.
      await palette(page, 'show script', 'Show script')
      await page.getByRole('textbox', { name: 'Pine Script source' }).waitFor()
      await tabTo(page, 'Pine Script source')
      await page.keyboard.press('Control+End')
      await page.keyboard.type('plot(close * 1.1, "Above")')
      await page.keyboard.press('Escape')
      await page.keyboard.press('Control+Enter')
      await page.keyboard.press('Control+s')
      await page.getByText('Saved as version 1').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Tab')
      expect(await focused(page)).not.toBe('Pine Script source')

      // A replay, a few bars on.
      await palette(page, 'show replay', 'Show replay')
      await page.getByRole('button', { name: 'From the first trade' }).waitFor()
      await tabTo(page, 'From the first trade')
      await page.keyboard.press('Enter')
      await page.getByRole('toolbar', { name: 'Replay' }).waitFor()
      await page.keyboard.press('Shift+ArrowRight')
      await tabTo(page, 'End replay')
      await page.keyboard.press('Enter')

      // An alert.
      await palette(page, 'alerts', /^Alerts$/)
      await page.getByRole('heading', { name: 'Alerts', exact: true }).waitFor()
      await tabTo(page, 'New alert')
      await page.keyboard.press('Enter')
      await tabTo(page, 'Level')
      await page.keyboard.type('3000')
      await page.keyboard.press('Enter')
      await page.getByText('Alert is on').waitFor()

      // A watchlist: made, filled, put in order.
      await palette(page, 'markets', /^Markets$/)
      await page.getByRole('button', { name: 'New list' }).first().waitFor()
      await tabTo(page, 'New list')
      await page.keyboard.press('Enter')
      await page.keyboard.type('Mine')
      await page.keyboard.press('Enter')
      for (const symbol of ['SP:SPX', 'NASDAQ:AAPL']) {
        await page.getByRole('heading', { name: 'Mine' }).waitFor()
        if ((await focused(page)) !== 'Add a symbol') await tabTo(page, 'Add a symbol')
        await page.keyboard.type(symbol)
        await page.keyboard.press('Enter')
        await page
          .getByRole('list', { name: 'Mine' })
          .getByText(symbol.split(':')[1]!, { exact: true })
          .waitFor()
      }
      await tabTo(page, /^AAPL/, 'Shift+Tab')
      await page.keyboard.press('Alt+ArrowUp')
      await page.getByText('AAPL is number 1 of 2 now.').waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('Apple Inc.').first().waitFor()

      // A token, kept and gone.
      await palette(page, 'api tok', 'API tokens')
      await page.getByRole('heading', { name: 'API tokens' }).waitFor()
      await tabTo(page, 'New token')
      await page.keyboard.press('Enter')
      await page.keyboard.type('Night runs')
      await tabTo(page, 'Make the token')
      await page.keyboard.press('Enter')
      await page.getByLabel('API token', { exact: true }).waitFor()
      await tabTo(page, 'I have kept it')
      await page.keyboard.press('Enter')
      await page.getByText('Night runs').waitFor()

      // The list of keys, and back to where one was.
      const before = await focused(page)
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
      await page.keyboard.press('Escape')
      expect(await focused(page)).toBe(before)
      expect(complaints).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)

test.skipIf(noBrowser)(
  'each page begins at its top, where Tab goes on, and nothing that is pressed takes the focus along',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open()
      await page.goto(site.url)
      const tour = page.getByRole('dialog', { name: 'Tour' })
      await tour.waitFor()
      // It stands at the end of the page, and a reload leaves it where it was.
      for (const button of ['Next', 'Next', '', 'Next', 'Start']) {
        if (button === '') {
          await page.reload()
          await page.getByRole('img', { name: 'Step 3 of 4' }).waitFor()
          continue
        }
        await page.waitForFunction((text) => document.activeElement?.textContent === text, button)
        await page.keyboard.press('Enter')
      }
      await tour.waitFor({ state: 'detached' })

      // What is hidden keeps its line, and can be shown there.
      await palette(page, 'show script', 'Show script')
      await page.getByRole('textbox', { name: 'Pine Script source' }).waitFor()
      await page.keyboard.press('Control+Enter')
      await page.getByRole('button', { name: 'Hide the script' }).waitFor()
      await tabTo(page, 'Hide the script')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Show the script' }).waitFor()
      expect(await focused(page)).toBe('Show the script')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Hide the script' }).waitFor()

      // The menu of the script is in the palette too.
      await palette(page, 'optimise', /^Optimise…/)
      await page.waitForURL(/\/research\/editor\/optimise$/)
      await page.getByText('Inputs to vary').waitFor()
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('Find a script')

      // From the foot of an article to the head of the next.
      await page.goto(`${site.url}/help/optimise`)
      const last = page.getByRole('main').getByRole('link').last()
      await last.waitFor()
      await last.focus()
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => !url.pathname.endsWith('/optimise'))
      await page.waitForFunction(() => document.activeElement?.id === 'main')
      expect(await page.evaluate(() => document.querySelector('#main')!.scrollTop)).toBe(0)

      // An idea is not published before it is written.
      await page.goto(`${site.url}/ideas`)
      await page.getByRole('button', { name: 'Write one' }).press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'title')
      await page.keyboard.type('Tired')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'body')
      await page.keyboard.type('Lower highs')
      await tabTo(page, 'Publish')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Tired' }).waitFor()
      expect(complaints).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
