// A script is compiled once, and again when something that it imports is not what it was.

import { expect, test } from 'bun:test'
import { CompiledScripts } from '../../src/broker/compiled-scripts.ts'

const SCRIPT = `//@version=6
indicator("x")
import me/tools/1 as tools
plot(tools.twice(close))
`
const library = (factor: string) => `//@version=6
library("tools")
import me/base/1 as base
export twice(float x) => base.same(x) * ${factor}
`
const BASE = `//@version=6
library("base")
export same(float x) => x
`

function compiling() {
  const scripts = new CompiledScripts()
  const texts = new Map([
    ['tools', library('2')],
    ['base', BASE],
  ])
  const compile = () => scripts.compile(SCRIPT, { library: (_user, name) => texts.get(name) ?? null })
  return { scripts, texts, compile }
}

test('with its imports as they were, it is not compiled again', () => {
  const { compile } = compiling()
  const first = compile()
  expect(first.script).not.toBeNull()
  expect(compile()).toBe(first)
})

test.each([
  ['tools', library('3')],
  ['base', `${BASE}// changed\n`],
])('when %s has changed, it is', (name, text) => {
  const { compile, texts } = compiling()
  const first = compile()
  texts.set(name, text)
  const second = compile()
  expect(second).not.toBe(first)
  expect(second.script).not.toBeNull()
  expect(compile()).toBe(second)
})

test('an import that was missing is looked for again', () => {
  const { compile, texts } = compiling()
  texts.delete('tools')
  expect(compile().script).toBeNull()
  texts.set('tools', library('2'))
  expect(compile().script).not.toBeNull()
})

test('without libraries an import is not found, before and after', () => {
  const { scripts, compile } = compiling()
  expect(scripts.compile(SCRIPT, {}).script).toBeNull()
  expect(compile().script).not.toBeNull()
  expect(scripts.compile(SCRIPT, {}).script).toBeNull()
})

test('no more than so much of text is kept, and what was compiled is counted', () => {
  const scripts = new CompiledScripts(4000)
  const text = (i: number) => `//@version=6\nindicator("${i}")\nplot(close)\n`
  const first = scripts.compile(text(0), {})
  for (let i = 1; i <= 3; i++) scripts.compile(text(i), {})
  expect(scripts.compiled).toBe(4)
  expect(scripts.compile(text(3), {})).toBe(scripts.compile(text(3), {}))
  expect(scripts.compiled).toBe(4)
  expect(scripts.compile(text(0), {})).not.toBe(first)
  expect(scripts.compiled).toBe(5)
})
