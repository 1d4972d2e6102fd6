// Indicators on the chart beside the editor's script: found, added, set, hidden, kept over a reload.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { headOf, LIBRARY } from '../../src/dashboard/studies/library.ts'
import { plotsOf, styled } from '../../src/dashboard/studies/plot-styles.ts'
import { marksOf, DISPLAY, MAIN_LAYER, stacked, type RunMarks } from '../../src/dashboard/chart/marks.ts'
import { NO_BARS } from '../../src/dashboard/chart/scene.ts'
import { compile } from '../../src/language/compile.ts'
import { barsOf, runScript } from '../language/run-script.ts'
import type { Track } from '../../src/wire/track.ts'
import { violations } from './axe.ts'
import { noBrowser, startSite, type Site } from './browser.ts'
import { dealtTests } from './dealt.ts'

const plotTrack = (id: string, pane: string, title = id) =>
  ({
    id,
    kind: 'plot',
    pane,
    title,
    data: [1, 2],
    color: '#ff0000',
    style: 'line',
    linewidth: 1,
  }) as unknown as Track
const marksFor = (...tracks: readonly Track[]): RunMarks => marksOf('T', tracks, NO_BARS)

describe('several scripts on one chart', () => {
  test('share the pane of the price, and have one each for the rest', () => {
    const chart = stacked([
      { id: MAIN_LAYER, marks: marksFor(plotTrack('a', 'price'), plotTrack('b', 'script')) },
      { id: 's1', marks: marksFor(plotTrack('c', 'script')) },
      { id: 's2', marks: marksFor(plotTrack('d', 'price'), plotTrack('e', 'script')) },
    ])
    const titles = chart.map(({ name, marks }) => [name, marks.map(({ title }) => title)])
    expect(titles).toEqual([
      ['price', ['a', 'd']],
      ['script', ['b']],
      ['s1', ['c']],
      ['s2', ['e']],
    ])
    expect(stacked([])).toEqual([])
  })

  test('are put together in a pane, but for the colours of bars', () => {
    const color = {
      id: 'k',
      kind: 'barcolor',
      pane: 'price',
      title: 'k',
      data: ['#ff0000'],
    } as unknown as Track
    const chart = stacked([
      { id: 's1', marks: marksFor(plotTrack('a', 'script')) },
      { id: 's2', marks: marksFor(plotTrack('b', 'price'), plotTrack('c', 'script'), color), pane: 's1' },
      { id: 's3', marks: marksFor(plotTrack('d', 'script')), pane: 'price' },
    ])
    expect(chart.map(({ name, marks }) => [name, marks.map(({ title }) => title)])).toEqual([
      ['s1', ['a', 'b', 'c']],
      ['price', ['k', 'd']],
    ])
  })

  test('lines of a run stay those that its own linefills name', () => {
    const line = (x: number) => ({ kind: 'line', x1: x }) as never
    const tracks = (x: number) =>
      [
        { id: 'l', kind: 'line', pane: 'price', title: '', items: [line(x)] },
        { id: 'f', kind: 'linefill', pane: 'price', title: '', items: [{ kind: 'linefill' }] },
      ] as unknown as Track[]
    const chart = stacked([
      { id: 's1', marks: marksFor(...tracks(1)) },
      { id: 's2', marks: marksFor(...tracks(2)) },
    ])
    const fills = chart[0]!.marks.filter(
      (mark) => mark.kind === 'drawings' && mark.items[0]!.kind === 'linefill',
    )
    expect(fills.map((mark) => mark.kind === 'drawings' && mark.lines[0]!['x1'])).toEqual([1, 2])
  })
})

test('a plot looks as the user wants, others as the script says', () => {
  const marks = marksFor(plotTrack('a', 'price', 'Fast'), plotTrack('b', 'price', ''))
  expect(plotsOf(marks)).toEqual([
    { key: 'Fast', name: 'Fast', color: '#ff0000', width: 1, dash: 'solid', price: null },
    { key: '1', name: 'Plot 2', color: '#ff0000', width: 1, dash: 'solid', price: null },
  ])
  const [fast, other] = styled(marks, { Fast: { color: '#00ff00', width: 3 }, 1: { hidden: true } }).panes[0]!
    .marks
  expect(fast).toMatchObject({ colors: { one: '#00ff00' }, width: 3 })
  expect(other!.display & DISPLAY.pane).toBe(0)
  expect(styled(marks, {})).toBe(marks)
})

