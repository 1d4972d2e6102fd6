// The scopes of API tokens. This file is plain, without schemas, so that the dashboard can load it.

import { words } from '../lib/words.ts'

export const RESOURCES = words('backtests alerts ideas scripts watchlists replay search webhooks bars')
export type Scope = `${(typeof RESOURCES)[number]}:${'read' | 'write'}`

export const SCOPES: readonly Scope[] = RESOURCES.flatMap((resource): Scope[] => [
  `${resource}:read`,
  `${resource}:write`,
])
