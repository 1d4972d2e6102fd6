// The dashboard as files for a browser.

import { expect, test } from 'bun:test'
import { cleanPng } from '../../src/lib/png.ts'
import { bundleDashboard } from '../../src/tools/dashboard-bundle.ts'

test('typefaces are files beside the style sheet, which the policy of the page lets in', async () => {
  const files = await bundleDashboard()
  const styles = [...files].filter(([name]) => name.endsWith('.css'))
  const css = styles.map(([, bytes]) => new TextDecoder().decode(bytes)).join('')
  const named = [...css.matchAll(/url\(\.\/([^)]+\.woff2)\)/g)].map(([, name = '']) => name)
  expect(named.some((name) => name.startsWith('inter-cyrillic'))).toBe(true)
  expect(named.filter((name) => !files.has(name))).toEqual([])
  expect(css).not.toContain('data:font')
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
