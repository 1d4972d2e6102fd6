// Random scripts, made from a grammar that prefers the names that are dangerous in JavaScript. Most of them are valid.

import { array, constantFrom, letrec, nat, oneof, record, tuple, uniqueArray } from 'fast-check'

const NAMES = [
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'arguments',
  'eval',
  'globalThis',
  'process',
  'this_',
  'k0',
  'v0',
  'c0',
  'f0',
  'G',
  'R',
  'K',
  'H',
  'B',
  'loops',
  'Math',
  'NaN',
  'undefined',
  'async',
  'await',
  'yield',
  'let',
  'delete',
  'i',
  'o',
  'r',
  's0',
  'close2',
]
const TEXTS = ['"a"', '"\\""', "'`${1}'", '"\\\\"', '"\u2028"', "'*/'", '"__proto__"', '"//"', "'\\''"]

/** Expressions of a number, of a bool and of a text over names declared so far; not all of them are valid Pine, and need not be. */
const { number: numbers } = letrec<{ number: string; bool: string; text: string }>((tie) => ({
  number: oneof(
    { maxDepth: 4, depthIdentifier: 'script' },
    constantFrom('1', '0.5', 'close', 'open[1]', 'bar_index', 'na', ...NAMES),
    tuple(tie('number'), constantFrom('+', '-', '*', '/', '%'), tie('number')).map(
      ([a, op, b]) => `(${a} ${op} ${b})`,
    ),
    tuple(tie('bool'), tie('number'), tie('number')).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
    tie('number').map((a) => `ta.sma(${a}, 3)`),
    tie('number').map((a) => `nz(${a})[2]`),
    tie('number').map((a) => `fun(${a})`),
    tie('number').map((a) => `ta.ema(${a}, 4)`),
    tie('number').map((a) => `ta.highest(${a}, 5)`),
    tuple(tie('number'), tie('number')).map(([a, b]) => `(ta.crossover(${a}, ${b}) ? 1 : 0)`),
    tuple(tie('number'), constantFrom('1', '3', 'bar_index % 4')).map(([a, n]) => `(${a})[${n}]`),
    tie('text').map((a) => `str.length(${a})`),
    // Rarely, as no number has a field and the script is refused.
    tuple(tie('number'), constantFrom(...NAMES), nat(40)).map(([a, name, n]) =>
      n === 0 ? `(${a}).${name}` : a,
    ),
  ),
  bool: oneof(
    { maxDepth: 4, depthIdentifier: 'script' },
    constantFrom('true', 'false', 'barstate.isfirst'),
    tuple(tie('number'), constantFrom('<', '<=', '==', '!='), tie('number')).map(
      ([a, op, b]) => `(${a} ${op} ${b})`,
    ),
    tuple(tie('bool'), constantFrom('and', 'or'), tie('bool')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie('bool').map((a) => `(not ${a})`),
  ),
  text: oneof(
    { maxDepth: 3, depthIdentifier: 'script' },
    constantFrom(...TEXTS),
    tuple(tie('text'), tie('text')).map(([a, b]) => `(${a} + ${b})`),
    tie('number').map((a) => `str.tostring(${a})`),
  ),
}))

/** The text after the declaration; the last line plots. */
export const scripts = record({
  names: uniqueArray(constantFrom(...NAMES), { minLength: 3, maxLength: 8 }),
  values: array(numbers, { minLength: 8, maxLength: 8 }),
  conditions: array(constantFrom('close > open', 'bar_index % 2 == 0', 'na(close[3])'), {
    minLength: 8,
    maxLength: 8,
  }),
  body: numbers,
}).map(({ names, values, conditions, body }) =>
  [
    'fun(x) =>',
    '    var kept = 0.0',
    '    kept := nz(kept[1]) + x',
    `    kept`,
    ...names.flatMap((name, i) => {
      const value = values[i] ?? '1'
      // Names not declared yet are replaced, so that most scripts are valid.
      const later = NAMES.filter((other) => !names.slice(0, i).includes(other))
      const safe = value.replace(/(?<![.\w"'])([$A-Za-z_]\w*)(?![\w"'])/g, (word) =>
        later.includes(word) ? '2' : word,
      )
      return i % 3 === 0
        ? [`${name} = ${safe}`]
        : i % 3 === 1
          ? [`var float ${name} = ${safe}`, `if ${conditions[i]}`, `    ${name} := ${safe}`]
          : [`float ${name} = if ${conditions[i]}`, `    ${safe}`]
    }),
    `plot(${body.replace(/(?<![.\w"'])([$A-Za-z_]\w*)(?![\w"'])/g, (word) => (NAMES.includes(word) && !names.includes(word) ? '3' : word))})`,
  ].join('\n'),
)
