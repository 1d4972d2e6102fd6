// Whether the server is alive, and whether it is ready: for orchestrators.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'

export const HEALTH = {
  'GET /api/health': {
    access: 'none',
    summary: 'Alive',
    answer: { status: Type.String(), version: Type.String() },
  },
  'GET /api/ready': {
    access: 'none',
    summary: 'Ready to serve',
    answer: { status: Type.String() },
  },
} as const satisfies OperationTable
