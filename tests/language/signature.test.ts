// The notation built-ins are declared in.

import { describe, expect, test } from 'bun:test'
import { parseQualifiedType, parseSignature } from '../../src/language/builtins/signature.ts'

describe('a signature', () => {
  test('has parameters with qualifier, types and default', () => {
    const { parameters, returns } = parseSignature(
      '(series float source, simple int length = 14, int|float ...rest) series float',
    )
    expect(parameters).toEqual([
      {
        name: 'source',
        qualifier: 'series',
        types: [{ kind: 'float' }],
        required: true,
        default: undefined,
        variadic: false,
      },
      {
        name: 'length',
        qualifier: 'simple',
        types: [{ kind: 'int' }],
        required: false,
        default: 14,
        variadic: false,
      },
      {
        name: 'rest',
        qualifier: 'series',
        types: [{ kind: 'int' }, { kind: 'float' }],
        required: true,
        default: undefined,
        variadic: true,
      },
    ])
    expect(returns).toEqual({ qualifier: 'series', type: { kind: 'float' } })
  })

  test('without a qualifier on its return takes the latest of its arguments', () => {
    expect(parseSignature('() float').returns.qualifier).toBeNull()
  })

  test('may return a tuple', () => {
    expect(parseSignature('(float a) [series float, int]').returns).toEqual({
      qualifier: 'series',
      type: { kind: 'tuple', items: [{ kind: 'float' }, { kind: 'int' }] },
    })
  })

  test('has type variables inside collections', () => {
    const { parameters, returns } = parseSignature('(map<K, V> id, K key, array<chart.point> points) V')
    expect(parameters.map((parameter) => parameter.types[0])).toEqual([
      { kind: 'map', key: { kind: 'variable', name: 'K' }, value: { kind: 'variable', name: 'V' } },
      { kind: 'variable', name: 'K' },
      { kind: 'array', of: { kind: 'chart.point' } },
    ])
    expect(returns.type).toEqual({ kind: 'variable', name: 'V' })
  })

  test.each([
    ["'abc'", 'abc'],
    ['"a, b"', 'a, b'],
    ['-1.5', -1.5],
    ['true', true],
    ['na', null],
    ['color.new', { name: 'color.new' }],
  ] as const)('reads the default %s', (text, value) => {
    expect(parseSignature(`(string a = ${text}) void`).parameters[0]?.default as unknown).toEqual(value)
  })

  test('marks a parameter without default by a question mark', () => {
    expect(parseSignature('(float y?) void').parameters[0]).toMatchObject({
      required: false,
      default: undefined,
    })
  })

  test.each(['(float) void', '(flaot a) void', '(float a', '(float a) void void', '(float a b) void'])(
    'refuses %s',
    (text) => {
      expect(() => parseSignature(text)).toThrow('assertion failed')
    },
  )
})

test('a qualified type is series unless it says otherwise', () => {
  expect(parseQualifiedType('const string')).toEqual({ qualifier: 'const', type: { kind: 'string' } })
  expect(parseQualifiedType('array<float>').qualifier).toBe('series')
})
