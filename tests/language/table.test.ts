// The table of built-ins as a whole: what every entry promises.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { V4, V5 } from '../../src/language/2-check/version.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../../src/language/builtins/table.ts'

const isValue = (name: string): boolean => BUILTIN_CONSTANTS.has(name) || BUILTIN_VARIABLES.has(name)

describe('built-ins', () => {
  test('have defaults that exist', () => {
    const wrong = [...BUILTIN_FUNCTIONS.values()].flatMap((one) =>
      one.overloads.flatMap((overload) =>
        overload.parameters.flatMap((parameter) => {
          const value = parameter.default
          if (typeof value !== 'object' || value === null || isValue(value.name)) return []
          return [`${one.name}: ${parameter.name} = ${value.name}`]
        }),
      ),
    )
    expect(wrong).toEqual([])
  })

  test('say what they are for', () => {
    const all = [...BUILTIN_FUNCTIONS.values(), ...BUILTIN_VARIABLES.values(), ...BUILTIN_CONSTANTS.values()]
    const unsaid = all.filter(({ doc }) => doc === '').map(({ name }) => name)
    // A point begins what no script can write, and so nobody asks for.
    expect(unsaid.filter((name) => !name.startsWith('·'))).toEqual([])
  })

  test('repeat their last parameter only', () => {
    const wrong = [...BUILTIN_FUNCTIONS.values()].flatMap((one) =>
      one.overloads.flatMap(({ parameters }) =>
        parameters
          .slice(0, -1)
          .flatMap((parameter) => (parameter.variadic ? [`${one.name}: ${parameter.name}`] : [])),
      ),
    )
    expect(wrong).toEqual([])
  })
})

/** A built-in that no test names may answer anything. */
test('every built-in is named in a test', () => {
  const folder = `${import.meta.dir}/..`
  const texts = [...new Bun.Glob('**/*.ts').scanSync(folder)]
    .filter((file) => !/node_modules|\.bench\./.test(file))
    // A script's lines are parted by a written `\n`, which would else be the first letter of the name behind it.
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').replaceAll('\\n', '\n'))
  const named = new Set(texts.join('\n').match(/[a-z_]\w*(?:\.\w+)*/gi))
  const names = [BUILTIN_FUNCTIONS, BUILTIN_VARIABLES, BUILTIN_CONSTANTS].flatMap((table) => [
    ...table.keys(),
  ])
  const untested = names.filter((name) => /^[a-z]/i.test(name) && !named.has(name)).toSorted()
  expect(untested).toEqual([])
})

describe('names of older versions', () => {
  test('stand for something that exists now', () => {
    const functions = Object.values(V4.functions).filter((name) => !BUILTIN_FUNCTIONS.has(name))
    const values = Object.values(V4.values).filter((name) => !isValue(name))
    expect({ functions, values }).toEqual({ functions: [], values: [] })
  })

  test.each([
    ['v4', V4],
    ['v5', V5],
  ] as const)('%s calls are written with parameters that exist now', (_, { calls }) => {
    const wrong: string[] = []
    for (const [name, { order = [], rename = {}, drop = [] }] of Object.entries(calls)) {
      const builtin = BUILTIN_FUNCTIONS.get(name)
      const known = new Set(
        builtin?.overloads.flatMap((one) => one.parameters.map((parameter) => parameter.name)),
      )
      for (const old of [...order, ...Object.keys(rename)]) {
        const now = rename[old] ?? old
        if (!known.has(now) && !drop.includes(old) && now !== 'when' && now !== 'transp')
          wrong.push(`${name}: ${old}`)
      }
    }
    expect(wrong).toEqual([])
  })
})
