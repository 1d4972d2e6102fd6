// Everything that a user owns as one file, to keep or to take to another server.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { nullable, oneOf, Time } from './schema.ts'

const Counts = Type.Record(Type.String(), Type.Integer())

const Name = Type.String({ minLength: 1, maxLength: 100 })
/** A line of the file: trials of one script on one market, with the Sharpe ratios that are known. */
export const TriedTogether = Type.Object({
  script: Name,
  market: Type.String({ minLength: 1, maxLength: 300 }),
  trials: Type.Array(Type.Tuple([Name, nullable(Type.Number())]), { maxItems: 500 }),
})

/** A line of the file: where the bars held out of a market begin, and which backtests were judged on them. */
export const HeldOutOf = Type.Object({
  exchange: Name,
  symbol: Name,
  from: Time,
  looks: Type.Array(Name, { maxItems: 1000 }),
})

export const TRANSFERS = {
  'GET /api/platform/export': {
    access: 'session scripts:read ideas:read',
    summary: 'Everything you own as one file',
    description:
      'Lines of JSON, compressed with gzip: scripts with their revisions, backtests, sweeps, portfolios, scans and forward runs with their results, ideas, watchlists, alerts, channels, webhooks, inboxes, drawings, layouts, cursors and bookmarks, what the ledger of trials has counted, and which results were judged on bars held out; with `bars=yes` also the bars that you imported for yourself with charts they came from, of the owner and admins those that everybody has. Secrets of channels, webhooks and inboxes, provider keys, tokens and passwords are not in it, nor are logs of what was sent, work that is still under way, and what a browser keeps for itself. A token needs every scope that ends with `:read`.',
    query: Type.Object({ bars: Type.Optional(oneOf(['yes', 'no'])) }),
  },
  'POST /api/platform/import': {
    access: 'session scripts:write ideas:write',
    summary: 'Take in what was exported',
    description:
      'The body is a file of `GET /api/platform/export`, of this server or another, of you or of somebody else. Everything gets a new id and becomes yours; what you have stays as it is, also what was taken before, so doing it again is harmless. The limits are those of anything you make. Ideas and scripts come in private, webhooks and channels disabled until they have a secret, forward runs stopped, scans unwatched. `imported` and `present` count by kind what was taken, and what was there already; `refused` names what was not taken and why, 100 at most. What was taken stays if the file turns out to be broken later on. A token needs every scope that ends with `:write`.',
    answer: {
      imported: Counts,
      present: Counts,
      refused: Type.Array(Type.Object({ kind: Type.String(), name: Type.String(), message: Type.String() })),
    },
  },
} as const satisfies OperationTable
