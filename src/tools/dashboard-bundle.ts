// The dashboard's source as files for a browser: made when building the executable, or when a server starts from source.

import { readFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { assert } from '../lib/assert.ts'

/** Name → content. */
export type Files = ReadonlyMap<string, Uint8Array<ArrayBuffer>>

const DASHBOARD = `${import.meta.dir}/../dashboard`

/** The page, and as it is where it shows a chart: a browser fetches all code of that at once, not each file's when that is there. */
export const [PAGE, CHART_PAGE] = ['index.html', 'chart.html'] as const
export const PAGES: readonly string[] = [PAGE, CHART_PAGE]

/**
 * Bun writes a style sheet for every chunk that is fetched later, and nobody fetches it. So the first page imports every
 * CSS module there is: one small sheet, each rule once, in an order that does not depend on what was opened first.
 */
const allStyles: BunPlugin = {
  name: 'all-styles',
  setup(build) {
    build.onLoad({ filter: /dashboard[\\/]main\.tsx$/ }, async ({ path }) => {
      const sheets = [...new Bun.Glob('**/*.module.css').scanSync(DASHBOARD)].map((sheet) =>
        sheet.replaceAll('\\', '/'),
      )
      // Shared parts come first, so that a part of the page may override them.
      const rank = (sheet: string) => (sheet.startsWith('ui/') ? 0 : sheet.startsWith('frame/') ? 1 : 2)
      sheets.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
      const imports = sheets.map((sheet) => `import './${sheet}'\n`).join('')
      return { contents: imports + (await Bun.file(path).text()), loader: 'tsx' }
    })
  },
}

/**
 * Typefaces stay files, of which a browser fetches those whose letters are on the page: Bun would write all of them into
 * the style sheet, where the page's policy forbids them besides. `found` is told of each.
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

/** The shared worker is a file of its own: the page names it, and it is no module so that every browser takes it. */
async function bundleWorker(): Promise<readonly [name: string, content: Uint8Array<ArrayBuffer>]> {
  const { outputs } = await Bun.build({
    entrypoints: [`${DASHBOARD}/live-worker.ts`],
    target: 'browser',
    format: 'iife',
    minify: true,
    naming: '[name]-[hash].[ext]',
  })
  const [output] = outputs
  assert(output !== undefined, 'a worker is one file')
  return [output.path.split('/').pop() ?? '', new Uint8Array(await output.arrayBuffer())]
}

/** Builds the dashboard for a browser: name → content. 50-70 ms. */
export async function bundleDashboard(): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const [worker, workerCode] = await bundleWorker()
  const faces = new Map<string, string>()
  const { outputs } = await Bun.build({
    entrypoints: [`${DASHBOARD}/index.html`],
    plugins: [allStyles, typefaces(faces)],
    target: 'browser',
    minify: true,
    splitting: true,
    // Relative: the page may be served under a path of a proxy's. In the page itself `servedAt` makes them absolute.
    publicPath: './',
    // Without both, libraries bundle their development halves: 781 kB instead of 596.
    define: { 'process.env.NODE_ENV': '"production"', LIVE_WORKER: JSON.stringify(worker) },
    conditions: ['production'],
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  })
  const files = outputs.map(async (output) => {
    const name = output.path.split('/').pop() ?? ''
    return [name, new Uint8Array(await output.arrayBuffer())] as const
  })
  const built = new Map(await Promise.all(files))
  built.set(worker, workerCode)
  for (const [name, file] of faces) built.set(name, await Bun.file(file).bytes())
  const page = new TextDecoder().decode(built.get(PAGE))
  for (const name of built.keys()) if (name.endsWith('.css') && !page.includes(name)) built.delete(name)
  built.set(CHART_PAGE, new TextEncoder().encode(withPreloads(page, built)))
  return built
}

function withPreloads(page: string, built: ReadonlyMap<string, Uint8Array>): string {
  const entry = [...built.keys()].filter((name) => /^(?:chart-page|chart)-\w+\.js$/.test(name))
  const found = new Set(entry)
  for (const name of found) {
    const code = new TextDecoder().decode(built.get(name))
    // `from "./x.js"` and `import "./x.js"`; what is written `import("./x.js")` is fetched when it is needed.
    for (const [, imported = ''] of code.matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g))
      found.add(imported)
  }
  const links = [...found].map((name) => `<link rel="modulepreload" crossorigin href="./${name}">`)
  return page.replace('</head>', `${links.join('')}</head>`)
}
