// A real Chromium on a real server with a folder and a port of its own: the executable where it is built (as in
// `bun run test`), the sources otherwise.
//
// `bun src/tools/test.ts` brings a Chromium where there is none. Under a plain `bun test` on such a machine the tests that
// need it are skipped, with one line that says so.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { chromium, type Browser, type BrowserContext, type Page, type ViewportSize } from 'playwright-core'
import { DEFAULT_RATES } from '../../src/http/limits.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { foundChromium, launchOptions } from '../browser/chromium.ts'
import { builtExecutable } from '../executable/built.ts'
import { storeOf } from '../store/own-database.ts'

const CHROMIUM = foundChromium()

export const noBrowser = CHROMIUM === null
if (noBrowser)
  console.warn(
    'No Chromium found: journeys of the dashboard are skipped. `bun src/tools/test.ts` brings one.',
  )

const root = `${import.meta.dir}/../..`
const CHARTROOM = existsSync(builtExecutable) ? [builtExecutable] : [process.execPath, `${root}/src/main.ts`]

/**
 * `BROWSER_SHAKE=7` runs the journeys in a browser four times slower, whose requests are held up for 0 to 300 ms each: a
 * click that comes before its handler, or keys typed before what they are for is there, are found by that.
 */
const SHAKE = process.env['BROWSER_SHAKE']

const RATES = Object.fromEntries(
  Object.keys(DEFAULT_RATES).map((name) => [`RATE_${name.toUpperCase()}`, '0']),
)
export const OWNER = { email: 'owner@example.com', password: 'a long enough password', name: 'Olga' }

export interface Site {
  readonly url: string
  /** Where the first account is made by whoever is not on this machine. */
  readonly setupLink: string
  /** A page of a signed-in user. `remembered`: what the browser has stored, by the name in settings. */
  open(options?: {
    readonly width?: number
    readonly height?: number
    /** A browser that nobody is signed in with. */
    readonly fresh?: boolean
    /** Whether the page can be opened offline, by its service worker. */
    readonly offline?: boolean
    /** For journeys that do what the next one could not undo: scripts at the beginning of documents, clocks, permissions. */
    readonly own?: boolean
    readonly remembered?: Readonly<Record<string, unknown>>
  }): Promise<OpenPage>
  /** After each test: pages that stay open go on drawing what comes, and thirty of them slow down the next. The first page is emptied, and used again. */
  closePages(): Promise<void>
  close(): Promise<void>
}
type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>
interface OpenPage {
  readonly page: Page
  /** Everything the console and the policy complained about, and uncaught errors. */
  readonly complaints: readonly string[]
}

/**
 * `owner: false` leaves the server as it is on its first start. With `below`, as '/charts', it is one path of another
 * site: a proxy takes the path off.
 *
 * Every test begins in a browser of its own, where the service worker would fetch all code of the page again: more than half
 * of what it costs to open one. So it is as on a first visit, before the worker is there, unless `offline` is set, for
 * journeys that load a page again with it.
 */
