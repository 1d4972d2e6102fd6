// The form of a bridge: what goes where, in which words, and how much of it.

import { useState } from 'preact/hooks'
import type { Bridge } from '../../wire/bridge.ts'
import {
  NUMBER_PLACEHOLDERS,
  ORDER_TEMPLATES,
  TEMPLATE_NAMES,
  TEXT_PLACEHOLDERS,
  type OrderTemplate,
  type TemplateName,
} from '../../wire/order-templates.ts'
import { call } from '../api-client.ts'
import { Check, Checks, useAnswer } from '../frame/page.tsx'
import { FormDialog, useForm, type FormOf } from '../ui/form.tsx'
import { Empty, Field, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }

const BODY_FIELDS = bodyFields('PATCH /api/platform/bridges/{id}')
const PLACEHOLDERS = [...TEXT_PLACEHOLDERS, ...NUMBER_PLACEHOLDERS].map((name) => `{{${name}}}`).join(' ')
const SERVICES = TEMPLATE_NAMES.map((name) => [name, ORDER_TEMPLATES[name].label] as const)
const SIDES = [
  ['buy', 'Buys'],
  ['sell', 'Sells'],
] as const
const namesOf = (all: readonly BridgeSource[]) => all.map(({ id, name }) => [id, name] as const)

export type BridgeSource = Pick<Bridge, 'id' | 'name'>

const startOf = (bridge: Bridge | null, template: OrderTemplate) => ({
  name: bridge?.name ?? '',
  url: '',
  account: bridge?.account ?? '',
  secret: '',
  side: bridge?.side ?? ('buy' as const),
  qty: String(bridge?.qty ?? 1),
  maxPosition: String(bridge?.maxPosition ?? ''),
  maxDayLoss: String(bridge?.maxDayLoss ?? ''),
  validSeconds: String(bridge?.validSeconds ?? 300),
  marketHours: bridge?.marketHours ?? false,
  honoursKeys: bridge?.honoursKeys ?? template.honoursKeys,
  body: bridge?.body ?? template.body,
  channelIds: bridge?.channelIds ?? ([] as readonly string[]),
})
type Values = ReturnType<typeof startOf>

function bodyOf(values: Values, isAlert: boolean, usualName: string) {
  const { account, url, secret, side, qty, body, marketHours, honoursKeys, channelIds } = values
  return {
    name: values.name.trim() || usualName,
    account: account.trim(),
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(secret !== '' && { secret }),
    ...(isAlert && { side, qty: Number(qty) }),
    maxPosition: numberOf(values.maxPosition),
    maxDayLoss: isAlert ? null : numberOf(values.maxDayLoss),
    validSeconds: Number(values.validSeconds),
    marketHours,
    honoursKeys,
    body,
    channelIds: [...channelIds],
  }
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))

export function BridgeForm({ bridge, sources }: { bridge: Bridge | null; sources: readonly BridgeSource[] }) {
  const [template, setTemplate] = useState<TemplateName>(bridge?.template ?? 'traderspost')
  const [sourceId, setSourceId] = useState(bridge?.sourceId ?? sources[0]?.id ?? '')
  const told = useAnswer('GET /api/platform/channels', {}, 'channels')
  const service = ORDER_TEMPLATES[template]
  const isAlert = sourceId.startsWith('al_')
  const form = useForm({
    wire: BODY_FIELDS,
    start: startOf(bridge, service),
    async send(values) {
      const source = sources.find(({ id }) => id === sourceId)?.name ?? ''
      const body = bodyOf(values, isAlert, `${source}: ${service.label}`)
      if (bridge) await call('PATCH /api/platform/bridges/{id}', { path: { id: bridge.id }, body })
      else await call('POST /api/platform/bridges', { body: { ...body, template, sourceId } })
    },
  })
  const hasNone = sources.length === 0 && bridge === null
  return (
    <FormDialog
      of={form}
      title={bridge ? `Change ${bridge.name}` : 'Add a bridge'}
      action={bridge ? 'Save' : 'Add as a dry run'}
      disabled={hasNone}
    >
      {hasNone ? (
        <Empty title="Nothing to send yet">
          A bridge sends the orders of a forward run, or the firings of an alert. Follow a strategy from now
          on, or set an alert, first.
        </Empty>
      ) : (
        <>
          {bridge === null && (
            <>
              <Select label="Orders of" value={sourceId} options={namesOf(sources)} onChange={setSourceId} />
              <Select
                label="Service"
                value={template}
                options={SERVICES}
                onChange={(chosen) => {
                  form.forgive()
                  setTemplate(chosen)
                  const { body, honoursKeys } = ORDER_TEMPLATES[chosen]
                  form.change({ body, honoursKeys })
                }}
              />
            </>
          )}
          {addressFields(form, service, bridge)}
          {limitFields(form, isAlert)}
          {channelChecks(form, told.data ?? [])}
          {messageFields(form)}
        </>
      )}
    </FormDialog>
  )
}

