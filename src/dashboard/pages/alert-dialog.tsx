// The form of an alert, for a new one and for changing one.

import type { Webhook } from '../../wire/webhook.ts'
import type { Script as ScriptRow } from '../../wire/script.ts'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import type { Checked } from '../editor/documents.ts'
import { toDateTime } from '../editor/input-model.ts'
import type { Values } from '../editor/inputs-panel.tsx'
import { lazy } from '../frame/lazy.tsx'
import { href } from '../router.ts'
import { user } from '../session.ts'
import { Button, Dialog, Field, Select, Skeleton, toast } from '../ui/ui.tsx'
import { inputs as editorInputs, market, script as editorScript } from '../workspace.ts'
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
import {
  Check,
  FormProblem,
  pageStyles as p,
  problemAt,
  Segments,
  useLoad,
  useSubmit,
  type Loaded,
} from './page.tsx'

const InputFields = lazy(async () => (await import('../editor/inputs-panel.tsx')).InputFields)

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

/** What the form has to know of the script it is about; empty while none is chosen. */
type CheckedScript = Pick<Checked, 'inputs' | 'plots'>
/** Does an alert reach it? */
const listens = (one: Webhook): boolean => one.status === 'active' && one.events.includes('alert.triggered')

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
  const which: 'all' | 'chosen' = alert?.webhookIds.length ? 'chosen' : 'all'
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
    inputs: alert?.inputs ?? {},
    plot: alert?.plot ?? '',
    frequency: alert?.frequency ?? 'once',
    message: alert?.message ?? '{{ticker}} {{interval}}: {{close}}',
    cooldownSec: text(alert?.cooldownSec ?? 0),
    expiresAt: toDateTime(alert?.expiresAt),
    email: alert?.channels.includes('email') ?? true,
    webhook: alert?.channels.includes('webhook') ?? false,
    which,
    webhookIds: alert?.webhookIds ?? [],
  })
  const [scripts, setScripts] = useState<readonly ScriptRow[]>([])
  const [webhooks, setWebhooks] = useState<readonly Webhook[] | null>(null)
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
    return () => abort.abort()
  }, [])
  const set = <K extends keyof typeof form>(name: K, value: (typeof form)[K]) =>
    setForm((before) => ({ ...before, [name]: value }))
  const { kind, op } = form
  const source = scripts.find((one) => one.id === form.scriptId)?.source ?? null
  const checked = useLoad<CheckedScript>(
    async (signal) =>
      source === null
        ? { inputs: [], plots: [] }
        : call('POST /api/platform/scripts/check', { body: { source }, signal }),
    [source],
  )
  /** A script comes with the values it has in the editor, if it is open there. */
  const chooseScript = (scriptId: string) =>
    setForm((before) => ({
      ...before,
      scriptId,
      inputs: scriptId !== '' && scriptId === editorScript.peek().id ? editorInputs.peek() : {},
    }))
  const chooseKind = (next: Alert['kind']) => {
    set('kind', next)
    const open = editorScript.peek().id
    if (needsScript(next) && form.scriptId === '' && scripts.some((one) => one.id === open))
      chooseScript(open ?? '')
  }
  const withOperator = needsOperator(kind)
  const { busy, error, submit } = useSubmit(async () => {
    // A receiver that is gone is none.
    const chosen = form.webhookIds.filter((id) => !webhooks || webhooks.some((one) => one.id === id))
    if (form.webhook && form.which === 'chosen' && chosen.length === 0)
      throw new Error('Choose at least one webhook, or all of them.')
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
      inputs: needsScript(kind) ? form.inputs : {},
      plot: kind === 'indicator' ? form.plot : '',
      frequency: form.frequency,
      message: form.message,
      cooldownSec: Number(form.cooldownSec) || 0,
      expiresAt: form.expiresAt === '' ? null : Date.parse(`${form.expiresAt}Z`),
      channels: [...(form.email ? ['email' as const] : []), ...(form.webhook ? ['webhook' as const] : [])],
      webhookIds: form.webhook && form.which === 'chosen' ? chosen : [],
    }
    const answer = alert
      ? await call('PATCH /api/platform/alerts/{id}', { path: { id: alert.id }, body })
      : await call('POST /api/platform/alerts', { body })
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
                value={form.scriptId}
                options={[
                  ['', scripts.length === 0 ? 'No stored scripts' : 'Choose a script'],
                  ...scripts.map((one) => [one.id, one.name] as const),
                ]}
                onChange={chooseScript}
              />
              {problemAt(error, '/scriptId') && <span class="down">{problemAt(error, '/scriptId')}</span>}
            </div>
            {kind === 'indicator' && (
              <Field
                label="Plot"
                value={form.plot}
                onInput={(value) => set('plot', value)}
                offered={checked.data?.plots ?? []}
                hint="Its title; empty = the first."
              />
            )}
          </div>
        )}
        {needsScript(kind) && source !== null && (
          <ScriptInputs
            of={checked}
            values={form.inputs}
            onChange={(change) => setForm((before) => ({ ...before, inputs: change(before.inputs) }))}
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
            E-mail <span class="muted">to {user.value?.email}</span>
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
          {form.webhook && webhooks && webhooks.length > 0 && (
            <Receivers
              webhooks={webhooks}
              which={form.which}
              chosen={form.webhookIds}
              onWhich={(which) => set('which', which)}
              onChosen={(ids) => set('webhookIds', ids)}
            />
          )}
        </fieldset>
        <FormProblem error={error} paths={FIELDS} />
        {/* Enter sends the form. */}
        <input type="submit" hidden />
      </form>
    </Dialog>
  )
}

interface ReceiversProps {
  readonly webhooks: readonly Webhook[]
  readonly which: 'all' | 'chosen'
  readonly chosen: readonly string[]
  readonly onWhich: (which: 'all' | 'chosen') => void
  readonly onChosen: (ids: readonly string[]) => void
}

/** All that listen to alerts, whichever they are when it fires; or those that are ticked. */
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
            ? 'None of yours listens to alerts: change one on the webhooks page.'
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

/** The alert runs the script with these. */
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
