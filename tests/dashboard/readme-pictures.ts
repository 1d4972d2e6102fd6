// `bun tests/dashboard/readme-pictures.ts` takes the pictures of README.md anew, from a server of its own on the bars that it
// comes with, in the Chromium that a run of the tests has brought. They are WebP, which the browser itself makes: a third of the
// size of its PNG.

import { mkdirSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { painted, sharedBrowser, startSite } from './browser.ts'

const FOLDER = `${import.meta.dir}/../../.github/pictures`
mkdirSync(FOLDER, { recursive: true })
const site = await startSite({ owner: false })
try {
  await firstQuarterOfAnHour()
} finally {
  await site.close()
  // A run of tests ends its browser with itself; this one would wait for it.
  await (await sharedBrowser()).close()
}

async function firstQuarterOfAnHour(): Promise<void> {
  const { page } = await site.open({ height: 720, remembered: { theme: 'light' } })
  const button = (name: string | RegExp) => page.getByRole('button', { name }).first()
  const tab = (name: string) => page.getByRole('tab', { name })
  await page.goto(site.url)
  await page.getByLabel('E-mail').fill('me@example.com')
  await page.getByLabel('Name').fill('Me')
  await page.getByLabel('Password').fill('correct horse battery')
  await picture(page, 'account')

  await button('Create account').click()
  await page.getByText('Twenty years of the S&P 500').waitFor()
  await drawn(page)
  await picture(page, 'first-look')

  await button('Close the tour').click()
  await page.getByLabel('Fast length').fill('20')
  await button(/^Run/).click()
  await page.getByRole('tab', { name: /^Report/, selected: true }).waitFor()
  await page.getByText(/combinations of this script tried|Tried 2/).waitFor()
  await drawn(page)
  await picture(page, 'report')

  await tab('Script').click()
  await button('Optimise').click()
  await page.getByText(/\d+ trials.*, on the first 70% of all/).waitFor()
  await button('Optimise').click()
  await page.getByText(/^Best of \d+ tried/).waitFor()
  await drawn(page)
  await picture(page, 'sweep')

  await page.goto(`${site.url}/markets/sources`)
  const rows = Array.from({ length: 400 }, (_, day) => {
    const close = 100 + 20 * Math.sin(day / 30)
    const date = new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10)
    return [date, close - 1, close + 2, close - 2, close, 1000 + day].join(',')
  })
  const csv = `Date,Open,High,Low,Close,Volume\n${rows.join('\n')}\n`
  const file = { name: 'BINANCE_BTCUSDT, 1D.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('status', { name: 'How the file is read' }).waitFor()
  await drawn(page)
  await picture(page, 'import')

  await page.goto(`${site.url}/chart/SP%3ASPX/1d`)
  await drawn(page)
  await page.getByRole('application').click({ button: 'right', position: { x: 700, y: 60 } })
  await drawn(page)
  await picture(page, 'alert')

  await page.getByText(/^Alert when SPX crosses/).click()
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: /dark/i }).first().click()
  await button('Indicators').click()
  await page.getByRole('dialog').getByRole('combobox').fill('rsi')
  await page.getByRole('option').first().filter({ hasText: 'RSI' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await tab('Report').click()
  await drawn(page)
  await page.keyboard.press('Alt+T')
  await page.getByRole('application').click({ position: { x: 240, y: 160 } })
  await page.getByRole('application').click({ position: { x: 900, y: 75 } })
  await page.keyboard.press('Escape')
  await tab('Report').click()
  await drawn(page)
  await picture(page, 'chartroom')
}

/** The page is never quiet, since it listens for bars: what comes within two seconds is in the picture. */
async function drawn(page: Page): Promise<void> {
  await page.waitForTimeout(2000)
  await painted(page)
}

async function picture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot()
  const webp = await page.context().newPage()
  const address = await webp.evaluate(async (text) => {
    const image = new Image()
    image.src = `data:image/png;base64,${text}`
    await image.decode()
    const canvas = document.createElement('canvas')
    ;[canvas.width, canvas.height] = [image.width, image.height]
    canvas.getContext('2d')?.drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.8)
  }, png.toString('base64'))
  await webp.close()
  const bytes = Buffer.from(address.slice(address.indexOf(',') + 1), 'base64')
  writeFileSync(`${FOLDER}/${name}.webp`, bytes)
  console.log(`${name}.webp: ${Math.round(bytes.length / 1000)} kB`)
}
