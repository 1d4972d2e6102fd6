// The npm package as a stranger has it: built, installed into an empty folder, and used by what its README says.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { chromium } from 'playwright-core'
import { barsFromCsv } from '../../src/engine/engine.ts'
import { bundledVersions } from '../../src/language/libraries/bundled.ts'
import { LIBRARY_TEXTS } from '../../src/language/libraries/texts.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { foundChromium, launchOptions } from '../browser/chromium.ts'
import { isLong } from '../long.ts'
import { repositoryScripts, serversReport, withoutTimings } from './repository-scripts.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const root = `${import.meta.dir}/../..`
const node = Bun.which('node')
if (node === null) console.warn('No Node found: the package is tried on Bun alone.')
const RUNTIMES = [process.execPath, ...(node === null ? [] : [node])]

const folder = mkdtempSync(`${tmpdir()}/chartroom-package-`)
const installed = `${folder}/node_modules/chartroom`
afterAll(() => rmSync(folder, { recursive: true }))

async function output(command: readonly string[], cwd = folder): Promise<string> {
  const child = Bun.spawn([...command], { cwd, stdout: 'pipe', stderr: 'pipe' })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return (await child.exited) === 0 ? out : `${out}${err}`
}

beforeAll(async () => {
  await output([process.execPath, 'src/tools/build.ts', '--npm', '--outfile', installed], root)
}, 60_000)

