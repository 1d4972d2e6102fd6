// The site as a static host has it: every page by itself, without a script, in both themes and on every width.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { siteFiles } from '../../src/tools/site/site.ts'
import { violations } from './axe.ts'
import { noBrowser, sharedBrowser } from './browser.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-site-`)
const root = `${import.meta.dir}/../..`
let files: ReadonlyMap<string, string | Uint8Array<ArrayBuffer>>
/** Pages of the site's own by file; the playground has tests of its own. */
let pages: readonly (readonly [file: string, text: string])[]
let context: BrowserContext
let page: Page
/** Axe is a script itself. */
let examined: Page
const complaints: string[] = []

beforeAll(async () => {
  files = await siteFiles()
  pages = [...files].flatMap(([file, text]) =>
    typeof text === 'string' && file.endsWith('.html') && !file.startsWith('try/')
      ? [[file, text] as const]
      : [],
  )
  for (const [file, content] of files) {
    mkdirSync(dirname(`${folder}/${file}`), { recursive: true })
    writeFileSync(`${folder}/${file}`, content)
  }
  if (noBrowser) return
  context = await (await sharedBrowser()).newContext({ javaScriptEnabled: false })
  page = await context.newPage()
  examined = await (await sharedBrowser()).newPage()
  page.on('console', (message) => complaints.push(message.text()))
  page.on('requestfailed', (request) => {
    // Whoever goes on before a page is whole gives up the rest of it.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(request.url())
  })
}, 60_000)
afterAll(async () => {
  await context?.close()
  await examined?.context().close()
  rmSync(folder, { recursive: true })
})

/** What a page leads to or loads, each as it stands there. */
const linksIn = (text: string) => [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link)

test('every link leads to a file of the site and to a place in it, from wherever the site lies', () => {
  const dead = pages.flatMap(([file, text]) =>
    linksIn(text)
      .filter((link) => {
        if (/^(https?:|mailto:)/.test(link)) return false
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? file : join(dirname(file), path)
        const found = files.get(target)
        if (link.startsWith('/') || found === undefined) return true
        return anchor !== undefined && !String(found).includes(`id="${anchor}"`)
      })
      .map((link) => `${file}: ${link}`),
  )
  expect(dead).toEqual([])
  const linked = new Set(
    pages.flatMap(([file, text]) =>
      linksIn(text).map((link) => join(dirname(file), link.replace(/#.*/, ''))),
    ),
  )
  expect(pages.map(([file]) => file).filter((file) => !linked.has(file))).toEqual([])
  expect(pages.length).toBeGreaterThan(75)
})

test('a page weighs at most 150 kB with all that it can load, and needs no script', () => {
  const sizeOf = (name: string) => Buffer.byteLength(files.get(name)!)
  const style = String(files.get('site.css'))
  const inStyle = [...style.matchAll(/url\(([^)]+)\)/g)].map(([, name = '']) => name)
  const always = ['site.css', 'icon.svg', ...inStyle].reduce((sum, name) => sum + sizeOf(name), 0)
  const heavy = pages
    .map(([file]) => [file, sizeOf(file) + always] as const)
    .filter(([, size]) => size > 150_000)
  expect(heavy).toEqual([])
  for (const [file, text] of pages) {
    const loaded = [...text.matchAll(/ src="([^"]*)"|<link rel="(?:icon|stylesheet)" href="([^"]*)"/g)].map(
      ([, src, href]) => join(dirname(file), src ?? href ?? ''),
    )
    expect([file, ...new Set(loaded)].toSorted()).toEqual([file, 'icon.svg', 'site.css'].toSorted())
    expect(text).not.toMatch(/<script|<iframe| on[a-z]+="|javascript:/)
  }
})

test('a number on the first page is one of the documents, or of a run that says so', () => {
  const written = [
    'README.md',
    'CHANGELOG.md',
    'package.json',
    'tests/FIGURES.md',
    'tests/parity/SCOREBOARD.md',
  ].map((file) => readFileSync(`${root}/${file}`, 'utf8'))
  const said = String(files.get('index.html'))
    .replaceAll(/<(figure|section)\b[^>]*data-made[^]*?<\/\1>/g, '')
    .replaceAll(/<(style|svg)[^]*?<\/\1>|<[^>]*>/g, ' ')
  const numbers = said.match(/\d[\d,.]*\d|\d/g) ?? []
  expect(numbers.length).toBeGreaterThan(40)
  expect(numbers.filter((number) => !written.some((text) => text.includes(number)))).toEqual([])
})

/** A page of each shape; what only differs in its words is not examined. */
const SHAPES = ['index.html', 'exactness.html', 'download.html', 'help/index.html', 'help/optimise.html']
const WIDEST = [...SHAPES, 'speed.html', 'changes.html', 'help/configuration.html', 'help/keys.html']

test.skipIf(noBrowser)(
  'from a disk and without scripts no page is wider than its window, and axe has no complaint in either theme',
  async () => {
    for (const file of WIDEST) {
      await page.goto(`file://${folder}/${file}`)
      for (const width of [2560, 1440, 780, 390]) {
        await page.setViewportSize({ width, height: 900 })
        expect([file, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([file, width])
      }
      if (!SHAPES.includes(file)) continue
      await examined.goto(page.url())
      for (const colorScheme of ['dark', 'light'] as const) {
        await examined.emulateMedia({ colorScheme })
        expect([file, colorScheme, ...(await violations(examined))]).toEqual([file, colorScheme])
      }
    }
    expect(await page.evaluate(() => [...document.fonts].map(({ status }) => status))).toContain('loaded')
    expect(complaints).toEqual([])
  },
  60_000,
)

test.skipIf(noBrowser)(
  'below a path of a host it leads from page to page, and into the playground',
  async () => {
    const host = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        const name = new URL(url).pathname.replace(/^\/some\/path\//, '').replace(/(^|\/)$/, '$1index.html')
        const content = files.get(name)
        return new Response(content ?? '', {
          status: content === undefined ? 404 : 200,
          headers: { 'content-type': Bun.file(name).type },
        })
      },
    })
    try {
      await page.goto(`${host.url.href}some/path/`)
      await page.getByRole('navigation', { name: 'Site' }).getByRole('link', { name: 'Help' }).click()
      await page.getByRole('link', { name: 'How orders fill' }).click()
      await page.getByRole('heading', { level: 1, name: 'How orders fill' }).waitFor()
      await page.getByRole('link', { name: 'Chartroom' }).first().click()
      await page.getByRole('link', { name: 'Try it in this browser' }).click()
      expect(page.url()).toBe(`${host.url.href}some/path/try/index.html`)
      expect(await page.title()).toBe('Chartroom playground')
      expect(complaints.filter((said) => said.includes('/some/path/'))).toEqual([])
    } finally {
      await host.stop(true)
    }
  },
  60_000,
)
