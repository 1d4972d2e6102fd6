import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import type { Report } from '../../src/wire/report.ts'
import { xlsxOf } from '../broker/xlsx.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'
import { dealtTests } from './dealt.ts'
import { sideways } from './sideways.ts'

const STRATEGY = `//@version=6
strategy("Cross", overlay=true, initial_capital=100000, default_qty_type=strategy.percent_of_equity, default_qty_value=95)
fast = ta.sma(close, input.int(20, "Fast"))
slow = ta.sma(close, 50)
plot(fast, "Fast", color=color.orange)
plot(slow, "Slow", color=color.blue)
if ta.crossover(fast, slow)
    strategy.entry("Long", strategy.long)
if ta.crossunder(fast, slow)
    strategy.close("Long", comment="Out")
if barstate.islast
    t = table.new(position.top_right, 1, 1)
    table.cell(t, 0, 0, "<img src=x onerror=alert(1)>")
`
/** As TradingView exports daily bars: without minutes. */
function exportOf(trades: Report['trades']): string {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10)
  const rows = trades.flatMap((one) => {
    const tail = `${one.qty},${one.profit.toFixed(2)}`
    const out = one.status === 'open' ? 'Open' : one.exitComment || one.exitId
    return [
      `${one.n},Exit ${one.side},${day(one.exitTime)},${out},${one.exitPrice},${tail}`,
      `${one.n},Entry ${one.side},${day(one.entryTime)},${one.entryComment || one.entryId},${one.entryPrice},${tail}`,
    ]
  })
  return ['Trade #,Type,Date/Time,Signal,Price USD,Contracts,Profit USD', ...rows].join('\n')
}

const withScript = (more: Record<string, unknown> = {}) => ({
  script: { id: null, name: 'Cross', source: STRATEGY },
  side: '',
  bottom: '',
  'tour.done': true,
  ...more,
})

const journey = dealtTests()

