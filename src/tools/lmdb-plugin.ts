// lmdb looks for its .node file at run time through node-gyp-build-optional-packages, which cannot work inside a compiled
// executable. So the file for the target is named statically, and Bun embeds it.

import { existsSync } from 'node:fs'
import type { BunPlugin } from 'bun'

const TARGET = /^bun-(linux|darwin|windows)-(x64|arm64)(?:-(?:baseline|modern))?(?:-(musl|glibc))?$/

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
      // msgpackr's optional native decoder of strings: the one in JavaScript is used.
      build.onResolve({ filter: /^msgpackr-extract$/ }, ({ path }) => ({ path, namespace: 'absent' }))
      build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
        contents: 'throw new Error("not bundled")',
        loader: 'js',
      }))
    },
  }
  return { plugin, isInstalled: () => existsSync(`${import.meta.dir}/../../node_modules/${folder}/${file}`) }
}
