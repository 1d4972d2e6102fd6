// Every flag that a command takes stands in its help: one that does not can only be found in the source.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { chartroom, temporaryFolder } from './run.ts'

const FOLDER = `${import.meta.dir}/../../src/cli`
const files = [...new Bun.Glob('*.ts').scanSync(FOLDER)].toSorted()
const sources = new Map<string, string>()
for (const file of files) sources.set(file, await Bun.file(`${FOLDER}/${file}`).text())

/** `valued('exchange', 'symbol')`, or `exchange: { type: 'string' }` as parseArgs wants its options. */
const OPTIONS =
  /\b(?:valued|repeated|switched)\(([^)]*)\)|(['"]?\b[a-z][a-z-]*['"]?): \{ type: '(?:string|boolean)'/g

/** `const BARS_FLAGS = { … }` that others spread; what a file keeps to itself is its own text. */
const sets = new Map<string, string>()
for (const text of sources.values())
  for (const [, name = '', body = ''] of text.matchAll(
    /^export const ([A-Z]+_FLAGS?) = (\{[^]*?\}(?=\n| as const)|.*)/gm,
  ))
    sets.set(name, body)

function flagsOf(text: string): string[] {
  const own = [...text.matchAll(OPTIONS)].flatMap(
    ([, names = '', name = '']) => `${names}${name}`.match(/[a-z][a-z-]*/g) ?? [],
  )
  const named = new Set([...text.matchAll(/\b[A-Z_]{4,}\b/g)].map(([name]) => name))
  const spread = [...named].flatMap((name) => {
    const body = sets.get(name)
    return body === undefined || body === text ? [] : flagsOf(body)
  })
  return [...new Set([...own, ...spread])]
}

const COMMANDS = [...sources].flatMap(([file, text]) => {
  const names = [...text.matchAll(/: Command = \{\n {2}name: '([\w-]+)'/g)].map(([, name = '']) => name)
  return names.map((name) => [name, file] as const)
})

test.each(COMMANDS)('chartroom %s --help names every flag of %s', async (name, file) => {
  const { out } = await chartroom(temporaryFolder(), name, '--help')
  const missing = flagsOf(sources.get(file) ?? '').filter((flag) => !new RegExp(`--${flag}\\b`).test(out))
  expect(missing).toEqual([])
})

test('all commands are looked at, and the sets of flags that several share', () => {
  expect(COMMANDS.length).toBeGreaterThan(12)
  expect(flagsOf(sources.get('backtest.ts') ?? '')).toEqual(
    expect.arrayContaining(['trades', 'interval', 'data-dir', 'as-of']),
  )
})

test('every flag is given in a test', () => {
  const folder = `${import.meta.dir}/..`
  const texts = [...new Bun.Glob('**/*.ts').scanSync(folder)]
    .filter((file) => !file.includes('node_modules'))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n')
  const flags = new Set([...sources.values()].flatMap(flagsOf))
  const untested = [...flags].filter((flag) => !new RegExp(`--${flag}\\b`).test(texts))
  expect(untested).toEqual([])
})
