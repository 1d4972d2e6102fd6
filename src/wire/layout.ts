// Layouts: a user's charts with their indicators, stored by name to be opened on any machine.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  idOf,
  IntervalName,
  Listed,
  namesSeries,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Text,
  Time,
  type Wire,
} from './schema.ts'

const Study = Type.Object({
  id: Text(64),
  name: Text(200),
  shortName: Text(200),
  source: Raw(100_000),
  from: Text(200, 0),
  inputs: Type.Record(Type.String(), Type.Unknown()),
  hidden: Type.Boolean(),
  intervals: nullable(Type.Array(IntervalName, { maxItems: 100 })),
  plots: Type.Record(
    Type.String(),
    Type.Object({
      color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$' })),
      width: Type.Optional(Type.Number({ minimum: 1, maximum: 20 })),
      hidden: Type.Optional(Type.Boolean()),
    }),
  ),
})

const Chart = Type.Object({
  ...namesSeries,
  type: Text(40),
  scale: oneOf(['linear', 'log', 'percent']),
  volume: Type.Boolean(),
  trades: Type.Boolean(),
  scriptId: nullable(idOf('scr')),
  studies: Type.Array(Study, { maxItems: 25 }),
})
export type LayoutChart = Wire<typeof Chart>

const Layout = Type.Object(
  { id: idOf('lay'), name: Type.String(), chart: Chart, createdAt: Time, updatedAt: Time },
  { $id: 'Layout' },
)
export type Layout = Wire<typeof Layout>

export const LAYOUTS = {
  'POST /api/platform/layouts': {
    access: 'session ideas:write',
    summary: 'Keep a layout of the chart',
    body: Type.Object({ name: Text(200), chart: Chart }),
    answer: { id: idOf('lay'), layout: Layout },
  },
  'GET /api/platform/layouts': {
    access: 'session ideas:read',
    summary: 'List layouts, newest first',
    query: PageQuery,
    answer: Listed('layouts', Layout),
  },
  'GET /api/platform/layouts/{id}': {
    access: 'session ideas:read',
    summary: 'One layout',
    answer: { layout: Layout },
  },
  'PATCH /api/platform/layouts/{id}': {
    access: 'session ideas:write',
    summary: 'Change a layout',
    body: Type.Object({ name: Type.Optional(Text(200)), chart: Type.Optional(Chart) }),
    answer: { layout: Layout },
  },
  'DELETE /api/platform/layouts/{id}': {
    access: 'session ideas:write',
    summary: 'Delete a layout',
    answer: { id: idOf('lay') },
  },
} as const satisfies OperationTable
