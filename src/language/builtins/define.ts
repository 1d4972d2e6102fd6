// What library files write their entries with.
//
//     export const MATH: BuiltinEntry[] = [
//       fn('math.abs', 'Absolute value.', ['(int number) int', '(float number) float'], {
//         fn: (x: number) => Math.abs(x), pure: true, inline: 'Math.abs',
//       }),
//       fn('ta.rma', 'Moving average as RSI uses it.', '(series float source, simple int length) series float', { state: Rma }),
//       variable('bar_index', 'Number of the bar.', 'series int', { column: 'bar_index' }),
//       constant('math.pi', 'π.', 'const float', Math.PI),
//     ]
//
// Several signatures share one implementation, or have one each.

import { assert } from '../../lib/assert.ts'
import type {
  BuiltinConstant,
  BuiltinFunction,
  BuiltinVariable,
  Implementation,
  VariableImplementation,
} from './registry.ts'
import { parseQualifiedType, parseSignature } from './signature.ts'

/** The signature of most averages. */
export const BY_LENGTH = '(series float source, series int length) series float'
export const BY_SIMPLE_LENGTH = '(series float source, simple int length) series float'

export function fn(
  name: string,
  doc: string,
  signatures: string | readonly string[],
  implementation: Implementation | readonly Implementation[],
  status: BuiltinFunction['status'] = 'implemented',
): BuiltinFunction {
  const texts = typeof signatures === 'string' ? [signatures] : signatures
  const overloads = texts.map((text, i) => {
    const own = isList(implementation) ? implementation[i] : implementation
    assert(own !== undefined, `${name} has an implementation for each signature`)
    return { ...parseSignature(text), implementation: own }
  })
  return { kind: 'function', name, doc, signatures: texts, overloads, status }
}

export function variable(
  name: string,
  doc: string,
  qualifiedType: string,
  implementation: VariableImplementation,
  status: BuiltinVariable['status'] = 'implemented',
): BuiltinVariable {
  return { kind: 'variable', name, doc, ...parseQualifiedType(qualifiedType), implementation, status }
}

export function constant(
  name: string,
  doc: string,
  qualifiedType: string,
  value: BuiltinConstant['value'],
): BuiltinConstant {
  return { kind: 'constant', name, doc, type: parseQualifiedType(qualifiedType).type, value }
}

function isList(value: Implementation | readonly Implementation[]): value is readonly Implementation[] {
  return Array.isArray(value)
}
