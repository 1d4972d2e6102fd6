// Validates bodies against schemas: unknown fields are removed and reported, wrong ones are refused with their path.
//
// The same TypeBox schemas make the OpenAPI document. Nothing is converted: "5" is not 5 in a body.

import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler, type TypeCheck } from '@sinclair/typebox/compiler'
import { ValueErrorType, type ValueError } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import { memoOf } from '../lib/memo.ts'
import { Problem, type FieldProblem } from '../lib/problem.ts'
import { isOneLine, textFault, type TextFault } from '../lib/text.ts'
import { textBounds } from '../wire/schema.ts'

/** The most wrong fields that an answer names. */
const FIELDS_MAX = 50

/** Schemas are made once, so each one is compiled once. */
const checkOf = memoOf((schema: TSchema): TypeCheck<TSchema> => TypeCompiler.Compile(schema))

/**
 * `value` without the fields that the schema does not know; their JSON Pointers are added to `unknown`. Throws 422 if it
 * does not fit.
 */
export function checkBody(schema: TSchema, value: unknown, unknown: string[]): unknown {
  const known = stripUnknown(schema, value, '', unknown)
  const check = checkOf(schema)
  if (check.Check(known)) return known
  throw validationFailed(fieldProblems('body', check.Errors(known)))
}

export function validationFailed(fields: readonly FieldProblem[]): Problem {
  const [first] = fields
  const where = first?.path ? `${first.in} ${first.path}: ` : ''
  const rest = fields.length > 1 ? ` (and ${fields.length - 1} more)` : ''
  return new Problem(422, 'validation_failed', `${where}${first?.message ?? 'not valid'}${rest}`, { fields })
}

/** One problem for each path: TypeBox reports a missing field both as missing and as of the wrong type. */
export function fieldProblems(where: FieldProblem['in'], errors: Iterable<ValueError>): FieldProblem[] {
  const byPath = new Map<string, FieldProblem>()
  for (const error of errors) {
    if (byPath.size >= FIELDS_MAX) break
    if (byPath.has(error.path)) continue
    const bounds = textBounds(error.schema)
    const fault = bounds && typeof error.value === 'string' ? textFault(error.value, bounds) : null
    const missing = error.type === ValueErrorType.ObjectRequiredProperty || error.value === undefined
    const expected = describe(error.schema)
    // Elysia refuses query parameters that the schema does not name.
    if (error.type === ValueErrorType.ObjectAdditionalProperties) {
      const message = 'is no parameter of this address'
      byPath.set(error.path, { in: where, path: error.path, code: 'unknown_parameter', message })
      continue
    }
    byPath.set(error.path, {
      in: where,
      path: error.path,
      code: missing ? 'required' : (fault ?? (bounds ? 'type' : codeOf(error.type))),
      message: missing
        ? `is required: expected ${expected}`
        : `expected ${expected}, found ${fault ? FAULTS[fault] : (sizeOf(error) ?? kindOf(error.value))}`,
    })
  }
  return [...byPath.values()]
}

const FAULTS: Readonly<Record<TextFault, string>> = {
  min_length: 'an empty string',
  max_length: 'a longer one',
  blank: 'white space alone',
  control_character: 'a control character or a line break in it',
  surrogate: 'half of a surrogate pair in it',
}

/** Names and titles are composed on the way: the `é` of one keyboard is an `e` and an accent on another. */
function stripUnknown(schema: TSchema, value: unknown, path: string, unknown: string[]): unknown {
  if (typeof value === 'string') return isLine(schema) ? value.normalize('NFC') : value
  if (typeof value !== 'object' || value === null) return value
  const variants = schema.anyOf as TSchema[] | undefined
  if (variants) {
    const bare: string[] = []
    const fits = variants.find((variant) => Value.Check(variant, stripUnknown(variant, value, path, bare)))
    return fits ? stripUnknown(fits, value, path, unknown) : value
  }
  if (Array.isArray(value)) {
    const items = schema.items as TSchema | undefined
    return items ? value.map((item, i) => stripUnknown(items, item, `${path}/${i}`, unknown)) : value
  }
  const properties = schema.properties as Record<string, TSchema> | undefined
  if (!properties) return value
  const known: [string, unknown][] = []
  for (const [name, item] of Object.entries(value)) {
    const at = `${path}/${pointerPart(name)}`
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property) known.push([name, stripUnknown(property, item, at, unknown)])
    else if (unknown.length < FIELDS_MAX) unknown.push(at)
  }
  return Object.fromEntries(known)
}

function isLine(schema: TSchema): boolean {
  const variants = schema.anyOf as TSchema[] | undefined
  return variants ? variants.some(isLine) : isOneLine(textBounds(schema)?.form ?? 'raw')
}

/** A name escaped as a part of a JSON Pointer. */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** What a schema expects, in words. */
function describe(schema: TSchema): string {
  if (typeof schema.expected === 'string') return schema.expected
  const variants = schema.anyOf as TSchema[] | undefined
  if (variants?.every((variant) => 'const' in variant))
    return `one of ${variants.map((variant) => JSON.stringify(variant.const)).join(', ')}`
  if (variants) return variants.map(describe).join(' or ')
  if ('const' in schema) return JSON.stringify(schema.const)
  const type = String(schema.type ?? 'another value')
  const noun = /^[aio]/.test(type) ? `an ${type}` : type === 'null' ? 'null' : `a ${type}`
  const needed = schema.required as string[] | undefined
  const bounds = [
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minItems, schema.maxItems, 'items'),
    schema.exclusiveMinimum === undefined ? '' : `above ${schema.exclusiveMinimum}`,
    schema.pattern === undefined ? '' : `like ${schema.pattern}`,
    needed && `with ${needed.join(', ')}`,
  ].filter(Boolean)
  return [noun, ...bounds].join(' ')
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  if (low === undefined && high === undefined) return ''
  if (high === undefined) return `of at least ${low} ${unit}`.trim()
  if (low === undefined) return `of at most ${high} ${unit}`.trim()
  return `of ${low} to ${high} ${unit}`.trim()
}

/** How long it is, where it is too long or too short. */
function sizeOf({ type, value }: ValueError): string | null {
  const isOfSize = /^(String(Min|Max)Length|Array(Min|Max)Items)$/.test(ValueErrorType[type] ?? '')
  return isOfSize && value !== '' ? `one of ${(value as string | readonly unknown[]).length}` : null
}

/** The kind of a submitted value, without the value itself. */
function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'another string'
  if (typeof value === 'number') return 'another number'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** `StringMinLength` → `min_length`, `Union` → `union`: TypeBox's names without the kind in front. */
function codeOf(type: ValueErrorType): string {
  const name = ValueErrorType[type] ?? 'invalid'
  const short = name.replace(/^(String|Number|Integer|Array|Object)(?=.)/, '')
  const snake = short.replace(/(?<!^)([A-Z])/g, '_$1').toLowerCase()
  return snake === name.toLowerCase() ? 'type' : snake
}
