// How an alert is told: by mail, webhooks, phones and chats, and who else is told if nobody has seen it.

import type { Webhook } from '../../wire/webhook.ts'
import { Check, pageStyles as p, useAnswer } from '../frame/page.tsx'
import { Segments } from '../ui/segments.tsx'
import { href } from '../router.ts'
import { user } from '../session.ts'
import type { FormOf } from '../ui/form.tsx'
import { Field, Select } from '../ui/ui.tsx'
import type { AlertValues } from './alert-values.ts'
import s from './alerts.module.css'

export const listens = (one: Webhook): boolean =>
  one.status === 'active' && one.events.includes('alert.triggered')

/** The ways there are, each null until it is known. */
export const useWays = () => ({
  webhooks: useAnswer('GET /api/platform/webhooks', {}, 'webhooks').data,
  channels: useAnswer('GET /api/platform/channels', {}, 'channels').data,
  canMail: useAnswer('GET /api/platform/alerts/outbox', { query: { limit: 1 } }, 'mailServer').data,
})
export type KnownWays = Readonly<ReturnType<typeof useWays>>

/** The server wants one way at least: where it sends no mail, it is mail, which then waits on the page Alerts, until another is chosen. */
export const mailsBy = ({ email, webhook, channelIds }: AlertValues, { canMail }: KnownWays): boolean =>
  email ?? (canMail !== false || !(webhook || channelIds.length > 0))

interface WaysProps {
  readonly form: FormOf<AlertValues>
  readonly ways: KnownWays
}

const ticked = (ids: readonly string[], id: string, on: boolean): readonly string[] =>
  on ? [...ids, id] : ids.filter((one) => one !== id)

export function AlertWays({ form, ways }: WaysProps) {
  const { values, set } = form
  const { webhooks, channels, canMail } = ways
  const hasHooks = webhooks !== null && webhooks.length > 0
  return (
    <fieldset class={p['form']} style={{ gap: '6px' }}>
      <legend class="muted" style={{ fontSize: '12px', marginBottom: '4px' }}>
        Besides the list here, tell me by
      </legend>
      {canMail === false && <span class="muted">This server sends no e-mail.</span>}
      {(canMail || values.email) && (
        <Check checked={mailsBy(values, ways)} onChange={(value) => set('email', value)}>
          E-mail <span class="muted">to {user.value?.email}</span>
        </Check>
      )}
      {(hasHooks || values.webhook) && (
        <Check checked={values.webhook} onChange={(value) => set('webhook', value)}>
          Webhook
        </Check>
      )}
      {values.webhook && hasHooks && <Receivers webhooks={webhooks} form={form} />}
      {channels?.map((one) => (
        <Check
          key={one.id}
          checked={values.channelIds.includes(one.id)}
          disabled={one.status === 'disabled' && !values.channelIds.includes(one.id)}
          onChange={(on) => set('channelIds', ticked(values.channelIds, one.id, on))}
        >
          {one.name} <span class="muted">{one.status === 'disabled' ? 'is disabled' : one.kind}</span>
        </Check>
      ))}
      {(channels?.length === 0 || webhooks?.length === 0) && (
        <span class="muted">
          Set up{' '}
          <a href={href('/alerts/channels')} style={{ textDecoration: 'underline' }}>
            a phone or a chat
          </a>{' '}
          or{' '}
          <a href={href('/alerts/webhooks')} style={{ textDecoration: 'underline' }}>
            a webhook
          </a>
        </span>
      )}
    </fieldset>
  )
}

export function Escalation({ form, ways: { channels } }: WaysProps) {
  if (!channels || channels.length === 0) return null
  const { escalateTo } = form.values
  return (
    <div class={p['row']}>
      <Select
        label="If nobody has seen it, tell"
        options={[['', 'nobody else'], ...channels.map((one) => [one.id, one.name] as const)]}
        {...form.choice('escalateTo')}
      />
      {escalateTo !== '' && (
        <Field
          label="After minutes"
          inputMode="numeric"
          hint="“Seen” is a tap in the message, or on the page Alerts."
          {...form.field('escalateAfter')}
        />
      )}
    </div>
  )
}

interface ReceiversProps extends Pick<WaysProps, 'form'> {
  readonly webhooks: readonly Webhook[]
}

/** Either all webhooks that listen to alerts at the time it fires, or the ticked ones. */
function Receivers({ webhooks, form: { values, set } }: ReceiversProps) {
  const { which, webhookIds: chosen } = values
  const listening = webhooks.filter(listens).length
  return (
    <div class={s.receivers}>
      <Segments
        label="Which webhooks"
        value={which}
        options={{ all: 'All', chosen: 'Only some' }}
        onChange={(next) => set('which', next)}
      />
      {which === 'all' ? (
        <p class={s.note}>
          {listening === 0
            ? 'None of your webhooks listens to alerts: change one on the webhooks page.'
            : `The ${listening === 1 ? 'one that listens' : `${listening} that listen`} to alerts now, and those that will.`}
        </p>
      ) : (
        webhooks.map((one) => (
          <Check
            key={one.id}
            checked={chosen.includes(one.id)}
            disabled={!listens(one) && !chosen.includes(one.id)}
            onChange={(on) => set('webhookIds', ticked(chosen, one.id, on))}
          >
            {one.name}{' '}
            <span class={s.note}>
              {one.status === 'disabled'
                ? 'is disabled'
                : listens(one)
                  ? new URL(one.url).host
                  : 'does not listen to alerts'}
            </span>
          </Check>
        ))
      )}
    </div>
  )
}
