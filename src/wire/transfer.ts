// Everything that a user owns as one file, to keep or to take to another server.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { oneOf } from './schema.ts'

const Counts = Type.Record(Type.String(), Type.Integer())

export const TRANSFERS = {
  'GET /api/platform/export': {
    access: 'session scripts:read ideas:read',
    summary: 'Everything you own as one file',
    description:
      'Lines of JSON, compressed with gzip: scripts with their revisions, backtests, sweeps, portfolios, scans and forward runs with their results, ideas, watchlists, alerts, channels, webhooks, inboxes, drawings, layouts, cursors and bookmarks; with `bars=yes` also the bars that you imported for yourself, of the owner and admins those that everybody has. Secrets of channels, webhooks and inboxes, provider keys, tokens and passwords are not in it, nor are logs of what was sent and work that is still under way. A token needs every scope that ends with `:read`.',
    query: Type.Object({ bars: Type.Optional(oneOf(['yes', 'no'])) }),
  },
  'POST /api/platform/import': {
    access: 'session scripts:write ideas:write',
    summary: 'Take in what was exported',
    description:
      'The body is a file of `GET /api/platform/export`, of this server or another, of you or of somebody else. Everything gets a new id and becomes yours; nothing that you have is changed, and what was taken before is left as it is, so that doing it again is harmless. The limits are those of anything you make. Ideas and scripts come in private, webhooks and channels disabled until they have a secret again, forward runs stopped, scans no longer watched. `imported` and `present` count by kind what was taken, and what was there already; `refused` names what was not taken and why, 100 at most. What was taken stays if the file turns out to be broken later on. A token needs every scope that ends with `:write`.',
    answer: {
      imported: Counts,
      present: Counts,
      refused: Type.Array(Type.Object({ kind: Type.String(), name: Type.String(), message: Type.String() })),
    },
  },
} as const satisfies OperationTable
