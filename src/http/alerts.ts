// The caller's alerts and their firings.

import { Elysia } from 'elysia'
import { withoutMemory, type Alert, type Firing } from '../notify/alerts/alert.ts'
import type { Letter } from '../notify/mail/mail.ts'
import type { Alert as AlertWire, Firing as FiringWire, Letter as LetterWire } from '../wire/alert.ts'
import { access, type ApiDeps } from './access.ts'
import { instantOf, listed, pageName, pageOf } from './fields.ts'
import { ItemTexts } from './item-texts.ts'
import { route } from './route.ts'

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

export function alertRoutes(deps: ApiDeps) {
  const { kept } = deps
  const { alerts, mail } = deps.features
  const texts = new ItemTexts(alerts.records, wire, deps.moment)
  /** Without a mail server letters stay in the outbox, which the caller should know. */
  const warningsFor = (alert: Alert) =>
    alert.channels.includes('email') && !mail.configured
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

  return new Elysia({ prefix: '/api/platform/alerts', tags: ['Alerts'], normalize: false })
    .use(access(deps))
    .post(
      '',
      async ({ caller, body, once }) => {
        const fields = { ...body, expiresAt: instantOf(body.expiresAt, '/expiresAt') }
        return once(
          (alert: Alert) => ({ id: alert.id, alert: wire(alert), ...warningsFor(alert) }),
          (also) => alerts.create(caller.user.id, fields, also),
        )
      },
      route('POST /api/platform/alerts'),
    )
    .get(
      '',
      async ({ caller: { user }, query }) => {
        const page = pageOf(query, alerts.pageMax)
        return kept.answer(
          pageName('alerts', user.id, page),
          () => alerts.listStamp(user.id),
          async () => {
            const { items, nextCursor } = await alerts.ids(user.id, page)
            return { alerts: await texts.list(items, user.id), nextCursor }
          },
        )
      },
      route('GET /api/platform/alerts'),
    )
    .get(
      '/firings',
      async ({ caller, query }) =>
        listed('firings', await alerts.firingsOf(caller.user.id, pageOf(query, 500)), firingWire),
      route('GET /api/platform/alerts/firings'),
    )
    .post(
      '/firings/:id/acknowledge',
      async ({ caller, params }) => ({
        firing: firingWire(await alerts.acknowledge(caller.user.id, params.id)),
      }),
      route('POST /api/platform/alerts/firings/{id}/acknowledge', { emptyBody: true }),
    )
    .get(
      '/outbox',
      async ({ caller, query }) => ({
        ...listed('letters', await mail.list(caller.user.id, pageOf(query, 500)), letterWire),
        mailServer: mail.configured,
      }),
      route('GET /api/platform/alerts/outbox'),
    )
    .get(
      '/:id',
      async ({ caller: { user }, params: { id } }) =>
        kept.answer(
          `alert ${user.id} ${id}`,
          () => alerts.stamp(id),
          async () => ({
            alert: wire(await alerts.get(user.id, id)),
          }),
        ),
      route('GET /api/platform/alerts/{id}', { etag: true }),
    )
    .get(
      '/:id/firings',
      async ({ caller, params, query }) =>
        listed('firings', await alerts.firings(caller.user.id, params.id, pageOf(query, 500)), firingWire),
      route('GET /api/platform/alerts/{id}/firings'),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const { expiresAt, ...rest } = body
        const fields =
          expiresAt === undefined ? rest : { ...rest, expiresAt: instantOf(expiresAt, '/expiresAt') }
        const alert = await alerts.change(caller.user.id, params.id, fields)
        return { alert: wire(alert), ...warningsFor(alert) }
      },
      route('PATCH /api/platform/alerts/{id}'),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await alerts.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/alerts/{id}'),
    )
}
