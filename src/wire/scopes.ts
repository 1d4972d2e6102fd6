// The scopes of API tokens. This file is plain, without schemas, so that the dashboard can load it.

export const RESOURCES = [
  'backtests',
  'alerts',
  'ideas',
  'scripts',
  'watchlists',
  'replay',
  'search',
  'webhooks',
  'bars',
] as const
export type Scope = `${(typeof RESOURCES)[number]}:${'read' | 'write'}`

export const SCOPES: readonly Scope[] = RESOURCES.flatMap((resource): Scope[] => [
  `${resource}:read`,
  `${resource}:write`,
])