describe.skipIf(noBrowser)('the chart', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  const legend = (page: Page) => page.locator('main').getByText(/^MA|^Cross$/)

  test('bars and the open script are drawn, and the console stays empty', async () => {
    const { page, complaints } = await site.open({ remembered: withScript() })
    await page.goto(site.url)
    await page.getByText('2,874.56').first().waitFor()
    await legend(page).first().waitFor()
    expect(await page.getByRole('application').getAttribute('aria-label')).toContain('SPX')
    // A table's text is text.
    await page.getByText('<img src=x onerror=alert(1)>').waitFor()
    const notice = page.getByRole('link', { name: 'Charts by TradingView' })
    expect(await notice.getAttribute('href')).toBe('https://www.tradingview.com/')
    expect(complaints).toEqual([])
  }, 300_000)

  journey(
    'a script that is only opened leaves no backtest behind; one that is run does',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'script' }) })
      const stored = async () => {
        const answer = await page.request.get(`${site.url}/api/platform/backtests`)
        return ((await answer.json()) as { backtests: unknown[] }).backtests.length
      }
      const before = await stored()
      const preview = () => page.waitForResponse((response) => response.url().endsWith('/backtests/preview'))
      for (const open of [() => page.goto(site.url), () => page.reload()]) {
        const [answer] = await Promise.all([preview(), open()])
        expect(answer.status()).toBe(200)
        await legend(page).first().waitFor()
      }
      expect(await stored()).toBe(before)
      await Promise.all([
        page.waitForResponse((response) => response.url().endsWith('/api/platform/backtests')),
        page.getByRole('button', { name: /^Run/ }).first().click(),
      ])
      expect(await stored()).toBe(before + 1)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a run can be cancelled, from below what the legend says',
    async () => {
      const { page } = await site.open({ remembered: withScript() })
      let answer = () => {}
      const asked = new Promise<void>((resolve) => (answer = resolve))
      // Never answered: the run goes on until it is cancelled.
      await page.route('**/backtests/preview', () => answer())
      await page.goto(site.url)
      await asked
      const cancel = page.getByRole('button', { name: /Cancel the run$/ })
      await cancel.waitFor()
      const title = await page.getByRole('button', { name: /^S&P 500 Index/ }).boundingBox()
      const below = await cancel.boundingBox()
      expect(below!.y).toBeGreaterThanOrEqual(title!.y + title!.height)
      await cancel.click()
      await cancel.waitFor({ state: 'detached' })
      // A reload does not begin it again.
      expect(await page.evaluate(() => localStorage.getItem('chartroom.run.last'))).toBe('"cancelled"')
      let again = 0
      await page.route('**/backtests/preview', () => void again++)
      await page.reload()
      await page.getByText(/^Vol/).first().waitFor()
      await page.getByRole('button', { name: /^List of drawings/ }).waitFor()
      await painted(page)
      expect(again).toBe(0)
    },
    300_000,
  )

  journey(
    'Run is not lost while the preview of an input runs',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'script' }) })
      await page.goto(site.url)
      await legend(page).first().waitFor()
      let asked = () => {}
      const previewed = new Promise<void>((resolve) => (asked = resolve))
      // Never answered: the preview goes on until Run takes its place.
      await page.route('**/backtests/preview', () => asked())
      await page.getByLabel('Fast').fill('21')
      await previewed
      await page.getByRole('button', { name: /^Run/ }).first().click()
      await page.getByRole('tab', { name: /^Report/, selected: true }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'letters typed on the chart search a symbol, Enter shows it',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await page.getByText('S&P 500 Index').waitFor()
      // A script goes on to another market once it has run on the first one.
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      // Nothing was clicked yet.
      await page.keyboard.type('aap')
      const field = page.getByRole('combobox', { name: /Symbol/ })
      await field.waitFor()
      expect(await field.inputValue()).toBe('AAP')
      await page.getByRole('option', { name: /Apple/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('Apple Inc.').waitFor()
      expect(new URL(page.url()).pathname).toBe('/chart/NASDAQ%3AAAPL/1d')
      // The script runs on the new market by itself.
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'digits typed on the chart are an interval, and a range shows as much of it',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await page.getByText('S&P 500 Index').waitFor()
      await page.waitForFunction(() => document.title.startsWith('SPX 2,874.56 +2.68%'))
      await page.getByRole('application').focus()
      await page.getByRole('application').dispatchEvent('keydown', { key: 'д', bubbles: true })
      const search = page.getByRole('combobox', { name: /Symbol/ })
      await search.waitFor()
      expect(await search.inputValue()).toBe('Д')
      await page.keyboard.press('Escape')
      await search.waitFor({ state: 'detached' })
      await page.getByRole('application').focus()
      await page.keyboard.type('1')
      const field = page.getByRole('textbox', { name: 'Interval' })
      await field.waitFor()
      // A minute is finer than what there is.
      await page.getByText('There are no bars for 1m.').waitFor()
      await field.fill('1w')
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/1w$/)
      await page.getByRole('button', { name: '5Y', exact: true }).click()
      await page.getByRole('button', { name: 'log', exact: true }).click()
      await page.getByRole('button', { name: 'log', exact: true, pressed: true }).waitFor()
      expect(await page.getByRole('button', { name: '5D', exact: true }).isDisabled()).toBe(true)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a pane of its own is drawn the same, whatever the scale of the price is',
    async () => {
      const source = `//@version=6
indicator("Momentum")
plot(close - close[10], "M", display = display.pane)
hline(0)
`
      const script = { id: null, name: 'Momentum', source }
      /**
       * How high up and how far down the lower pane something blue is drawn, in pixels, once that stays as it is. A pane that
       * stays blank is told as such after a hundred looks.
       */
      const pane = async (page: Page) => {
        const reach = () =>
          page.evaluate(() => {
            const all = [...document.querySelectorAll<HTMLCanvasElement>('[role="application"] canvas')]
            const lowest = Math.max(
              ...all
                .filter(({ width, height }) => width > 500 && height > 60)
                .map((one) => one.getBoundingClientRect().top),
            )
            const rows = all
              .filter((one) => one.width > 500 && one.getBoundingClientRect().top === lowest)
              .flatMap((one) => {
                const { data } = one.getContext('2d')!.getImageData(0, 0, one.width, one.height)
                return Array.from({ length: one.height }, (_, y) => y).filter((y) => {
                  for (let x = 0; x < one.width; x++) {
                    const at = (y * one.width + x) * 4
                    if (data[at + 2]! > 150 && data[at]! < 90 && data[at + 3]! > 200) return true
                  }
                  return false
                })
              })
            return [Math.min(...rows), Math.max(...rows)]
          })
        let before = await reach()
        for (let same = 0, looks = 0; same < 3 && looks < 100; looks++) {
          await painted(page)
          const now = await reach()
          same = Number.isFinite(now[0]) && String(now) === String(before) ? same + 1 : 0
          before = now
        }
        return before
      }
      /**
       * The rows of both once they are alike, or after twenty looks. What is calm may still wait for the bars or the run on a
       * busy machine, so both are looked at again.
       */
      const panes = async (one: Page, other: Page) => {
        for (let looks = 1; ; looks++) {
          const rows = [await pane(one), await pane(other)] as const
          const isAlike = rows[0].every((row, i) => Math.abs(row - rows[1][i]!) <= 3)
          if (isAlike || looks === 20) return { rows, isAlike }
        }
      }
      const shownWith = async (scale: string) => {
        const { page } = await site.open({ remembered: withScript({ script, 'chart.scale': scale }) })
        await page.goto(site.url)
        // The legend of the price names the script before there is a pane of its own, whose legend names it as well.
        await page.locator('main').getByText('Momentum').nth(1).waitFor()
        return page
      }
      const linear = await shownWith('linear')
      for (const scale of ['log', 'percent']) {
        const { rows, isAlike } = await panes(linear, await shownWith(scale))
        expect([scale, rows, isAlike]).toEqual([scale, rows, true])
        expect(rows[0][1]! - rows[0][0]!).toBeGreaterThan(40)
      }
      const toggled = await shownWith('linear')
      await toggled.getByRole('application').focus()
      await toggled.keyboard.press('Alt+l')
      expect(await panes(linear, toggled)).toMatchObject({ isAlike: true })
    },
    300_000,
  )

  journey(
    'a script follows new bars, and the chart says when the editor has another text',
    async () => {
      const { page, complaints } = await site.open({
        remembered: withScript({
          bottom: 'script',
          script: {
            id: null,
            name: 'Count',
            source: '//@version=6\nindicator("Count", overlay = true)\nplot(bar_index + 1000, "n")\n',
          },
        }),
      })
      const row = (i: number) =>
        `${Date.UTC(2024, 0, 1) + i * 3_600_000},${1000 + i},${1002 + i},${999 + i},${1001 + i},5`
      const bring = async (...bars: number[]) => {
        const answer = await page.request.post(
          `${site.url}/api/platform/bars/import?exchange=TEST&symbol=FOLLOW&interval=1h`,
          {
            data: `time,open,high,low,close,volume\n${bars.map(row).join('\n')}\n`,
            headers: { 'content-type': 'text/csv' },
          },
        )
        expect(answer.ok()).toBe(true)
      }
      await bring(...Array.from({ length: 30 }, (_, i) => i))
      await page.goto(`${site.url}/chart/TEST%3AFOLLOW/1h`)
      const said = page.locator('main')
      await said.getByText('1,029.00', { exact: true }).waitFor()
      await bring(30)
      await said.getByText('1,030.00', { exact: true }).waitFor()
      const hint = page.getByRole('button', { name: /not the editor’s text/ })
      expect(await hint.count()).toBe(0)
      await page.locator('.cm-content').click()
      await page.keyboard.press('Control+End')
      await page.keyboard.type('plot(5000, "more")')
      await hint.waitFor()
      // What is drawn goes on with its own text.
      await bring(31)
      await said.getByText('1,031.00', { exact: true }).waitFor()
      await hint.click()
      await said.getByText('5,000.00', { exact: true }).waitFor()
      await hint.waitFor({ state: 'detached' })
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'interval, type and scale change with keys and menus',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await page.getByText('S&P 500 Index').waitFor()
      await page.getByRole('application').focus()
      await page.keyboard.press('.')
      await page.waitForURL(/\/chart\/SP%3ASPX\/1w$/)
      await page.keyboard.press(',')
      await page.waitForURL(/\/chart\/SP%3ASPX\/1d$/)
      await page.keyboard.press('Alt+l')
      await page.getByRole('button', { name: 'Scale and time zone' }).getByText('Log').waitFor()
      await page.getByRole('button', { name: /Chart type/ }).click()
      await page.getByRole('menuitemradio', { name: 'Heikin-Ashi' }).click()
      await page.getByRole('button', { name: 'Chart type: Heikin-Ashi' }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'the report answers first whether it made money, and a trade leads to its bars',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'report' }) })
      await page.goto(site.url)
      await page.getByRole('region', { name: 'Did it make money?' }).getByText('Net profit').waitFor()
      await page.getByRole('button', { name: 'Performance' }).click()
      await page.getByRole('columnheader', { name: 'Short' }).waitFor()
      await page.getByRole('button', { name: 'Verify' }).click()
      await page.getByText('Verified', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Repaint' }).click()
      await page.getByRole('dialog', { name: 'Does it see the future?' }).getByText('Clean').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Trades' }).click()
      const grid = page.getByRole('grid')
      const rows = Number(await grid.getAttribute('aria-rowcount')) - 1
      expect(rows).toBeGreaterThan(20)
      await page.getByRole('button', { name: 'Profit', exact: true }).click()
      await grid.getByRole('row').nth(1).click()
      await grid.locator('[aria-selected="true"]').waitFor()
      // What hides a trade is opened by a click on it.
      const show = page.getByRole('button', { name: 'Show or hide' })
      const trades = page.getByRole('menuitemcheckbox', { name: 'Trades' })
      await show.click()
      await trades.click()
      await page.getByRole('button', { name: 'Whole height' }).click()
      await grid.getByRole('row').nth(2).click()
      await page.getByRole('button', { name: 'Whole height' }).waitFor()
      await show.click()
      expect(await trades.getAttribute('aria-checked')).toBe('true')
      await page.keyboard.press('Escape')
      // And back: the trade is in the middle of the chart, and a click on it opens the list again.
      const wanted = await grid.locator('[aria-selected="true"]').getAttribute('id')
      await page.getByRole('tab', { name: 'Report' }).click()
      const box = (await page.getByRole('application').boundingBox())!
      const tooltip = page.getByText(/^#\d+ Long/)
      for (let y = 10; y < box.height && (await tooltip.count()) === 0; y += 5) {
        await page.mouse.move(box.x + (box.width - 72) / 2, box.y + y)
        await page.evaluate(() => new Promise(requestAnimationFrame))
      }
      await page.mouse.down()
      await page.mouse.up()
      expect(await grid.locator('[aria-selected="true"]').getAttribute('id')).toBe(wanted)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      // A trade has a row of its exit and one of its entry.
      const lines = readFileSync(await file.path(), 'utf8')
        .trimEnd()
        .split('\n')
      expect(lines).toHaveLength(2 * rows + 1)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a report is shared as an idea that only its link shows',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'report' }) })
      await page.goto(site.url)
      await page.getByRole('button', { name: 'Share' }).click()
      expect(await page.getByRole('textbox', { name: 'Text' }).inputValue()).toContain(
        'Chance that luck alone',
      )
      await page.getByRole('dialog').getByRole('button', { name: 'Share' }).click()
      const link = await page.getByRole('dialog').getByRole('link').getAttribute('href')
      expect(link).toMatch(/\/ideas\/idea_/)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a replay hides what comes, steps with keys, keeps bookmarks and where one stood',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'replay' }) })
      await page.goto(site.url)
      // A drawer over the whole height gives the chart its room back.
      await page.getByRole('button', { name: 'Whole height' }).click()
      await page.getByRole('button', { name: 'From the first trade' }).click()
      const where = page.getByText(/^bar [\d,]+ of/)
      await where.waitFor()
      // Off the chart, which is now where the button was and would tell of the bar below the pointer.
      await page.mouse.move(640, 790)
      await page.getByText('Charts by TradingView').first().waitFor()
      const barNow = async () => Number(/bar ([\d,]+)/.exec(await where.innerText())![1]!.replace(',', ''))
      const first = await barNow()
      // Neither the tab's title nor what the curve is called tells how it ends.
      const close = /C\s*([\d,.]+)/.exec(
        await page
          .getByText(/^C\s*[\d,.]+/)
          .first()
          .innerText(),
      )![1]!
      expect(await page.title()).toStartWith(`SPX ${close} `)
      await page.getByRole('img', { name: /^Equity from [\d,.]+ USD to [\d,.]+ USD$/ }).waitFor()
      const blind = page.getByRole('button', { name: 'Blind: hide symbol and dates' })
      await blind.click()
      expect(await page.title()).toBe('Replay · Chartroom')
      await blind.click()
      await page
        .getByText(/Long at the next open|Waits for the next/)
        .first()
        .waitFor()
      await page.keyboard.press('n')
      expect(await barNow()).toBe(first + 1)
      await page.getByText(/At the bar’s open/).waitFor()
      await page.keyboard.press('b')
      await page.getByRole('button', { name: /Take the bookmark away/ }).waitFor()
      await page.keyboard.press('Shift+ArrowRight')
      expect(await barNow()).toBe(first + 11)
      await page.keyboard.press('ArrowLeft')
      expect(await barNow()).toBe(first + 10)
      await page.keyboard.press('[')
      expect(await barNow()).toBe(first + 1)
      // Loaded again in its middle, it goes on where one stood, blind if it was.
      await blind.click()
      await page.reload()
      await where.waitFor()
      expect(await barNow()).toBe(first + 1)
      expect(await page.title()).toBe('Replay · Chartroom')
      await blind.click()
      // Trades that have not closed yet are in no list.
      await page.getByRole('tab', { name: 'Trades' }).click()
      expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('1')
      await page.getByRole('tab', { name: 'Replay' }).click()
      await page.getByRole('button', { name: 'End replay' }).click()
      // It waits for bars that are older than those on the screen.
      const older = Promise.withResolvers<void>()
      await page.route(/\/api\/platform\/bars\?.*\bend=/, async (route) => {
        await older.promise
        await route.continue()
      })
      await page.reload()
      await page.getByRole('button', { name: /^Resume at/ }).click()
      await page.getByRole('button', { name: /^Resume at/, disabled: true }).waitFor()
      older.resolve()
      await where.waitFor()
      expect(await barNow()).toBe(first + 1)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a right click offers an alert, a picture and a replay from there',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await legend(page).first().waitFor()
      const chart = page.getByRole('application')
      await chart.click({ button: 'right', position: { x: 500, y: 200 } })
      await page.getByRole('menuitem', { name: /^Alert at/ }).waitFor()
      const [picture] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Save a picture' }).click(),
      ])
      expect(
        readFileSync(await picture.path())
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG')
      await chart.click({ button: 'right', position: { x: 500, y: 200 } })
      await page.keyboard.press('Escape')
      const close = page.getByText(/^C\s*[\d,.]+/).first()
      await chart.hover({ position: { x: 500, y: 100 } })
      const before = /[\d,.]+/.exec(await close.innerText())![0]
      expect(before).not.toBe('2,874.56')
      await chart.click({ button: 'right', position: { x: 500, y: 200 } })
      await page.getByRole('menuitem', { name: 'Replay from here' }).click()
      await page.getByRole('toolbar', { name: 'Replay' }).waitFor()
      // Far back and ended there, it leaves the chart as it was.
      await page.getByRole('slider', { name: 'Bar of the replay' }).press('Home')
      await page.getByText(/^bar 1 of/).waitFor()
      await page.getByRole('button', { name: 'End replay' }).click()
      await page.getByRole('toolbar', { name: 'Replay' }).waitFor({ state: 'detached' })
      await painted(page)
      await chart.hover({ position: { x: 500, y: 100 } })
      while (!(await close.innerText()).includes(before)) await painted(page)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a bar that is stored while one looks appears by itself',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await page.getByText('2,874.56').first().waitFor()
      const price = page.getByText('2,823.16').first()
      // Who is not connected yet is not told: the bar comes again, with another volume, until it is seen.
      for (let volume = 5_220_160_000; !(await price.isVisible()); volume++) {
        const row = `2020-04-20T13:30:00Z,2845,2869,2820,2823.16,${volume}`
        const stored = await page.request.post(
          `${site.url}/api/platform/bars/import?exchange=SP&symbol=SPX&interval=1d`,
          { headers: { 'content-type': 'text/csv' }, data: `time,open,high,low,close,volume\n${row}\n` },
        )
        expect(stored.status()).toBe(200)
        await painted(page)
      }
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an address names market and interval, whatever was open before',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript() })
      await page.goto(site.url)
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      await page.goto(`${site.url}/chart/NASDAQ:AAPL/1w`)
      await page.getByText('Apple Inc.').waitFor()
      await page.getByText('<img src=x onerror=alert(1)>').waitFor()
      expect(await page.getByRole('button', { name: /^Symbol/ }).innerText()).toBe('AAPL')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a list of trades from TradingView is laid beside the run, and differences are told',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'report' }) })
      // Bars of another chart would change what other journeys see.
      const text = 'time,open,high,low,close,Slow\n2000-05-10,1,1,1,1,7'
      const chart = { fileName: 'SP_SPX, 1D.csv', plots: ['Slow'], importedAt: 0, text }
      await page.route('**/api/platform/bars/chart?*', (route) => route.fulfill({ json: { chart } }))
      await page.goto(site.url)
      await page.getByRole('group', { name: 'View of the report' }).getByText('Compare').click()
      await page.getByText('SP_SPX, 1D.csv · Slow').waitFor()
      await page.getByRole('button', { name: 'Hold against the chart that came with the bars' }).click()
      await page.getByText('0 of 1 figures agree').waitFor()
      const head = 'Trade #,Type,Date/Time,Signal,Price USD,Contracts,Profit USD,Profit %'
      const rows = '1,Exit long,2000-05-10,Out,1400,10,5,1\n1,Entry long,2000-04-01,Long,1399.5,10,5,1\n'
      await page
        .getByLabel("TradingView's list of trades, as CSV")
        .setInputFiles({ name: 'trades.csv', mimeType: 'text/csv', buffer: Buffer.from(`${head}\n${rows}`) })
      const verdict = page.getByText('0 of 1 trades agree')
      await verdict.waitFor()
      // What came of it has the room that the words about files had.
      const { y, height } = (await verdict.boundingBox())!
      expect(y + height).toBeLessThan(800)
      await page.getByRole('button', { name: /First difference: trade 1/ }).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'what was set otherwise in TradingView is found, and the run is done again so',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'report' }) })
      await page.goto(site.url)
      const market = { symbol: 'SPX', exchange: 'SP', interval: '1d', bars: 5000 }
      const overrides = { slippage: 4, commission_value: 0.05 }
      const made = await page.request.post(`${site.url}/api/platform/backtests/preview`, {
        data: { ...market, name: 'There', source: STRATEGY, inputs: {}, overrides },
      })
      const { result } = (await made.json()) as { result: { report: Report } }
      const { trades } = result.report
      await page.getByRole('group', { name: 'View of the report' }).getByText('Compare').click()
      await page.getByLabel("TradingView's list of trades, as CSV").setInputFiles({
        name: 'trades.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(exportOf(trades)),
      })
      const why = page.getByRole('region', { name: 'Why it differs' })
      await why.getByText(/^Slippage 4 ticks · first seen/).waitFor()
      await why.getByRole('button', { name: 'Run with these settings' }).click()
      await page.getByText('Every trade agrees').waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'the report of TradingView’s tester sets the run, and its figures are laid beside ours',
    async () => {
      const { page, complaints } = await site.open({ remembered: withScript({ bottom: 'report' }) })
      await page.goto(site.url)
      const market = { symbol: 'SPX', exchange: 'SP', interval: '1d', bars: 700 }
      const overrides = { slippage: 4, initial_capital: 70_000 }
      const made = await page.request.post(`${site.url}/api/platform/backtests/preview`, {
        data: { ...market, name: 'There', source: STRATEGY, inputs: {}, overrides },
      })
      const { report } = ((await made.json()) as { result: { report: Report } }).result
      const day = (time: number | null) => new Date(time ?? 0).toISOString().slice(0, 10)
      const book = xlsxOf([
        {
          name: 'Performance',
          rows: [
            ['', 'All USD'],
            ['Net profit', report.all.netProfit + 1],
            ['Gross profit', report.all.grossProfit],
          ],
        },
        {
          name: 'List of trades',
          rows: exportOf(report.trades)
            .split('\n')
            .map((line) => line.split(',')),
        },
        {
          name: 'Properties',
          rows: [
            ['name', 'value'],
            ['Trading range', `${day(report.range.from)} — ${day(report.range.to)}`],
            ['Symbol', 'SP:SPX'],
            ['Timeframe', '1 day'],
            ['Width of the moon', 3],
            ['Initial capital', 70_000],
            ['Slippage', '4 ticks'],
          ],
        },
      ])
      await page.getByRole('group', { name: 'View of the report' }).getByText('Compare').click()
      await page
        .getByLabel("TradingView's list of trades, as CSV, or its report, as XLSX")
        .setInputFiles({ name: 'report.xlsx', mimeType: '', buffer: Buffer.from(book) })
      await page.getByText('Every trade agrees').waitFor()
      await page.getByText(/Set from the file: SP:SPX · 1d · .* · initial_capital .* · slippage 4/).waitFor()
      await page.getByText('1 of 2 figures agree').waitFor()
      await page.getByRole('table', { name: 'Figures that differ' }).getByText('Net profit').waitFor()
      await page.getByText('What was left aside of the file: 2').click()
      await page.getByText(/Width of the moon: 3.*neither a property that is known nor an input/).waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a library that is missing is added where it is missed',
    async () => {
      const source = '//@version=6\nindicator("Uses")\nimport Somebody/tools/3 as t\nplot(t.twice(close))\n'
      const { page, complaints } = await site.open({
        remembered: withScript({ bottom: 'script', script: { id: null, name: 'Uses', source } }),
      })
      await page.goto(site.url)
      await page.getByRole('button', { name: 'Add the library', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Add a library' })
      expect(await dialog.getByLabel('Imported as').inputValue()).toBe('Somebody/tools/3')
      const library = '// MPL 2.0\n//@version=6\nlibrary("tools")\nexport twice(float x) => x * 2\n'
      await dialog
        .getByLabel('The library’s source, as a file')
        .setInputFiles({ name: 'tools.pine', mimeType: 'text/plain', buffer: Buffer.from(library) })
      await dialog.getByRole('button', { name: 'Add the library' }).click()

      await page.getByText('No problems').waitFor()
      // What was asked for in vain before is not missed any more.
      await page.request.post(`${site.url}/api/platform/scripts`, {
        data: { name: 'Other', source: source.replace('tools/3', 'rare/1') },
      })
      await page.getByRole('link', { name: 'Research' }).click()
      await page.getByRole('cell', { name: 'Somebody/rare/1' }).waitFor()
      // The script could not run without it.
      expect(complaints.filter((one) => !one.includes('422'))).toEqual([])
    },
    300_000,
  )

  journey(
    'coming back to the chart shows the bars it had, before the server has answered again',
    async () => {
      const source = STRATEGY.replace('overlay=true, ', '')
      const { page, complaints } = await site.open({
        remembered: withScript({ script: { id: null, name: 'Cross', source } }),
      })
      await page.goto(site.url)
      await page.getByText('S&P 500 Index').first().waitFor()
      await legend(page).first().waitFor()
      await page.getByRole('link', { name: 'Research' }).click()
      await page.getByRole('heading', { name: 'Research', exact: true }).waitFor()
      let release = () => undefined as void
      const held = new Promise<void>((resolve) => (release = resolve))
      await page.route('**/api/platform/bars?**', async (route) => {
        await held
        await route.continue()
      })
      await page.getByRole('link', { name: 'Chart', exact: true }).click()
      const close = page.locator('main').getByText(/^[\d,]+\.\d\d$/)
      await close.first().waitFor()
      const last = await close.allInnerTexts()
      // The pointer finds a bar, and the axis a date for it.
      const box = (await page.getByRole('application').boundingBox())!
      const isOther = () =>
        page.evaluate((before) => {
          const now = [...document.querySelectorAll('main span')].map((one) => one.textContent)
          return before.some((text) => !now.includes(text))
        }, last)
      // Until the bars are painted the pointer finds nothing.
      for (let x = 300; !(await isOther()); x = 620 - x) {
        await page.mouse.move(box.x + x, box.y + 200)
        await painted(page)
      }
      expect(complaints).toEqual([])
      release()
    },
    300_000,
  )

  journey(
    'a phone shows the same without a sideways scroll',
    async () => {
      const { page, complaints } = await site.open({
        width: 380,
        remembered: withScript({ bottom: 'report' }),
      })
      await page.goto(site.url)
      await page.getByText('Net profit').first().waitFor()
      // The bars of tools and of ranges scroll by themselves.
      const isBar = /^div\.(?:bar-slot|rangeBar|tabs|tools)/
      expect((await sideways(page)).filter((place) => !isBar.test(place))).toEqual([])
      // Keys are named where there is more than a finger.
      const keys = page.getByRole('menuitem', { name: 'Go to date' }).locator('kbd')
      const tools = await page.context().newCDPSession(page)
      await page.getByRole('application').click({ button: 'right', position: { x: 150, y: 120 } })
      await keys.waitFor()
      await tools.send('Emulation.setTouchEmulationEnabled', { enabled: true })
      await keys.waitFor({ state: 'hidden' })
      expect(await keys.count()).toBe(1)
      await tools.send('Emulation.setTouchEmulationEnabled', { enabled: false })
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'properties and inputs of a strategy change its run, are kept with the script, and go back to its own',
    async () => {
      const { page, complaints } = await site.open({
        remembered: withScript({ bottom: 'script' }),
        width: 1440,
        height: 900,
      })
      const asked: { overrides?: object; inputs?: object }[] = []
      page.on('request', (request) => {
        if (/backtests(\/preview)?$/.test(request.url()) && request.method() === 'POST')
          asked.push(request.postDataJSON() as (typeof asked)[0])
      })
      await page.goto(site.url)
      await legend(page).first().waitFor()
      const settings = page.getByLabel('Settings of the script')
      await settings.getByText('Properties').click()
      const capital = page.getByLabel('Initial capital')
      expect(await capital.inputValue()).toBe('100000')
      expect(await page.getByLabel('Size is in').inputValue()).toBe('percent_of_equity')
      await capital.fill('5000')
      await page.getByText('1 property changed').waitFor()
      await page.getByLabel('Slippage, ticks').fill('-1')
      await page.getByText('0 or more.').waitFor()
      await page.getByLabel('Slippage, ticks').fill('3')
      await page.getByText('2 properties changed').waitFor()
      while (JSON.stringify(asked.at(-1)?.overrides) !== '{"initial_capital":5000,"slippage":3}')
        await page.waitForTimeout(50)
      await settings.getByText('Inputs').click()
      await page.getByLabel('Fast').fill('7')
      while (JSON.stringify(asked.at(-1)?.inputs) !== '{"Fast":7}') await page.waitForTimeout(50)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as version 1').waitFor()
      await page.reload()
      while ((await page.getByLabel('Fast').inputValue()) !== '7') await page.waitForTimeout(50)
      await page.locator('button:disabled', { hasText: /^Save$/ }).waitFor()
      await settings.getByText('Properties').click()
      const kept = { inputs: { Fast: 7 }, overrides: { initial_capital: 5000, slippage: 3 } }
      const newest = async () => {
        const answer = await page.request.get(`${site.url}/api/platform/scripts`)
        return ((await answer.json()) as { scripts: { inputs: object }[] }).scripts[0]
      }
      expect(await newest()).toMatchObject(kept)
      await page.getByRole('button', { name: 'More for this script' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete script' }).click()
      await page.getByText('“Cross” is deleted').waitFor()
      expect((await newest())?.inputs).not.toEqual(kept.inputs)
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
      await page.getByText('“Cross” is stored again').waitFor()
      expect(await newest()).toMatchObject(kept)
      await settings.getByText('Properties').click()
      await page.getByRole('button', { name: /^Back to the script’s own/ }).click()
      await page.getByText('properties changed').waitFor({ state: 'detached' })
      while ((await capital.inputValue()) !== '100000') await page.waitForTimeout(20)
      while (asked.at(-1)?.overrides !== undefined) await page.waitForTimeout(50)
      expect(complaints).toEqual([])
    },
    300_000,
  )
})
