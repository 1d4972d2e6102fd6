// `bun run build`: one executable with everything in it, dist/chartroom, and beside it server.json, by which the public registry
// of MCP servers lists it. `--target linux-arm64` builds for another machine, dist/chartroom-linux-arm64, and fetches Bun for it
// and LMDB's natives for all machines if they are not here yet.
//
// Bytecode makes the server ready in 23 ms instead of 51; it needs ESM for top-level await. Identifiers are not minified
// because Elysia reads the source text of handlers to find out what they use.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { BunPlugin } from 'bun'
import { COMPRESSED, DASHBOARD_ASSETS, LICENCE_ASSETS, PLAYGROUND } from '../server/assets.ts'
import { bundleDashboard } from '../server/source/dashboard-bundle.ts'
import { readArticles } from '../people/support/read-articles.ts'
import { LIBRARY_TEXTS } from '../language/libraries/texts.ts'
import { commandLine, refused } from './command-line.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { withoutZeros } from './elf.ts'
import { leftOut } from './left-out.ts'
import { registryFile } from './registry-file.ts'
import { LICENSES_FILE, licenseTexts } from '../server/source/licenses.ts'
import { normalOnly } from '../server/source/normal-only.ts'
import { installNatives, lmdbNative } from './lmdb-plugin.ts'
import { signedAdHoc } from './macho.ts'
import { fileOf, npmNameOf, TARGETS } from './release/targets.ts'
import { bundlePlayground, playgroundFiles } from '../server/source/playground-bundle.ts'

const root = resolve(import.meta.dir, '../..')
const HELP = `bun run build [--target linux-arm64] [--npx] [--outfile PATH] [--registry-name NAME] | --npm | --playground | --site [--outfile FOLDER]

Builds one executable with everything in it.

  --target T       Another machine's: ${TARGETS.map(({ name }) => name).join(', ')}, or as Bun names it
  --npx            And the packages for npm by which \`npx chartroom\` runs it, in dist/npx
  --outfile PATH   Where to; dist/chartroom
  --registry-name  In server.json, for the registry of MCP servers: io.github.OWNER/chartroom
  --npm            Instead: the engine and the command as a package for npm, in dist/npm
  --playground     Instead: the page that runs scripts without a server, in dist/playground
  --site           Instead: the pages for who has not got it yet, in dist/site
  --repository URL For the site: where source and releases lie, https://github.com/OWNER/chartroom`
const { values } = commandLine(HELP, {
  target: { type: 'string' },
  outfile: { type: 'string' },
  'registry-name': { type: 'string' },
  npm: { type: 'boolean' },
  npx: { type: 'boolean' },
  playground: { type: 'boolean' },
  site: { type: 'boolean' },
  repository: { type: 'string' },
})
if (values.npm) await insteadOf('npm', await (await import('./npm-package.ts')).npmPackage())
if (values.playground) await insteadOf('playground', await playgroundFiles())
if (values.site) await insteadOf('site', await (await import('./site/site.ts')).siteFiles(values.repository))
const host = `bun-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const target = TARGETS.find(({ name }) => name === values.target)?.bun ?? values.target ?? host
const released = TARGETS.find(({ bun }) => bun === target)
if (values.npx && !released) refused(HELP, `There is no package for npm with an executable for ${target}.`)
const exe = target.startsWith('bun-windows') ? '.exe' : ''
// Bun ends the names of programs for Windows so in any case.
const outfile = resolve(
  values.outfile ?? `${root}/dist/chartroom${target === host ? '' : target.replace(/^bun/, '')}`,
).replace(exe === '' ? /$/ : /(?:\.exe)?$/, exe)
/** What is made on the way, beside the executable, so that the source is only read and two builds do not meet. */
const work = workFolder()
// The executable takes its place when it is whole; by the name that it has until then its parts are called.
const unfinished = `${work}/${basename(outfile)}`
const native = lmdbNative(target)
if (!native.isInstalled()) await installNatives()

/** Writes what was made instead of an executable, and is done. */
async function insteadOf(name: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<never> {
  await writeFolder(resolve(values.outfile ?? `${root}/dist/${name}`), files)
  return process.exit(0)
}

async function writeFolder(folder: string, files: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of files) await Bun.write(`${folder}/${name}`, content)
  const bytes = [...files.keys()].reduce((sum, name) => sum + Bun.file(`${folder}/${name}`).size, 0)
  console.log(`${folder} ${(bytes / 1e3).toFixed(0)} kB in ${files.size} files`)
}

function workFolder(): string {
  try {
    mkdirSync(dirname(outfile), { recursive: true })
    const folder = mkdtempSync(`${dirname(outfile)}/.build-`)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    return folder
  } catch (error) {
    console.error(
      `${outfile} cannot be written (${(error as Error).message}). Name another place: --outfile PATH`,
    )
    return process.exit(1)
  }
}

/** Brotli at its best takes seconds, which is too long for a start. */
function compressed(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
}

function newFolder(name: string): string {
  const folder = `${work}/${name}`
  mkdirSync(folder)
  return folder
}

/**
 * Keeps texts as compressed files: in the code one would take more than twice the room, since it stands in the bytecode once
 * more. The files are on no disk, whose paths would get into the names of the executable's parts.
 */
const packedTexts: BunPlugin = {
  name: 'packed-texts',
  setup(build) {
    const files = new Map<string, Uint8Array>()
    const codeOf = (name: string, bytes: Uint8Array) => {
      files.set(name, compressed(bytes))
      return `import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import path from 'packed:${name}' with { type: 'file' }
