// The form of an alert, for a new one and for changing one.

import type { Channel } from '../../wire/channel.ts'
import type { Webhook } from '../../wire/webhook.ts'
import type { Script as ScriptRow } from '../../wire/script.ts'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import type { Checked } from '../editor/documents.ts'
import { toDateTime } from '../editor/input-model.ts'
import type { Values } from '../studies/plot-sources.ts'
import { intervalText } from '../format.ts'
import { lazy } from '../frame/lazy.tsx'
import { href } from '../router.ts'
import { plainInputs } from '../run-script.ts'
import { user } from '../session.ts'
import { FormDialog, useForm } from '../ui/form.tsx'
import { Field, Select, Skeleton, toast } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { market, script as editorScript, type AlertWish, type Market } from '../workspace.ts'
import {
  FREQUENCIES,
  KINDS,
  needsBars,
  needsChannel,
  needsOperator,
  needsPercent,
  needsScript,
  OPERATORS,
  PLACEHOLDERS,
  type Alert,
} from './alert-model.ts'
import s from './alerts.module.css'
import { alertsChanged } from './on-charts.ts'
import { Check, pageStyles as p, Segments, useLoad, type Loaded } from '../frame/page.tsx'

const InputFields = lazy(async () => (await import('../editor/inputs-panel.tsx')).InputFields)

export interface AlertStart extends Partial<Market>, AlertWish {}

const opened = signal<{ readonly start: AlertStart; readonly alert: Alert | null } | null>(null)

/** Opens the form with what is known already filled in. Called by the chart's right click, Alt+A and the buttons of lists. */
export function openAlertDialog(start: AlertStart = {}): void {
  opened.value = { start, alert: null }
}
export function editAlert(alert: Alert): void {
  opened.value = { start: {}, alert }
}

/** Renders the form while it is open. Each part of the page that can open it has one. */
export function AlertDialogHost() {
  const open = opened.value
  useEffect(() => () => void (opened.value = null), [])
  return open ? (
    <AlertForm key={open.alert?.id ?? 'new'} {...open} onClose={() => (opened.value = null)} />
  ) : null
}

/** What a check says about the chosen script; empty while none is chosen. */
type CheckedScript = Pick<Checked, 'inputs' | 'plots'>
/** Whether a webhook listens to alerts. */
const listens = (one: Webhook): boolean => one.status === 'active' && one.events.includes('alert.triggered')

const FIELDS = bodyFields('POST /api/platform/alerts')

