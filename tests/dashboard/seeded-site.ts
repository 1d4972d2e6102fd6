// A browser on a server with a day's work of a trader in it, whose pages look the same on every machine.

import { chromium, type Page } from 'playwright-core'
import { launchOptions, packagedChromium } from '../browser/chromium.ts'
import { KeptPage, withoutWorker } from './browser.ts'

/** What the clocks of server and pages show: some hours into 2026. */
const NOW = '2026-01-01T12:34:56Z'

type Size = readonly [width: number, height: number]
type Who = 'owner' | 'nobody'

interface Told {
  readonly url: string
  readonly cookie: string
  readonly ids: Readonly<
    Record<'watchlist' | 'webhook' | 'sweep' | 'scan' | 'portfolio' | 'idea', string>
  > & {
    readonly scripts: readonly string[]
    readonly backtests: readonly string[]
  }
  /** The first of the scripts, as the page remembers it. */
  readonly script: { readonly id: string; readonly name: string; readonly source: string }
}

export interface SeededSite extends Told {
  /**
   * A page of its owner, or of nobody; what was there before is left. `remembered`: what the browser has stored, by the name
   * in settings.
   */
  open(size: Size, remembered?: object, who?: Who): Promise<Page>
  readonly close: () => Promise<void>
}

/** `args`: more arguments for the browser. */
export async function seededSite(args: readonly string[] = []): Promise<SeededSite> {
  const options = launchOptions(await packagedChromium())
  const [browser, server] = await Promise.all([
    chromium.launch({ ...options, args: [...options.args, '--force-color-profile=srgb', ...args] }),
    startServer(),
  ])
  const { url, cookie } = server.told
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  const newPage = async ([width, height]: Size, who: Who): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width, height },
      hasTouch: isPhone(width),
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
    })
    context.setDefaultTimeout(120_000)
    if (who === 'owner') await context.addCookies([{ name, value, url }])
    await context.addInitScript(withoutWorker)
    const page = await context.newPage()
    await page.clock.setFixedTime(NOW)
    return page
  }
  const pages = new Map<string, KeptPage>()
  return {
    ...server.told,
    async open(size, remembered = {}, who = 'owner') {
      const [width, height] = size
      const kind = `${who} ${isPhone(width) ? 'phone' : 'desk'}`
      const kept = pages.get(kind) ?? new KeptPage()
      pages.set(kind, kept)
      await kept.leave()
      const all = { 'tour.done': true, ...remembered }
      return (await kept.use(() => newPage(size, who), { width, height }, all))!.page
    },
    async close() {
      await browser.close()
      await server.end()
    },
  }
}

const isPhone = (width: number): boolean => width < 500

async function startServer() {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/../browser/seeded-server-child.ts`], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, NOW },
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) break
  }
  return {
    told: JSON.parse(text) as Told,
    async end() {
      await child.stdin.end()
      await child.exited
    },
  }
}
