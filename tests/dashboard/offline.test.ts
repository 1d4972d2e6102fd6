// The page without its server: it opens with the charts of last time, keeps what is drawn, gives nothing away after a
// sign-out, and shows a new version once there is one.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import type { Page } from 'playwright-core'
import { noBrowser, startSite, type Site } from './browser.ts'

const REMEMBERED = { 'tour.done': true, bottom: '', side: '' }

/** An address of its own: there is what `target` says, or nobody. */
function switchable(target: () => number | null) {
  const open = new Set<Socket>()
  const listener = createServer((near) => {
    const port = target()
    if (port === null) {
      near.destroy()
      return
    }
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  return {
    listen: () =>
      new Promise<string>((resolve) => {
        listener.listen(0, '127.0.0.1', () =>
          resolve(`http://127.0.0.1:${(listener.address() as { port: number }).port}`),
        )
      }),
    /** Ends what goes to where `target` was before. */
    cut() {
      for (const socket of open) socket.destroy()
    },
    close: () => listener.close(),
  }
}

/** The same server as another version of it: its page and its worker say so. */
function nextVersion(url: string) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method, body, signal } = request
      const headers = new Headers(request.headers)
      headers.set('accept-encoding', 'identity')
      headers.delete('if-none-match')
      const answer = await fetch(url + pathname + search, {
        method,
        headers,
        body,
        signal,
        redirect: 'manual',
      })
      if (!/html|javascript/.test(answer.headers.get('content-type') ?? '')) return answer
      const text = (await answer.text()).replaceAll(build, NEXT)
      const own = new Headers(answer.headers)
      for (const name of ['content-length', 'etag']) own.delete(name)
      return new Response(text, { status: answer.status, headers: own })
    },
  })
}
const NEXT = 'thenextbuild'
let build = ''

const kept = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const names = (await indexedDB.databases()).flatMap(({ name }) => name ?? [])
    const mine = names.find((name) => name.startsWith('chartroom-kept-'))
    if (mine === undefined) return []
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const asked = indexedDB.open(mine)
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => reject(asked.error ?? new Error('It does not open.'))
    })
    const keys = await new Promise<IDBValidKey[]>((resolve) => {
      const asked = database.transaction('answers').objectStore('answers').getAllKeys()
      asked.onsuccess = () => resolve(asked.result)
    })
    database.close()
    return keys.map(String)
  })
const caches = (page: Page): Promise<string[]> => page.evaluate(() => globalThis.caches.keys())

async function until<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask()
    if (holds(value)) return value
    await Bun.sleep(20)
  }
}

describe.skipIf(noBrowser)('without its server', () => {
  let site: Site
  let front: ReturnType<typeof switchable>
  let url = ''
  let port: number | null = null
  const serverPort = () => Number(new URL(site.url).port)
  const goAway = () => {
    port = null
    front.cut()
  }
  beforeAll(async () => {
    site = await startSite({ offline: true })
    port = serverPort()
    front = switchable(() => port)
    url = await front.listen()
  }, 300_000)
  afterAll(async () => {
    front.cut()
    front.close()
    await site.close()
  })

  /** A page whose files and answers are all kept. */
  const opened = async () => {
    port = serverPort()
    const { page } = await site.open({ remembered: REMEMBERED })
    await page.goto(url)
    await page.getByText('2,874.56').first().waitFor()
    build = (await page.locator('meta[name=build]').getAttribute('content')) ?? ''
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready
    })
    await until(
      () => kept(page),
      (keys) =>
        ['visitor', 'symbols', 'platform/bars', 'drawings'].every((one) =>
          keys.some((key) => key.includes(one)),
        ),
    )
    return page
  }

  test('the last chart opens, and what is drawn then is sent later', async () => {
    const page = await opened()
    goAway()
    await page.reload()
    await page.getByText('2,874.56').first().waitFor()
    await page.getByText(/^Offline\. You see what was here/).waitFor()
    const chart = page.locator('[role=application]')
    await chart.focus()
    await page.keyboard.press('Alt+h')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() =>
      localStorage.getItem('chartroom.drawings.pending')?.includes('horizontal-line'),
    )
    port = serverPort()
    const stored = async () => {
      const answer = await page.request.get(`${site.url}/api/platform/drawings?exchange=SP&symbol=SPX`)
      return ((await answer.json()) as { drawings: readonly { tool: string }[] }).drawings
    }
    const drawings = await until(stored, (all) => all.length > 0)
    expect(drawings.map(({ tool }) => tool)).toEqual(['horizontal-line'])
    await page.getByText(/^Offline\./).waitFor({ state: 'detached' })
  }, 300_000)

  test('the playground opens again with its script, in the sandbox that it came in', async () => {
    const page = await opened()
    await page.goto(`${url}/try`)
    const report = page.getByRole('region', { name: 'Did it make money?' })
    await report.waitFor()
    await page.getByRole('button', { name: 'Share by a link', exact: true }).click()
    await page.getByText(/The link is/).waitFor()
    const shared = page.url()
    goAway()
    await page.goto('about:blank')
    await page.goto(shared)
    await report.waitFor()
    expect(new URL(page.url()).hash).toStartWith('#1.')
    expect(await page.evaluate(() => origin)).toBe('null')
  }, 300_000)

  test('a new version is offered to an open page, and is what a reload shows', async () => {
    const page = await opened()
    const next = nextVersion(site.url)
    port = next.port ?? null
    front.cut()
    await page.evaluate(async () => {
      await (await navigator.serviceWorker.ready).update()
    })
    await page.getByText('A new version of Chartroom is here.').waitFor()
    expect(await caches(page)).toContain(`chartroom-files-${build}`)
    await page.getByRole('button', { name: 'Reload', exact: true }).click()
    await page.locator(`meta[name=build][content=${NEXT}]`).waitFor({ state: 'attached' })
    await until(
      () => caches(page),
      (names) => names.join(' ') === `chartroom-files-${NEXT}`,
    )
    goAway()
    await page.reload()
    await page.locator(`meta[name=build][content=${NEXT}]`).waitFor({ state: 'attached' })
    await page.getByText('2,874.56').first().waitFor()
    await next.stop(true)
  }, 300_000)

  test('nothing of a user is kept who has signed out', async () => {
    const page = await opened()
    await page.goto(`${url}/settings/app`)
    await page.getByText(/\d+ answers of the server are kept/).waitFor()
    await page.goto(`${url}/settings/profile`)
    await page.getByText('owner@example.com').first().waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await kept(page)).toEqual([])
    goAway()
    await page.reload()
    await page.getByLabel('Loading').waitFor()
    expect(await page.content()).not.toContain('owner@example.com')
  }, 300_000)

  test('where a browser allows none of this, settings say why', async () => {
    port = serverPort()
    const { page, complaints } = await site.open({ remembered: REMEMBERED, fresh: true })
    // As over plain http from another machine.
    await page.addInitScript(() => Object.defineProperty(globalThis, 'isSecureContext', { value: false }))
    await page.request.post(`${url}/api/auth/sign-in`, {
      data: { email: 'owner@example.com', password: 'a long enough password' },
    })
    await page.goto(`${url}/settings/app`)
    await page.getByText(/only over https or from the machine itself \(localhost\)/).waitFor()
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)
    expect(complaints).toEqual([])
  }, 300_000)
})
