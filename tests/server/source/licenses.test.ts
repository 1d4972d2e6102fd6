// The licences: MIT, BSD and Apache want their notices along with every copy, and what is served and built is one.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import packageFile from '../../../package.json' with { type: 'json' }
import { licenseTexts } from '../../../src/server/source/licenses.ts'
import { lmdbNative } from '../../../src/tools/lmdb-plugin.ts'

const root = `${import.meta.dir}/../../..`
const text = licenseTexts()
const titles = [...text.matchAll(/^={80}\n(.*)\n={80}$/gm)].map(([, title = '']) => title)

/** Packages whose files the bundler takes in. */
async function bundled(target: 'bun' | 'browser', entrypoints: readonly string[]): Promise<string[]> {
  const { metafile } = await Bun.build({
    entrypoints: entrypoints.map((file) => `${root}/src/${file}`),
    target,
    metafile: true,
    conditions: ['production'],
    define: { LIVE_WORKER: '""' },
    plugins: target === 'bun' ? [lmdbNative('bun-linux-x64').plugin] : [],
  })
  const files = Object.keys(metafile?.inputs ?? {})
  const names = files.map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))]
}

test.each([
  ['bun', ['main.ts', 'work/workers/worker.ts', 'people/search/worker.ts']],
  ['browser', ['dashboard/index.html', 'dashboard/live-worker.ts']],
] as const)('every package that is bundled for %s has its text', async (target, entrypoints) => {
  const names = await bundled(target, entrypoints)
  expect(names.length).toBeGreaterThan(5)
  // lmdb's native part is lmdb's own, compiled.
  const missing = names.filter(
    (name) => !titles.some((title) => title.startsWith(`${name.replace(/^@lmdb\/lmdb-.*/, 'lmdb')} `)),
  )
  expect(missing).toEqual([])
})

test('NOTICE names every package that brings a notice of its own', () => {
  const notice = readFileSync(`${root}/NOTICE`, 'utf8')
  const brought = titles.flatMap((title) => {
    const file = `${root}/node_modules/${title.split(' ')[0]}/NOTICE`
    return existsSync(file) ? [/^Copyright .*$/m.exec(readFileSync(file, 'utf8'))?.[0] ?? title] : []
  })
  expect(brought.length).toBeGreaterThan(0)
  expect(brought.filter((line) => !notice.includes(line))).toEqual([])
})

test('the page "About" thanks every package that was chosen', () => {
  const about = readFileSync(`${root}/src/dashboard/account/about.tsx`, 'utf8')
  const chosen = Object.keys({ ...packageFile.dependencies, ...packageFile.devDependencies }).filter((name) =>
    titles.some((title) => title.startsWith(`${name} `)),
  )
  expect(chosen.length).toBeGreaterThan(20)
  // Sister packages of one scope have one row.
  const row = (name: string) => (/^@(codemirror|lezer)\//.test(name) ? '@codemirror/view' : name)
  expect(chosen.filter((name) => !about.includes(`'${row(name)}'`))).toEqual([])
})

test('the texts of Bun, its LGPL parts, LMDB and our own are there, and none is empty', () => {
  expect(titles).toContain(`Bun ${Bun.version} · MIT and others`)
  for (const words of [
    'JavaScriptCore',
    'GNU LIBRARY GENERAL PUBLIC LICENSE',
    'GNU LESSER GENERAL PUBLIC LICENSE',
    'The OpenLDAP Public License',
    'TradingView Lightweight Charts',
    'Dan Wheeler',
    'SIL OPEN FONT LICENSE',
    'Version 2.0, January 2004',
  ])
    expect(text).toContain(words)
  const sections = text.split(/^={80}\n.*\n={80}\n/m).slice(1)
  expect(sections.filter((section) => section.trim().length < 300)).toEqual([])
})
