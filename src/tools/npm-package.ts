// The npm package `chartroom`: the engine as one ES module, its types, and what a package says of itself.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { assert } from '../lib/assert.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { declarationsOf } from './declarations.ts'
import { noticesOf } from '../server/source/licenses.ts'
import { portable } from '../server/source/portable.ts'
import { smallerEngine } from './smaller-engine.ts'

const root = resolve(import.meta.dir, '../..')
const ENGINE = `${root}/src/engine`

/** Its files by name. */
export async function npmPackage(): Promise<Map<string, string>> {
  const { outputs, metafile } = await Bun.build({
    metafile: true,
    entrypoints: [`${ENGINE}/engine.ts`],
    target: 'browser',
    format: 'esm',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [portable, smallerEngine],
  })
  const [code] = outputs
  assert(code !== undefined && outputs.length === 1, 'the engine is one module')
  return new Map([
    ['chartroom.js', await code.text()],
    ['chartroom.d.ts', await declarationsOf(`${ENGINE}/engine.ts`)],
    ['package.json', `${JSON.stringify(described(), null, 2)}\n`],
    ['NOTICE', noticesOf(Object.keys(metafile?.inputs ?? {}))],
    ...[`${ENGINE}/README.md`, `${root}/LICENSE`].map(
      (path) => [path.split('/').at(-1) ?? '', readFileSync(path, 'utf8')] as const,
    ),
  ])
}

const described = () => ({
  name: 'chartroom',
  version: packageFile.version,
  description: "Runs Pine Script strategies and indicators in your own process, with TradingView's fills.",
  license: packageFile.license,
  keywords: ['pine-script', 'pinescript', 'tradingview', 'backtest', 'trading', 'indicator'],
  type: 'module',
  exports: { '.': { types: './chartroom.d.ts', default: './chartroom.js' } },
  types: './chartroom.d.ts',
  sideEffects: false,
  engines: { node: '>=20' },
})
