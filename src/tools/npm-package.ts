// The npm packages: `chartroom`, the engine as one ES module with its types and the command that starts the executable, and one
// a machine with that executable. The engine and the command are one package, since `npx chartroom` and `import 'chartroom'`
// can only be the same name, and nobody else may have it; who wants the engine alone leaves optional packages out.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { assert } from '../lib/assert.ts'
import packageFile from '../../package.json' with { type: 'json' }
import { declarationsOf } from './declarations.ts'
import { noticesOf } from '../server/source/licenses.ts'
import { portable } from '../server/source/portable.ts'
import { fileOf, npmNameOf, TARGETS, type Target } from './release/targets.ts'
import { smallerEngine } from './smaller-engine.ts'

const root = resolve(import.meta.dir, '../..')
const ENGINE = `${root}/src/engine`

/** The files of `chartroom` by name. */
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
    ['command.js', await launcher()],
    ['chartroom.d.ts', await declarationsOf(`${ENGINE}/engine.ts`)],
    ['package.json', `${JSON.stringify(described(), null, 2)}\n`],
    ['NOTICE', noticesOf(Object.keys(metafile?.inputs ?? {}))],
    ...[`${ENGINE}/README.md`, `${root}/LICENSE`].map(
      (path) => [path.split('/').at(-1) ?? '', readFileSync(path, 'utf8')] as const,
    ),
  ])
}

/** The files of the package with the executable of a machine. */
export function platformPackage(target: Target, executable: Uint8Array): Map<string, string | Uint8Array> {
  const { os, cpu, libc } = target
  const about = {
    ...common,
    name: npmNameOf(target),
    description: `The executable of chartroom for ${target.name}.`,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
    preferUnplugged: true,
  }
  return new Map<string, string | Uint8Array>([
    [fileOf(target), executable],
    ['package.json', `${JSON.stringify(about, null, 2)}\n`],
    ['README.md', `# ${about.name}\n\n${about.description} Install \`chartroom\`, which brings it along.\n`],
    ...['NOTICE', 'LICENSE'].map((name) => [name, readFileSync(`${root}/${name}`, 'utf8')] as const),
  ])
}

async function launcher(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [`${import.meta.dir}/release/launcher.ts`],
    target: 'node',
    format: 'esm',
    banner: '#!/usr/bin/env node',
  })
  return (await outputs[0]?.text()) ?? ''
}

const common = {
  version: packageFile.version,
  license: packageFile.license,
  repository: packageFile.repository,
}

const described = () => ({
  name: 'chartroom',
  ...common,
  description:
    "Runs Pine Script strategies and indicators with TradingView's fills: in your own program, by npx, or as a server.",
  keywords: ['pine-script', 'pinescript', 'tradingview', 'backtest', 'trading', 'indicator'],
  type: 'module',
  exports: {
    '.': { types: './chartroom.d.ts', default: './chartroom.js' },
    './package.json': './package.json',
  },
  types: './chartroom.d.ts',
  bin: { chartroom: 'command.js' },
  sideEffects: false,
  optionalDependencies: Object.fromEntries(TARGETS.map((target) => [npmNameOf(target), packageFile.version])),
  engines: { node: '>=20' },
})
