// lmdb looks for its .node file at run time through node-gyp-build-optional-packages, which cannot work inside a compiled
// executable. So this plugin names the target's file statically, and Bun embeds it.

import { existsSync } from 'node:fs'
import type { BunPlugin } from 'bun'

const TARGET = /^bun-(linux|darwin|windows)-(x64|arm64)(?:-(?:baseline|modern))?(?:-(musl|glibc))?$/

/** Replaces `ordered-binary`. */
const NO_KEYS = `
const refuse = () => { throw new Error('keys of the store are bytes') }
export const enableNullTermination = () => {}
export { refuse as writeKey, refuse as readKey, refuse as compareKeys, refuse as toBufferKey, refuse as fromBufferKey }
`

export function lmdbNative(target: string) {
  const [, os, cpu, libc = 'glibc'] = TARGET.exec(target) ?? []
  if (!os) {
    console.error(
      `--target ${target}: expected one like bun-linux-arm64, bun-darwin-arm64 or bun-windows-x64`,
    )
    process.exit(2)
  }
  const folder = `@lmdb/lmdb-${os === 'windows' ? 'win32' : os}-${cpu}`
  const file = os === 'linux' ? `node.napi.${libc}.node` : 'node.napi.node'
  const plugin: BunPlugin = {
    name: 'lmdb-native',
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]lmdb[\\/]native\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const contents = source
          .replace(/^import loadNAPI from 'node-gyp-build-optional-packages';\s*$/m, '')
          .replace(/loadNAPI\(dirName\)/, `require(${JSON.stringify(`${folder}/${file}`)})`)
        if (contents === source || contents.includes('loadNAPI'))
          throw new Error('native.js of lmdb has changed: look at this plugin again')
        return { contents, loader: 'js' }
      })
      // Its key encoding generates code at run time from the text of its own functions, whose variables the bundler
      // renames: the first key outside ASCII would throw. All our keys are bytes (`store/lmdb.ts`), so we do not need it.
      build.onLoad({ filter: /[\\/]node_modules[\\/]ordered-binary[\\/]index\.js$/ }, () => ({
        contents: NO_KEYS,
        loader: 'js',
      }))
      // Leaves out msgpackr's optional native decoder of strings; msgpackr then uses JavaScript.
      build.onResolve({ filter: /^msgpackr-extract$/ }, ({ path }) => ({ path, namespace: 'absent' }))
      build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
        contents: 'throw new Error("not bundled")',
        loader: 'js',
      }))
    },
  }
  return { plugin, isInstalled: () => existsSync(`${import.meta.dir}/../../node_modules/${folder}/${file}`) }
}
