// `bun run build`: one executable with everything in it, dist/chartroom. `--target bun-linux-arm64` builds for another
// machine, dist/chartroom-linux-arm64, and fetches LMDB's natives for all machines if they are not here yet.
//
// Bytecode makes the server ready in 23 ms instead of 51; it needs ESM for top-level await. Identifiers are not minified
// because Elysia reads the source text of handlers to find out what they use.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { BunPlugin } from 'bun'
import { COMPRESSED, DASHBOARD_ASSETS, LICENCE_ASSETS } from '../server/assets.ts'
import { assert } from '../lib/assert.ts'
import { bundleDashboard } from '../server/source/dashboard-bundle.ts'
import { readArticles } from '../people/support/read-articles.ts'
import { LIBRARY_TEXTS } from '../language/libraries/texts.ts'
import { commandLine } from './command-line.ts'
import { LICENSES_FILE, licenseTexts } from '../server/source/licenses.ts'
import { lmdbNative } from './lmdb-plugin.ts'

const root = resolve(import.meta.dir, '../..')
const HELP = `bun run build [--target bun-linux-arm64] [--outfile PATH]

Builds one executable with everything in it.

  --target T       Another machine's, as Bun names them
  --outfile PATH   Where to; dist/chartroom`
const { values } = commandLine(HELP, { target: { type: 'string' }, outfile: { type: 'string' } })
const host = `bun-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const target = values.target ?? host
const outfile = values.outfile ?? `${root}/dist/chartroom${target === host ? '' : target.replace(/^bun/, '')}`
const native = lmdbNative(target)
if (!native.isInstalled()) {
  // The lock file names the natives of all machines; an install keeps only those of this one.
  const install = [process.execPath, 'install', '--frozen-lockfile', '--silent', '--os=*', '--cpu=*']
  if ((await Bun.spawn(install, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).exited) !== 0)
    process.exit(1)
}

/** Brotli at its best takes seconds, which is too long for a start. */
function writeCompressed(folder: string, name: string, bytes: Uint8Array): void {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  writeFileSync(`${folder}/${name}${COMPRESSED}`, brotliCompressSync(bytes, { params }))
}

function emptyFolder(name: string): string {
  const folder = `${root}/dist/${name}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

/** How every part of jstat ends. */
const SECTION_END = '}(jStat, Math));\n'

const MAKERS =
  /[\\/]@simplewebauthn[\\/]server[\\/]esm[\\/](?:registration[\\/]verifications|metadata|helpers[\\/](?:convertX509|mapX509|validateC|validateExt|getCertificateInfo|isCertRevoked)|services[\\/](?:metadataService|defaultRootCerts)).*\.js$/

/**
 * Code whose `read` gives this text, which is kept as a compressed file: in the code it would take more than twice the room, since
 * a text stands in the bytecode once more.
 */
function embeddedText(name: string, bytes: Uint8Array): string {
  const folder = emptyFolder(`texts/${name}`)
  writeCompressed(folder, name, bytes)
  return `import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import path from ${JSON.stringify(`${folder}/${name}${COMPRESSED}`)} with { type: 'file' }
const read = () => brotliDecompressSync(readFileSync(path)).toString()
`
}

