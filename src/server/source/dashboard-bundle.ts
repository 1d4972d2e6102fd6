// Bundles the dashboard's source into files for a browser, when the executable is built or when a server starts from
// source.

import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { assert } from '../../lib/assert.ts'
import type { AppIcon } from './app-icons.ts'

/** Contents by file name. */
export type Files = ReadonlyMap<string, Uint8Array<ArrayBuffer>>

const DASHBOARD = `${import.meta.dir}/../../dashboard`

/**
 * The page, and the variant for addresses that show a chart: it lets a browser fetch all of the chart's code at once
 * instead of file after file.
 */
export const [PAGE, CHART_PAGE] = ['index.html', 'chart.html'] as const
export const PAGES: readonly string[] = [PAGE, CHART_PAGE]
export const SERVICE_WORKER = 'service-worker.js'

/**
 * Bun writes a style sheet for every chunk that is loaded later, but nothing loads these sheets. So the first page imports
 * every CSS module: one small sheet, each rule once, in an order that does not depend on which part was opened first.
 */
const allStyles: BunPlugin = {
  name: 'all-styles',
  setup(build) {
    build.onLoad({ filter: /dashboard[\\/]main\.tsx$/ }, async ({ path }) => {
      const sheets = [...new Bun.Glob('**/*.module.css').scanSync(DASHBOARD)].map((sheet) =>
        sheet.replaceAll('\\', '/'),
      )
      // Shared parts come first, so that other parts of the page can override them.
      const rank = (sheet: string) => (sheet.startsWith('ui/') ? 0 : sheet.startsWith('frame/') ? 1 : 2)
      sheets.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
      const imports = sheets.map((sheet) => `import './${sheet}'\n`).join('')
      return { contents: imports + (await Bun.file(path).text()), loader: 'tsx' }
    })
  },
}

/**
 * Keeps typefaces as files, so that a browser fetches only those whose letters are on the page. Bun would inline all of
 * them in the style sheet, where the page's policy forbids them anyway. `found` is told of each file.
 */
const typefaces = (found: Map<string, string>): BunPlugin => ({
  name: 'typefaces',
  setup(build) {
    build.onResolve({ filter: /\.woff2$/ }, ({ path, importer }) => {
      const file = resolve(dirname(importer), path)
      const hash = Bun.hash(readFileSync(file)).toString(36)
      const name = basename(path).replace(/\.woff2$/, `-${hash}.woff2`)
      found.set(name, file)
      return { path: `./${name}`, external: true }
    })
  },
})

/** Bundles a file into a classic script of its own: of workers, not every browser accepts a module. */
async function bundleClassic(
  file: string,
  define: Readonly<Record<string, string>> = {},
): Promise<readonly [name: string, content: Uint8Array<ArrayBuffer>]> {
  const { outputs } = await Bun.build({
    entrypoints: [`${DASHBOARD}/${file}`],
    target: 'browser',
    format: 'iife',
    minify: true,
    define,
    naming: '[name]-[hash].[ext]',
  })
  const [output] = outputs
  assert(output !== undefined, 'a classic script is one file')
  return [output.path.split('/').pop() ?? '', new Uint8Array(await output.arrayBuffer())]
}