export async function startSite({
  owner = true,
  offline: offlineOfAll = false,
  below = '',
  env = {},
}: {
  readonly owner?: boolean
  readonly offline?: boolean
  readonly below?: string
  /** Further settings of the server. */
  readonly env?: Readonly<Record<string, string>>
} = {}): Promise<Site> {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-dashboard-`)
  const port = below === '' ? 0 : freePort()
  const proxy = below === '' ? null : proxyBelow(below, port)
  const address = proxy ? ['--public-url', `http://127.0.0.1:${proxy.port}${below}`] : []
  const command = [...CHARTROOM, 'serve', '--port', String(port), '--data-dir', folder, ...address]
  const server = Bun.spawn(command, {
    stdout: 'pipe',
    stderr: 'pipe',
    // Receivers of webhooks are on this machine. One user does here in seconds what takes people an hour: how often they
    // may do it is not what journeys are about.
    env: {
      ...process.env,
      ...RATES,
      ...(await storeOf(folder)),
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOW: 'loopback',
      ...env,
    },
  })
  const { url, setupLink } = await addressOf(server.stdout)
  const browser = await sharedBrowser()
  const context = await browser.newContext()
  if (owner) {
    const signedUp = await context.request.post(`${url}/api/auth/sign-up`, { data: OWNER })
    if (!signedUp.ok()) throw new Error(`sign-up answered ${signedUp.status()}: ${await signedUp.text()}`)
  }
  const state = await context.storageState()
  await context.close()
  const newContext = async (
    viewport: ViewportSize,
    storageState: StorageState | undefined,
    offline: boolean,
  ) => {
    const context = await browser.newContext({
      viewport,
      ...(storageState && { storageState }),
      acceptDownloads: true,
    })
    // A busy machine is not a failure.
    context.setDefaultTimeout(120_000)
    if (SHAKE) await shake(context, SHAKE)
    if (!offline) await context.addInitScript(withoutWorker)
    return context
  }
  const opened: Watched[] = []
  const kept = new KeptPage(state.cookies)
  const closePages = async () => {
    const leave = async ({ page, tell }: Watched) => {
      await tell()
      await page.context().close()
    }
    await Promise.all([kept.leave(), ...opened.splice(0).map(leave)])
  }
  return {
    url,
    setupLink,
    async open({
      width = 1280,
      height = 800,
      fresh = false,
      offline = offlineOfAll,
      own = false,
      remembered = {},
    } = {}) {
      const size = { width, height }
      if (!fresh && !offline && !own) {
        const shared = await kept.use(
          async () => (await newContext(size, state, offline)).newPage(),
          size,
          remembered,
        )
        if (shared) return shared
      }
      const context = await newContext(size, fresh ? undefined : state, offline)
      await context.addInitScript(begin, { journey: '', remembered })
      const watched = watch(await context.newPage())
      opened.push(watched)
      return watched
    },
    closePages,
    async close() {
      await kept.close()
      await closePages()
      server.kill()
      await server.exited
      await proxy?.stop(true)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** All files of tests that a process runs share one, which ends with the process. */
let launched: Promise<Browser> | null = null

export async function sharedBrowser(): Promise<Browser> {
  if (launched && (await launched).isConnected()) return launched
  launched = chromium.launch(launchOptions(CHROMIUM!))
  return launched
}

interface Journey {
  readonly journey: string
  readonly remembered: object
}

/** For a page: what the browser has stored as a journey begins, by the name in settings, and nothing of the one before. */
function begin({ journey, remembered }: Journey): void {
  // A document without an origin, as a frame in a sandbox, stores nothing.
  if (origin === 'null' || localStorage.getItem('journey') === journey) return
  for (const one of [localStorage, sessionStorage]) one.clear()
  localStorage.setItem('journey', journey)
  for (const [name, value] of Object.entries(remembered))
    localStorage.setItem(`chartroom.${name}`, JSON.stringify(value))
}

/** Who has had a page for so long has most likely failed by a wait, which ends after 120 s. */
const STUCK_MS = 115_000

type Watched = ReturnType<typeof watch>

/** What a page says from now on; `tell` prints what it shows if a journey was stuck, as it cannot be seen on another machine. */
function watch(page: Page) {
  const began = Date.now()
  const complaints: string[] = []
  const pending = new Set<string>()
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`))
  page.on('request', (request) => pending.add(request.url()))
  page.on('requestfinished', (request) => pending.delete(request.url()))
  page.on('requestfailed', (request) => pending.delete(request.url()))
  const tell = async () => {
    if (Date.now() - began < STUCK_MS || page.isClosed()) return
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5000 }).catch(String)
    const said = [page.url(), shown, 'Complaints:', ...complaints, 'Not answered:', ...pending]
    console.error(`A journey had its page for more than ${STUCK_MS / 1000} s.`, said.join('\n'))
  }
  return { page, complaints, tell }
}

/**
 * The page that journeys of a file share, one after another. A new one begins with a process that has compiled nothing yet,
 * which takes 1.2 seconds of the processor, as much as a short journey itself: so this one forgets what it was.
 */
export class KeptPage {
  private page: Page | null = null
  private watched: Watched | null = null
  private isUsed = false
  private remembering: { dispose(): Promise<void> } | null = null

  private readonly cookies: StorageState['cookies'] | undefined

  /** `cookies`: what the browser has of the server at the beginning; without, what it gets on the way stays. */
  constructor(cookies?: StorageState['cookies']) {
    this.cookies = cookies
  }

  /** `make` opens the first, as every one after it is when it is used again. Null where another journey has it. */
  async use(make: () => Promise<Page>, size: ViewportSize, remembered: object): Promise<OpenPage | null> {
    if (this.isUsed) return null
    this.isUsed = true
    const page = this.page && !this.page.isClosed() ? this.page : await make()
    this.page = page
    await page.setViewportSize(size)
    this.remembering = await page.addInitScript(begin, { journey: crypto.randomUUID(), remembered })
    this.watched = watch(page)
    return this.watched
  }

  async close(): Promise<void> {
    await this.page?.context().close()
  }

  async leave(): Promise<void> {
    this.isUsed = false
    const { page } = this
    if (!page || page.isClosed()) return
    await this.watched?.tell()
    this.watched = null
    const context = page.context()
    await this.remembering?.dispose()
    await Promise.all(context.pages().flatMap((one) => (one === page ? [] : [one.close()])))
    await context.setOffline(false)
    page.removeAllListeners()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.emulateMedia({ colorScheme: null })
    await page.goto('about:blank')
    if (!this.cookies) return
    await context.clearCookies()
    await context.addCookies(this.cookies)
  }
}

/** For a page: its service worker is never ready. */
export function withoutWorker(): void {
  // An address that is not safe has none at all.
  if ('serviceWorker' in navigator) navigator.serviceWorker.register = () => new Promise(() => {})
}

async function shake(context: BrowserContext, seed: string): Promise<void> {
  const { uniform } = seededRandom(Number(seed))
  context.on('page', async (page) => {
    try {
      const tools = await context.newCDPSession(page)
      await tools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
    } catch {
      // It was closed at once.
    }
  })
  await context.route('**/*', async (route) => {
    await Bun.sleep(uniform() * 300)
    await route.continue()
  })
}

/** The addresses a new server prints: its own, and the one for whoever is to own it. */
async function addressOf(output: ReadableStream<Uint8Array>): Promise<{ url: string; setupLink: string }> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const url = /is at (http:\/\/\S+)\n/.exec(text)?.[1]
    const setupLink = /(http:\S+\/sign-up\?invitation=\S+)\n/.exec(text)?.[1]
    if (url && setupLink) return { url, setupLink }
  }
  throw new Error(`The server ended without an address: ${text}`)
}

function freePort(): number {
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port = 0 } = taken
  void taken.stop(true)
  return port
}

/** What nginx does with `location /charts/ { proxy_pass http://127.0.0.1:8080/; proxy_buffering off; }`. */
function proxyBelow(below: string, port: number) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${below}/`)) return new Response('somebody else', { status: 404 })
      const target = `http://127.0.0.1:${port}${pathname.slice(below.length)}${search}`
      const { method, headers, body, signal } = request
      try {
        return await fetch(target, { method, headers, body, signal, redirect: 'manual', decompress: false })
      } catch {
        // A page may still ask when its server has been stopped.
        return new Response('Bad Gateway', { status: 502 })
      }
    },
  })
}

/** What was changed by now is on the screen: the page has painted three times since. */
export async function painted(page: Page): Promise<void> {
  for (let frame = 0; frame < 3; frame++)
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
}
