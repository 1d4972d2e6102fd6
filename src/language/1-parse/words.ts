// Words and operators of the language, as the parser tells them apart.

import type { Token } from './lexer.ts'
import { ASSIGNMENT_OPERATORS, type AssignmentOperator, type BinaryOperator } from './tree.ts'
import { words } from '../../lib/words.ts'

/** A map, as scripts may well have names like `constructor`. */
export const BINDING_POWER: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ['==', 3],
  ['!=', 3],
  ['<', 4],
  ['<=', 4],
  ['>', 4],
  ['>=', 4],
  ['+', 5],
  ['-', 5],
  ['*', 6],
  ['/', 6],
  ['%', 6],
])
/** What other languages write, taken for what was meant. */
export const MISTAKEN_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  ['||', 'or'],
  ['&&', 'and'],
  ['|', 'or'],
  ['&', 'and'],
  ['=<', '<='],
  ['===', '=='],
  ['!==', '!='],
  ['<>', '!='],
  ['**', '*'],
])
export const BLOCK_KEYWORDS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'switch'])
const QUALIFIERS = ['const', 'input', 'simple', 'series'] as const
export const isQualifier = (text: string): text is (typeof QUALIFIERS)[number] =>
  (QUALIFIERS as readonly string[]).includes(text)
export const isAssignment = (text: string): text is AssignmentOperator =>
  (ASSIGNMENT_OPERATORS as readonly string[]).includes(text)
/** Tokens that leave a line open when it ends with one, and continue one when it starts with one. */
export const isInfix = ({ kind, text }: Token): boolean =>
  kind === 'operator' ? !/^[([\])]$/.test(text) : text === 'and' || text === 'or'
/** Names that no variable, type or parameter can have. */
export const RESERVED: ReadonlySet<string> = new Set(words('and or not if else for true false var'))
/** Types that are known without looking at names: `int x` is a declaration that lacks its value. */
export const BASIC_TYPES: ReadonlySet<string> = new Set(
  'int float bool string color array matrix map'.split(' '),
)
