// The form of an alert, for a new one and for changing one.

import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { get, patch, post } from '../api-client.ts'
import { href } from '../router.ts'
import { Button, Dialog, Field, Select, toast } from '../ui/ui.tsx'
import { market } from '../workspace.ts'
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
import { Check, FormProblem, pageStyles as p, problemAt, useSubmit } from './page.tsx'

export interface AlertStart {
  readonly symbol?: string
  readonly exchange?: string
  readonly interval?: string
  readonly price?: number
}

/** Goes up when an alert was made or changed: lists load again. */
export const alertsChanged = signal(0)
const opened = signal<{ readonly start: AlertStart; readonly alert: Alert | null } | null>(null)

/** Opens the form, filled in as far as is known: the chart's right click, Alt+A, the buttons of lists. */
export function openAlertDialog(start: AlertStart = {}): void {
  opened.value = { start, alert: null }
}
export function editAlert(alert: Alert): void {
  opened.value = { start: {}, alert }
}

/** Where the form appears; each part of the page that can open it has one. */
export function AlertDialogHost() {
  const open = opened.value
  useEffect(() => () => void (opened.value = null), [])
  return open ? (
    <AlertForm key={open.alert?.id ?? 'new'} {...open} onClose={() => (opened.value = null)} />
  ) : null
}

interface ScriptRow {
  readonly id: string
  readonly name: string
  readonly kind: string
}
interface Webhook {
  readonly id: string
  readonly name: string
}

