// `bun run dev`: pages that are open follow the source, under the policy they always have.

import { expect, test } from 'bun:test'
import { reloadingDashboard } from '../../../src/server/source/dev-dashboard.ts'

async function workshop() {
  const encode = (text: string) => new TextEncoder().encode(text)
  const state = { style: 'one', fails: false, builds: 0, warnings: [] as string[] }
  let changed = () => {}
  const serve = await reloadingDashboard('/charts', {
    async build() {
      state.builds++
      if (state.fails) throw new Error('line 3')
      return new Map([
        ['index.html', encode('<html><head></head></html>')],
        ['style.css', encode(state.style)],
      ])
    },
    watch(callback) {
      changed = callback
    },
    warn: (line) => state.warnings.push(line),
  })
  const get = (path: string) => serve(new Request(`http://x${path}`), path, null)
  const change = async () => {
    const { builds } = state
    changed()
    while (state.builds === builds) await Promise.resolve()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { state, get, change, text: async (path: string) => (await get(path))?.text() }
}

test('a change is built, served, and known to open pages by another number', async () => {
  const { state, text, change } = await workshop()
  const before = await text('/assets/dev-build.txt')
  expect(await text('/assets/style.css')).toBe('one')
  state.style = 'two'
  await change()
  expect(await text('/assets/style.css')).toBe('two')
  expect(await text('/assets/dev-build.txt')).not.toBe(before)
})

test('the page asks by a file of its own, which the policy allows', async () => {
  const { get, text } = await workshop()
  expect(await text('/')).toMatch(
    /<script type="module" src="\/charts\/assets\/dev-reload\.js\?\d+"><\/script>/,
  )
  expect((await get('/'))?.headers.get('content-security-policy')).toContain("script-src 'self';")
  expect(await text('/assets/dev-reload.js')).toContain('/charts/assets/dev-build.txt')
})

test('what does not build leaves the page as it was, and says so', async () => {
  const { state, text, change } = await workshop()
  const before = await text('/assets/dev-build.txt')
  state.fails = true
  await change()
  expect(await text('/assets/style.css')).toBe('one')
  expect(await text('/assets/dev-build.txt')).toBe(before)
  expect(state.warnings).toEqual(['The dashboard shows what it was: Error: line 3'])
})