/** Builds the dashboard for a browser, in 50 to 70 ms. Answers contents by file name. */
export async function bundleDashboard(): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const [worker, workerCode] = await bundleClassic('live-worker.ts')
  const [early, earlyCode] = await bundleClassic('early.ts')
  const faces = new Map<string, string>()
  const { outputs } = await Bun.build({
    entrypoints: [`${DASHBOARD}/index.html`],
    plugins: [allStyles, typefaces(faces)],
    target: 'browser',
    minify: true,
    splitting: true,
    // Relative, since a proxy may serve the page under a path of its own. In the page itself, `servedAt` makes the
    // addresses absolute.
    publicPath: './',
    // Without both, libraries bundle their development code too: 781 kB instead of 596.
    define: { 'process.env.NODE_ENV': '"production"', LIVE_WORKER: JSON.stringify(worker) },
    conditions: ['production'],
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  const files = outputs.map(async (output) => {
    const name = output.path.split('/').pop() ?? ''
    return [name, new Uint8Array(await output.arrayBuffer())] as const
  })
  const built = new Map(await Promise.all(files))
  const main = outputs.find(({ kind, path }) => kind === 'entry-point' && path.endsWith('.js'))
  assert(main !== undefined, 'the page has a script')
  const mainName = main.path.split('/').pop()!
  built.set(mainName, withHashesOnce(built.get(mainName)!))
  built.set(worker, workerCode)
  built.set(early, earlyCode)
  for (const [name, file] of faces) built.set(name, await Bun.file(file).bytes())
  // It runs as it is read, the page's own module after that.
  const page = new TextDecoder()
    .decode(built.get(PAGE))
    // Above the style sheet, since a script below one waits for it.
    .replace(/<link rel="stylesheet"|<\/head>/, `<script src="./${early}"></script>$&`)
  for (const name of built.keys()) if (name.endsWith('.css') && !page.includes(name)) built.delete(name)
  return installable(page, built)
}

/**
 * Bun tells the page which chunks each chunk imports, so that all of them are fetched at once. It writes their hashes twice,
 * in a list of them and at the end of their names, and hashes do not compress: once is half a kilobyte less of thirty.
 */
function withHashesOnce(code: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const twice = /(\w+)\(import\.meta\.url,\[(?:"\w{8}",?)+\],(\[\[.*?\]\]),0\);/g
  const hash = `.slice(${-'12345678.js'.length},${-'.js'.length})`
  let count = 0
  const once = new TextDecoder().decode(code).replace(twice, (_, tell: string, chunks: string) => {
    count++
    return `(g=>${tell}(import.meta.url,g.map(x=>x[0]${hash}),g,0))(${chunks});`
  })
  assert(count === 1, 'Bun tells of the chunks once, in the form that is known here')
  return new TextEncoder().encode(once)
}

/**
 * What a browser needs to install the page and to open it without the server: a manifest with icons, and the service
 * worker, which is another one for each build.
 */
async function installable(
  page: string,
  built: Map<string, Uint8Array<ArrayBuffer>>,
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const encode = (text: string) => new TextEncoder().encode(text)
  // An executable, which holds the files already, should not load what draws them.
  const { appIcons } = await import('./app-icons.ts')
  const icons = appIcons()
  for (const { name, bytes } of icons) built.set(name, bytes)
  const manifest = JSON.stringify(manifestOf(icons))
  const manifestName = `app-${Bun.hash(manifest).toString(36)}.webmanifest`
  built.set(manifestName, encode(manifest))
  const touch = icons.find(({ size }) => size === 180)
  const files = [...built.keys()].filter((name) => /\.(js|css|svg|webmanifest)$/.test(name)).toSorted()
  const build = Bun.hash(page + files.join('\n')).toString(36)
  const head = [
    `<meta name="build" content="${build}">`,
    `<link rel="manifest" href="./${manifestName}">`,
    `<link rel="apple-touch-icon" href="./${touch?.name}">`,
  ]
  const whole = page.replace('</head>', `${head.join('')}</head>`)
  built.set(PAGE, encode(whole))
  built.set(CHART_PAGE, encode(withPreloads(whole, built)))
  const worker = { BUILD: JSON.stringify(build), FILES: JSON.stringify(files) }
  const [, code] = await bundleClassic('offline/service-worker.ts', worker)
  return built.set(SERVICE_WORKER, code)
}

/** Addresses in it are read from where it lies, one folder below the page. */
const manifestOf = (icons: readonly AppIcon[]) => ({
  name: 'Chartroom',
  short_name: 'Chartroom',
  description: 'Charts, backtests, replays and alerts on your own server.',
  id: '../',
  start_url: '../',
  scope: '../',
  display: 'standalone',
  background_color: '#0f1216',
  theme_color: '#0f1216',
  categories: ['finance'],
  icons: icons.map(({ name, size, purpose }) => ({
    src: name,
    sizes: `${size}x${size}`,
    type: 'image/png',
    purpose,
  })),
})

function withPreloads(page: string, built: ReadonlyMap<string, Uint8Array>): string {
  const entry = [...built.keys()].filter((name) => /^(?:chart-page|chart)-\w+\.js$/.test(name))
  const found = new Set(entry)
  for (const name of found) {
    const code = new TextDecoder().decode(built.get(name))
    // Matches `from "./x.js"` and `import "./x.js"`, but not `import("./x.js")`, which is fetched when it is needed.
    for (const [, imported = ''] of code.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g))
      found.add(imported)
  }
  const links = [...found].map((name) => `<link rel="modulepreload" crossorigin href="./${name}">`)
  return page.replace('</head>', `${links.join('')}</head>`)
}