test('so does a level, which fills between levels follow', () => {
  const level = (id: string, price: number) => ({
    id,
    kind: 'hline',
    title: id,
    pane: 'own',
    price,
    linewidth: 1,
  })
  const tracks = [
    level('Upper', 70),
    level('Lower', 30),
    { id: 'f', kind: 'fill', title: '', pane: 'own', between: ['Upper', 'Lower'], color: '#2962ff20' },
    plotTrack('a', 'own', 'Upper'),
  ] as unknown as readonly Track[]
  const marks = marksFor(...tracks)
  expect(plotsOf(marks).map(({ key, name, price }) => [key, name, price])).toEqual([
    ['Upper', 'Upper', null],
    ['level Upper', 'Upper', 70],
    ['level Lower', 'Lower', 30],
  ])
  const now = styled(marks, {
    'level Upper': { price: 80, dash: 'dotted', width: 2 },
    'level Lower': { hidden: true },
    Upper: { precision: 1, dash: 'dashed' },
  }).panes[0]!.marks
  expect(now[0]).toMatchObject({ price: 80, dash: 'dotted', width: 2 })
  expect(now[1]!.display & DISPLAY.pane).toBe(0)
  expect(now[2]).toMatchObject({ a: { price: 80 }, b: { price: 30 } })
  expect(now[3]).toMatchObject({ precision: 1, dash: 'dashed' })
})

describe('the indicators that Chartroom brings', () => {
  test('are all those of their folder, by the name that is shown', () => {
    const files = readdirSync(`${import.meta.dir}/../../data/indicators`).map((file) =>
      file.replace('.pine', ''),
    )
    expect(LIBRARY.map(({ id }) => id).sort()).toEqual(files.sort())
    const titles = LIBRARY.map(({ title }) => title)
    expect(titles).toEqual(titles.toSorted((a, b) => a.localeCompare(b)))
  })

  const one = barsOf([100])
  const level = { ...barsOf(Array.from({ length: 120 }, () => 5)), volume: new Float64Array(120) }
  const bars = barsOf(Array.from({ length: 400 }, (_, i) => 100 + 10 * Math.sin(i / 9) + (i % 7)))
  test.each(LIBRARY.map(({ id, source }) => [id, source] as const))(
    '%s compiles, runs and says what it is',
    (id, source) => {
      const { title, shortTitle, category, also } = headOf(source)
      expect([id, title, shortTitle, category, also].filter((text) => text === '')).toEqual([])
      expect(compile(source).diagnostics).toEqual([])
      // One bar, bars without a range, and enough of them.
      for (const some of [one, level, bars]) expect(runScript(source, some).plots.length).toBeGreaterThan(0)
    },
  )
})

const journey = dealtTests()

