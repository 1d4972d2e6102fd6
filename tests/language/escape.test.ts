// Generated code reaches nothing of the host: not through names, not through texts, not through objects.
//
// Two nets. A corpus of attempts, each of which has to be refused or to run harmlessly; and random scripts, made from a
// grammar that prefers the names that are dangerous in JavaScript, run with canaries on everything global. Slow
// obvious oracle: after each of them, the world is as it was and the generated text names only what it may.

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { assert, constantFrom, property } from 'fast-check'
import { compile } from '../../src/language/compile.ts'
import { planProgram } from '../../src/language/3-plan/plan.ts'
import { generate } from '../../src/language/4-generate/generate.ts'
import { InputError } from '../../src/language/compile.ts'
import { ScriptError } from '../../src/language/script-error.ts'
import { scripts } from './random-script.ts'
import { barsOf, plotted, runScript } from './run-script.ts'
import { rounds } from '../long.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const BARS = barsOf([10, 12, 11, 15, 14, 18])

/** What a script would have to touch to do harm: reading one is noted. */
const CANARIES = [
  'fetch',
  'process',
  'require',
  'setTimeout',
  'queueMicrotask',
  'eval',
  'WebAssembly',
  'Worker',
]

/** Runs `work` with the canaries in place; gives those that sang. */
function watched(work: () => void): string[] {
  const sung: string[] = []
  const before = new Map<string, PropertyDescriptor | undefined>()
  for (const name of CANARIES) {
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name)
    if (descriptor?.configurable === false) continue
    before.set(name, descriptor)
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get: () => {
        sung.push(name)
        return undefined
      },
    })
  }
  const prototypes = [
    Object.prototype,
    Array.prototype,
    Function.prototype,
    String.prototype,
    Number.prototype,
  ]
  const keys = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)
  try {
    work()
  } finally {
    // What the script leaves behind counts as well.
    for (const [name, descriptor] of before)
      if (descriptor) Object.defineProperty(globalThis, name, descriptor)
      else Reflect.deleteProperty(globalThis, name)
  }
  for (const [i, prototype] of prototypes.entries())
    if (Reflect.ownKeys(prototype).length !== keys[i]) sung.push(`prototype ${i}`)
  return sung
}

/** Names that may stand in the text; strings are cut out first. */
const ALLOWED =
  /^(?:[a-zA-Z]\d+(?:_\d+)?|open|high|low|close|volume|time|timeClose|static|fields|\$(?:open|high|low|close|volume|time|timeClose)|(?:Main|Hoist)Frame|Frame\d+|[KRNSABMGHFPiostr]|const|let|function|return|class|constructor|this|new|if|else|for|while|break|continue|true|false|null|undefined|NaN|Infinity|Math|abs|trunc|max|min|sqrt|pow|floor|ceil|round|sign|log|log10|exp|sin|cos|tan|asin|acos|atan|next|fillBlock|fillTwo|put|at|bars|columns|broker|account|busy|callBelow|callAbove|below|above|idle|later|pause|j|dirty|onBar|afterScript|rerun|bar|budget|used|take|stride|text|loops|looped|from|to|state|hoisted|options|types|bind|hoist|body|run|varip|Number|isNaN|length|warn|alertCondition|currencyRate|get|positionSize|positionAvgPrice|equity|openProfit|netProfit|openTradeCount|closedTradeCount|index|price|e|E|id|direction|qty|limit|stop|ocaName|ocaType|comment|alertMessage|disableAlert|given|site)$/

function strangeNames(source: string): string[] {
  const { script } = compile(source)
  if (!script) return []
  const { text } = generate(planProgram(script.program))
  expect(text).not.toMatch(/[\u2028\u2029]/)
  const bare = text
    .split('\n')
    .filter((line) => !line.startsWith('//# sourceURL') && line !== '"use strict";')
    .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/'(?:none)?'/g, "''"))
    .join('\n')
  expect(bare).not.toContain('`')
  const names = bare.match(/[$A-Za-z_][$\w]*/g) ?? []
  return [...new Set(names.filter((name) => !ALLOWED.test(name)))]
}

