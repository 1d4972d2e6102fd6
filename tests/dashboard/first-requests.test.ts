// The script in the page's head asks for what the page's own code will ask for, at the very same addresses.

import { expect, test } from 'bun:test'

const ROOT = `${import.meta.dir}/../../src/dashboard`
const ORIGIN = 'http://charts.example'

/** What the page finds of requests that were sent ahead, and the names of those that were sent. */
async function asked(path: string, remembered: Readonly<Record<string, unknown>>) {
  const { base } = await import(`${ROOT}/base.ts`)
  const { outputs } = await Bun.build({ entrypoints: [`${ROOT}/early.ts`], format: 'iife' })
  const sent: string[] = []
  const surroundings = {
    document: {
      currentScript: { src: `${ORIGIN}${base}/assets/early-1.js` },
      documentElement: { dataset: {} },
      querySelector: () => null,
    },
    matchMedia: () => ({ matches: false }),
    location: { href: `${ORIGIN}${base}${path}` },
    localStorage: {
      getItem: (name: string) => {
        const value = remembered[name.replace('chartroom.', '')]
        return value === undefined ? null : JSON.stringify(value)
      },
    },
    fetch: async (url: string) => {
      sent.push(url)
      return new Response(url)
    },
  }
  // The bundle is a script that a browser runs with these in sight.
  // oxlint-disable-next-line typescript/no-implied-eval
  new Function(...Object.keys(surroundings), (await outputs[0]?.text()) ?? '')(...Object.values(surroundings))
  return { sent, base }
}

async function taken(url: string): Promise<string | undefined> {
  const { takeFirst } = await import(`${ROOT}/first-requests.ts`)
  return (await takeFirst(url))?.text()
}

test('who is signed in is asked once, ahead of the page, at the address that the page asks', async () => {
  const { sent, base } = await asked('/help/alerts?q=1', { 'run.last': 'bt_1' })
  expect(sent).toEqual([`${ORIGIN}${base}/api/auth/visitor`])
  const url = new URL(`${base}/api/auth/visitor`, ORIGIN).href
  expect(await taken(url)).toBe(url)
  expect(await taken(url)).toBeUndefined()
})

test('the bars of the active chart are asked for if somebody has run a script here, and only on the chart', async () => {
  const { firstBars } = await import(`${ROOT}/first-requests.ts`)
  const market = { symbol: 'Ölfeld & Söhne', exchange: 'XETRA', interval: '1h' }
  const all = [
    { id: 'a', market: { exchange: 'SP', symbol: 'SPX', interval: '1d' } },
    { id: 'b', market },
  ]
  const remembered = { 'run.last': 'bt_1', charts: { active: 'b', all } }
  const { base } = await asked('/#x', remembered)
  // As `apiUrl` of the page's code writes it.
  const url = new URL(`${base}/api/platform/bars`, ORIGIN)
  for (const [name, value] of Object.entries(firstBars(market))) url.searchParams.set(name, String(value))
  expect(await taken(url.href)).toBe(url.href)
  for (const [path, some] of [
    ['/', { ...remembered, 'run.last': '' }],
    ['/', {}],
    ['/research', remembered],
  ] as const)
    expect((await asked(path, some)).sent).toHaveLength(1)
})
