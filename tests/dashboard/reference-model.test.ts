// What the reference makes of an OpenAPI document.

import { describe, expect, test } from 'bun:test'
import {
  addressOf,
  anchorOf,
  boundsText,
  curlOf,
  EVENTS,
  exampleOf,
  fieldsOf,
  found,
  groupsOf,
  typeText,
  type OpenApi,
} from '../../src/dashboard/reference/openapi.ts'

const POINT = {
  type: 'object',
  required: ['x'],
  properties: {
    x: { type: 'number', minimum: 0, description: 'Across.' },
    next: { $ref: '#/components/schemas/Point' },
  },
}
const get = {
  summary: 'One point',
  tags: ['Points'],
  security: [{ 'api-token': [] }],
  parameters: [
    { name: 'id', in: 'path' as const, required: true, schema: { type: 'string' } },
    { name: 'q', in: 'query' as const, schema: { type: 'string' } },
  ],
  responses: {},
}
const DOCUMENT: OpenApi = {
  info: { description: '' },
  paths: {
    '/api/points/{id}': { get, delete: { ...get, summary: 'Remove a point' } },
    '/api/lines': { post: { summary: 'Draw', tags: ['Lines'], responses: {} } },
  },
  webhooks: { 'point.made': { post: { summary: '`point.made`', responses: {} } } },
  components: { schemas: { Point: POINT } },
}
const [points, lines, events] = groupsOf(DOCUMENT)
const operation = points!.operations[0]!

test('operations stand by resource, events last', () => {
  expect(
    [points, lines, events].map((group) => [group!.name, group!.operations.map(({ method }) => method)]),
  ).toEqual([
    ['Points', ['GET', 'DELETE']],
    ['Lines', ['POST']],
    [EVENTS, ['EVENT']],
  ])
  expect(anchorOf(operation)).toBe('get-api-points-id')
})

test('every word has to be found, in any order and any of its texts', () => {
  const names = (words: string) =>
    found(groupsOf(DOCUMENT), words).flatMap(({ operations }) => operations.map(({ summary }) => summary))
  expect(names('points delete')).toEqual(['Remove a point'])
  expect(names('  ')).toHaveLength(4)
  expect(names('point nothing')).toEqual([])
})

describe('what a value may be', () => {
  test.each([
    [{ type: 'string' }, 'string', ''],
    [{ type: 'string', minLength: 1, maxLength: 2000 }, 'string', '1 to 2,000 characters'],
    [{ enum: ['buy', 'sell'] }, '"buy" or "sell"', ''],
    [{ const: true }, 'true', ''],
    [{ anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] }, 'integer or null', ''],
    [
      { type: 'array', items: { $ref: '#/components/schemas/Point' }, maxItems: 9 },
      'Point[]',
      'at most 9 items',
    ],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" or "b")[]', ''],
    [{ type: 'integer', minimum: -8.64e15, maximum: 8.64e15 }, 'integer', ''],
    [{ type: 'integer', minimum: 0, maximum: 31536000 }, 'integer', 'from 0, to 31,536,000'],
    [{}, 'any value', ''],
  ])('%p', (schema, type, bounds) => {
    expect([typeText(schema), boundsText(schema)]).toEqual([type, bounds])
  })
})

test('fields are found through references, null and lists, and one that holds itself ends', () => {
  const schema = {
    anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/Point' } }, { type: 'null' }],
  }
  const [x, next] = fieldsOf(schema, DOCUMENT)
  expect(x).toEqual({
    name: 'x',
    type: 'number',
    bounds: 'from 0',
    meaning: 'Across.',
    required: true,
    fields: [],
  })
  expect(next).toMatchObject({ type: 'Point', required: false, fields: [] })
  expect(fieldsOf({ type: 'string' }, DOCUMENT)).toEqual([])
})

test('an example has what is required, and values that fit', () => {
  const schema = {
    type: 'object',
    required: ['symbol', 'kind', 'at', 'ids', 'point'],
    properties: {
      symbol: { type: 'string' },
      kind: { enum: ['price', 'volume'] },
      at: { anyOf: [{ type: 'integer', minimum: 5 }, { type: 'null' }] },
      ids: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^al_[0-9]+$' } },
      point: { $ref: '#/components/schemas/Point' },
      note: { type: 'string' },
    },
  }
  expect(exampleOf(schema, DOCUMENT)).toEqual({
    symbol: 'SPX',
    kind: 'price',
    at: 5,
    ids: ['al_…'],
    point: { x: 1 },
  })
})

test('an address and a command carry what was filled in, quoted', () => {
  const values = { id: 'a/b', q: 'x y' }
  expect(addressOf(operation, { values })).toBe('/api/points/a%2Fb?q=x+y')
  expect(addressOf(operation, { values: {} })).toBe('/api/points/{id}')
  expect(curlOf(operation, { values, body: `{"a":"it's"}` }, 'http://h')).toBe(
    [
      `curl 'http://h/api/points/a%2Fb?q=x+y'`,
      `  -H 'Authorization: Bearer crm_pat_…'`,
      `  -H 'Content-Type: application/json'`,
      `  -d '{"a":"it'\\''s"}'`,
    ].join(' \\\n'),
  )
})