function AlertForm({
  start,
  alert,
  onClose,
}: {
  readonly start: AlertStart
  readonly alert: Alert | null
  readonly onClose: () => void
}) {
  const from = { ...market.value, ...start }
  const text = (value: number | null | undefined) =>
    value === null || value === undefined ? '' : String(value)
  const which: 'all' | 'chosen' = alert?.webhookIds.length ? 'chosen' : 'all'
  const [scripts, setScripts] = useState<readonly ScriptRow[]>([])
  const [webhooks, setWebhooks] = useState<readonly Webhook[] | null>(null)
  const [channels, setChannels] = useState<readonly Channel[] | null>(null)
  const [canMail, setCanMail] = useState<boolean | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const quiet = () => undefined
    call('GET /api/platform/scripts', { signal: abort.signal }).then(
      (answer) => setScripts(answer.scripts.filter((one) => one.kind !== 'draft' && one.kind !== 'library')),
      quiet,
    )
    call('GET /api/platform/webhooks', { signal: abort.signal }).then(
      (answer) => setWebhooks(answer.webhooks),
      quiet,
    )
    call('GET /api/platform/channels', { signal: abort.signal }).then(
      (answer) => setChannels(answer.channels),
      quiet,
    )
    call('GET /api/platform/alerts/outbox', { query: { limit: 1 }, signal: abort.signal }).then(
      (answer) => setCanMail(answer.mailServer),
      quiet,
    )
    return () => abort.abort()
  }, [])
  const form = useForm({
    wire: FIELDS,
    start: {
      name: (alert ?? start).name ?? '',
      symbol: alert ? `${alert.exchange}:${alert.symbol}` : `${from.exchange}:${from.symbol}`,
      interval: intervalText(alert?.interval ?? from.interval),
      kind: (alert ?? start).kind ?? 'price',
      op: (alert ?? start).op ?? 'crossing',
      price: text((alert ?? start).price),
      price2: text(alert?.price2),
      percent: text(alert?.percent),
      bars: text(alert?.bars ?? 10),
      scriptId: (alert ?? start).scriptId ?? '',
      inputs: (alert ?? start).inputs ?? {},
      plot: alert?.plot ?? '',
      frequency: alert?.frequency ?? 'once',
      message: (alert ?? start).message ?? '',
      cooldownSec: text(alert?.cooldownSec ?? 0),
      expiresAt: toDateTime(alert?.expiresAt),
      /** null: nobody has chosen yet. */
      email: alert ? alert.channels.includes('email') : null,
      webhook: alert?.channels.includes('webhook') ?? false,
      which,
      webhookIds: alert?.webhookIds ?? [],
      channelIds: alert?.channelIds ?? [],
      escalateTo: alert?.escalation?.channelId ?? '',
      escalateAfter: text(alert?.escalation?.minutes ?? 10),
    },
    async send(values) {
      const { kind, op } = values
      const withOperator = needsOperator(kind)
      // A receiver that has been deleted since is dropped.
      const chosen = values.webhookIds.filter((id) => !webhooks || webhooks.some((one) => one.id === id))
      if (values.webhook && values.which === 'chosen' && chosen.length === 0)
        throw new Error('Choose at least one webhook, or all of them.')
      const minutes = Number(values.escalateAfter)
      if (values.escalateTo !== '' && !(Number.isInteger(minutes) && minutes >= 1 && minutes <= 1440))
        throw new Error('Say after how many minutes another channel is told: 1 to 1,440.')
      const colon = values.symbol.indexOf(':')
      const number = (value: string) => (value.trim() === '' ? null : Number(value))
      const body = {
        name: values.name,
        symbol: values.symbol.slice(colon + 1).trim(),
        exchange: colon < 0 ? '' : values.symbol.slice(0, colon).trim(),
        interval: values.interval,
        kind,
        ...(withOperator && { op }),
        price: withOperator && !needsPercent(op) ? number(values.price) : null,
        price2: withOperator && needsChannel(op) ? number(values.price2) : null,
        percent: withOperator && needsPercent(op) ? number(values.percent) : null,
        ...(needsBars(op) && { bars: Number(values.bars) }),
        scriptId: needsScript(kind) ? values.scriptId || null : null,
        inputs: needsScript(kind) ? values.inputs : {},
        plot: kind === 'indicator' ? values.plot : '',
        frequency: values.frequency,
        message: values.message,
        cooldownSec: Number(values.cooldownSec) || 0,
        expiresAt: values.expiresAt === '' ? null : Date.parse(`${values.expiresAt}Z`),
        channels: [...(emails ? ['email' as const] : []), ...(values.webhook ? ['webhook' as const] : [])],
        webhookIds: values.webhook && values.which === 'chosen' ? chosen : [],
        channelIds: values.channelIds.filter((id) => !channels || channels.some((one) => one.id === id)),
        escalation:
          values.escalateTo === '' || (channels && !channels.some((one) => one.id === values.escalateTo))
            ? null
            : { channelId: values.escalateTo, minutes },
      }
      const answer = alert
        ? await call('PATCH /api/platform/alerts/{id}', { path: { id: alert.id }, body })
        : await call('POST /api/platform/alerts', { body })
      alertsChanged.value++
      for (const warning of answer.warnings ?? []) toast(warning.message)
      toast(alert ? 'Alert changed' : 'Alert is on', { tone: 'up' })
      onClose()
    },
  })
  const { set, values } = form
  /** An alert is told in some way at least: where no mail is sent, by mail only until another way is chosen. */
  const emails = values.email ?? (canMail !== false || !(values.webhook || values.channelIds.length > 0))
  const { kind, op } = values
  const withOperator = needsOperator(kind)
  const source = scripts.find((one) => one.id === values.scriptId)?.source ?? null
  const checked = useLoad<CheckedScript>(
    async (signal) =>
      source === null
        ? { inputs: [], plots: [] }
        : call('POST /api/platform/scripts/check', { body: { source }, signal }),
    [source],
  )
  /** A script that is open in the editor comes with the input values it has there. */
  const chooseScript = (scriptId: string) =>
    form.change({
      scriptId,
      inputs: scriptId !== '' && scriptId === editorScript.peek().id ? plainInputs() : {},
    })
  const chooseKind = (next: Alert['kind']) => {
    set('kind', next)
    const open = editorScript.peek().id
    if (needsScript(next) && values.scriptId === '' && scripts.some((one) => one.id === open))
      chooseScript(open ?? '')
  }
  const field = (name: 'price' | 'price2' | 'percent' | 'bars', label: string) => (
    <Field label={label} inputMode="decimal" {...form.field(name)} />
  )
  return (
    <FormDialog
      of={form}
      title={alert ? 'Change the alert' : 'New alert'}
      action={alert ? 'Save' : 'Create alert'}
      onClose={onClose}
      width={520}
    >
      <div class={p['row']}>
        <Field label="Symbol" hint="Like NASDAQ:AAPL" {...form.field('symbol', { also: ['exchange'] })} />
        <Field label="Interval" hint="Like 15m, 1h or 1D" {...form.field('interval')} />
      </div>
      <div class={p['row']}>
        <Select label="What" value={kind} options={KINDS} onChange={chooseKind} />
        {withOperator && (
          <Select label="Condition" value={op} options={OPERATORS} onChange={(value) => set('op', value)} />
        )}
      </div>
      {needsScript(kind) && (
        <div class={p['row']}>
          <div>
            <Select
              label="Script"
              value={values.scriptId}
              options={[
                ['', scripts.length === 0 ? 'No stored scripts' : 'Choose a script'],
                ...scripts.map((one) => [one.id, one.name] as const),
              ]}
              onChange={chooseScript}
            />
            {form.problem('scriptId') && <span class="down">{form.problem('scriptId')}</span>}
          </div>
          {kind === 'indicator' && (
            <Field
              label="Plot"
              offered={checked.data?.plots ?? []}
              hint="Its title; empty = the first."
              {...form.field('plot')}
            />
          )}
        </div>
      )}
      {needsScript(kind) && source !== null && (
        <ScriptInputs
          of={checked}
          values={values.inputs}
          onChange={(change) => set('inputs', change(values.inputs))}
        />
      )}
      {withOperator && (
        <div class={p['row']}>
          {needsPercent(op)
            ? field('percent', 'Per cent')
            : field('price', needsChannel(op) ? 'One bound' : needsBars(op) ? 'By' : 'Level')}
          {needsChannel(op) && field('price2', 'Other bound')}
          {needsBars(op) && field('bars', 'Within bars')}
        </div>
      )}
      <div class={p['row']}>
        <Select
          label="Fires"
          value={values.frequency}
          options={FREQUENCIES}
          onChange={(value) => set('frequency', value)}
        />
        <Field
          label="Expires (UTC)"
          hint="Empty = never."
          {...form.field('expiresAt', { type: 'datetime-local' })}
        />
      </div>
      <Field label="Name" placeholder="Optional" {...form.field('name')} />
      <Field
        label="Message"
        rows={2}
        placeholder="What has happened, like AAPL crossed above 190"
        hint={`You can use ${PLACEHOLDERS.join(' ')}`}
        {...form.field('message')}
      />
      <fieldset class={p['form']} style={{ gap: '6px' }}>
        <legend class="muted" style={{ fontSize: '12px', marginBottom: '4px' }}>
          Besides the list here, tell me by
        </legend>
        <Check checked={emails} onChange={(value) => set('email', value)}>
          E-mail{' '}
          <span class="muted">
            {canMail === false
              ? 'waits on the page Alerts: this server has no mail server (SMTP_URL)'
              : `to ${user.value?.email}`}
          </span>
        </Check>
        <Check checked={values.webhook} onChange={(value) => set('webhook', value)}>
          Webhook
          {webhooks?.length === 0 && (
            <span class="muted">
              {' '}
              (none yet:{' '}
              <a href={href('/webhooks')} style={{ textDecoration: 'underline' }}>
                register one
              </a>
              )
            </span>
          )}
        </Check>
        {values.webhook && webhooks && webhooks.length > 0 && (
          <Receivers
            webhooks={webhooks}
            which={values.which}
            chosen={values.webhookIds}
            onWhich={(which) => set('which', which)}
            onChosen={(ids) => set('webhookIds', ids)}
          />
        )}
        {channels?.map((one) => (
          <Check
            key={one.id}
            checked={values.channelIds.includes(one.id)}
            disabled={one.status === 'disabled' && !values.channelIds.includes(one.id)}
            onChange={(on) =>
              set(
                'channelIds',
                on ? [...values.channelIds, one.id] : values.channelIds.filter((id) => id !== one.id),
              )
            }
          >
            {one.name} <span class="muted">{one.status === 'disabled' ? 'is disabled' : one.kind}</span>
          </Check>
        ))}
        {channels?.length === 0 && <a href={href('/channels')}>Set up a phone or a chat</a>}
      </fieldset>
      {channels && channels.length > 0 && (
        <div class={p['row']}>
          <Select
            label="If nobody has seen it, tell"
            value={values.escalateTo}
            options={[['', 'nobody else'], ...channels.map((one) => [one.id, one.name] as const)]}
            onChange={(id) => set('escalateTo', id)}
          />
          {values.escalateTo !== '' && (
            <Field
              label="After minutes"
              inputMode="numeric"
              hint="“Seen” is a tap in the message, or on the page Alerts."
              {...form.field('escalateAfter')}
            />
          )}
        </div>
      )}
    </FormDialog>
  )
}

