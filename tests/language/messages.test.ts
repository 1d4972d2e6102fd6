// The catalogue's style. Which text brings which message is in the tests of the stages; this holds that there is one.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import * as checking from '../../src/language/messages/checking.ts'
import * as failing from '../../src/language/messages/failing.ts'
import type { Message } from '../../src/language/messages/message.ts'
import * as parsing from '../../src/language/messages/parsing.ts'
import * as running from '../../src/language/messages/running.ts'

const root = `${import.meta.dir}/../..`
const STAGES = { parsing, checking, running }

/** They end with the sentence of a built-in or of a library's mistake. */
const QUOTING: Readonly<Record<string, readonly string[][]>> = {
  constantRefused: [['It is so.']],
  libraryBroken: [['user/library/1', '3', 'It is so.']],
}

type Make = (...parts: readonly string[]) => Omit<Message, 'severity'>
const CATALOGUE = Object.entries(STAGES).flatMap(([stage, messages]) =>
  Object.entries(messages).map(([name, make]) => {
    // Something that makes a sentence of it: a name, a word that some of them ask about, or what another says.
    const samples = QUOTING[name] ?? ['price', 'minval'].map((text) => [text, text, text, text])
    const made = samples.map((parts) => (make as Make)(...parts))
    return { stage, name, made }
  }),
)
const codesOf = (stage: string) =>
  new Set(CATALOGUE.flatMap((one) => (one.stage === stage ? one.made.map(({ code }) => code) : [])))

const texts = (places: readonly string[], but = '') =>
  places
    .flatMap((place) => [...new Bun.Glob(`${place}/**/*.ts`).scanSync(root)])
    .filter((file) => !file.includes(but === '' ? '\0' : but))
    .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
    .join('\n')
const compiler = texts(['src/language'], 'src/language/messages/')
const tests = texts(['tests/language', 'tests/broker', 'tests/http'], 'messages.test.ts')

/** It begins like one and ends like one. */
const SENTENCE = /^[A-Z`\d'][^\n]*[.?]$/

describe.each(CATALOGUE)('$stage: $name', ({ name, made }) => {
  test('is a sentence, and so is its hint', () => {
    for (const { message, hint } of made) {
      expect(message).toMatch(SENTENCE)
      if (hint !== undefined) expect(hint).toMatch(SENTENCE)
      expect(`${message} ${hint ?? ''}`).not.toMatch(/ {2}|\.\.|undefined|NaN| shall | anew/)
    }
  })

  test('has a code in kebab-case, is said by the compiler, and a test brings it about', () => {
    const { code } = made[0]!
    expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(compiler).toMatch(new RegExp(`\\b${name}\\(`))
    expect(tests).toContain(code)
  })
})

/** Those that ask what they are told: of what kind a collection is, how many bytes. */
const TOLD: Readonly<Record<string, readonly unknown[]>> = {
  collectionIsNa: ['array.get', 'array'],
  tooLarge: ['map', 3, 2],
  tookTooMuchMemory: [2 ** 30],
}

describe.each(Object.entries(failing))('failing: %s', (name, make) => {
  test('is a sentence that the run says', () => {
    const told = TOLD[name] ?? ['price', 'open', 'low', 'high']
    const { message } = (make as (...told: readonly unknown[]) => Error)(...told)
    expect(message).toMatch(/^[A-Z`"\w'][^\n]*\.$/)
    expect(message).not.toMatch(/ {2}|\.\.$|undefined|NaN| shall | anew/)
    expect(`${compiler}${texts(['src/broker'])}`).toMatch(new RegExp(`\\b${name}\\(`))
  })
})

test('what ends a run is worded in the catalogue, but for what a script says itself', () => {
  const elsewhere = [...new Bun.Glob('src/**/*.ts').scanSync(root)].filter((file) =>
    readFileSync(`${root}/${file}`, 'utf8').includes('new ScriptError('),
  )
  expect(elsewhere.toSorted()).toEqual(['src/language/builtins/log.ts', 'src/language/messages/failing.ts'])
})

test('no two stages share a code', () => {
  const all = Object.keys(STAGES).flatMap((stage) => [...codesOf(stage)])
  expect(all.length).toBe(new Set(all).size)
})

test('what the compiler says is made in the catalogue', () => {
  const elsewhere = [...compiler.matchAll(/severity: '(?:error|warning)'[^)]*message:/g)]
  expect(elsewhere.map(String)).toEqual([])
})
