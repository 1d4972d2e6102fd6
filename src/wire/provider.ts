// Providers of bars, and the keys that some of them need.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { Listed, nullable, Text, Time, type Wire } from './schema.ts'

const Provider = Type.Object(
  {
    name: Type.String(),
    exchanges: Type.Array(Type.String()),
    needsKey: Type.Boolean(),
    needsSecret: Type.Boolean({ description: 'Whether a secret belongs to its key.' }),
    keySetAt: nullable(Time),
    keyLost: Type.Boolean({
      description: "The server's own key has changed, so the provider's has to be given again.",
    }),
    limits: nullable(Type.String({ description: 'The limits of its free keys, which are kept to.' })),
    asked: Type.Array(Type.String(), {
      description: 'Exchanges that are asked of it, and of no other that has them too.',
    }),
  },
  { $id: 'Provider' },
)
export type Provider = Wire<typeof Provider>

const named = { params: Type.Object({ name: Text(40) }) }

export const PROVIDERS = {
  'GET /api/platform/providers': {
    access: 'session bars:read',
    summary: 'Providers of bars, and which of them have a key',
    answer: Listed('providers', Provider),
  },
  'PUT /api/platform/providers/{name}/key': {
    access: 'session bars:write',
    summary: 'Give the key of a provider',
    description:
      'Of Alpaca, Massive (formerly Polygon), Tiingo or Twelve Data. It is sealed where it is stored, sent to the provider in a header, and never shown again. It chooses the provider; exchanges that several providers have are asked of the one whose key was given last. For the owner and admins.',
    ...named,
    body: Type.Object({ key: Text(200), secret: Type.Optional(Text(200, 0)) }),
    answer: { provider: Provider },
  },
  'DELETE /api/platform/providers/{name}/key': {
    access: 'session bars:write',
    summary: 'Remove the key of a provider',
    description:
      'Its exchanges are asked of the next provider that has them, or of nobody. For the owner and admins.',
    ...named,
    answer: { deleted: Type.Boolean() },
  },
} as const satisfies OperationTable
