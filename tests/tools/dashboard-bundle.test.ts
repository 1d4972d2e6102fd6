// The dashboard as files for a browser.

import { expect, test } from 'bun:test'
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