/** Leaves out or compresses what would take much room: a byte of code takes four, since the bytecode is in the executable too. */
const small: BunPlugin = {
  name: 'small',
  setup(build) {
    // The sample bars are read at the first start only, common passwords when somebody chooses one, the client when it is
    // fetched.
    build.onLoad({ filter: /\.(?:csv|py|txt)$/ }, ({ path }) => ({
      contents: `${embeddedText(basename(path), readFileSync(path))}export default read()`,
      loader: 'js',
    }))
    // Libraries are read when a script imports the first.
    build.onLoad({ filter: /[\\/]libraries[\\/]texts\.ts$/ }, () => ({
      contents: `${embeddedText('libraries.json', Buffer.from(JSON.stringify(LIBRARY_TEXTS)))}
const known = {}
export const libraryText = (name) => (known.texts ??= JSON.parse(read()))[name] ?? ''`,
      loader: 'js',
    }))
    // The manual is read for the support chat and for agents.
    build.onLoad({ filter: /[\\/]src[\\/]people[\\/]support[\\/]articles\.ts$/ }, () => ({
      contents: `${embeddedText('articles.json', Buffer.from(JSON.stringify(readArticles())))}
import { parseArticle } from './support.ts'
export const ARTICLES = Object.entries(JSON.parse(read())).map(([id, text]) => parseArticle(id, text))`,
      loader: 'js',
    }))
    // Of jstat only the normal distribution is used. What stands behind the distributions (matrices, tests, models) is half of it.
    build.onLoad({ filter: /[\\/]jstat[\\/]dist[\\/]jstat\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const from = text.indexOf(SECTION_END, text.indexOf('jStat.normal, {')) + SECTION_END.length
      const to = text.indexOf('  // Make it compatible with previous version.')
      assert(from > SECTION_END.length && to > from, 'jstat has its distributions before what is left out')
      return { contents: text.slice(0, from) + text.slice(to), loader: 'js' }
    })
    // Which ending a type of file has: what our letters have attached says both.
    build.onLoad({ filter: /[\\/]nodemailer[\\/]dist[\\/]esm[\\/]mime-funcs[\\/]mime-types\.js$/ }, () => ({
      contents: `export const detectMimeType = () => 'application/octet-stream'
export const detectExtension = () => 'bin'`,
      loader: 'js',
    }))
    // The hosts of well-known services of mail, for who names a service instead of a host. SMTP_URL names the host.
    build.onLoad({ filter: /[\\/]nodemailer[\\/]dist[\\/]esm[\\/]well-known[\\/]services\.js$/ }, () => ({
      contents: 'export const services = {}',
      loader: 'js',
    }))
    // The ways to send mail other than SMTP, which is the only one of ours; what signs it, which the
    // mail server does, and what fetches attachments and tokens from elsewhere.
    build.onLoad(
      {
        filter:
          /[\\/]nodemailer[\\/]dist[\\/]esm[\\/](?:(?:sendmail|ses|stream|json)-transport|dkim|fetch|xoauth2)[\\/]/,
      },
      () => ({
        contents: `export default class { constructor() { throw new Error('not bundled') } }`,
        loader: 'js',
      }),
    )
    // Elysia looks into uploaded files with this package, and does without it where it is missing. No route takes such files.
    build.onResolve({ filter: /^file-type$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: 'throw new Error("not bundled")',
      loader: 'js',
    }))
    // The SDK checks with it what a person fills in for an agent's tool. No tool of ours asks people for anything.
    build.onLoad({ filter: /[\\/]validation[\\/]ajv-provider\.js$/ }, () => ({
      contents: `export class AjvJsonSchemaValidator { getValidator() { throw new Error('not bundled') } }`,
      loader: 'js',
    }))
    // Of the passkeys' package what has to do with the makers of authenticators, whom nobody asks here: their certificates
    // and lists, with all of X.509 behind them. Of elliptic curves it needs the form of a signature.
    build.onResolve({ filter: /^@peculiar\/asn1-ecc$/ }, ({ path, importer }) => {
      const index = Bun.resolveSync(path, importer)
      return { path: index.replace(/build[\\/].*$/, 'build/es2015/ec_signature_value.js') }
    })
    build.onLoad({ filter: MAKERS }, ({ path }) => {
      const names = [
        ...readFileSync(path, 'utf8').matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm),
      ]
      return {
        contents: names
          .map(([, name = '']) => `export function ${name}() { throw new Error('not bundled') }`)
          .join('\n'),
        loader: 'js',
      }
    })
  },
}

const dashboard = emptyFolder(DASHBOARD_ASSETS)
for (const [name, bytes] of await bundleDashboard())
  // The page gets absolute addresses when it is served, and typefaces are compressed already.
  if (/\.(js|css|svg)$/.test(name)) writeCompressed(dashboard, name, bytes)
  else writeFileSync(`${dashboard}/${name}`, bytes)
const licences = emptyFolder(LICENCE_ASSETS)
writeCompressed(licences, LICENSES_FILE, Buffer.from(licenseTexts()))

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
  plugins: [native.plugin, small],
  compile: {
    target: target as Bun.Build.CompileTarget,
    outfile,
    assets: [dashboard, licences],
    // The executable must not read a .env or bunfig.toml in the folder it is started in.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
})
for (const line of result.logs) console.error(line.message)
if (!result.success) process.exit(1)
const size = Bun.file(outfile).size || Bun.file(`${outfile}.exe`).size
console.log(`${outfile} ${(size / 1e6).toFixed(1)} MB for ${target}`)
