// The playground as a stranger has it: from a disk, from a host below a path, and at /try of a server that knows nobody.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { BrowserContext, Page } from 'playwright-core'
import { LINK_MAX, linkOf, sharedIn } from '../../src/playground/link.ts'
import { packed, unpacked } from '../../src/market/packed-days.ts'
import { madeUp } from '../../src/playground/samples.ts'
import { playgroundFiles } from '../../src/server/source/playground-bundle.ts'
import { repositoryScripts, serversReport, withoutTimings } from '../engine/repository-scripts.ts'
import { builtExecutable } from '../executable/built.ts'
import { isLong } from '../long.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { violations } from './axe.ts'
import { noBrowser, sharedBrowser, startSite, type Site } from './browser.ts'
import { dealtTests } from './dealt.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const random = seededRandom(SEED)
const below = (end: number) => random.below(end)
const folder = mkdtempSync(`${tmpdir()}/chartroom-playground-`)
const disk = `file://${folder}/index.html`

let files: ReadonlyMap<string, string>
let context: BrowserContext
let page: Page
const complaints: string[] = []

beforeAll(async () => {
  files = await playgroundFiles()
  for (const [name, text] of files) writeFileSync(`${folder}/${name}`, text)
  if (noBrowser) return
  context = await (await sharedBrowser()).newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(60_000)
  page = await context.newPage()
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
}, 120_000)
afterAll(async () => {
  await context?.close()
  rmSync(folder, { recursive: true })
})
afterEach(() => {
  expect(complaints.splice(0)).toEqual([])
})

const journey = dealtTests()

const html = () => files.get('index.html')!

/** Opened anew, even where only what stands behind the `#` differs. */
async function open(address: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(address)
}

const report = () => page.getByRole('region', { name: 'Did it make money?' })
const notice = () => page.getByRole('alert')
const button = (name: string | RegExp) =>
  page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) })

async function linkTo(source: string, series = 'aapl', inputs = {}): Promise<string> {
  return `${disk}${await linkOf({ source, series, inputs })}`
}

const STRATEGY = `//@version=6
strategy("Shared one", initial_capital = 10000, default_qty_type = strategy.fixed, default_qty_value = 1)
length = input.int(10, "Length")
if ta.crossover(close, ta.sma(close, length))
    strategy.entry("L", strategy.long)
if ta.crossunder(close, ta.sma(close, length))
    strategy.close("L")`

