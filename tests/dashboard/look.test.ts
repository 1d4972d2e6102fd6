// What the page looks like: the theme, and pictures of many states in both themes.

import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { DEALT_ONE_OF, isTurn } from '../long.ts'
import { isPackaged } from '../browser/chromium.ts'
import { painted } from './browser.ts'
import { areAlike, differences, fromPng, shrunk, SQUARES, toPng, type Picture } from './picture.ts'
import { statesOf, type State } from './states.ts'
import { seededSite, type SeededSite } from './seeded-site.ts'

const ground = (page: Page): Promise<string> =>
  page.evaluate(() => getComputedStyle(document.body).backgroundColor)
const [DARK, LIGHT] = ['rgb(10, 13, 17)', 'rgb(242, 243, 245)']

describe.skipIf(!isPackaged)('the look', () => {
  let site: SeededSite
  beforeAll(async () => {
    site = await seededSite()
  }, 300_000)
  afterAll(() => site.close())

  test('the theme is the system’s as it changes, until one is chosen', async () => {
    const page = await site.open([1000, 700], { bottom: '', side: '' })
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto(`${site.url}/settings/appearance`)
    const theme = (name: string) => page.getByRole('button', { name, exact: true })
    await theme('System').and(page.locator('[aria-pressed=true]')).waitFor()
    expect(await ground(page)).toBe(LIGHT)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.waitForFunction((dark) => getComputedStyle(document.body).backgroundColor === dark, DARK)
    expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#0f1216')
    await theme('Light').click()
    await painted(page)
    expect(await ground(page)).toBe(LIGHT)
    expect(await page.locator('meta[name=theme-color]').getAttribute('content')).toBe('#ffffff')

    // What was chosen is there before the page's own code is: nothing dark flashes by.
    await page.route(/\/assets\/(?!early-)[^/]*\.js$/, (route) => route.abort())
    await page.goto(`${site.url}/settings/appearance`, { waitUntil: 'commit' })
    await page.waitForFunction(() => document.body !== null && document.styleSheets.length > 0)
    expect(await ground(page)).toBe(LIGHT)
    await page.unroute(/\/assets\//)
  }, 300_000)

  /**
   * A short run takes every fifth state, in one theme: the turn goes to others with each commit. `UPDATE=1` writes all of them
   * again: look at them before they are committed. What differs is left in a folder that the failure names.
   */
  test('every state looks as it was last approved, in both themes', async () => {
    const wrong: string[] = []
    for (const [at, state] of statesOf(site).entries()) {
      const themes = (['dark', 'light'] as const).filter(
        (_, way) => process.env['UPDATE'] || isTurn(at, way, 2 * DEALT_ONE_OF),
      )
      if (themes.length === 0) continue
      const page = await shown(site, state)
      for (const theme of themes) {
        await page.emulateMedia({ colorScheme: theme })
        const found = await compared(page, `${state.name}-${theme}`)
        if (found !== null) wrong.push(found)
      }
    }
    expect(wrong).toEqual([])
  }, 600_000)

  test('another colour of text, and a table that moved, are seen', async () => {
    const seen = async (name: string, change: () => void) => {
      const page = await shown(
        site,
        statesOf(site).find((state) => state.name === name)!,
      )
      await page.evaluate(change)
      return differences(await picture(page), fromPng(readFileSync(`${KEPT}/${name}-dark.png`))).length
    }
    const colour = () => document.documentElement.style.setProperty('--text', '#a0a0ff')
    expect(await seen('help', colour)).toBeGreaterThan(SQUARES)
    expect(
      await seen('backtests', () => (document.querySelector('table')!.style.marginTop = '16px')),
    ).toBeGreaterThan(SQUARES)
  }, 300_000)
})

const KEPT = `${import.meta.dir}/pictures`

async function shown(site: SeededSite, { path, phone, who, remembered, shows, act }: State): Promise<Page> {
  const page = await site.open(phone ? [390, 844] : [1440, 900], remembered, who)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(site.url + path)
  if (shows !== undefined) await page.getByText(shows).first().waitFor()
  await act?.(page)
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'))
  await page.evaluate(async () => {
    await document.fonts.ready
  })
  return page
}

/** How long a run took is another number each time, and the list of operations grows. */
const varies = (page: Page) => [
  page.getByText(/ran in/),
  page.getByRole('navigation', { name: 'Operations' }),
]

async function picture(page: Page): Promise<Picture> {
  await painted(page)
  const bytes = await page.screenshot({ animations: 'disabled', mask: varies(page), maskColor: '#888888' })
  return shrunk(fromPng(bytes))
}

/** A page has come to rest that looks the same so many times. One that differs may wait for a busy server, which takes longer. */
const STILL = process.env['UPDATE'] ? 6 : 60
const ATTEMPTS = 120

/** What is wrong with the page; null = nothing. A page that is still on its way is looked at again. */
async function compared(page: Page, name: string): Promise<string | null> {
  const file = `${KEPT}/${name}.png`
  const wanted = existsSync(file) ? fromPng(readFileSync(file)) : null
  let now = await picture(page)
  for (let same = 0, attempt = 0; same < STILL && attempt < ATTEMPTS; attempt++) {
    if (wanted && areAlike(now, wanted)) break
    const next = await picture(page)
    same = differences(now, next).length === 0 ? same + 1 : 0
    now = next
  }
  if (process.env['UPDATE']) {
    // A picture that is still alike stays as it is, so that a change of the page is all that a commit shows.
    if (!wanted || !areAlike(now, wanted)) await Bun.write(file, toPng(now))
    return null
  }
  const found = wanted ? differences(now, wanted) : []
  if (wanted && found.length <= SQUARES) return null
  const left = `${tmpdir()}/chartroom-pictures/${name}.png`
  await Bun.write(left, toPng(now))
  const places = found.slice(0, 3).map(({ x, y, apart }) => `${x},${y} by ${Math.round(apart)}`)
  return `${name}: ${found.length} squares differ (${places.join('; ')}), see ${left}`
}