const FIELDS = [
  '/name',
  '/symbol',
  '/exchange',
  '/interval',
  '/price',
  '/price2',
  '/percent',
  '/bars',
  '/scriptId',
  '/plot',
  '/message',
  '/cooldownSec',
  '/expiresAt',
  '/op',
]

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
  const [form, setForm] = useState({
    name: alert?.name ?? '',
    symbol: alert ? `${alert.exchange}:${alert.symbol}` : `${from.exchange}:${from.symbol}`,
    interval: alert?.interval ?? from.interval,
    kind: alert?.kind ?? 'price',
    op: alert?.op ?? 'crossing',
    price: text(alert?.price ?? start.price),
    price2: text(alert?.price2),
    percent: text(alert?.percent),
    bars: text(alert?.bars ?? 10),
    scriptId: alert?.scriptId ?? '',
    plot: alert?.plot ?? '',
    frequency: alert?.frequency ?? 'once',
    message: alert?.message ?? '{{ticker}} {{interval}}: {{close}}',
    cooldownSec: text(alert?.cooldownSec ?? 0),
    expiresAt: alert?.expiresAt ? new Date(alert.expiresAt).toISOString().slice(0, 16) : '',
    email: alert?.channels.includes('email') ?? false,
    webhook: alert?.channels.includes('webhook') ?? false,
  })
  const [scripts, setScripts] = useState<readonly ScriptRow[]>([])
  const [webhooks, setWebhooks] = useState<readonly Webhook[] | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const quiet = () => undefined
    get<{ scripts: ScriptRow[] }>('/api/platform/scripts', {}, abort.signal).then(
      (answer) => setScripts(answer.scripts.filter((one) => one.kind !== 'draft' && one.kind !== 'library')),
      quiet,
    )
    get<{ webhooks: Webhook[] }>('/api/platform/webhooks', {}, abort.signal).then(
      (answer) => setWebhooks(answer.webhooks),
      quiet,
    )
    return () => abort.abort()
  }, [])
  const set = <K extends keyof typeof form>(name: K, value: (typeof form)[K]) =>
    setForm((before) => ({ ...before, [name]: value }))
  const { kind, op } = form
  const withOperator = needsOperator(kind)
  const { busy, error, submit } = useSubmit(async () => {
    const colon = form.symbol.indexOf(':')
    const number = (value: string) => (value.trim() === '' ? null : Number(value))
    const body = {
      name: form.name,
      symbol: form.symbol.slice(colon + 1).trim(),
      exchange: colon < 0 ? '' : form.symbol.slice(0, colon).trim(),
      interval: form.interval,
      kind,
      ...(withOperator && { op }),
      price: withOperator && !needsPercent(op) ? number(form.price) : null,
      price2: withOperator && needsChannel(op) ? number(form.price2) : null,
      percent: withOperator && needsPercent(op) ? number(form.percent) : null,
      ...(needsBars(op) && { bars: Number(form.bars) }),
      scriptId: needsScript(kind) ? form.scriptId || null : null,
      plot: kind === 'indicator' ? form.plot : '',
      frequency: form.frequency,
      message: form.message,
      cooldownSec: Number(form.cooldownSec) || 0,
      expiresAt: form.expiresAt === '' ? null : Date.parse(`${form.expiresAt}Z`),
      channels: [...(form.email ? ['email'] : []), ...(form.webhook ? ['webhook'] : [])],
    }
    const answer = alert
      ? await patch<{ warnings?: { message: string }[] }>(`/api/platform/alerts/${alert.id}`, body)
      : await post<{ warnings?: { message: string }[] }>('/api/platform/alerts', body)
    alertsChanged.value++
    for (const warning of answer.warnings ?? []) toast(warning.message)
    toast(alert ? 'Alert changed' : 'Alert is on', { tone: 'up' })
    onClose()
  })
  const field = (name: 'price' | 'price2' | 'percent' | 'bars', label: string) => (
    <Field
      label={label}
      value={form[name]}
      onInput={(value) => set(name, value)}
      inputMode="decimal"
      problem={problemAt(error, `/${name}`)}
    />
  )
  return (
    <Dialog
      title={alert ? 'Change the alert' : 'New alert'}
      onClose={onClose}
      width={520}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={busy} onClick={submit}>
            {alert ? 'Save' : 'Create alert'}
          </Button>
        </>
      }
    >
      <form class={p['form']} onSubmit={submit}>
        <div class={p['row']}>
          <Field
            label="Symbol"
            value={form.symbol}
            onInput={(value) => set('symbol', value)}
            hint="EXCHANGE:SYMBOL"
            problem={problemAt(error, '/symbol') ?? problemAt(error, '/exchange')}
          />
          <Field
            label="Interval"
            value={form.interval}
            onInput={(value) => set('interval', value)}
            problem={problemAt(error, '/interval')}
          />
        </div>
        <div class={p['row']}>
          <Select label="What" value={kind} options={KINDS} onChange={(value) => set('kind', value)} />
          {withOperator && (
            <Select label="Condition" value={op} options={OPERATORS} onChange={(value) => set('op', value)} />
          )}
        </div>
        {needsScript(kind) && (
          <div class={p['row']}>
            <div>
              <Select
                label="Script"
                value={form.scriptId}
                options={[
                  ['', scripts.length === 0 ? 'No stored scripts' : 'Choose a script'],
                  ...scripts.map((one) => [one.id, one.name] as const),
                ]}
                onChange={(value) => set('scriptId', value)}
              />
              {problemAt(error, '/scriptId') && <span class="down">{problemAt(error, '/scriptId')}</span>}
            </div>
            {kind === 'indicator' && (
              <Field
                label="Plot"
                value={form.plot}
                onInput={(value) => set('plot', value)}
                hint="Its title; empty = the first."
              />
            )}
          </div>
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
            value={form.frequency}
            options={FREQUENCIES}
            onChange={(value) => set('frequency', value)}
          />
          <Field
            label="Expires (UTC)"
            type="datetime-local"
            value={form.expiresAt}
            onInput={(value) => set('expiresAt', value)}
            hint="Empty = never."
            problem={problemAt(error, '/expiresAt')}
          />
        </div>
        <Field
          label="Name"
          value={form.name}
          onInput={(value) => set('name', value)}
          placeholder="Optional"
          problem={problemAt(error, '/name')}
        />
        <Field
          label="Message"
          rows={2}
          value={form.message}
          onInput={(value) => set('message', value)}
          hint={`Filled in: ${PLACEHOLDERS.join(' ')}`}
          problem={problemAt(error, '/message')}
        />
        <fieldset class={p['form']} style={{ gap: '6px' }}>
          <legend class="muted" style={{ fontSize: '12px', marginBottom: '4px' }}>
            Besides the list here, tell me by
          </legend>
          <Check checked={form.email} onChange={(value) => set('email', value)}>
            E-mail
          </Check>
          <Check checked={form.webhook} onChange={(value) => set('webhook', value)}>
            Webhook
            {webhooks?.length === 0 && (
              <span class="muted">
                {' '}
                (none yet: <a href={href('/webhooks')}>register one</a>)
              </span>
            )}
          </Check>
        </fieldset>
        <FormProblem error={error} paths={FIELDS} />
        {/* Enter sends the form. */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  )
}
