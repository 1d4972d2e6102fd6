// Whatever has a name outside is named in a test: a field, a code, a setting or an operation that no test speaks of may
// answer anything. Built-ins, flags, settings and the broker's rules have theirs in `language/table`, `cli/help`, `cli/config` and `broker/rules`.
//
// A name in a test is no proof that it is tested; but what is added without any is found here.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { TypeGuard, type TSchema } from '@sinclair/typebox'
import { PROBLEM_CODES } from '../src/lib/problem-codes.ts'
import { RECEIVER_EVENTS, STREAM_EVENTS } from '../src/wire/event.ts'
import { OPERATIONS } from '../src/wire/operations.ts'
import { LISTED_TOOLS } from '../src/http/agents/tools.ts'
import type { Operation } from '../src/wire/operation.ts'

const root = `${import.meta.dir}/..`
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')
const filesOf = (pattern: string) => [...new Bun.Glob(pattern).scanSync(root)].toSorted()

/** All tests but this one, and but what was only written down. */
const texts = filesOf('tests/**/*.ts')
  .filter((file) => !/node_modules|\.bench\.ts$|^tests\/named\.test\.ts$/.test(file))
  .map((file) => withPath(read(file)))
  .join('\n')
const words = new Set(texts.match(/[A-Za-z_$][\w$]*(?:-[a-z]+)*/g))
for (const word of words) for (const part of word.split('-')) words.add(part)

const unnamed = (names: Iterable<string>) => [...new Set(names)].filter((name) => !words.has(name)).toSorted()

test('every code of a refusal is named in a test', () => {
  expect(unnamed(Object.keys(PROBLEM_CODES))).toEqual([])
})

test('everything that the compiler can say is named in a test', () => {
  const sources = filesOf('src/language/**/*.ts').map(read).join('\n')
  const codes = Array.from(
    sources.matchAll(
      /\b(?:error|warning|withHint)\(\s*'([a-z]+(?:-[a-z]+)*)'|\bcode: '([a-z]+(?:-[a-z]+)*)'/g,
    ),
    ([, a, b]) => a ?? b ?? '',
  )
  expect(codes.length).toBeGreaterThan(80)
  expect(unnamed(codes)).toEqual([])
})

test('every event is named in a test', () => {
  expect(
    unnamed(
      [...Object.keys(STREAM_EVENTS), ...Object.keys(RECEIVER_EVENTS)].map(
        (name) => name.split('.').at(-1) ?? '',
      ),
    ),
  ).toEqual([])
})

test('every tool of an agent is named in a test', () => {
  const names = LISTED_TOOLS.map(({ name }) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(unnamed(names)).toEqual([])
})

describe('of every operation', () => {
  const operations = Object.entries(OPERATIONS as Readonly<Record<string, Operation>>)

  test('the address is asked for in a test', () => {
    const untested = operations
      .map(([name]) => name)
      .filter((name) => {
        const path = name.slice(name.indexOf(' ') + 1).replace(/^\/api(\/platform)?/, '')
        const pattern = path
          .split(/\{\w+\}/)
          .map((part) => RegExp.escape(part))
          .join('[^/\'"\\n]+')
        // A test of one resource writes `/layouts${path}`.
        const [prefix = ''] = path.split('/{')
        return !new RegExp(`${pattern}(?![\\w/])|${RegExp.escape(prefix)}\\$\\{path\\}`).test(texts)
      })
    expect(untested).toEqual([])
  })

  test('the fields are named in a test', () => {
    const fields = operations.flatMap(([name, { query, params, body, answer, accepted }]) =>
      [query, params, body, ...Object.values(answer ?? {}), ...Object.values(accepted ?? {})]
        .flatMap((schema) => (schema ? fieldsOf(schema) : []))
        .concat(Object.keys(answer ?? {}), Object.keys(accepted ?? {}))
        .filter((field) => !words.has(field))
        .map((field) => `${name}: ${field}`),
    )
    expect(fields).toEqual([])
  })
})

/** Where a test calls the address that all of it is about `PATH`. */
function withPath(text: string): string {
  const [, path = ''] = /const PATH = '([^']+)'/.exec(text) ?? []
  return text.replaceAll('${PATH}', path)
}

/** Names of the properties of a schema and of all within it. */
function fieldsOf(schema: TSchema, seen = new Set<TSchema>()): string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const own = TypeGuard.IsObject(schema) ? Object.keys(schema.properties) : []
  const inner = TypeGuard.IsObject(schema)
    ? Object.values(schema.properties)
    : ([schema['items'], schema['anyOf'], schema['allOf']].flat().filter(Boolean) as TSchema[])
  return [...own, ...inner.flatMap((one) => fieldsOf(one, seen))]
}