interface ReceiversProps {
  readonly webhooks: readonly Webhook[]
  readonly which: 'all' | 'chosen'
  readonly chosen: readonly string[]
  readonly onWhich: (which: 'all' | 'chosen') => void
  readonly onChosen: (ids: readonly string[]) => void
}

/** Either all webhooks that listen to alerts at the time it fires, or the ticked ones. */
function Receivers({ webhooks, which, chosen, onWhich, onChosen }: ReceiversProps) {
  const listening = webhooks.filter(listens).length
  return (
    <div class={s.receivers}>
      <Segments
        label="Which webhooks"
        value={which}
        options={[
          ['all', 'All'],
          ['chosen', 'Only some'],
        ]}
        onChange={onWhich}
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
            onChange={(on) => onChosen(on ? [...chosen, one.id] : chosen.filter((id) => id !== one.id))}
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

interface ScriptInputsProps {
  readonly of: Loaded<CheckedScript>
  readonly values: Values
  readonly onChange: (change: (before: Values) => Values) => void
}

/** The input values that the alert runs the script with. */
function ScriptInputs({ of, values, onChange }: ScriptInputsProps) {
  if (of.error) return <p class="down">The inputs of the script could not be read.</p>
  if (!of.data) return <Skeleton height={34} />
  const { inputs } = of.data
  if (inputs.length === 0) return null
  return (
    <details class={s.inputs} open={Object.keys(values).length > 0}>
      <summary>
        Inputs <span class="muted">{inputsText(inputs.length, Object.keys(values).length)}</span>
      </summary>
      <InputFields list={inputs} values={values} onChange={onChange} />
    </details>
  )
}

const inputsText = (all: number, changed: number): string =>
  changed === 0 ? `${all}, all as the script has them` : `${all}, ${changed} changed`