const ATTEMPTS: readonly string[] = [
  'plot(close.constructor)',
  'x = close.__proto__\nplot(x)',
  'plot(constructor)',
  'plot(this)',
  '$close = 1\nplot($close)',
  'plot(globalThis.process.pid)',
  'x = eval("1")\nplot(x)',
  'x = Function("return 1")()\nplot(x)',
  'x = array.new<float>()\nplot(x.constructor("return process")())',
  'x = array.new<float>()\nx.constructor := 5\nplot(close)',
  'x = array.from(1, 2)\nplot(x.items)',
  'x = array.from(1, 2)\nplot(x.__proto__.size)',
  'm = map.new<string, float>()\nm.put("__proto__", 1)\nm.put("constructor", 2)\nplot(m.get("__proto__") + m.get("toString"))',
  's = "\\"); process.exit(1); (\\""\nplot(str.length(s))',
  's = \'"+process.exit(1)+"\'\nplot(str.length(s))',
  's = "${process.exit(1)}`${process.exit(1)}`"\nplot(str.length(s))',
  's = "a\u2028process.exit(1)//\u2029"\nplot(str.length(s))',
  's = "\\u0022);process.exit(1);(\\u0022"\nplot(str.length(s))',
  's = "</script><!--"\nplot(str.length(s))',
  's = "*/ process.exit(1) /*"\nplot(str.length(s))',
  's = "\\"\nplot(close)',
  'plot(close, title = "x\\"}; process.exit(1); ({\\"y")',
  'strategy.entry("a\\");process.exit(1);(\\"", strategy.long)\nplot(close)',
  'type constructor\n    float prototype = 1\nc = constructor.new()\nplot(c.prototype)',
  'type T\n    float __proto__ = 1\n    float hasOwnProperty = 2\nt = T.new(__proto__ = 5)\nplot(t.__proto__)',
  'type T\n    float valueOf = 1\nt = T.new()\nplot(t.valueOf)\nplot(t.toString)',
  'enum __proto__\n    constructor\n    toString = "x"\ne = __proto__.constructor\nplot(e == __proto__.toString ? 1 : 0)',
  'method toString(float this) => 7\nplot(close.toString())',
  'method call(array<float> this) => 7\na = array.new<float>()\nplot(a.call())',
  '__proto__ = 5\nconstructor = 6\nprototype = 7\narguments = 8\nplot(__proto__ + constructor + prototype + arguments)',
  'arguments() => 5\nplot(arguments())',
  'yield = 1\nawait = 2\nasync = 3\nlet = 4\nconst_ = 5\nvoid = 6\ndelete = 7\nplot(yield + await + async + let + void + delete)',
  'function = 1\nclass = 2\nreturn = 3\nplot(function + class + return)',
  'new = 1\ntypeof = 2\ninstanceof = 3\nplot(new + typeof + instanceof)',
  'K = 1\nR = 2\nG = 3\nB = 4\nk0 = 5\nc0 = 6\nloops = 7\nplot(K + R + G + B + k0 + c0 + loops)',
  'undefined = 1\nNaN = 2\nInfinity = 3\nMath = 4\nplot(undefined + NaN + Infinity + Math)',
  'f(K, R, G) => K + R + G\nplot(f(1, 2, 3))',
  'x = str.format("{0.constructor}", close)\nplot(str.length(x))',
  'x = str.replace_all("a", "a", "$&$`$\'")\nplot(str.length(x))',
  'x = str.match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "(a+)+$")\nplot(str.length(x))',
  'x = input.string("constructor", options = ["constructor", "__proto__"])\nplot(str.length(x))',
  'x = input.source(close, "__proto__")\nplot(x)',
  'i = 1\no = 2\nr = 3\ns = 4\nplot(i + o + r + s)',
  'plot(request.security("={\\"symbol\\":\\"X:Y\\",\\"__proto__\\":{\\"chart\\":1}}", "D", close, ignore_invalid_symbol = true))',
]

describe('attempts to get out', () => {
  for (const [i, attempt] of ATTEMPTS.entries())
    test(`${i}: ${attempt.split('\n')[0]}`, () => {
      for (const version of [5, 6] as const) {
        const kind = attempt.includes('strategy.') ? 'strategy' : 'indicator'
        const source = `//@version=${version}\n${kind}("x")\n${attempt}\n`
        expect(compileQuietly(source)).toBe('as it should')
        expect(strangeNames(source)).toEqual([])
        expect(watched(() => runQuietly(source))).toEqual([])
      }
    })
})

function compileQuietly(source: string): string {
  const { script, diagnostics } = compile(source)
  return script !== null || diagnostics.some(({ severity }) => severity === 'error')
    ? 'as it should'
    : 'neither'
}

/** A script may be refused or fail by its own fault, never by ours. */
function runQuietly(source: string): void {
  if (!compile(source).script) return
  try {
    runScript(source, BARS)
  } catch (error) {
    if (!(error instanceof ScriptError) && !(error instanceof InputError)) throw error
  }
}

test('a string that looks like generated code is nothing but a string', () => {
  const source = `//@version=6
indicator("x")
source = str.contains(syminfo.ticker, "c77[i] $open[i]") ? open : close
plot(ta.ema(source, 2))
plot(ta.ema(close, 2))
`
  const run = runScript(source, BARS)
  expect(plotted(run, 0)).toEqual(plotted(run, 1))
})

describe('random scripts', () => {
  test('touch no canary and name only what the generator made', () => {
    let ran = 0
    let all = 0
    assert(
      property(scripts, constantFrom(5, 6), (body, version) => {
        const source = `//@version=${version}\nindicator("x")\n${body}\n`
        all++
        if (compile(source).script) ran++
        expect(strangeNames(source)).toEqual([])
        expect(watched(() => runQuietly(source))).toEqual([])
      }),
      { numRuns: rounds(400) },
    )
    // A generator of nonsense alone would show nothing.
    expect(ran / all).toBeGreaterThan(0.1)
  })
})
