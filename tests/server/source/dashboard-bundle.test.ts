// The dashboard as files for a browser.

import { expect, test } from 'bun:test'
import { brotliCompressSync } from 'node:zlib'
import { cleanPng } from '../../../src/lib/png.ts'
import { bundleDashboard } from '../../../src/server/source/dashboard-bundle.ts'

test('typefaces are files beside the style sheet, which the policy of the page lets in', async () => {
  const files = await bundleDashboard()
  const styles = [...files].filter(([name]) => name.endsWith('.css'))
  const css = styles.map(([, bytes]) => new TextDecoder().decode(bytes)).join('')
  const named = [...css.matchAll(/url\(\.\/([^)]+\.woff2)\)/g)].map(([, name = '']) => name)
  expect(named.some((name) => name.startsWith('inter-cyrillic'))).toBe(true)
  expect(named.filter((name) => !files.has(name))).toEqual([])
  expect(css).not.toContain('data:font')
})

test('no file of it exports what it does not declare, which a browser would not run', async () => {
  const transpiler = new Bun.Transpiler({ loader: 'js' })
  for (const [name, bytes] of await bundleDashboard())
    if (name.endsWith('.js')) transpiler.transformSync(new TextDecoder().decode(bytes))
})

test('the page can be installed: a manifest with icons, maskable too, and a worker that knows its build', async () => {
  const files = await bundleDashboard()
  const text = (name: string | undefined) => new TextDecoder().decode(files.get(name ?? ''))
  const page = text('index.html')
  const manifest = JSON.parse(text(/rel="manifest" href="\.\/([^"]+)"/.exec(page)?.[1])) as {
    start_url: string
    scope: string
    icons: readonly { src: string; sizes: string; purpose: string }[]
  }
  // It lies in assets/, one below the page.
  expect([manifest.start_url, manifest.scope]).toEqual(['../', '../'])
  expect(manifest.icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
    '180x180 any',
    '192x192 any',
    '512x512 any',
    '512x512 maskable',
  ])
  for (const { src, sizes } of manifest.icons) {
    const bytes = files.get(src)!
    expect(await cleanPng(bytes, { width: 512, height: 512 })).toBeInstanceOf(Uint8Array)
    expect(new DataView(bytes.buffer, bytes.byteOffset).getUint32(16)).toBe(Number(sizes.split('x')[0]))
  }
  const build = /name="build" content="(\w+)"/.exec(page)?.[1] ?? ''
  const worker = text('service-worker.js')
  expect(build).not.toBe('')
  expect(worker).toContain(build)
  for (const name of files.keys())
    if (name.endsWith('.js') && name !== 'service-worker.js') expect(worker).toContain(name)
})

test('the first page is at most 30 kB of scripts, the chart 90 kB more; what else there is comes when it is asked for', async () => {
  const files = await bundleDashboard()
  const text = (name: string) => new TextDecoder().decode(files.get(name))
  /** The files with all that they import: what a browser must have before it runs them. */
  const whole = (names: readonly string[]) => {
    const found = new Set(names)
    for (const name of found)
      for (const [, imported = ''] of text(name).matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g))
        found.add(imported)
    return found
  }
  const kilobytes = (names: Iterable<string>) =>
    [...names].reduce((sum, name) => sum + brotliCompressSync(files.get(name)!).length, 0) / 1000
  const scripts = [...text('index.html').matchAll(/<script[^>]+src="\.\/([\w-]+\.js)"/g)].map(
    ([, name = '']) => name,
  )
  const page = whole(scripts)
  const chart = whole([...files.keys()].filter((name) => /^chart(-page)?-\w+\.js$/.test(name))).difference(
    page,
  )
  expect(page.size).toBeGreaterThan(1)
  expect(chart.size).toBeGreaterThan(2)
  expect(kilobytes(page)).toBeLessThanOrEqual(30)
  expect(kilobytes(chart)).toBeLessThanOrEqual(90)
})
