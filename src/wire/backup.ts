// The continuous backup of the server's data, as those who run it see it.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { nullable, oneOf, Time, type Wire } from './schema.ts'

export const BACKUP_STATES = ['starting', 'ok', 'late', 'failing'] as const

const Backup = Type.Object(
  {
    state: oneOf(
      BACKUP_STATES,
      '`starting`: there is no whole snapshot yet, from which a restore could begin. `late`: it works, and is more than two seconds behind. `failing`: something has to be done about it, or it is more than a minute behind.',
    ),
    lagSeconds: Type.Number({
      description: 'How long the oldest change has waited that is not put away yet; 0: all is.',
    }),
    lastAt: nullable(Time),
    place: Type.String({ description: 'Where it goes, without the key to it.' }),
    problem: nullable(Type.String({ description: 'Why it is late, or fails.' })),
    since: nullable(Time),
  },
  { $id: 'Backup' },
)
export type Backup = Wire<typeof Backup>

export const BACKUPS = {
  'GET /api/platform/backup': {
    access: 'session only',
    summary: 'State of the continuous backup (owner, admins)',
    description:
      '`backup` is null where the setting `BACKUP` names no place. `lastAt` is the time of the newest state that could be restored, `since` that since which it is late or fails.',
    answer: { backup: nullable(Backup) },
  },
} as const satisfies OperationTable