// Called, not rendered: a form knows the fields that are made while it is rendered itself.

function addressFields(form: FormOf<Values>, service: OrderTemplate, bridge: Bridge | null) {
  const { url, urlHint, account, secret, required } = service
  return (
    <>
      <Field label="Name (optional)" {...form.field('name', { required: false })} />
      <Field
        label="Address"
        {...form.field('url', { required: bridge === null && url === undefined })}
        placeholder={bridge ? `${bridge.host}/••••` : (url ?? 'https://')}
        hint={bridge ? 'Empty keeps the one that is set.' : urlHint}
        autocomplete="off"
      />
      {account !== undefined && <Field label={account} {...form.field('account')} autocomplete="off" />}
      {secret !== undefined && (
        <Field
          label={secret}
          {...form.field('secret', { required: bridge === null && required.length > 0 })}
          type="password"
          placeholder={bridge ? '••••••••' : ''}
          autocomplete="off"
        />
      )}
    </>
  )
}

function limitFields(form: FormOf<Values>, isAlert: boolean) {
  const { values, set } = form
  return (
    <>
      {isAlert && (
        <>
          <Select label="Each firing" options={SIDES} {...form.choice('side')} />
          <Field label="Contracts" inputMode="decimal" {...form.field('qty', { required: true })} />
        </>
      )}
      <Field
        label="Largest position in contracts (optional)"
        inputMode="decimal"
        {...form.field('maxPosition', { required: false })}
        placeholder="as the strategy has"
      />
      {!isAlert && (
        <Field
          label="Only exits after a loss of (optional)"
          inputMode="decimal"
          {...form.field('maxDayLoss', { required: false })}
          hint="Of the strategy within a day (UTC), in its currency."
          placeholder="no limit"
        />
      )}
      <Field
        label="Not sent any more after seconds"
        inputMode="numeric"
        {...form.field('validSeconds', { required: true })}
      />
      <Check checked={values.marketHours} onChange={(on) => set('marketHours', on)}>
        Wait until the market opens (holidays are not known)
      </Check>
    </>
  )
}

function channelChecks({ values, set }: FormOf<Values>, channels: readonly BridgeSource[]) {
  if (channels.length === 0) return null
  return (
    <Checks
      label="A difference is mailed, and told to"
      options={namesOf(channels)}
      chosen={values.channelIds}
      onChange={(ids) => set('channelIds', ids)}
    />
  )
}

function messageFields(form: FormOf<Values>) {
  return (
    <details>
      <summary>The message</summary>
      <Field
        label="JSON"
        rows={12}
        {...form.field('body', { required: true })}
        hint={`With ${PLACEHOLDERS}. Texts stand in quotes.`}
      />
      <Check checked={form.values.honoursKeys} onChange={(on) => form.set('honoursKeys', on)}>
        The receiver takes one Idempotency-Key once, so it can be asked again
      </Check>
    </details>
  )
}
