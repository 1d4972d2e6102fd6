// Every name of the language reference is in the table, with the reference's parameters.

import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'

import {
  BUILTIN_CONSTANTS,
  BUILTIN_FUNCTIONS,
  BUILTIN_VARIABLES,
} from '../../../src/language/builtins/table.ts'

const REFERENCE = `${import.meta.dir}/../../../../shared/pine/builtins.json`
const path = [REFERENCE, `${import.meta.dir}/../../../../../shared/pine/builtins.json`].find((each) =>
  existsSync(each),
)

interface Reference {
  readonly namespaces: Readonly<Record<string, readonly Item[]>>
}
interface Item {
  readonly name: string
  readonly kind: 'function' | 'variable' | 'constant' | 'field'
  readonly overloads?: readonly string[]
  readonly args?: readonly { readonly name: string }[]
}

/** Keywords of the language, not names. */
const KEYWORDS = new Set(['true', 'false'])
/** The reference data writes several names into one, or has a name of its own for a parameter. */
const OTHER_WORDS = /^(arg0|\.\.\.|displayType|number\d)$|, /

if (path === undefined)
  console.log('coverage: ../shared/pine/builtins.json is absent, the table is compared with nothing')
else
  describe('the table of built-ins', () => {
    const reference = JSON.parse(readFileSync(path, 'utf8')) as Reference
    const items = Object.values(reference.namespaces).flat()
    const tables = { function: BUILTIN_FUNCTIONS, variable: BUILTIN_VARIABLES, constant: BUILTIN_CONSTANTS }

    for (const kind of ['function', 'variable', 'constant'] as const)
      test(`has every ${kind} of the reference`, () => {
        const missing = items
          .filter((item) => item.kind === kind && !KEYWORDS.has(item.name) && item.name !== 'na')
          .map((item) => item.name)
          .filter((name) => !tables[kind].has(name))
        expect(missing).toEqual([])
      })

    test('names the parameters as the reference does', () => {
      const different = items.flatMap((item) => {
        const entry = BUILTIN_FUNCTIONS.get(item.name)
        if (item.kind !== 'function' || entry === undefined) return []
        const ours = new Set(
          entry.overloads.flatMap((overload) => overload.parameters.map((each) => each.name)),
        )
        const unknown = (item.args ?? [])
          .map((arg) => arg.name)
          .filter((name) => !ours.has(name) && !OTHER_WORDS.test(name))
        return unknown.length > 0 ? [`${item.name}: ${unknown.join(', ')}`] : []
      })
      expect(different).toEqual([])
    })

    test("has the parameters in the reference's order, so that they can be given without names", () => {
      // The reference data has `max_polylines_count` of strategy() too early, and a fill() of hlines nobody has seen.
      const known = new Set(['strategy', 'fill'])
      const different = items.flatMap((item) => {
        const entry = BUILTIN_FUNCTIONS.get(item.name)
        if (entry === undefined || known.has(item.name)) return []
        return (item.overloads ?? []).filter((text) => {
          const names = parametersOf(text)
          return !entry.overloads.some((overload) => {
            const places = names.map((name) => overload.parameters.findIndex((each) => each.name === name))
            return places.every((place, i) => place > (places[i - 1] ?? -1))
          })
        })
      })
      expect(different).toEqual([])
    })
  })

/** `f(a, b, arg0, ...) -> void` has a and b. */
function parametersOf(signature: string): string[] {
  const inside = /\((.*?)\)/.exec(signature)?.[1] ?? ''
  return inside
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !OTHER_WORDS.test(name) && !/^arg\d/.test(name))
}
