// v5: names and orders of arguments that differ from v6.

import type { LegacyCall, VersionTable } from './version.ts'

const ORDER = [
  'id',
  'direction',
  'qty',
  'limit',
  'stop',
  'oca_name',
  'oca_type',
  'comment',
  'when',
  'alert_message',
  'disable_alert',
]

/** `when` stood before the messages until it left the order. */
export const V5_CALLS: Readonly<Record<string, LegacyCall>> = {
  'strategy.entry': { order: ORDER },
  'strategy.order': { order: ORDER },
  'strategy.close': {
    order: ['id', 'when', 'comment', 'qty', 'qty_percent', 'alert_message', 'immediately', 'disable_alert'],
  },
  'strategy.close_all': { order: ['when', 'comment', 'alert_message', 'immediately', 'disable_alert'] },
  'strategy.cancel': { order: ['id', 'when'] },
  'strategy.cancel_all': { order: ['when'] },
  strategy: { drop: ['linktoseries'] },
  indicator: {
    rename: { resolution: 'timeframe', resolution_gaps: 'timeframe_gaps' },
    drop: ['linktoseries'],
  },
}

export const V5: VersionTable = { functions: {}, values: {}, calls: V5_CALLS }
