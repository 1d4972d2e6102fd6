// The form of an alert, for a new one and for changing one. It opens over whatever page one is on.

import { useEffect, useState } from 'preact/hooks'
import { ApiError, call } from '../api-client.ts'
import { useListed } from '../chart/listed-symbols.ts'
import type { Checked } from '../editor/documents.ts'
import { lazy } from '../frame/lazy.tsx'
import { pageStyles as p, useLoad, type Loaded } from '../frame/page.tsx'
import { asSubject, storedId } from '../research/subject.ts'
import { crossingsOf, type Crossing } from '../studies/crossings.ts'
import type { Values } from '../studies/plot-sources.ts'
import { studies } from '../studies/studies.ts'
import { subjectOf } from '../studies/study-menu.tsx'
import { FormDialog, useForm, type FormOf } from '../ui/form.tsx'
import { Field, Select, Skeleton } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { nameOf as fullName } from '../format.ts'
import { namesOfAll } from '../watchlists/quotes.ts'
import { alertAt, type AlertWish, type Subject } from '../workspace.ts'
import { FREQUENCIES, KINDS, needs, OPERATORS, PLACEHOLDERS, symbolMeant } from './alert-model.ts'
import { nameOf } from './alert-name.ts'
import { bodyOf, startOf, SUBJECT, type AlertValues } from './alert-values.ts'
import { AlertWays, Escalation, mailsBy, useWays } from './alert-ways.tsx'
import s from './alerts.module.css'
import { alertsChanged } from './on-charts.ts'
import { tellArmed } from './silence.ts'

const InputFields = lazy(async () => (await import('../editor/input-fields.tsx')).InputFields)
const FIELDS = bodyFields('POST /api/platform/alerts')

export function AlertDialog() {
  const wish = alertAt.value
  return wish && <AlertForm key={wish.alert?.id ?? 'new'} wish={wish} />
}

/** What an alert can run: `key` is the id of a stored script, or names one that may have to be stored first. */
type Offered = { readonly key: string; readonly text: string; readonly subject: Subject }

/** The studies of the chart, the user's own scripts, and what comes with the product. */
function useOffered({ subject }: AlertWish): readonly Offered[] {
  const others = useLoad(async (signal) => {
    const stored = call('GET /api/platform/scripts', { signal }).catch(() => ({ scripts: [] }))
    const [{ scripts }, { BUILT_IN }] = await Promise.all([stored, import('../studies/catalogue.ts')])
    return [
      ...scripts
        .filter(({ kind }) => kind !== 'draft' && kind !== 'library')
        .map((one) => offered(one.id, one.name, { ...one, inputs: {}, stored: one })),
      ...BUILT_IN.filter(({ source }) => crossingsOf(source).length > 0).map((one) =>
        offered(one.id, `${one.name}, built in`, asSubject(one)),
      ),
    ]
  }, [])
  const onChart = studies.value.map((study) => {
    const numbers = Object.values(study.inputs).filter((value) => typeof value === 'number')
    const text = [study.shortName, ...numbers].join(' ')
    return offered(ON_CHART + study.id, `${text}, on the chart`, subjectOf(study))
  })
  return [...(subject ? [offered(SUBJECT, subject.name, subject)] : onChart), ...(others.data ?? [])]
}

const ON_CHART = 'chart:'
const offered = (key: string, text: string, subject: Subject): Offered => ({ key, text, subject })

/** The id of the script that the alert runs; where two lines are to cross, that of one that plots their difference. */
async function scriptOf(
  { scriptId, plot }: AlertValues,
  { alert }: AlertWish,
  crossings: readonly Crossing[],
  of: Subject | undefined,
): Promise<string | null> {
  const crossing = crossings.find((one) => one.plot === plot)
  if (of && crossing?.isDifference && alert?.plot !== plot)
    return storedId({ ...of, name: `${of.name}: ${crossing.text}`, source: crossing.source, stored: null })
  return of ? storedId(of) : scriptId || null
}