test('the page is one file, of letters that take a byte each', () => {
  expect(html()).not.toMatch(/(?:src|href)="(?!data:)/)
  expect(/[^\0-\x7f]/.exec(html())).toBeNull()
})

test('packed series are what was packed', () => {
  const market = madeUp(3)
  const { bars } = market
  const days = { ...bars, time: bars.time.map((_, i) => 86_400_000 * (20_000 + i + (i % 5))) }
  const again = unpacked(packed({ id: 'x', name: 'x', volumeUnit: 1 }, { ...market, bars: days }))
  expect(again.bars).toEqual(days)
})

test.skipIf(noBrowser)(
  'from a disk it opens with a strategy, its trades and its report, and runs what is typed',
  async () => {
    await open(disk)
    await report().waitFor()
    await page.getByRole('tab', { name: 'Trades' }).click()
    expect(await page.getByRole('grid').getAttribute('aria-label')).toMatch(/^\d+ trades$/)
    await page.getByRole('combobox', { name: 'Series' }).selectOption({ label: 'A made-up coin, hourly' })
    await page.getByText('3,000 bars of 1h').waitFor()
    await page.locator('[data-editor=pine]').click()
    await page.keyboard.press('Control+A')
    // Chromium itself styles what is typed over a selection, and complains of that.
    await page.keyboard.press('Backspace')
    await page.keyboard.insertText('//@version=6\nindicator("Typed")\nplot(clse)')
    await page.keyboard.press('Control+Enter')
    await page.getByText('`clse` is not declared.').first().waitFor()
    expect(await notice().innerText()).toContain('does not compile')
    await page.keyboard.press('Control+A')
    await page.keyboard.press('Backspace')
    await page.keyboard.insertText('//@version=6\nindicator("Typed")\nplot(close)')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Typed', { exact: true }).first().waitFor()
    await page.getByRole('tab', { name: 'Report' }).click()
    await page.getByText('An indicator has no trades').waitFor()
    // Completion runs the engine's text in the page.
    await page.locator('[data-editor=pine]').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('\nx = ta.macd')
    await page
      .getByRole('option', { name: /ta\.macd/ })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
  },
  120_000,
)

journey(
  'a link holds script, inputs and series, and goes on without a connection',
  async () => {
    await open(await linkTo(STRATEGY, 'aapl', { Length: 30 }))
    await report().waitFor()
    await page.getByText('Shared one', { exact: true }).first().waitFor()
    await page.getByText('805 bars of 1D').waitFor()
    await page.getByText('1 input').click()
    const field = page.getByRole('spinbutton', { name: 'Length' })
    expect(await field.inputValue()).toBe('30')
    await context.setOffline(true)
    await field.fill('7')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByText('7', { exact: true }).first().waitFor()
    await page.getByText('Licences of what is in it').click()
    await page.getByText('@codemirror/view').first().waitFor()
    await context.setOffline(false)
    await button('Share by a link').click()
    await page.getByText(/The link is/).waitFor()
    const { hash } = new URL(page.url())
    await open(`${disk}${hash}`)
    await report().waitFor()
    await page.getByText('1 input').click()
    expect(await field.inputValue()).toBe('7')
  },
  120_000,
)

test('a link that is broken, too long or a bomb is refused in a sentence', async () => {
  const shared = { source: STRATEGY, series: 'aapl', inputs: { Length: 3 } }
  const whole = await linkOf(shared)
  expect(await sharedIn(whole)).toEqual(shared)
  expect(await sharedIn('')).toBeNull()
  const bomb = await linkOf({ ...shared, source: ' '.repeat(1_200_000) })
  for (const [hash, says] of [
    [whole.slice(0, -20), 'broken or cut off'],
    ['#1.!!!', 'broken or cut off'],
    ['#7.abc', 'broken or cut off'],
    [`#1.${'A'.repeat(1 << 20)}`, `longer than the ${LINK_MAX / 1000} kB`],
    [bomb, 'more than a megabyte'],
  ] as const)
    expect(sharedIn(hash)).rejects.toThrow(says)
  const letters = Array.from({ length: 200_000 }, () => String.fromCodePoint(33 + below(90))).join('')
  expect(linkOf({ ...shared, source: letters })).rejects.toThrow('too long for a link')
})

journey(
  'the page works behind such a link, and says what it lacks behind one that was made with a file',
  async () => {
    await open(`${disk}#1.${'A'.repeat(1 << 20)}`)
    await notice().getByText('longer than the').waitFor()
    await report().waitFor()
    await open(await linkTo(STRATEGY, `file:${'mine '.repeat(1000)}.csv`))
    expect(await notice().getByText('Drop that file here').innerText()).not.toContain('mine '.repeat(20))
    await report().waitFor()
    // From here on it is the page that is open already.
    const goTo = (hash: string) => page.evaluate((text) => void (location.hash = text), hash)
    await goTo('#1.!!!')
    await notice().getByText('broken or cut off').waitFor()
    expect(await page.locator('[data-editor=pine]').innerText()).toContain('Shared one')
    await goTo(
      await linkOf({ source: STRATEGY.replace('Shared one', 'In the same tab'), series: 'x', inputs: {} }),
    )
    await notice().getByText('There is no series “x” here').waitFor()
    await page.getByText('In the same tab', { exact: true }).first().waitFor()
  },
  120_000,
)

journey(
  'what was written is there again when the page is loaded again, and a script is opened by its file',
  async () => {
    await open(await linkTo(STRATEGY))
    await report().waitFor()
    const opened = STRATEGY.replace('Shared one', 'From a file')
    await page
      .getByLabel('File of bars', { exact: true })
      .setInputFiles({ name: 'mine.pine', mimeType: 'text/plain', buffer: Buffer.from(opened) })
    await page.getByText('From a file', { exact: true }).first().waitFor()
    await page.waitForFunction(() =>
      (history.state as { source?: string } | null)?.source?.includes('From a file'),
    )
    await page.reload()
    await report().waitFor()
    await page.getByText('From a file', { exact: true }).first().waitFor()
    await page.getByText('805 bars of 1D').waitFor()
  },
  120_000,
)

journey(
  'a script that never ends is stopped, and the next one runs',
  async () => {
    const endless = `//@version=6
strategy("Endless")
var x = 0.0
for i = 0 to 4900000
    x += math.sin(i)
plot(x)`
    await open(await linkTo(endless))
    await button('Stop').click()
    await notice().getByText('Stopped.').waitFor()
    await page.getByRole('combobox', { name: 'Script' }).selectOption('Supertrend')
    await report().waitFor()
  },
  120_000,
)

journey(
  'a file of bars is read in the page, and one that is none says so',
  async () => {
    await open(disk)
    await report().waitFor()
    const days = Array.from({ length: 300 }, (_, i) =>
      new Date(Date.UTC(2023, 0, 1) + i * 86_400_000).toISOString().slice(0, 10),
    )
    const csv = `date,open,high,low,close,volume\n${days.map((day, i) => `${day},${100 + (i % 7)},${110 + (i % 7)},${95 + (i % 7)},${101 + (i % 5)},10`).join('\n')}`
    const picker = page.getByLabel('File of bars', { exact: true })
    await picker.setInputFiles({ name: 'EURUSD.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    await page.getByText('300 bars of 1D').waitFor()
    await picker.setInputFiles({
      name: 'note.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('hello\nworld'),
    })
    await notice().getByText('note.csv: Nothing was imported').waitFor()
    await page.getByText('300 bars of 1D').waitFor()
  },
  120_000,
)

journey(
  'on a phone the chart stays above tabs, nothing is wider than the page, and axe has no complaint in either theme',
  async () => {
    await open(disk)
    await report().waitFor()
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 800 })
    try {
      await button(/theme$/).click()
      for (const tab of ['Script', 'Trades', 'Figures', 'Settings', 'Report']) {
        await page.getByRole('tab', { name: tab }).click()
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        expect([tab, wide, await violations(page)]).toEqual([tab, 390, []])
      }
    } finally {
      await page.setViewportSize({ width: 1280, height: 800 })
    }
  },
  120_000,
)

/** What a worker tries that has nothing to lose, each with what came of it. */
const PROBE = `const found = {}
const tries = {
  fetch: () => fetch('https://example.com/'),
  own: () => fetch(self.probed),
  xhr: () => new Promise((done, failed) => {
    const request = new XMLHttpRequest()
    request.onload = done
    request.onerror = () => failed(new Error('refused'))
    request.open('GET', 'https://example.com/')
    request.send()
  }),
  socket: () => new Promise((done, failed) => {
    const socket = new WebSocket('wss://example.com/')
    socket.onopen = done
    socket.onerror = () => failed(new Error('refused'))
  }),
  events: () => new Promise((done, failed) => {
    const source = new EventSource('https://example.com/')
    source.onopen = done
    source.onerror = () => failed(new Error('refused'))
  }),
  scripts: () => importScripts('https://example.com/x.js'),
  module: () => import('https://example.com/x.js'),
  database: () => new Promise((done, failed) => {
    const request = indexedDB.open('x')
    request.onsuccess = done
    request.onerror = () => failed(new Error('refused'))
  }),
  caches: () => caches.open('x'),
  files: () => navigator.storage.getDirectory(),
  page: () => document.body,
  window: () => window.parent,
  settings: () => localStorage.length,
}
onmessage = async ({ data }) => {
  for (const [name, attempt] of Object.entries(tries))
    found[name] = await (async () => { await attempt(); return 'done' })().catch(() => 'refused')
  postMessage({ id: data.id, refused: { code: 'probe', message: 'Probed: ' + JSON.stringify(found), diagnostics: [] } })
}`

test.skipIf(noBrowser)(
  'what runs in the worker reaches no network, no storage and no page',
  async () => {
    writeFileSync(
      `${folder}/probe.html`,
      html().replace(
        /(id="engine">)[^]*?(<\/script>)/,
        (_, before: string, after: string) => before + PROBE + after,
      ),
    )
    await open(`file://${folder}/probe.html`)
    const said = await notice().getByText('Probed: ').innerText()
    const found = JSON.parse(said.slice('Probed: '.length)) as Record<string, string>
    expect(Object.keys(found).length).toBe(13)
    expect(Object.entries(found).filter(([, outcome]) => outcome !== 'refused')).toEqual([])
    // The browser complains of each.
    complaints.length = 0
  },
  120_000,
)

test.skipIf(noBrowser)(
  'a hostile script gets what any script gets',
  async () => {
    for (const [source, says] of [
      ['//@version=6\nindicator("x")\nplot(self.fetch("https://example.com"))', '`self`'],
      [
        '//@version=6\nindicator("x")\nplot(close.constructor.constructor("return this")())',
        'is not a function',
      ],
      ['//@version=6\nindicator("x")\nimport a/b/1\nplot(close)', 'those of TradingView alone'],
      // Its line stays when the text is checked after the run, until it runs.
      [
        '//@version=6\nindicator("x")\nn = input.int(5, "N")\na = array.new<float>(2)\nplot(array.get(a, n))',
        'Index 5 is out of bounds',
      ],
      [
        '//@version=6\nindicator("`${fetch(1)}`")\nlabel.new(0, 0, "</script><script>alert(1)</script>")\nplot(close)',
        '',
      ],
    ] as const) {
      await open(await linkTo(source))
      if (source.includes('input.int')) await page.getByText('1 input').click()
      if (says === '') await page.getByText('An indicator has no trades').waitFor()
      else await page.getByRole('list', { name: 'Problems' }).getByText(says).first().waitFor()
      if (!source.includes('input.int')) continue
      await page.getByRole('spinbutton', { name: 'N' }).fill('1')
      await page.getByText('An indicator has no trades').waitFor()
      expect(await page.getByRole('list', { name: 'Problems' }).count()).toBe(0)
    }
  },
  120_000,
)

test.skipIf(noBrowser)(
  `the page has the server's report byte by byte, seed ${SEED}`,
  async () => {
    const all = repositoryScripts().map((script) => ({ script, key: random.uniform() }))
    const scripts = all
      .toSorted((a, b) => a.key - b.key)
      .slice(0, isLong ? 60 : 6)
      .map(({ script }) => script)
    const { market } = { market: madeUp(7) }
    await open(disk)
    await report().waitFor()
    for (const { name, source } of scripts) {
      const expected = await serversReport(source, market)
      const found = await page.evaluate(
        async ([text, bars]) => {
          const { chartroomEngine } = globalThis as unknown as {
            chartroomEngine: { ask(what: string, ask: object): Promise<{ report: string }> }
          }
          const restored = {
            ...bars,
            bars: Object.fromEntries(
              Object.entries(bars.bars).map(([field, column]) => [
                field,
                typeof column === 'number' ? column : Float64Array.from(column),
              ]),
            ),
          }
          return chartroomEngine
            .ask('run', { source: text, market: restored, options: {} })
            .then((answer) => answer.report)
            .catch((error: { code: string; message: string }) => `${error.code}: ${error.message}`)
        },
        [
          source,
          {
            ...market,
            bars: Object.fromEntries(
              Object.entries(market.bars).map(([field, column]) => [
                field,
                typeof column === 'number' ? column : [...(column as Float64Array)],
              ]),
            ),
          },
        ] as const,
      )
      expect([name, withoutTimings(found)]).toEqual([name, expected])
    }
  },
  900_000,
)

journey(
  'on a host, at its root or below a path, it opens again when the host is gone',
  async () => {
    const host = Bun.serve({
      port: 0,
      fetch(request) {
        const name = new URL(request.url).pathname.replace(/^\/(?:some\/path\/)?/, '') || 'index.html'
        const file = `${folder}/${name}`
        return existsSync(file) && !name.includes('/')
          ? new Response(readFileSync(file), {
              headers: { 'content-type': name.endsWith('.js') ? 'text/javascript' : 'text/html' },
            })
          : new Response('', { status: 404 })
      },
    })
    const address = `${host.url.href}some/path/`
    await open(address)
    await report().waitFor()
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined))
    await host.stop(true)
    await open(address)
    await report().waitFor()
  },
  120_000,
)

journey(
  'a server has it at /try for everybody, in a sandbox without its session',
  async () => {
    const site: Site = await startSite({ owner: false })
    try {
      const answer = await fetch(`${site.url}/try`, {
        headers: { 'accept-encoding': 'br' },
        decompress: false,
      })
      // Brotli at its best takes seconds, so a server from source sends something larger.
      const bytes = (await answer.arrayBuffer()).byteLength
      if (existsSync(builtExecutable)) expect(bytes).toBeLessThan(450_000)
      expect(answer.headers.get('content-security-policy')).toContain('sandbox allow-scripts')
      await open(`${site.url}/try`)
      await report().waitFor()
      expect(
        await page.evaluate(() => [
          origin,
          (() => {
            try {
              return localStorage.length
            } catch {
              return 'none'
            }
          })(),
        ]),
      ).toEqual(['null', 'none'])
      await button('Share by a link').click()
      await page.getByText(/The link is/).waitFor()
      expect(new URL(page.url()).hash).toStartWith('#1.')
    } finally {
      await site.close()
    }
  },
  180_000,
)
