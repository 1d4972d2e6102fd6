// lmdb picks its .node file at run time through node-gyp-build-optional-packages, which cannot work inside a compiled
// executable. Name the file for the target statically, so that Bun embeds it.
import type { BunPlugin } from 'bun'
export function lmdbNative(target: string): BunPlugin {
  const [, os, arch, libc] =
    /^bun-(linux|darwin|windows)-(x64|arm64|aarch64)(?:-(?:baseline|modern))?(?:-(musl|glibc))?/.exec(
      target,
    ) ?? []
  if (!os) throw new Error(`lmdb plugin: target ${target} not understood`)
  const plat = os === 'windows' ? 'win32' : os,
    a = arch === 'aarch64' ? 'arm64' : arch
  const pkg = `@lmdb/lmdb-${plat}-${a}`,
    file =
      plat === 'linux' ? (libc === 'musl' ? 'node.napi.musl.node' : 'node.napi.glibc.node') : 'node.napi.node'
  return {
    name: 'lmdb-native',
    setup(b) {
      b.onLoad({ filter: /[\\/]node_modules[\\/]lmdb[\\/]native\.js$/ }, async (l) => {
        const s = await Bun.file(l.path).text()
        const o = s
          .replace(/^import loadNAPI from 'node-gyp-build-optional-packages';\s*$/m, '')
          .replace(/loadNAPI\(dirName\)/, `require(${JSON.stringify(`${pkg}/${file}`)})`)
        if (o === s || o.includes('loadNAPI'))
          throw new Error('lmdb plugin: native.js has changed; look at it again')
        return { contents: o, loader: 'js' }
      })
      // optional native string decoder of msgpackr: not needed (pure JS path is used), keep it out
      b.onResolve({ filter: /^msgpackr-extract$/ }, () => ({ path: 'msgpackr-extract', namespace: 'absent' }))
      b.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
        contents: 'throw new Error("not bundled")',
        loader: 'js',
      }))
    },
  }
}
