// A browser on a server with a day's work of a trader in it, whose pages look the same on every machine.

import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { launchOptions, packagedChromium } from '../browser/chromium.ts'
import { withoutWorker } from './browser.ts'

/** What the clocks of server and pages show: some hours into 2026. */
const NOW = '2026-01-01T12:34:56Z'

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
  /** A page of its owner, or of nobody. `remembered`: what the browser has stored, by the name in settings. */
  open(
    size: readonly [width: number, height: number],
    remembered?: object,
    who?: 'owner' | 'nobody',
  ): Promise<Page>
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
  const contexts: BrowserContext[] = []
  return {
    ...server.told,
    async open([width, height], remembered = {}, who = 'owner') {
      const context = await browser.newContext({
        viewport: { width, height },
        hasTouch: width < 500,
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'UTC',
      })
      contexts.push(context)
      context.setDefaultTimeout(120_000)
      if (who === 'owner') await context.addCookies([{ name, value, url }])
      await context.addInitScript(
        (stored) => {
          for (const [key, one] of Object.entries(stored))
            if (localStorage.getItem(`chartroom.${key}`) === null)
              localStorage.setItem(`chartroom.${key}`, JSON.stringify(one))
        },
        { 'tour.done': true, ...remembered },
      )
      await context.addInitScript(withoutWorker)
      const page = await context.newPage()
      await page.clock.setFixedTime(NOW)
      return page
    },
    async close() {
      for (const context of contexts) await context.close()
      await browser.close()
      await server.end()
    },
  }
}

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
