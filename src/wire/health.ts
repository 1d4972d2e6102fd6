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
    description:
      'A server that shares a database with others also says its name, and which of the 256 shards of work it does now.',
    answer: {
      status: Type.String(),
      node: Type.Optional(Type.String()),
      shards: Type.Optional(
        Type.Object(
          {
            symbols: Type.String(),
            users: Type.String(),
          },
          {
            description:
              'Shards as ranges, 0-84,170. Symbols: alerts and feeds; users: deliveries, mails, sweeps, scans and portfolios.',
          },
        ),
      ),
    },
  },
} as const satisfies OperationTable