const read = () => brotliDecompressSync(readFileSync(path)).toString()
`
    }
    build.onResolve({ filter: /^packed:/ }, ({ path }) => ({ path: path.slice(7), namespace: 'packed' }))
    build.onLoad({ filter: /.*/, namespace: 'packed' }, ({ path }) => ({
      contents: files.get(path)!,
      loader: 'file',
    }))
    // The sample bars are read at the first start only, common passwords when somebody chooses one, the client when it is
    // fetched.
    build.onLoad({ filter: /\.(?:csv|py|txt)$/ }, ({ path }) => ({
      contents: `${codeOf(basename(path), readFileSync(path))}export default read()`,
      loader: 'js',
    }))
    // Libraries are read when a script imports the first.
    build.onLoad({ filter: /[\\/]libraries[\\/]texts\.ts$/ }, () => ({
      contents: `${codeOf('libraries.json', Buffer.from(JSON.stringify(LIBRARY_TEXTS)))}
const known = {}
export const libraryText = (name) => (known.texts ??= JSON.parse(read()))[name] ?? ''`,
      loader: 'js',
    }))
    // The manual is read for the support chat and for agents.
    build.onLoad({ filter: /[\\/]src[\\/]people[\\/]support[\\/]articles\.ts$/ }, () => ({
      contents: `${codeOf('articles.json', Buffer.from(JSON.stringify(readArticles())))}
import { parseArticle } from './support.ts'
export const ARTICLES = Object.entries(JSON.parse(read())).map(([id, text]) => parseArticle(id, text))`,
      loader: 'js',
    }))
  },
}

const dashboard = newFolder(DASHBOARD_ASSETS)
for (const [name, bytes] of await bundleDashboard())
  // The page gets absolute addresses when it is served, and typefaces are compressed already.
  if (/\.(js|css|svg)$/.test(name)) writeFileSync(`${dashboard}/${name}${COMPRESSED}`, compressed(bytes))
  else writeFileSync(`${dashboard}/${name}`, bytes)
writeFileSync(`${dashboard}/${PLAYGROUND}${COMPRESSED}`, compressed(Buffer.from(await bundlePlayground())))
const licences = newFolder(LICENCE_ASSETS)
writeFileSync(`${licences}/${LICENSES_FILE}${COMPRESSED}`, compressed(Buffer.from(licenseTexts())))

const result = await Bun.build({
  entrypoints: ['main.ts', 'work/workers/worker.ts', 'people/search/worker.ts'].map(
    (file) => `${root}/src/${file}`,
  ),
  root: `${root}/src`,
  target: 'bun',
  format: 'esm',
  // With splitting, a command loads only its own part of the executable: `--version` takes 6 ms instead of 30.
  splitting: true,
  minify: { whitespace: true, syntax: true, identifiers: false },
  bytecode: true,
  // Source maps would take 3.3 MB. Without them a stack in the log names functions, which keep their names, but no lines of ours.
  sourcemap: 'none',
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [native.plugin, packedTexts, leftOut, normalOnly],
  compile: {
    target: target as Bun.Build.CompileTarget,
    outfile: unfinished,
    assets: [dashboard, licences],
    // The executable must not read a .env or bunfig.toml in the folder it is started in.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
})
for (const line of result.logs) console.error(line.message)
if (!result.success) process.exit(1)
const executable = withoutZeros(readFileSync(unfinished))
writeFileSync(
  unfinished,
  target.startsWith('bun-darwin-x64') ? signedAdHoc(executable, 'chartroom') : executable,
)
renameSync(unfinished, outfile)
const listed = registryFile({
  ...packageFile,
  name: values['registry-name'] ?? 'io.github.chartroom/chartroom',
})
if (values.outfile === undefined)
  writeFileSync(`${dirname(outfile)}/server.json`, `${JSON.stringify(listed, null, 2)}\n`)
console.log(`${outfile} ${(Bun.file(outfile).size / 1e6).toFixed(1)} MB for ${target}`)
if (values.npx && released) {
  const { npmPackage, platformPackage } = await import('./npm-package.ts')
  const folder = `${dirname(outfile)}/npx`
  await writeFolder(`${folder}/chartroom`, await npmPackage())
  await writeFolder(`${folder}/${npmNameOf(released)}`, platformPackage(released, readFileSync(outfile)))
  chmodSync(`${folder}/${npmNameOf(released)}/${fileOf(released)}`, 0o755)
}