describe.skipIf(noBrowser)('on the chart', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  journey(
    'indicators are added by keyboard, set, hidden, taken off, and there after a reload',
    async () => {
      const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }
      const { page, complaints } = await site.open({ remembered: quiet })
      await page.goto(site.url)
      await page.getByText(/^Vol/).first().waitFor()
      await page.getByRole('application').focus()
      await page.keyboard.press('Alt+i')
      const search = page.getByRole('combobox', { name: 'Search indicators' })
      await search.waitFor()
      await search.fill('bollinger')
      await page.getByRole('option', { name: /^Bollinger Bands BB\b/, selected: true }).waitFor()
      for (const words of ['rsi', 'macd']) {
        await search.fill(words)
        await page.keyboard.press('Enter')
      }
      await page.keyboard.press('Escape')
      const legend = (name: string) => page.getByRole('button', { name: `Settings of ${name}`, exact: true })
      const rsi = legend('RSI')
      await rsi.waitFor()
      await legend('MACD').waitFor()
      await page.getByText('57.36').first().waitFor()
      await page.getByRole('button', { name: 'MACD 12 · 26 · 9' }).waitFor()
      await page.getByRole('button', { name: 'RSI 14 · 70 · 30' }).waitFor()

      // 2 instead of 14: other numbers stand in the legend.
      await rsi.click()
      await page.getByRole('dialog').getByLabel('Length').fill('2')
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'RSI 2 · 70 · 30' }).waitFor()
      await page.getByText('57.36').first().waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Hide RSI' }).click()
      await page.getByRole('button', { name: 'Show RSI' }).waitFor()
      await page.reload()
      await page.getByRole('button', { name: 'Show RSI' }).click()
      await page.getByRole('button', { name: 'Take MACD off the chart' }).click()
      // The palette knows it by its short name, first of all.
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill('atr')
      await page.getByRole('option', { name: /Average True Range/, selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await legend('ATR').waitFor()
      expect(await legend('MACD').count()).toBe(0)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'an indicator reads the plot of another, in its pane, also after a reload; taking that off can be undone',
    async () => {
      const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }
      const { page, complaints } = await site.open({ remembered: quiet })
      await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      const asked: { inputs: { Source?: { plot?: string } } }[] = []
      page.on('request', (request) => {
        if (request.url().includes('/preview')) asked.push(request.postDataJSON() as (typeof asked)[0])
      })
      await page.getByRole('application').focus()
      await page.keyboard.press('Alt+i')
      const search = page.getByRole('combobox', { name: 'Search indicators' })
      for (const words of ['rsi', 'sma']) {
        await search.fill(words)
        await page.getByRole('option', { selected: true }).waitFor()
        await page.keyboard.press('Enter')
      }
      await page.keyboard.press('Escape')
      await page.getByText('57.36').first().waitFor()
      const average = page.getByRole('button', { name: 'Settings of SMA', exact: true })
      await average.click()
      const source = page.getByRole('dialog').getByLabel('Source')
      await source.selectOption({ label: 'RSI: RSI' })
      await page.keyboard.press('Escape')
      // Away from the chart the legend tells the newest values.
      await page.mouse.move(2, 2)
      // What one script says that computes both.
      const both = '//@version=6\nindicator("Both")\nplot(ta.sma(ta.rsi(close, 14), 20))'
      const body = { name: 'Both', exchange: 'SP', symbol: 'SPX', interval: '1d', bars: 20_000, source: both }
      const answer = await page.request.post(`${site.url}/api/platform/backtests/preview`, { data: body })
      const { tracks } = ((await answer.json()) as { result: { tracks: { kind: string; data: number[] }[] } })
        .result
      const expected = tracks.find(({ kind }) => kind === 'plot')!.data.at(-1)!
      const value = page.getByText(expected.toFixed(3), { exact: true }).first()
      await value.waitFor()
      expect(asked.at(-1)!.inputs.Source?.plot).toBe('RSI')
      await page.reload()
      await value.waitFor()
      await page.getByRole('button', { name: 'Take RSI off the chart' }).click()
      await page.mouse.move(2, 2)
      await page.getByText('RSI was read by SMA: choose another source there, or undo.').waitFor()
      await page.getByText('no longer on the chart').first().waitFor()
      await page.getByRole('button', { name: /^List of drawings/ }).waitFor()
      await page.getByRole('application').focus()
      await page.keyboard.press('Control+z')
      await value.waitFor()
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'those that have not run when the chart is left do not run after it, but once the server is there again',
    async () => {
      const of = LIBRARY.find(({ id }) => id === 'rsi')!
      const study = (id: string) => ({ id, name: id, shortName: id, source: of.source, from: '', plots: {} })
      const studies = ['a', 'b', 'c', 'd', 'e'].map((id) => ({
        ...study(id),
        inputs: {},
        hidden: false,
        intervals: null,
      }))
      const { page } = await site.open({
        remembered: { side: '', bottom: '', 'tour.done': true, 'chart.studies': studies },
      })
      let asked = 0
      let three: () => void
      const areThree = new Promise<void>((resolve) => (three = resolve))
      // The first three, as many as run at once, get no answer.
      await page.route('**/backtests/preview', () => {
        if (++asked === 3) three()
      })
      await page.goto(site.url)
      await areThree
      await page.getByRole('link', { name: 'Markets' }).click()
      await page.getByRole('heading', { name: 'Markets' }).waitFor()
      expect(asked).toBe(3)
      await page.unrouteAll()

      // What could not run because the server was away runs once it is there.
      await page.route('**/api/**', (route) => route.abort())
      await page.getByRole('link', { name: 'Chart' }).first().click()
      await page.getByText('could not run: Chartroom cannot be reached').first().waitFor()
      await page.unrouteAll()
      await page.locator('[data-chart] span[title="RSI"]').nth(4).waitFor()
    },
    300_000,
  )

  journey(
    'a pane keeps its height, has no menu of prices, and its study the style that is the default',
    async () => {
      const of = LIBRARY.find(({ id }) => id === 'rsi')!
      const { title: name, shortTitle: shortName } = headOf(of.source)
      const rsi = { id: 'r', name, shortName, source: of.source, from: 'library:rsi', inputs: {}, plots: {} }
      const { page, complaints } = await site.open({
        remembered: {
          script: { id: null, name: '', source: '' },
          side: '',
          bottom: '',
          'tour.done': true,
          'chart.studies': [{ ...rsi, hidden: false, intervals: null }],
        },
      })
      await page.goto(site.url)
      const value = page.locator('[data-chart] span[title="RSI"]')
      await value.waitFor()
      await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'))
      // The rows of the library's table: panes, lines between them, and the axis of time.
      const rows = () =>
        page
          .locator('[role=application] tr')
          .evaluateAll((all) =>
            all.map((row) => row.getBoundingClientRect()).map(({ y, height }) => ({ y, height })),
          )
      const [, line, pane] = await rows()
      await page.mouse.click(600, pane!.y + pane!.height / 2, { button: 'right' })
      await page.getByRole('menuitem', { name: /Replay from here/ }).waitFor()
      expect(await page.getByRole('menuitem', { name: /Alert|Copy/ }).count()).toBe(0)
      await page.keyboard.press('Escape')

      await page.mouse.move(600, line!.y)
      await page.mouse.down()
      await page.mouse.move(600, line!.y - 80, { steps: 4 })
      await page.mouse.up()
      await page.waitForFunction(() => localStorage.getItem('chartroom.charts')?.includes('"heights"'))
      const dragged = (await rows())[2]!.height
      expect(dragged).toBeGreaterThan(pane!.height + 60)

      await page.getByRole('button', { name: /^RSI/ }).first().click()
      await page.getByText('Style', { exact: true }).click()
      await page.getByLabel('Decimals of RSI').selectOption('0')
      await page.getByLabel('Line of Overbought').selectOption('dotted')
      await page.getByRole('button', { name: 'Save as default' }).click()
      await page.keyboard.press('Escape')
      expect(await value.textContent()).toMatch(/^\d\d$/)
      await page.getByRole('button', { name: 'Take RSI off the chart' }).click()
      await value.waitFor({ state: 'detached' })
      await page.getByRole('application').focus()
      await page.keyboard.press('Alt+i')
      await page.getByRole('combobox', { name: 'Search indicators' }).fill('rsi')
      await page.getByRole('option', { name: /^Relative Strength Index/, selected: true }).waitFor()
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
      await value.waitFor()
      expect(await value.textContent()).toMatch(/^\d\d$/)
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a layout is saved under a name, kept as one goes on, and opened again',
    async () => {
      const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }
      const { page, complaints } = await site.open({ remembered: quiet, width: 1440 })
      await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      await page.getByRole('button', { name: 'Layout: none' }).click()
      await page.getByRole('menuitem', { name: 'Save as a new layout…' }).click()
      await page.getByRole('dialog').getByLabel('Name').waitFor()
      // What is typed takes the place of the name that is proposed, and what is typed afterwards is a symbol.
      await page.keyboard.type('Утро')
      await page.keyboard.press('Enter')
      const menu = page.getByRole('button', { name: 'Layout: Утро' })
      await menu.waitFor()
      await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'application')
      await page.getByRole('button', { name: 'log', exact: true }).click()
      const stored = async () =>
        (
          (await (await page.request.get(`${site.url}/api/platform/layouts`)).json()) as {
            layouts: { name: string; chart: { scale: string; symbol: string } }[]
          }
        ).layouts
      for (let i = 0; i < 600 && (await stored())[0]?.chart.scale !== 'log'; i++)
        await page.waitForTimeout(100)
      expect(await stored()).toMatchObject([{ name: 'Утро', chart: { scale: 'log', symbol: 'SPX' } }])

      // Another machine: nothing is remembered there.
      const other = await site.open({
        remembered: { ...quiet, market: { exchange: 'NASDAQ', symbol: 'AAPL', interval: '1d' } },
      })
      await other.page.goto(site.url)
      await other.page.getByText(/^Vol/).first().waitFor()
      await other.page.getByRole('button', { name: 'Layout: none' }).click()
      await other.page.getByRole('menuitemradio', { name: /Утро/ }).click()
      await other.page.getByText('S&P 500 Index').waitFor()
      await other.page.getByRole('button', { name: 'log', exact: true, pressed: true }).waitFor()

      // Who reloads at once loses no change.
      await other.page.getByRole('button', { name: '%', exact: true }).click()
      await other.page.reload()
      for (let i = 0; i < 600 && (await stored())[0]?.chart.scale !== 'percent'; i++)
        await page.waitForTimeout(100)
      expect(await stored()).toMatchObject([{ name: 'Утро', chart: { scale: 'percent' } }])
      expect([...complaints, ...other.complaints]).toEqual([])
    },
    300_000,
  )

  journey(
    'a tab asks before it takes away what another has saved in the same layout, and loses nothing',
    async () => {
      const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }
      const { page, complaints } = await site.open({ remembered: quiet, width: 1440 })
      await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      await page.getByRole('button', { name: 'Layout: none' }).click()
      await page.getByRole('menuitem', { name: 'Save as a new layout…' }).click()
      await page.getByRole('dialog').getByLabel('Name').fill('Shared')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('button', { name: 'Layout: Shared' }).waitFor()
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('button', { name: 'Layout: Shared' }).waitFor()
      const stored = async () => {
        const answer = await page.request.get(`${site.url}/api/platform/layouts`)
        const { layouts } = (await answer.json()) as {
          layouts: { name: string; chart: { scale: string } }[]
        }
        return layouts.find(({ name }) => name === 'Shared')?.chart.scale
      }
      const storedWhen = async (scale: string) => {
        for (let i = 0; i < 600 && (await stored()) !== scale; i++) await page.waitForTimeout(100)
        expect(await stored()).toBe(scale)
      }
      const scale = (tab: typeof page, name: string, pressed?: boolean) =>
        tab.getByRole('button', { name, exact: true, ...(pressed !== undefined && { pressed }) })
      const asked = (tab: typeof page) =>
        tab.getByRole('dialog', { name: 'The layout was changed elsewhere' })

      // The second tab hears of it, and takes it over.
      await scale(page, 'log').click()
      await storedWhen('log')
      await asked(other).waitFor()
      expect(await violations(other)).toEqual([])
      await scale(other, 'log', false).waitFor()
      await asked(other).getByRole('button', { name: 'Show what was saved' }).click()
      await scale(other, 'log', true).waitFor()

      // It keeps its own instead; then the first is asked, and goes on without the layout.
      await scale(other, '%').click()
      await storedWhen('percent')
      await asked(page).getByRole('button', { name: 'Keep the charts of this tab' }).click()
      await storedWhen('log')
      await asked(other).getByRole('button', { name: 'Close' }).click()
      await other.getByRole('button', { name: 'Layout: none' }).waitFor()
      await scale(other, '%', true).waitFor()
      expect(await stored()).toBe('log')
      expect(complaints).toEqual([])
    },
    300_000,
  )

  journey(
    'a layout keeps its last change when another is opened at once, and a script that cannot be had',
    async () => {
      const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }
      const { page } = await site.open({ remembered: quiet, width: 1440 })
      const chart = {
        exchange: 'SP',
        symbol: 'SPX',
        interval: '1d',
        type: 'candles',
        scale: 'linear',
        volume: true,
        trades: true,
        scriptId: null,
        studies: [],
      }
      const keep = async (name: string, scriptId: string | null) => {
        const body = { data: { name, chart: { ...chart, scriptId } } }
        const answer = await page.request.post(`${site.url}/api/platform/layouts`, body)
        return ((await answer.json()) as { id: string }).id
      }
      const gone = 'scr_0123456789abcdef01234567'
      const [left, bare] = [await keep('Left', gone), await keep('Bare', null)]
      const storedOf = async (id: string) => {
        const answer = await page.request.get(`${site.url}/api/platform/layouts/${id}`)
        return ((await answer.json()) as { layout: { chart: { scale: string; scriptId: string | null } } })
          .layout.chart
      }
      await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
      await page.getByText(/^Vol/).first().waitFor()
      const choose = async (from: string, to: string) => {
        await page.getByRole('button', { name: `Layout: ${from}` }).click()
        await page.getByRole('menuitemradio', { name: new RegExp(to) }).click()
        await page.getByRole('button', { name: `Layout: ${to}` }).waitFor()
      }
      await choose('none', 'Left')
      // The toast about the script lies over it.
      await page.getByRole('button', { name: 'log', exact: true }).dispatchEvent('click')
      await choose('Left', 'Bare')
      for (let i = 0; i < 600 && (await storedOf(left)).scale !== 'log'; i++) await page.waitForTimeout(100)
      expect(await storedOf(left)).toMatchObject({ scale: 'log', scriptId: gone })
      expect(await storedOf(bare)).toMatchObject({ scale: 'linear' })
    },
    300_000,
  )
})
