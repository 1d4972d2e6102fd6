// Bundles the playground into one page with everything in it, when it is built or when a server starts from source.
//
// One file works from a disk and from any host under any path. The engine lies in it as text, since a page from a disk may start
// no worker from a file beside it.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { assert } from '../../lib/assert.ts'
import { sliceBars } from '../../market/bars.ts'
import { readBars } from '../../market/import.ts'
import { packed, type PackedDays } from '../../market/packed-days.ts'
import { defaultSymbol } from '../../market/symbols.ts'
import { noticesOf } from './licenses.ts'
import { portable } from './portable.ts'

const src = resolve(import.meta.dir, '../..')
const root = resolve(src, '..')

/** What of the dashboard asks a server, and what stands in its place. */
const INSTEAD: Readonly<Record<string, string>> = {
  'dashboard/api-client.ts': 'api-client.ts',
  'dashboard/router.ts': 'router.ts',
  'dashboard/addresses.ts': 'router.ts',
  'dashboard/base.ts': 'base.ts',
  'language/editor.ts': 'language.ts',
  'language/references.ts': 'language.ts',
}

const withoutServer: BunPlugin = {
  name: 'without-server',
  setup(build) {
    build.onResolve(
      { filter: /\/(?:api-client|router|addresses|base|editor|references)\.ts$/ },
      ({ path, importer }) => {
        const file = resolve(dirname(importer), path)
        const instead = INSTEAD[file.slice(src.length + 1).replaceAll('\\', '/')]
        return instead === undefined ? undefined : { path: `${src}/playground/instead/${instead}` }
      },
    )
    // The page brings no typefaces, which would be as large as all of its code.
    build.onResolve({ filter: /^@fontsource-variable\// }, ({ path }) => ({ path, namespace: 'no-typeface' }))
    build.onLoad({ filter: /.*/, namespace: 'no-typeface' }, () => ({ contents: '', loader: 'css' }))
  },
}

interface Bundled {
  readonly code: string
  readonly style: string
  /** The files that are in it. */
  readonly inputs: readonly string[]
}

async function bundled(entry: string, plugins: readonly BunPlugin[]): Promise<Bundled> {
  const { outputs, metafile } = await Bun.build({
    metafile: true,
    entrypoints: [`${src}/playground/${entry}`],
    target: 'browser',
    format: 'iife',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: ['production'],
    plugins: [...plugins],
  })
  const textOf = async (ending: string) =>
    (await outputs.find(({ path }) => path.endsWith(ending))?.text()) ?? ''
  return {
    code: await textOf('.js'),
    style: await textOf('.css'),
    inputs: Object.keys(metafile?.inputs ?? {}),
  }
}

/** Of each series, the newest: bars hardly compress, and all of the page is to stay below 450 kB. */
const BARS = 805

const FILES = [
  {
    id: 'spx',
    name: 'S&P 500, daily',
    file: 'node_modules/vega-datasets/data/sp500-2000.csv',
    symbol: { ...defaultSymbol('SP', 'SPX'), description: 'S&P 500 Index' },
    volumeUnit: 10_000_000,
  },
  {
    id: 'aapl',
    name: 'Apple, daily',
    file: 'node_modules/@observablehq/sample-datasets/aapl.csv',
    symbol: { ...defaultSymbol('NASDAQ', 'AAPL'), description: 'Apple Inc.' },
    volumeUnit: 100_000,
  },
] as const

async function series(): Promise<PackedDays[]> {
  return Promise.all(
    FILES.map(async ({ id, name, file, symbol, volumeUnit }) => {
      const all = await readBars([readFileSync(`${root}/${file}`)], { symbol })
      const bars = sliceBars(all, Math.max(0, all.length - BARS), all.length)
      return packed({ id, name, volumeUnit }, { bars, symbol, interval: '1d' })
    }),
  )
}

/** The examples of the dashboard; the first is what the page opens with. */
const FIRST = 'supertrend.pine'

function scripts(): { readonly name: string; readonly source: string }[] {
  const folder = `${root}/data/samples`
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.pine'))
    .toSorted()
  return [FIRST, ...names.filter((name) => name !== FIRST)].map((name) => {
    const source = readFileSync(`${folder}/${name}`, 'utf8')
    return { name: /(?:strategy|indicator)\(\s*"([^"]+)"/.exec(source)?.[1] ?? name, source }
  })
}

/**
 * One letter beyond ASCII makes the whole page a text of two bytes a letter, which browsers take twice as long to read. Bun
 * leaves them in strings and patterns alone, where an escape means the same.
 */
const ascii = (text: string, escaped: (unit: string) => string) =>
  text.replaceAll(/[^\0-\x7f]/g, (letter) => escaped(letter.charCodeAt(0).toString(16)))
const ofCode = (unit: string) => `\\u${unit.padStart(4, '0')}`

/** The text of an element that holds it as it is. */
const within = (code: string) => ascii(code.replaceAll(/<(?=\/script|!--)/gi, '\\x3C'), ofCode)
const json = (value: unknown) => ascii(JSON.stringify(value).replaceAll('<', '\\u003c'), ofCode)

/** The page. `'unsafe-eval'` is for the engine, whose scripts become functions; it reaches no network all the same. */
export async function bundlePlayground(): Promise<string> {
  const [page, early, engine, packs] = await Promise.all([
    bundled('main.tsx', [withoutServer, portable]),
    bundled('early.ts', []),
    bundled('engine-worker.ts', [portable]),
    series(),
  ])
  const icon = `data:image/svg+xml,${encodeURIComponent(readFileSync(`${src}/dashboard/icon.svg`, 'utf8').trim())}`
  const parts: Readonly<Record<string, string>> = {
    icon,
    style: ascii(page.style, (unit) => `\\${unit} `),
    series: json(packs),
    scripts: json(scripts()),
    notices: json(
      noticesOf([...page.inputs, ...engine.inputs, ...FILES.map(({ file }) => `${root}/${file}`)]),
    ),
    engine: within(engine.code),
    early: within(early.code),
    page: within(page.code),
  }
  const frame = readFileSync(`${src}/playground/index.html`, 'utf8')
  const whole = frame.replaceAll(
    /\$(icon|style|series|scripts|notices|engine|early|page)\b/g,
    (_, name: string) => parts[name]!,
  )
  return whole.replace('$policy', () => policyOf(whole))
}

function policyOf(page: string): string {
  const codes = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, code = '']) => hashOf(code))
  const [, style] = /<style>([^]*?)<\/style>/.exec(page) ?? []
  assert(codes.length === 2 && style !== undefined, 'the page has its code and its style')
  return [
    "default-src 'none'",
    `script-src ${codes.join(' ')} 'unsafe-eval'`,
    `style-src ${hashOf(style)}`,
    'img-src data: blob:',
    "worker-src data: 'self'",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

const hashOf = (text: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`

/** The page for a host of its own, and what keeps it for when that is away. */
export async function playgroundFiles(): Promise<Map<string, string>> {
  const { code } = await bundled('service-worker.ts', [])
  return new Map([
    ['index.html', await bundlePlayground()],
    ['service-worker.js', code],
  ])
}
