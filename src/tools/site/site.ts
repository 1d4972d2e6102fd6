// `bun run build --site`: the pages for who has not got Chartroom yet, static, made of the repository's own documents.
//
// They need no script, no server and no font of the system; each weighs at most 150 kB with all that it loads. The playground is
// one of them, as it is.

import { readFileSync } from 'node:fs'
import { assert } from '../../lib/assert.ts'
import packageFile from '../../../package.json' with { type: 'json' }
import { playgroundFiles } from '../../server/source/playground-bundle.ts'
import { noticesOf } from '../../server/source/licenses.ts'
import { linksOf, root } from './documents.ts'
import { firstPage } from './first-page.ts'
import { changesPage, downloadPage, exactnessPage, helpPages, speedPage } from './other-pages.ts'
import { fileOf, pageText } from './page.ts'
import { shownRun, shownSweep } from './runs.ts'
import { SECTIONS } from '../../dashboard/help/sections.ts'

const TYPEFACES = {
  'inter.woff2': 'inter/files/inter-latin-wght-normal.woff2',
  'mono.woff2': 'jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
} as const

/** Contents by file name. `repository` is where source and releases lie, `https://github.com/OWNER/chartroom`. */
export async function siteFiles(repository?: string): Promise<Map<string, string | Uint8Array<ArrayBuffer>>> {
  const { version } = packageFile
  const pages = ['/', '/exactness', '/speed', '/changes', '/download', '/help/', '/try', '/licences.txt']
  const articles = SECTIONS.flatMap(([, ids]) => ids.map((id) => `/help/${id}`))
  const linkTo = linksOf(new Set([...pages, ...articles]), repository)
  const made = [
    firstPage({ run: await shownRun(), sweep: await shownSweep() }, version, linkTo),
    exactnessPage(linkTo),
    speedPage(linkTo),
    changesPage(linkTo),
    downloadPage(version, repository, linkTo),
    ...helpPages(linkTo),
  ]
  const typefaces = Object.values(TYPEFACES).map(
    (file) => `${root}/node_modules/@fontsource-variable/${file}`,
  )
  const files = new Map<string, string | Uint8Array<ArrayBuffer>>(
    made.map((page) => [fileOf(page.address), pageText(page, version)]),
  )
  files.set('site.css', styleText())
  files.set('icon.svg', readFileSync(`${root}/src/dashboard/icon.svg`, 'utf8'))
  files.set('licences.txt', noticesOf(typefaces))
  Object.keys(TYPEFACES).forEach((name, i) => files.set(name, readFileSync(typefaces[i]!)))
  for (const [name, text] of await playgroundFiles()) files.set(`try/${name}`, text)
  return files
}

/** The colours are the dashboard's, so that they have one place; which theme it is, the system says. */
function styleText(): string {
  const tokens = readFileSync(`${root}/src/dashboard/style.css`, 'utf8')
  const [, dark] = /^:root,\n\[data-theme='dark'\] \{\n([^}]*)\}/m.exec(tokens) ?? []
  const [, light] = /^\[data-theme='light'\] \{\n([^}]*)\}/m.exec(tokens) ?? []
  assert(dark !== undefined && light !== undefined, 'the dashboard has both themes')
  const own = readFileSync(`${import.meta.dir}/site.css`, 'utf8').replaceAll(/\/\*[^]*?\*\/\n?/g, '')
  return `:root{${flat(dark)}}\n@media (prefers-color-scheme:light){:root{${flat(light)}}}\n${own}`
}

const flat = (text: string) => text.replaceAll(/\s*\n\s*/g, '')