function AlertForm({ wish }: { readonly wish: AlertWish }) {
  const { alert, subject } = wish
  const ways = useWays()
  const onClose = () => (alertAt.value = null)
  const form: FormOf<AlertValues> = useForm<AlertValues>({
    wire: FIELDS,
    start: startOf(wish, subject && crossingsOf(subject.source)[0]),
    async send(typed) {
      const { name: symbol, problem } = symbolMeant(typed.symbol, await namesOfAll())
      if (problem !== undefined) throw refusedSymbol(problem)
      const values = { ...typed, symbol }
      const scriptId = needs.script(values.kind) ? await scriptOf(values, wish, crossings, chosen) : null
      const sent = bodyOf(values, mailsBy(values, ways), ways, scriptId)
      const crossing = crossings.find((one) => one.plot === values.plot)
      const body = { ...sent, name: nameOf(sent, crossing) }
      const answer = alert
        ? await call('PATCH /api/platform/alerts/{id}', { path: { id: alert.id }, body })
        : await call('POST /api/platform/alerts', { body })
      alertsChanged.value++
      void tellArmed(alert ? 'Alert changed' : 'Alert is on', answer.alert, answer.warnings)
      onClose()
    },
  })
  const offeredNames = useNames(form.values.symbol)
  const all = useOffered(wish)
  const chosen = all.find(({ key }) => key === form.values.scriptId)?.subject
  const source = chosen?.source ?? null
  const crossings = source === null ? [] : crossingsOf(source)
  return (
    <FormDialog
      of={form}
      title={alert ? 'Change the alert' : 'New alert'}
      action={alert ? 'Save' : 'Create alert'}
      onClose={onClose}
      width={520}
    >
      <What form={form} all={all} source={source} crossings={crossings} />
      <div class={p['row']}>
        <Field
          label="Symbol"
          hint="Like NASDAQ:AAPL"
          offered={offeredNames}
          {...form.field('symbol', { also: ['exchange'] })}
        />
        <Field label="Interval" hint="Like 15m, 1h or 1D" {...form.field('interval')} />
      </div>
      <div class={p['row']}>
        <Select label="Fires" options={FREQUENCIES} {...form.choice('frequency')} />
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
      <AlertWays form={form} ways={ways} />
      <Escalation form={form} ways={ways} />
    </FormDialog>
  )
}

/** As the server would refuse it, so that it is said at the field. */
const refusedSymbol = (message: string): ApiError =>
  new ApiError(422, { message, fields: [{ in: 'body', path: '/symbol', code: 'ambiguous', message }] })

/** The symbols that have bars, and those of the lists of providers that fit what was typed. */
function useNames(typed: string): readonly string[] {
  const stored = useLoad(namesOfAll, []).data ?? []
  return [...stored, ...useListed(typed).found.map(fullName)]
}

interface WhatProps {
  readonly form: FormOf<AlertValues>
  readonly all: readonly Offered[]
  readonly source: string | null
  readonly crossings: readonly Crossing[]
}

