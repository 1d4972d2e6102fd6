// Several charts on the page: how they stand, what they do together, and that a layout brings them back.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { areasOf, areasText } from '../../src/dashboard/layouts/areas.ts'
import { SHAPES } from '../../src/dashboard/layouts/grids.ts'
import { placesOf } from '../../src/dashboard/layouts/places.ts'
import { GRID_SHAPES } from '../../src/wire/layout.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'

test('every grid has as many places as its number says, which cover it and nothing twice', () => {
  expect(SHAPES.toSorted()).toEqual([...GRID_SHAPES].toSorted())
  for (const shape of SHAPES) {
    const areas = areasOf(shape)
    expect(areas).toHaveLength(placesOf(shape))
    expect(areas.reduce((sum, { width, height }) => sum + width * height, 0)).toBeCloseTo(1)
    for (const [i, a] of areas.entries())
      for (const b of areas.slice(i + 1)) {
        const apart =
          a.x + a.width <= b.x + 1e-9 ||
          b.x + b.width <= a.x + 1e-9 ||
          a.y + a.height <= b.y + 1e-9 ||
          b.y + b.height <= a.y + 1e-9
        expect([shape, i, apart]).toEqual([shape, i, true])
      }
  }
  expect(areasText('3-left')).toBe('"a b" "a c"')
})

describe.skipIf(noBrowser)('on the page', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite()
  }, 300_000)
  afterEach(() => site.closePages())
  afterAll(() => site.close())

  const quiet = { script: { id: null, name: '', source: '' }, side: '', bottom: '', 'tour.done': true }

  test('keys typed faster than charts and dialogs come are not lost', async () => {
    const { page, complaints } = await site.open({ remembered: quiet, width: 1440 })
    // Code and symbols that the page asks for later are held up until they are let through.
    let isHeld = false
    const held: (() => void)[] = []
    await page.route(/\.js$|\/platform\/symbols/, async (route) => {
      if (isHeld) await new Promise<void>((release) => held.push(release))
      await route.continue()
    })
    const release = () => {
      isHeld = false
      for (const one of held.splice(0)) one()
    }
    await page.goto(site.url)
    await page.getByText(/^Vol/).first().waitFor()
    await page.getByRole('application', { name: 'Chart of SPX' }).focus()
    isHeld = true
    await page.keyboard.type('aapx')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('l')
    await page.keyboard.press('Enter')
    release()
    await page.getByRole('application', { name: 'Chart of AAPL, 1d' }).waitFor()
    isHeld = true
    await page.getByRole('application', { name: 'Chart of AAPL' }).focus()
    await page.keyboard.type('1w')
    await page.keyboard.press('Enter')
    release()
    await page.getByRole('application', { name: 'Chart of AAPL, 1w' }).waitFor()

    // Another chart has the keys before the next frame, which would take them away from a dialog that they opened.
    await page.getByRole('button', { name: 'Charts: One chart' }).press('Enter')
    await page.getByRole('radio', { name: 'Two side by side', exact: true }).press('Enter')
    await page.keyboard.press('Escape')
    await page.getByRole('application', { name: 'Chart 1 of 2' }).focus()
    await page.evaluate(() => {
      const frames: FrameRequestCallback[] = []
      const real = window.requestAnimationFrame.bind(window)
      window.requestAnimationFrame = (frame) => frames.push(frame)
      Object.assign(window, {
        goOn: () => {
          window.requestAnimationFrame = real
          for (const frame of frames) real(frame)
        },
      })
    })
    await page.keyboard.press('Alt+n')
    await page.keyboard.press('s')
    const field = page.getByRole('combobox', { name: 'Symbol, name or exchange' })
    await field.waitFor()
    await page.evaluate(() => (window as unknown as { goOn(): void }).goOn())
    await painted(page)
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('application', { name: 'Chart 2 of 2: SPX' }).waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  test('four charts are set up by keyboard, each its own, and opened again on another machine and a phone', async () => {
    const { page, complaints } = await site.open({ remembered: quiet, width: 1440 })
    await page.goto(site.url)
    await page.getByText(/^Vol/).first().waitFor()
    await page.getByRole('button', { name: 'Charts: One chart' }).press('Enter')
    await page.getByRole('radio', { name: 'One chart', checked: true }).waitFor()
    await page.getByRole('radio', { name: 'Four', exact: true }).press('Enter')
    await page.keyboard.press('Escape')
    const chart = (n: number) => page.getByRole('application', { name: `Chart ${n} of 4` })
    await chart(4).waitFor()

    // A formula typed faster than the dialog opens is whole.
    await chart(1).evaluate((element) => {
      for (const key of 'SPX/2') element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
    })
    const typed = page.getByRole('combobox', { name: 'Symbol, name or exchange' })
    await typed.waitFor()
    expect(await typed.inputValue()).toBe('SPX/2')
    await page.keyboard.press('Escape')

    // The next chart is the active one, and what is typed means it alone.
    await chart(1).focus()
    await page.keyboard.press('Alt+n')
    await page.locator('[data-chart="c2"][data-active="true"]').waitFor()
    await page.keyboard.press('a')
    await page.getByRole('option', { name: /AAPL/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('application', { name: 'Chart 2 of 4: AAPL' }).waitFor()
    await page.keyboard.press('Alt+i')
    await page.getByRole('combobox', { name: 'Search indicators' }).fill('rsi')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await page
      .locator('[data-chart="c2"]')
      .getByRole('button', { name: 'Settings of RSI', exact: true })
      .waitFor()
    expect(await page.locator('[data-chart="c1"]').getByText('RSI').count()).toBe(0)
    await page.getByRole('application', { name: 'Chart 1 of 4: SPX' }).waitFor()

    // Linked intervals change on all.
    await page.getByRole('button', { name: 'Charts: Four' }).press('Enter')
    await page.getByRole('checkbox', { name: /^Interval/ }).check()
    await page.keyboard.press('Escape')
    await chart(3).focus()
    await page.keyboard.press('.')
    for (const n of [1, 2, 3, 4])
      await page.getByRole('application', { name: new RegExp(`${n} of 4: \\w+, 1w`) }).waitFor()

    await page.getByRole('button', { name: 'Layout: none' }).click()
    await page.getByRole('menuitem', { name: 'Save as a new layout…' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Four')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Layout: Four' }).waitFor()

    const other = await site.open({ remembered: quiet, width: 1440 })
    await other.page.goto(site.url)
    await other.page.getByText(/^Vol/).first().waitFor()
    await other.page.getByRole('button', { name: 'Layout: none' }).click()
    await other.page.getByRole('menuitemradio', { name: /Four/ }).click()
    await other.page.getByRole('application', { name: 'Chart 2 of 4: AAPL, 1w' }).waitFor()
    await other.page.locator('[data-chart="c3"][data-active="true"]').waitFor()
    await other.page.getByText('RSI', { exact: false }).first().waitFor()

    // As narrow as a phone: one at a time, by tabs.
    await other.page.setViewportSize({ width: 390, height: 844 })
    await other.page.getByRole('tab', { name: /AAPL/ }).click()
    await other.page.getByRole('application', { name: 'Chart 2 of 4' }).waitFor()
    expect(await other.page.getByRole('application').count()).toBe(1)
    expect([...complaints, ...other.complaints]).toEqual([])
  }, 300_000)
})
