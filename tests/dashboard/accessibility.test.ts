// axe-core over the workspace: chart, report, trades and replay, in both themes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { violations } from './axe.ts'
import { noBrowser, painted, startSite, type Site } from './browser.ts'

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const SCRIPT = readFileSync(`${import.meta.dir}/../../data/samples/sma-cross.pine`, 'utf8')

describe.skipIf(noBrowser)('everybody can use', () => {
  let site: Site
  beforeAll(async () => {
    site = await startSite({ offline: true })
  }, 300_000)
  afterAll(() => site.close())

  test.each(['dark', 'light'])(
    'chart, report, trades and replay, %s',
    async (theme) => {
      const { page } = await site.open({
        remembered: {
          theme,
          side: '',
          bottom: 'report',
          script: { id: null, name: 'Cross', source: SCRIPT },
          'tour.done': true,
        },
      })
      await page.goto(site.url)
      await page.getByText('Net profit').first().waitFor()
      expect(await violations(page, RULES)).toEqual([])
      for (const view of ['Performance', 'Properties', 'Compare']) {
        await page.getByRole('button', { name: view, exact: true }).click()
        await painted(page)
        expect(await violations(page, RULES)).toEqual([])
      }
      await page.getByRole('tab', { name: 'Trades' }).click()
      await page.getByRole('grid').waitFor()
      expect(await violations(page, RULES)).toEqual([])
      await page.getByRole('tab', { name: 'Replay' }).click()
      await page.getByRole('button', { name: 'From the first trade' }).click()
      await page.getByRole('toolbar', { name: 'Replay' }).waitFor()
      expect(await violations(page, RULES)).toEqual([])
      await page.getByRole('button', { name: /Chart type/ }).click()
      await page.getByRole('menu').waitFor()
      expect(await violations(page, RULES)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('tab', { name: 'Script' }).click()
      await page.getByRole('button', { name: /^Charts: / }).click()
      await page.getByRole('radio', { name: 'Four', exact: true }).click()
      await page.getByRole('application', { name: 'Chart 4 of 4' }).waitFor()
      expect(await violations(page, RULES)).toEqual([])
    },
    300_000,
  )
})