/** What is waited for. */
function What({ form, all, source, crossings }: WhatProps) {
  const { kind, scriptId, plot, inputs } = form.values
  const withOperator = needs.operator(kind)
  const isDifference = kind === 'indicator' && crossings.some((one) => one.plot === plot && one.isDifference)
  const checked = useLoad<CheckedScript>(
    async (signal) =>
      source === null
        ? { inputs: [], plots: [] }
        : call('POST /api/platform/scripts/check', { body: { source }, signal }),
    [source],
    { ofOne: true },
  )
  return (
    <>
      <div class={p['row']}>
        <Select
          label="What"
          value={kind}
          options={KINDS}
          onChange={(next) => {
            // What was refused of a price is not said of a plot.
            form.forgive()
            const first = all.find(({ key }) => key.startsWith(ON_CHART))
            form.change({ kind: next, ...(next === 'indicator' && scriptId === '' && first && asked(first)) })
          }}
        />
        {withOperator && <Select label="Condition" options={OPERATORS} {...form.choice('op')} />}
      </div>
      {needs.script(kind) && (
        <div class={p['row']}>
          <WhichScript form={form} all={all} />
          {kind === 'indicator' &&
            (crossings.length > 0 ? (
              <Crossings form={form} crossings={crossings} />
            ) : (
              <Field
                label="Plot"
                offered={checked.data?.plots ?? []}
                hint="Its title; empty = the first."
                {...form.field('plot')}
              />
            ))}
        </div>
      )}
      {needs.script(kind) && source !== null && (
        <ScriptInputs
          of={checked}
          values={inputs}
          onChange={(change) => form.set('inputs', change(inputs))}
        />
      )}
      {withOperator && !isDifference && <Levels form={form} />}
    </>
  )
}

function Levels({ form }: Pick<WhatProps, 'form'>) {
  const { op } = form.values
  const field = (name: 'price' | 'price2' | 'percent' | 'bars', label: string) => (
    <Field label={label} inputMode="decimal" {...form.field(name)} />
  )
  return (
    <div class={p['row']}>
      {needs.percent(op)
        ? field('percent', 'Per cent')
        : field('price', needs.channel(op) ? 'One bound' : needs.bars(op) ? 'By' : 'Level')}
      {needs.channel(op) && field('price2', 'Other bound')}
      {needs.bars(op) && field('bars', 'Within bars')}
    </div>
  )
}

/** Which of its plots, and what it is compared with. */
function Crossings({ form, crossings }: Pick<WhatProps, 'form' | 'crossings'>) {
  const { plot, price } = form.values
  const known = crossings.some((one) => one.plot === plot)
  return (
    <Select
      label="Plot"
      value={plot}
      options={[
        ...(known ? [] : [[plot, plot || 'Its first plot'] as const]),
        ...crossings.map((one) => [one.plot, one.text] as const),
      ]}
      onChange={(next) => {
        const { level, isDifference } = crossings.find((one) => one.plot === next) ?? {}
        form.change({
          plot: next,
          price: isDifference ? '0' : price === '0' || price === '' ? String(level ?? '') : price,
        })
      }}
    />
  )
}

/** What the form begins with where this is chosen. */
function asked({ key, subject: { source, inputs } }: Offered): Partial<AlertValues> {
  const first = crossingsOf(source)[0]
  return {
    scriptId: key,
    inputs,
    plot: first?.plot ?? '',
    ...(first && { price: String(first.level ?? '') }),
  }
}

function WhichScript({ form, all }: Pick<WhatProps, 'form' | 'all'>) {
  const { kind, scriptId } = form.values
  const [typed, setTyped] = useState('')
  // What comes with the product neither orders nor calls alert().
  const those = all
    .filter(({ key }) => kind === 'indicator' || !key.startsWith('library:'))
    // They are found by what they are called: of those of one name, all but the first have their place behind it.
    .map((one, i, them) =>
      them.findIndex(({ text }) => text === one.text) === i ? one : { ...one, text: `${one.text} (${i})` },
    )
  // A name may be typed before the list that it stands in has come.
  const meant = scriptId === '' ? those.find(({ text }) => text === typed) : undefined
  useEffect(() => {
    if (meant) form.change(asked(meant))
  }, [meant?.key])
  return (
    <Field
      label="Script"
      value={those.find(({ key }) => key === scriptId)?.text ?? typed}
      offered={those.map(({ text }) => text)}
      placeholder="Type some of its name"
      problem={form.problem('scriptId')}
      onInput={(text) => {
        setTyped(text)
        form.change({ scriptId: '' })
      }}
    />
  )
}

/** What a check says about the chosen script; empty while none is chosen. */
type CheckedScript = Pick<Checked, 'inputs' | 'plots'>

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
