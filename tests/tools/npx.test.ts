// `npx chartroom` as a stranger has it: the packages packed by npm, served by a registry, and run in an empty home. Takes as
// long as it takes to pack an executable, so `TEST_LONG=1` alone does it; `launcher.test.ts` has the parts that do not.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename } from 'node:path'
import { npmPackage, platformPackage } from '../../src/tools/npm-package.ts'
import { npmNameOf, TARGETS } from '../../src/tools/release/targets.ts'
import { builtExecutable } from '../executable/built.ts'
import { csvOf } from '../executable/server.ts'

const npx = Bun.which('npx')
const here = TARGETS.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
const isPossible = npx !== null && here !== undefined && existsSync(builtExecutable)

const folder = mkdtempSync(`${tmpdir()}/chartroom-npx-`)
const home = `${folder}/home`
afterAll(() => rmSync(folder, { recursive: true }))

/** Packs with npm what a build would write. Answers the tarball's path. */
async function packed(name: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<string> {
  const place = `${folder}/packages/${name}`
  for (const [file, content] of files) await Bun.write(`${place}/${file}`, content)
  for (const file of ['chartroom', 'chartroom.exe'])
    if (existsSync(`${place}/${file}`)) chmodSync(`${place}/${file}`, 0o755)
  const pack = [
    'npm',
    'pack',
    '--json',
    '--cache',
    `${folder}/cache`,
    '--pack-destination',
    `${folder}/tarballs`,
  ]
  const { out } = await ran(pack, place)
  return `${folder}/tarballs/${(JSON.parse(out) as { filename: string }[])[0]!.filename}`
}

let registry: Bun.Server<undefined>
const fetched: string[] = []

/** What npm asks of a registry: each package's versions with their sums, and the tarballs. */
function serve(packages: ReadonlyMap<string, { readonly about: object; readonly tarball: string | null }>) {
  return Bun.serve({
    port: 0,
    fetch({ url }) {
      const { pathname, origin } = new URL(url)
      const name = decodeURIComponent(pathname.slice(1))
      const tarball = [...packages.values()].find(
        (one) => one.tarball !== null && basename(one.tarball) === basename(name),
      )
      if (tarball) {
        fetched.push(basename(name))
        return new Response(Bun.file(tarball.tarball!))
      }
      const known = packages.get(name)
      if (!known) return new Response('{"error":"not found"}', { status: 404 })
      const { version } = known.about as { version: string }
      const dist = {
        tarball: `${origin}/-/${basename(known.tarball ?? `${name}.tgz`)}`,
        integrity: `sha512-${new Bun.CryptoHasher('sha512').update(known.tarball ? readFileSync(known.tarball) : '').digest('base64')}`,
      }
      return Response.json({
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { ...known.about, dist } },
      })
    },
  })
}

function spawn(command: readonly string[], cwd = home) {
  return Bun.spawn([...command], {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TMPDIR: tmpdir(),
      npm_config_registry: registry?.url.href ?? '',
      npm_config_update_notifier: 'false',
      FEEDS: 'off',
    },
  })
}

async function ran(command: readonly string[], cwd = home) {
  const child = spawn(command, cwd)
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { out, err, code }
}

const aboutOf = (files: ReadonlyMap<string, string | Uint8Array>) =>
  JSON.parse(String(files.get('package.json'))) as object

beforeAll(async () => {
  if (!isPossible) return
  mkdirSync(home)
  mkdirSync(`${folder}/tarballs`)
  const main = await npmPackage()
  const packages = new Map([
    ['chartroom', { about: aboutOf(main), tarball: await packed('chartroom', main) }],
  ])
  for (const target of TARGETS) {
    const files = platformPackage(target, target === here ? readFileSync(builtExecutable) : new Uint8Array())
    // Of the others only the descriptions: npm has to see by them that they are not for this machine.
    const tarball = target === here ? await packed(npmNameOf(target), files) : null
    packages.set(npmNameOf(target), { about: aboutOf(files), tarball: tarball! })
  }
  registry = serve(packages)
}, 300_000)
afterAll(() => registry?.stop(true))

test.skipIf(!isPossible)(
  'npx chartroom backtest runs a script on a file, with the executable of this machine alone',
  async () => {
    writeFileSync(
      `${home}/x.pine`,
      '//@version=6\nstrategy("x")\nif close > open\n    strategy.entry("L", strategy.long)\nelse\n    strategy.close("L")',
    )
    writeFileSync(`${home}/b.csv`, csvOf(200))
    const { out, code } = await ran([npx!, '--yes', 'chartroom', 'backtest', 'x.pine', '--bars', 'b.csv'])
    expect(code).toBe(0)
    expect(out).toContain('Net profit')
    expect(fetched.toSorted()).toEqual(readdirSync(`${folder}/tarballs`).toSorted())
    expect(await ran([npx!, '--yes', 'chartroom', 'nothing'])).toMatchObject({ code: 2 })
  },
  120_000,
)

test.skipIf(!isPossible)(
  'npx chartroom serve answers, and a SIGTERM to npx stops the server in order',
  async () => {
    const child = spawn([npx!, '--yes', 'chartroom', 'serve', '--port', '0'])
    let log = ''
    let port: string | undefined
    for await (const chunk of child.stderr) {
      log += new TextDecoder().decode(chunk)
      port ??= /"message":"listening".*"port":(\d+)/.exec(log)?.[1]
      if (port === undefined || log.includes('"message":"stopp')) continue
      expect((await fetch(`http://127.0.0.1:${port}/api/health`)).status).toBe(200)
      child.kill('SIGTERM')
    }
    expect(log).toContain('"message":"stopping","signal":"SIGTERM"')
    await child.exited
    expect(await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null)).toBeNull()
  },
  120_000,
)

test.skipIf(!isPossible)(
  'the same package, installed from its tarball, runs scripts in a program',
  async () => {
    const [main] = readdirSync(`${folder}/tarballs`).filter((name) => /^chartroom-\d/.test(name))
    expect(await ran(['npm', 'install', '--omit=optional', `${folder}/tarballs/${main}`])).toMatchObject({
      code: 0,
    })
    writeFileSync(
      `${home}/use.mjs`,
      `import { check } from 'chartroom'\nconsole.log(check('plot(clse)').diagnostics[0].code)`,
    )
    expect((await ran(['node', 'use.mjs'])).out).toBe('no-declaration\n')
    const { err, code } = await ran(['npx', 'chartroom', '--version'])
    expect(code).toBe(1)
    expect(err).toContain(`npm install ${npmNameOf(here!)}@`)
  },
  120_000,
)
