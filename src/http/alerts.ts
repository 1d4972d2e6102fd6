// The caller's alerts and their firings.

import { ownerOf, seriesKey } from '../market/bar-store.ts'
import { SPREAD_EXCHANGE } from '../market/spread.ts'
import { formatInterval, parseInterval } from '../market/interval.ts'
import { barsSeenBy } from '../market/seen-bars.ts'
import { silenceText } from '../market/silence.ts'
import { withoutMemory, type Alert, type Firing } from '../notify/alerts/alert.ts'
import type { Letter } from '../notify/mail/mail.ts'
import type { Alert as AlertWire, Firing as FiringWire, Letter as LetterWire } from '../wire/alert.ts'
import type { Scope } from '../wire/scopes.ts'
import { type ApiDeps, perServer } from './access.ts'
import { instantOf, listed, pageName, pageOf } from './fields.ts'
import { ItemTexts } from './item-texts.ts'
import type { Routes } from './route.ts'

const letterWire = ({ ownerId: _owner, picture: _picture, ...shown }: Letter): LetterWire => shown
const wire = (alert: Alert): AlertWire => withoutMemory(alert)
/** A firing as its owner sees it. */
export const firingWire = ({
  ownerId: _owner,
  escalatesAt = null,
  acknowledgedAt = null,
  ...shown
}: FiringRecord): FiringWire => ({ ...shown, escalatesAt, acknowledgedAt })

type FiringRecord = Omit<Firing, 'escalatesAt' | 'acknowledgedAt'> &
  Partial<Pick<FiringWire, 'escalatesAt' | 'acknowledgedAt'>>

const textsOn = perServer((deps) => new ItemTexts(deps.features.alerts.records, wire, deps.moment))

/** That nothing comes of what was asked for, and why: no bars, or no mail from the outbox. */
function warningsFor({ features }: ApiDeps, alert: Alert, silence: string | null) {
  const warnings: Warning[] = []
  if (alert.channels.includes('email') && !features.mail.configured)
    warnings.push({
      code: 'channel_not_configured',
      path: `/channels/${alert.channels.indexOf('email')}`,
      message: 'No mail server is set (SMTP_URL). Mail is kept in the outbox until one is.',
    })
  if (silence !== null) warnings.push({ code: 'no_new_bars', path: '/symbol', message: silence })
  return warnings.length > 0 ? { warnings } : {}
}

interface Warning {
  readonly code: string
  readonly path: string
  readonly message: string
}

/** Of the bars that an alert waits for; null if they come, or if the caller may not know. */
async function silenceOf(
  { bars, clock, features: { feeds } }: ApiDeps,
  userId: string,
  may: (scope: Scope) => boolean,
  of: Pick<Alert, 'exchange' | 'symbol' | 'interval'>,
): Promise<string | null> {
  const interval = parseInterval(of.interval)
  if (!interval || !may('bars:read')) return null
  const key = seriesKey(of.exchange, of.symbol, formatInterval(interval))
  // Alerts on formulas are refused, whether their parts are there or not.
  if (key.exchange === SPREAD_EXCHANGE) return null
  const source = await barsSeenBy(bars, userId).source(key)
  const text = (why: string | null) => silenceText(key, source?.last ?? null, clock.now(), why)
  if (text(null) === null) return null
  // A private series hides the shared one that a provider feeds.
  if (source && ownerOf(source) !== '') return text(null)
  const { isSilent, why } = await feeds.whySilent(key)
  return isSilent ? text(why) : null
}

/** An alert, with what keeps it from telling anybody. */
async function told(deps: ApiDeps, alert: Alert, may: (scope: Scope) => boolean) {
  const silence = alert.state === 'active' ? await silenceOf(deps, alert.ownerId, may, alert) : null
  return { alert: wire(alert), ...warningsFor(deps, alert, silence) }
}

export const ALERT_ROUTES: Routes = {
  'POST /api/platform/alerts': async ({ deps, caller, body, once, may }) => {
    const fields = { ...body, expiresAt: instantOf(body.expiresAt, '/expiresAt') }
    const silence = await silenceOf(deps, caller.user.id, may, body)
    return once(
      (alert: Alert) => ({ id: alert.id, alert: wire(alert), ...warningsFor(deps, alert, silence) }),
      (also) => deps.features.alerts.create(caller.user.id, fields, also),
    )
  },
  'GET /api/platform/alerts': async ({ deps, caller: { user }, query }) => {
    const page = pageOf(query, deps.features.alerts.pageMax)
    return deps.kept.answer(
      pageName('alerts', user.id, page),
      () => deps.features.alerts.listStamp(user.id),
      async () => {
        const { items, nextCursor } = await deps.features.alerts.ids(user.id, page)
        return { alerts: await textsOn(deps).list(items, user.id), nextCursor }
      },
    )
  },
  'GET /api/platform/alerts/firings': async ({ deps, caller, query }) =>
    listed('firings', await deps.features.alerts.firingsOf(caller.user.id, pageOf(query, 500)), firingWire),
  'POST /api/platform/alerts/firings/{id}/acknowledge': {
    emptyBody: true,
    handle: async ({ deps, caller, params }) => ({
      firing: firingWire(await deps.features.alerts.acknowledge(caller.user.id, params.id)),
    }),
  },
  'GET /api/platform/alerts/outbox': async ({ deps, caller, query }) => ({
    ...listed('letters', await deps.features.mail.list(caller.user.id, pageOf(query, 500)), letterWire),
    mailServer: deps.features.mail.configured,
  }),
  'GET /api/platform/alerts/{id}': {
    etag: true,
    // Not kept: whether bars come may change while the alert does not.
    handle: async ({ deps, caller: { user }, params: { id }, may }) =>
      told(deps, await deps.features.alerts.get(user.id, id), may),
  },
  'GET /api/platform/alerts/{id}/firings': async ({ deps, caller, params, query }) =>
    listed(
      'firings',
      await deps.features.alerts.firings(caller.user.id, params.id, pageOf(query, 500)),
      firingWire,
    ),
  'PATCH /api/platform/alerts/{id}': async ({ deps, caller, params, body, may }) => {
    const { expiresAt, ...rest } = body
    const fields = expiresAt === undefined ? rest : { ...rest, expiresAt: instantOf(expiresAt, '/expiresAt') }
    return told(deps, await deps.features.alerts.change(caller.user.id, params.id, fields), may)
  },
  'DELETE /api/platform/alerts/{id}': async ({ deps, caller, params }) => {
    await deps.features.alerts.remove(caller.user.id, params.id)
    return { id: params.id }
  },
}
