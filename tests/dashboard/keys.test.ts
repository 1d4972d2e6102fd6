// Keys that are changed: they work, they are shown everywhere, and they stay.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { noBrowser, startSite } from './browser.ts'
import { violations } from './axe.ts'

const row = (page: Page, name: string) =>
  page.getByRole('button', { name: new RegExp(`^${name}: .*Change$`) })
const list = (page: Page) => page.getByRole('dialog', { name: 'Keys' })

async function record(page: Page, name: string, keys: string): Promise<void> {
  await row(page, name).click()
  await page.getByRole('button', { name: `Press the new keys for: ${name}` }).waitFor()
  await page.keyboard.press(keys)
}

test.skipIf(noBrowser)(
  'keys are looked up, changed, taken from another act, kept, and set back',
  async () => {
    const site = await startSite()
    try {
      const { page, complaints } = await site.open({ remembered: { 'tour.done': true } })
      await page.goto(site.url)
      const chart = page.getByRole('application').first()
      const tool = page.getByRole('button', { name: 'Trend line', exact: true })
      await tool.waitFor()
      await chart.focus()
      await page.keyboard.press('?')
      await page.getByLabel('Search keys').fill('trend line')
      expect(await row(page, 'Draw: trend line').textContent()).toBe('Alt T')

      // Refused, with the reason; the keys of another; then free ones.
      await record(page, 'Draw: trend line', 't')
      await page.getByText('A letter on the chart looks for a symbol').waitFor()
      await page.keyboard.press('Alt+h')
      await page.getByText('Alt H is “Draw: horizontal line”.').waitFor()
      await page.getByRole('button', { name: 'Use it here' }).click()
      await row(page, 'Draw: trend line').getByText('Alt H').waitFor()
      await page.getByLabel('Search keys').fill('horizontal line')
      await row(page, 'Draw: horizontal line').getByText('none').waitFor()
      await page.getByLabel('Search keys').fill('undo on')
      await record(page, 'Undo on the chart', 'Alt+Shift+U')
      await row(page, 'Undo on the chart').getByText('Alt Shift U').waitFor()
      await page.getByLabel('Search keys').fill('alt+shift+u')
      await row(page, 'Undo on the chart').waitFor()
      expect(await violations(page)).toEqual([])
      // Escape while keys are asked for closes only that.
      await row(page, 'Undo on the chart').click()
      await page.keyboard.press('Escape')
      await row(page, 'Undo on the chart').waitFor()
      await page.keyboard.press('Escape')
      await list(page).waitFor({ state: 'detached' })

      // They work, and are shown where the old ones were.
      await chart.focus()
      await page.keyboard.press('Alt+h')
      await page.locator('button[title="Trend line (Alt H)"][aria-pressed=true]').waitFor()
      await page.locator('button[title="Undo (Alt Shift U)"]').waitFor()
      await page.keyboard.press('Escape')
      await page.keyboard.press('Alt+t')
      expect(await tool.getAttribute('aria-pressed')).toBe('false')

      // Those of the editor too.
      await page.goto(`${site.url}/settings/keys`)
      await page.getByLabel('Search keys').fill('delete lines')
      await record(page, 'Delete lines', 'Control+Shift+Y')
      await row(page, 'Delete lines').getByText('Ctrl Shift Y').waitFor()
      // What belongs to parts of the page that are not open is there.
      await page.getByLabel('Search keys').fill('next trade')
      await row(page, 'Next trade').waitFor()
      await page.goto(site.url)
      await page.getByRole('tab', { name: 'Script' }).click()
      const editor = page.getByRole('textbox', { name: 'Pine Script source' })
      await editor.click()
      const lines = () => editor.locator('.cm-line').count()
      await page.keyboard.press('Control+End')
      await page.keyboard.press('Enter')
      const before = await lines()
      await page.keyboard.press('Control+Shift+K')
      expect(await lines()).toBe(before)
      await page.keyboard.press('Control+Shift+Y')
      expect(await lines()).toBe(before - 1)

      // All of them back.
      await page.goto(`${site.url}/settings/keys`)
      await page.getByText('; 4 changed').waitFor()
      await page.getByRole('button', { name: 'Reset all' }).click()
      await page.getByLabel('Search keys').fill('draw: trend')
      await row(page, 'Draw: trend line').getByText('Alt T').waitFor()
      expect(complaints).toEqual([])
    } finally {
      await site.close()
    }
  },
  300_000,
)
