// What the engine has of Bun and Node, and what stands in its place where neither is: in browsers, and in the npm package.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { normalOnly } from './normal-only.ts'

const src = resolve(import.meta.dir, '../..')

/** A file of the source → the one of `engine/portable/` that exports the same. */
const INSTEAD: Readonly<Record<string, string>> = {
  'lib/sha256.ts': 'sha256.ts',
  'lib/number-text.ts': 'number-text.ts',
  'lib/turn.ts': 'turn.ts',
  'market/zone-rules.ts': 'zone-rules.ts',
  'market/files/unpack.ts': 'unpack.ts',
  'market/files/parquet.ts': 'tables.ts',
  'market/files/arrow.ts': 'tables.ts',
}

/** Of a library's text, whose comments are for readers of the source. The lines stay, since errors name them. */
export const withoutComments = (text: string): string => text.replaceAll(/^ *\/\/(?!@).*$/gm, '')

export const portable: BunPlugin = {
  name: 'portable',
  setup(build) {
    void normalOnly.setup(build)
    build.onLoad({ filter: /[\\/]language[\\/]libraries[\\/].*\.pine$/ }, ({ path }) => ({
      contents: withoutComments(readFileSync(path, 'utf8')),
      loader: 'text',
    }))
    const names = Object.keys(INSTEAD).map((name) => name.split('/').at(-1))
    build.onResolve(
      { filter: new RegExp(`/(?:${names.join('|').replaceAll('.', '\\.')})$`) },
      ({ path, importer }) => {
        const file = resolve(importer, '..', path)
        const instead = INSTEAD[file.slice(src.length + 1).replaceAll('\\', '/')]
        return instead === undefined ? undefined : { path: `${src}/engine/portable/${instead}` }
      },
    )
  },
}
