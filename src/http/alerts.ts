// The caller's alerts and their firings.

import { withoutMemory, type Alert, type Firing } from '../notify/alerts/alert.ts'
import type { Letter } from '../notify/mail/mail.ts'
import type { Alert as AlertWire, Firing as FiringWire, Letter as LetterWire } from '../wire/alert.ts'
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

/** Without a mail server letters stay in the outbox, which the caller should know. */
const warningsFor = ({ features }: ApiDeps, alert: Alert) =>
  alert.channels.includes('email') && !features.mail.configured
    ? {
        warnings: [
          {
            code: 'channel_not_configured',
            path: `/channels/${alert.channels.indexOf('email')}`,
            message: 'No mail server is set (SMTP_URL). Mail is kept in the outbox until one is.',
          },
        ],
      }
    : {}

export const ALERT_ROUTES: Routes = {
  'POST /api/platform/alerts': async ({ deps, caller, body, once }) => {
    const fields = { ...body, expiresAt: instantOf(body.expiresAt, '/expiresAt') }
    return once(
      (alert: Alert) => ({ id: alert.id, alert: wire(alert), ...warningsFor(deps, alert) }),
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
    handle: async ({ deps, caller: { user }, params: { id } }) =>
      deps.kept.answer(
        `alert ${user.id} ${id}`,
        () => deps.features.alerts.stamp(id),
        async () => ({
          alert: wire(await deps.features.alerts.get(user.id, id)),
        }),
      ),
  },
  'GET /api/platform/alerts/{id}/firings': async ({ deps, caller, params, query }) =>
    listed(
      'firings',
      await deps.features.alerts.firings(caller.user.id, params.id, pageOf(query, 500)),
      firingWire,
    ),
  'PATCH /api/platform/alerts/{id}': async ({ deps, caller, params, body }) => {
    const { expiresAt, ...rest } = body
    const fields = expiresAt === undefined ? rest : { ...rest, expiresAt: instantOf(expiresAt, '/expiresAt') }
    const alert = await deps.features.alerts.change(caller.user.id, params.id, fields)
    return { alert: wire(alert), ...warningsFor(deps, alert) }
  },
  'DELETE /api/platform/alerts/{id}': async ({ deps, caller, params }) => {
    await deps.features.alerts.remove(caller.user.id, params.id)
    return { id: params.id }
  },
}
