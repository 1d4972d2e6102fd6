// Reads the signatures built-ins are written with (the notation is shown in `registry.ts`).
//
//     signature  = '(' [parameter {',' parameter}] ')' returns
//     parameter  = [qualifier] type {'|' type} ['...'] name ['?' | '=' default]
//     returns    = [qualifier] type | '[' [qualifier] type {',' [qualifier] type} ']'
//
// A recursive descent over a handful of tokens. Signatures are ours, so a wrong one is an assertion.

import { assert } from '../../lib/assert.ts'
import { HANDLES, PRIMITIVES, QUALIFIERS, latest } from '../2-check/types.ts'
import type { Qualifier, Type } from '../2-check/types.ts'
import type { ParameterSpec, ReturnSpec, TypeSpec } from './registry.ts'

export interface Signature {
  readonly parameters: readonly ParameterSpec[]
  readonly returns: ReturnSpec
}

export function parseSignature(text: string): Signature {
  const tokens = new Tokens(text)
  tokens.expect('(')
  const parameters: ParameterSpec[] = []
  while (!tokens.eat(')')) {
    if (parameters.length > 0) tokens.expect(',')
    parameters.push(parameter(tokens))
  }
  const returns = returnSpec(tokens)
  assert(tokens.done, `nothing after the return type of '${text}'`)
  return { parameters, returns }
}

/** `series float`, `const string`: what variables and constants are declared with. */
export function parseQualifiedType(text: string): { qualifier: Qualifier; type: Type } {
  const tokens = new Tokens(text)
  const qualifier = qualifierOf(tokens) ?? 'series'
  const type = typeSpec(tokens)
  assert(tokens.done && type.kind !== 'any' && type.kind !== 'variable', `'${text}' is a type`)
  return { qualifier, type: type as Type }
}

/** A number, a string, a name, an ellipsis, or a sign. */
const TOKEN = /-?\d+(?:\.\d+)?|'[^']*'|"[^"]*"|[A-Za-z_][\w.]*|\.\.\.|[^\s\w]/g

class Tokens {
  readonly #tokens: readonly string[]
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = text.match(TOKEN) ?? []
  }

  get done(): boolean {
    return this.#at === this.#tokens.length
  }

  get peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  next(): string {
    const token = this.#tokens[this.#at++]
    assert(token !== undefined, `'${this.#text}' ends too early`)
    return token
  }

  eat(token: string): boolean {
    if (this.peek !== token) return false
    this.#at++
    return true
  }

  expect(token: string): void {
    assert(this.eat(token), `'${token}' instead of '${this.peek}' in '${this.#text}'`)
  }
}

function parameter(tokens: Tokens): ParameterSpec {
  const qualifier = qualifierOf(tokens) ?? 'series'
  const types = [typeSpec(tokens)]
  while (tokens.eat('|')) types.push(typeSpec(tokens))
  const variadic = tokens.eat('...')
  const name = tokens.next()
  if (tokens.eat('=')) {
    return { name, qualifier, types, required: false, default: defaultValue(tokens.next()), variadic }
  }
  return { name, qualifier, types, required: !tokens.eat('?'), default: undefined, variadic }
}

function defaultValue(token: string): ParameterSpec['default'] {
  if (token === 'true' || token === 'false') return token === 'true'
  if (token === 'na') return null
  if (/^['"]/.test(token)) return token.slice(1, -1)
  if (/^[A-Za-z_]/.test(token)) return { name: token }
  const value = Number(token)
  assert(!Number.isNaN(value), `'${token}' is a default value`)
  return value
}

function returnSpec(tokens: Tokens): ReturnSpec {
  if (!tokens.eat('[')) return { qualifier: qualifierOf(tokens), type: typeSpec(tokens) }
  const items: TypeSpec[] = []
  let qualifier: Qualifier | null = null
  do {
    const own = qualifierOf(tokens)
    if (own !== null) qualifier = qualifier === null ? own : latest(qualifier, own)
    items.push(typeSpec(tokens))
  } while (tokens.eat(','))
  tokens.expect(']')
  return { qualifier, type: { kind: 'tuple', items } }
}

function qualifierOf(tokens: Tokens): Qualifier | null {
  const qualifier = QUALIFIERS.find((name) => name === tokens.peek)
  if (qualifier === undefined) return null
  tokens.next()
  return qualifier
}

const SIMPLE_KINDS = [...PRIMITIVES, ...HANDLES, 'void', 'any', 'na'] as const

function typeSpec(tokens: Tokens): TypeSpec {
  const name = tokens.next()
  switch (name) {
    case 'T':
    case 'K':
    case 'V':
      return { kind: 'variable', name }
    case 'array':
    case 'matrix': {
      tokens.expect('<')
      const of = typeSpec(tokens)
      tokens.expect('>')
      return { kind: name, of }
    }
    case 'map': {
      tokens.expect('<')
      const key = typeSpec(tokens)
      tokens.expect(',')
      const value = typeSpec(tokens)
      tokens.expect('>')
      return { kind: 'map', key, value }
    }
    default: {
      const kind = SIMPLE_KINDS.find((simple) => simple === name)
      assert(kind !== undefined, `'${name}' is a type`)
      return { kind }
    }
  }
}
