// lmdb looks for its .node file at run time through node-gyp-build-optional-packages, which cannot work inside a compiled
// executable. So this plugin names the target's file statically, and Bun embeds it, without its symbols for debuggers: they are
// four fifths of it, and an executable holds what it embeds in memory.

import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { withoutSymbols } from './elf.ts'
import { lmdbOf } from './release/targets.ts'

const TARGET = /^bun-(linux|darwin|windows)-(x64|arm64)(?:-(?:baseline|modern))?(?:-(musl|glibc))?$/

const root = resolve(import.meta.dir, '../..')

/** Replaces `ordered-binary`. */
const NO_KEYS = `
const refuse = () => { throw new Error('keys of the store are bytes') }
export const enableNullTermination = () => {}
export { refuse as writeKey, refuse as readKey, refuse as compareKeys, refuse as toBufferKey, refuse as fromBufferKey }
`

/** Replaces `msgpackr`. */
const NO_VALUES = `
export class Encoder { constructor() { throw new Error('values of the store are texts or bytes') } }
`

/** The lock file names the natives of all machines; an install keeps only those of this one. Ends the program if it fails. */
export async function installNatives(): Promise<void> {
  const install = [process.execPath, 'install', '--frozen-lockfile', '--silent', '--os=*', '--cpu=*']
  const { exited } = Bun.spawn(install, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if ((await exited) !== 0) process.exit(1)
}

export function lmdbNative(target: string) {
  const [, os, cpu, libc = 'glibc'] = TARGET.exec(target) ?? []
  if (!os) {
    console.error(
      `--target ${target}: expected one like bun-linux-arm64, bun-darwin-arm64 or bun-windows-x64`,
    )
    process.exit(2)
  }
  const { package: folder, file } = lmdbOf({
    os: os === 'windows' ? 'win32' : (os as 'linux' | 'darwin'),
    cpu: cpu as 'x64' | 'arm64',
    ...(os === 'linux' && { libc: libc as 'glibc' | 'musl' }),
  })
  const plugin: BunPlugin = {
    name: 'lmdb-native',
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]lmdb[\\/]native\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const contents = source
          .replace(/^import loadNAPI from 'node-gyp-build-optional-packages';\s*$/m, '')
          .replace(/loadNAPI\(dirName\)/, `require('lmdb-native:${file}')`)
        if (contents === source || contents.includes('loadNAPI'))
          throw new Error('native.js of lmdb has changed: look at this plugin again')
        return { contents, loader: 'js' }
      })
      build.onResolve({ filter: /^lmdb-native:/ }, ({ path }) => ({
        path: path.slice('lmdb-native:'.length),
        namespace: 'lmdb-native',
      }))
      build.onLoad({ filter: /.*/, namespace: 'lmdb-native' }, () => ({
        contents: withoutSymbols(readFileSync(`${root}/node_modules/${folder}/${file}`)),
        loader: 'napi',
      }))
      // Its key encoding generates code at run time from the text of its own functions, whose variables the bundler
      // renames: the first key outside ASCII would throw. All our keys are bytes (`store/lmdb.ts`), so we do not need it.
      build.onLoad({ filter: /[\\/]node_modules[\\/]ordered-binary[\\/]index\.js$/ }, () => ({
        contents: NO_KEYS,
        loader: 'js',
      }))
      // Our values are texts and bytes, which lmdb does not encode.
      build.onLoad({ filter: /[\\/]node_modules[\\/]msgpackr[\\/](?:node-)?index\.js$/ }, () => ({
        contents: NO_VALUES,
        loader: 'js',
      }))
    },
  }
  return { plugin, isInstalled: () => existsSync(`${root}/node_modules/${folder}/${file}`) }
}
