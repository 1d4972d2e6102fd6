// The report's schema: what a client can know of a figure without asking anybody.

import { expect, test } from 'bun:test'
import { Report } from '../../src/wire/report.ts'

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly description?: string
  readonly unit?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

interface Field {
  readonly path: string
  readonly schema: Schema
}

function fieldsOf(schema: Schema, path: string): Field[] {
  const parts = [...(schema.anyOf ?? []), ...Object.values(schema.patternProperties ?? {})]
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, of]) => [
      { path: `${path}/${name}`, schema: of },
      ...fieldsOf(of, `${path}/${name}`),
    ]),
    ...(schema.items ? fieldsOf(schema.items, `${path}/0`) : []),
    ...parts.flatMap((part) => fieldsOf(part, path)),
  ]
}

/** The version of the format is always the same number, and measures nothing. */
const isNumber = ({ type, const: constant, anyOf = [] }: Schema): boolean =>
  constant === undefined && (type === 'number' || type === 'integer' || anyOf.some(isNumber))
const told = ({ description, anyOf = [] }: Schema): boolean => description !== undefined || anyOf.some(told)
const hasUnit = ({ unit, anyOf = [] }: Schema): boolean => unit !== undefined || anyOf.some(hasUnit)
/** Whether it has fields of its own, each of which says what it means. */
const hasFields = (schema: Schema): boolean => fieldsOf(schema, '').length > 0

const fields = fieldsOf(Report, '')

test('every field says what it means', () => {
  expect(fields.length).toBeGreaterThan(200)
  expect(fields.filter(({ schema }) => !told(schema) && !hasFields(schema)).map(({ path }) => path)).toEqual(
    [],
  )
})

test('every number says its unit', () => {
  const numbers = fields.filter(({ schema }) => isNumber(schema))
  expect(numbers.length).toBeGreaterThan(150)
  expect(numbers.filter(({ schema }) => !hasUnit(schema)).map(({ path }) => path)).toEqual([])
})
