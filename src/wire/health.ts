// Whether the server is alive, and whether it is ready: for orchestrators.

import { Type } from '@sinclair/typebox'
import { BACKUP_STATES } from './backup.ts'
import type { OperationTable } from './operation.ts'
import { nullable, oneOf, Time } from './schema.ts'

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
      'A server that shares a database with others also says its name, and which of the 256 shards of work it does now. `backup` is there where the setting `BACKUP` names a place; a server whose backup fails is ready all the same.',
    answer: {
      status: Type.String(),
      backup: Type.Optional(
        Type.Object({
          state: oneOf(BACKUP_STATES),
          lagSeconds: Type.Number({
            description: 'How long the oldest change has waited that is not put away yet.',
          }),
          lastAt: nullable(Time),
          since: nullable(Time),
        }),
      ),
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