/** Each example of the README with what it says that it prints. */
function examples(): { readonly code: string; readonly prints: string }[] {
  const text = readFileSync(`${installed}/README.md`, 'utf8')
  return [...text.matchAll(/```js\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(
    ([, code = '', prints = '']) => ({
      code,
      prints,
    }),
  )
}

test('the package is one module of at most 700 kB that needs no other package and nothing of Bun or Node', () => {
  const described = JSON.parse(readFileSync(`${installed}/package.json`, 'utf8')) as object
  // Those of the command, which the module knows nothing of.
  expect(Object.keys(described).filter((key) => /dependencies/i.test(key))).toEqual(['optionalDependencies'])
  // Tools read the version there.
  expect(described).toMatchObject({ exports: { './package.json': './package.json' } })
  const code = readFileSync(`${installed}/chartroom.js`, 'utf8')
  expect(Buffer.byteLength(code)).toBeLessThan(700_000)
  expect(
    code.match(/\bBun\.\w+|\bBuffer\.\w+|\bTemporal\.|["'](?:node|bun):\w+|\bprocess\.\w+|\brequire\(/g),
  ).toBeNull()
})

test.each(RUNTIMES)('it has the libraries that TradingView publishes on %s', async (runtime) => {
  const names = Object.keys(LIBRARY_TEXTS)
  const imports = names.map((name) => {
    const [, last = 0] = bundledVersions('TradingView', name) ?? []
    return `import TradingView/${name}/${last}`
  })
  writeFileSync(
    `${folder}/libraries.mjs`,
    `import { check } from 'chartroom'
console.log(check(${JSON.stringify(['//@version=6', 'indicator("x")', ...imports, 'plot(ta.dema(close, 9))'].join('\n'))}))`,
  )
  expect(names.length).toBeGreaterThan(8)
  expect(await output([runtime, 'libraries.mjs'])).toContain('ok: true')
})

test.each(RUNTIMES)(
  'the examples of its README print what they say on %s',
  async (runtime) => {
    expect(examples()).toHaveLength(3)
    for (const [i, { code, prints }] of examples().entries()) {
      writeFileSync(`${folder}/example-${i}.mjs`, code)
      expect(await output([runtime, `example-${i}.mjs`])).toBe(prints)
    }
  },
  60_000,
)

test('its types know what the examples use, and refuse what it does not take', async () => {
  const options = {
    target: 'ESNext',
    module: 'Preserve',
    moduleResolution: 'bundler',
    lib: ['ESNext', 'DOM'],
    types: [],
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions: options, include: ['*.ts'] }))
  writeFileSync(
    `${folder}/use.ts`,
    `import { barsFromRows, check, report, run, sweep, type Market, type Report } from 'chartroom'
const market: Market = barsFromRows([[0, 1, 2, 0.5, 1, 3]], { interval: '1d', facts: { mintick: 0.01 } })
const made: Report = report('x', market, { inputs: { Length: 5 }, others: [market], finer: market })
const profit: number = made.equity.netProfit
const line: number | undefined = check('x').diagnostics[0]?.line
for (const track of run('x', market).tracks) if (track.kind === 'plot') console.log(track.title, profit, line)
void sweep('x', market, { space: [{ input: 'Length', min: 1, max: 5, step: 1 }] })
// @ts-expect-error
run(1, market)
// @ts-expect-error
run('x', market, { input: {} })
// @ts-expect-error
console.log(made.equity.profit)
`,
  )
  expect(await output([process.execPath, 'check', '--no-script', '-p', '.'])).toBe('')
})

/** A different part of the scripts each time; in a long run all that are asked for. */
function chosen(count: number) {
  const random = seededRandom(SEED)
  const keyed = repositoryScripts().map((script) => ({ script, key: random.uniform() }))
  return keyed
    .toSorted((a, b) => a.key - b.key)
    .slice(0, count)
    .map(({ script }) => script)
}

test(`scripts of the repository have the server's report byte by byte, seed ${SEED}`, async () => {
  const csv = readFileSync(`${root}/node_modules/@observablehq/sample-datasets/aapl.csv`, 'utf8')
  const bars = csv
    .split('\n')
    .slice(0, isLong ? Infinity : 300)
    .join('\n')
  const market = await barsFromCsv(bars, { symbol: 'NASDAQ:AAPL' })
  const scripts = chosen(isLong ? 200 : 20)
  const expected: string[] = []
  for (const { source } of scripts) expected.push(await serversReport(source, market))
  writeFileSync(`${folder}/scripts.json`, JSON.stringify({ bars, scripts }))
  writeFileSync(
    `${folder}/reports.mjs`,
    `import { readFileSync } from 'node:fs'
import { barsFromCsv, run } from 'chartroom'
const { bars, scripts } = JSON.parse(readFileSync('scripts.json', 'utf8'))
const market = await barsFromCsv(bars, { symbol: 'NASDAQ:AAPL' })
const reportOf = ({ source }) => {
  try {
    return run(source, market).reportJson()
  } catch (error) {
    return \`\${error.code}: \${error.message}\`
  }
}
console.log(JSON.stringify(scripts.map(reportOf)))`,
  )
  const [, runtime = process.execPath] = RUNTIMES
  const found = JSON.parse(await output([runtime, 'reports.mjs'])) as string[]
  for (const [i, { name }] of scripts.entries())
    expect([name, withoutTimings(found[i]!)]).toEqual([name, expected[i]!])
  expect(found.filter((text) => text.startsWith('{')).length).toBeGreaterThan(scripts.length / 3)
}, 180_000)

const CHROMIUM = foundChromium()

test.skipIf(CHROMIUM === null)(
  'the examples print the same in a browser',
  async () => {
    const server = Bun.serve({
      port: 0,
      routes: {
        '/chartroom.js': new Response(Bun.file(`${installed}/chartroom.js`)),
        '/': new Response(`<script type="importmap">{"imports":{"chartroom":"/chartroom.js"}}</script>`, {
          headers: { 'content-type': 'text/html' },
        }),
      },
    })
    const browser = await chromium.launch(launchOptions(CHROMIUM!))
    const page = await browser.newPage()
    try {
      for (const { code, prints } of examples()) {
        const lines: string[] = []
        page.removeAllListeners('console')
        page.on('console', (message) => lines.push(`${message.text()}\n`))
        await page.goto(server.url.href)
        await page.evaluate((module) => import(`data:text/javascript,${encodeURIComponent(module)}`), code)
        expect(lines.join('')).toBe(prints)
      }
    } finally {
      await browser.close()
      await server.stop(true)
    }
  },
  60_000,
)
