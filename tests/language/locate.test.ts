// Where a run failed, by the stacks of each engine of JavaScript.

import { expect, test } from 'bun:test'
import { located } from '../../src/language/runtime/locate.ts'
import { ScriptError } from '../../src/language/script-error.ts'

test.each([
  ['JavaScriptCore', 'at(@pine-script:4:8)'],
  ['V8 of Node and Chromium', 'at eval (pine-script:4:8)'],
  ['Deno 2.9', 'at eval (pine-script, <anonymous>:4:8)'],
  ['SpiderMonkey of Firefox 153', 'anonymous/<@pine-script:4:8'],
])('the line is read from the stack of %s', (_, stack) => {
  const error = new ScriptError('x')
  error.stack = `Error: x\n    ${stack}`
  expect(located(error, Int32Array.of(3, 17))).toMatchObject({ offset: 17 })
})
