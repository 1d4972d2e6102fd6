// The form that requests a sweep of a script: which inputs to vary, over which values, and the objective.

import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { ApiError, call } from '../api-client.ts'
import { Form, useForm, type FormOf } from '../ui/form.tsx'
import { cx, Empty, Field, Select, uiStyles as ui } from '../ui/ui.tsx'
import { Show, useAnswer } from '../frame/page.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { navigate } from '../router.ts'
import type { Input as ScriptInput } from '../../wire/script.ts'
import type { SweepBody } from '../../wire/sweep.ts'
import { AboutChips, useAbout, useCached, type About } from '../research/about-chips.tsx'
import { settingsOf, type Subject, type TabProps } from '../research/subject.ts'
import { FIGURES } from '../report/figure-text.ts'
import { inNames } from './figure-words.ts'
import {
  allowedOf,
  choicesOf,
  inRows,
  plannedText,
  propertyRows,
  rowProblem,
  rowsOf,
  variedOf,
  type RowPart,
  type VariedRow,
} from './sweep-model.ts'
import j from '../jobs/jobs.module.css'
import s from './sweeps.module.css'

const HALVING = [
  ['no', 'No: try everything on all bars'],
  ['1', 'Go on with the best third after a third of the bars'],
  ['2', '… in two steps, from a ninth of the bars'],
] as const
const SAMPLERS = [
  ['auto', 'Every combination, or 1,000 at random'],
  ['grid', 'Every combination'],
  ['sobol', 'Spread evenly (Sobol)'],
  ['random', 'At random'],
  ['tpe', 'Learning (TPE)'],
  ['cmaes', 'Learning, numbers only (CMA-ES)'],
] as const
const WINDOWS = [
  ['holdout', 'Hold the last 30% back'],
  ['rolling', 'Walk forward, rolling'],
  ['anchored', 'Walk forward, anchored'],
  ['matrix', 'Walk forward, matrix of 30'],
  ['none', 'All bars, no test'],
] as const
const OBJECTIVES = [
  ['netProfit', 'Net profit'],
  ['netProfit / max(maxDrawdown, 1)', 'Net profit over max drawdown'],
  ['sharpe', 'Sharpe ratio'],
  ['profitFactor', 'Profit factor'],
  ['-maxDrawdownPct', 'A small max drawdown'],
  ['', 'Another figure, or an expression'],
] as const

const START = {
  where: '',
  objective: 'netProfit',
  constraints: 'trades >= 5',
  trials: '1000',
  sampler: 'auto' as (typeof SAMPLERS)[number][0],
  windows: 'holdout' as (typeof WINDOWS)[number][0],
  halving: 'no' as (typeof HALVING)[number][0],
}
type Values = typeof START

const FIGURE_NAMES = [...Object.keys(FIGURES.column), ...Object.keys(FIGURES.equity)]
const SWEEP_FIELDS = bodyFields('POST /api/platform/sweeps')
const TRIALS_MAX = SWEEP_FIELDS.trials.max ?? Infinity

export function Optimise({ subject }: TabProps) {
  const about = useAbout(subject)
  const { source } = about
  const checked = useAnswer('POST /api/platform/scripts/check', { body: { source } })
  return (
    <div class={j.job}>
      <AboutChips subject={subject} about={about} />
      <Show of={checked}>
        {({ inputs: list, kind }) =>
          kind === 'strategy' ? (
            <OptimiseForm key={source} subject={subject} about={about} inputs={list} />
          ) : (
            <Empty title="Nothing to optimise">
              Only a strategy makes a profit that could be optimised, and it must compile. Choose one on the
              left.
            </Empty>
          )
        }
      </Show>
    </div>
  )
}

interface OptimiseFormProps {
  readonly subject: Subject
  readonly about: About
  readonly inputs: readonly ScriptInput[]
}

type Plan = ReturnType<typeof planOf>

/** What is tried, by the rows that are on and how they are gone through. */
function planOf(rows: readonly VariedRow[], { sampler, windows }: Pick<Values, 'sampler' | 'windows'>) {
  const size = choicesOf(rows)
  const isGrid = sampler === 'grid' || (sampler === 'auto' && size !== null && size <= 1000)
  const mayHalve =
    (isGrid || sampler === 'auto' || sampler === 'sobol' || sampler === 'random') &&
    (windows === 'none' || windows === 'holdout')
  return { chosen: rows.filter(({ on }) => on), size, isGrid, mayHalve }
}

function OptimiseForm({ subject, about, inputs }: OptimiseFormProps) {
  const [rows, setRows] = useState(() => [...rowsOf(inputs), ...propertyRows()])
  const form = useForm({
    wire: SWEEP_FIELDS,
    start: START,
    async send(values) {
      const body = bodyOf(subject, about, values, plan)
      const { id } = await call('POST /api/platform/sweeps', { body }).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        const { status, code, requestId, message, fields } = error
        throw new ApiError(status, { code, requestId, message, fields: inRows(fields, chosen) })
      })
      navigate(`/research/sweeps/${id}`)
    },
  })
  const plan = planOf(rows, form.values)
  const { chosen, size, isGrid } = plan
  const tries = isGrid ? size : Number(form.values.trials)
  useEffect(() => form.set('where', conditionFor(chosen)), [chosen.map(({ input }) => input.label).join()])
  const set = (at: number, part: Partial<VariedRow>) =>
    setRows(rows.map((row, i) => (i === at ? { ...row, ...part } : row)))
  const { problem, text } = usePlanned(rows, plan, form.values, about)
  const shown = (ofProperties: boolean) =>
    rows.map(
      (row, at) =>
        (row.property !== undefined) === ofProperties && (
          <InputRow key={row.property ?? row.input.label} row={row} set={(part) => set(at, part)} />
        ),
    )
  return (
    <Form
      of={form}
      class={j.form}
      action={form.busy ? 'Starting' : 'Optimise'}
      variant="primary"
      disabled={problem !== null || !(tries !== null && tries >= 1 && tries <= TRIALS_MAX)}
    >
      <fieldset class={s.inputs}>
        <legend>Inputs to vary</legend>
        {shown(false)}
        {rows.every(({ property }) => property !== undefined) && (
          <p class={j.note}>The script has no input that is a number, a choice or a switch.</p>
        )}
      </fieldset>
      <details class={s.inputs}>
        <summary>Properties of the strategy</summary>
        {shown(true)}
      </details>
      <How form={form} plan={plan} />
      <p class={j.note} role="status">
        {problem ?? text}
      </p>
    </Form>
  )
}

/** What the form would start; `problem` says why it cannot. */
function usePlanned(
  rows: readonly VariedRow[],
  { chosen, size, isGrid }: Plan,
  { where, trials, windows }: Values,
  about: About,
) {
  const broken = chosen.find((row) => rowProblem(row) !== null)
  const allowed = useMemo(() => (broken ? null : allowedOf(rows, where)), [rows, where])
  const cached = useCached(about)
  const problem =
    chosen.length === 0
      ? 'Choose at least one input or property.'
      : broken
        ? `${broken.input.label}: ${rowProblem(broken)!.text}`
        : allowed === 0
          ? 'The condition leaves no combination to try.'
          : null
  const asked = { trials: Number(trials), bars: about.bars, isHeldOut: windows === 'holdout', cached }
  return { problem, text: plannedText({ size, allowed, isGrid, ...asked }) }
}

function bodyOf(
  subject: Subject,
  { source, exchange, symbol, interval, bars }: About,
  { where, objective, constraints, trials, windows, halving, sampler }: Values,
  { chosen, isGrid, mayHalve }: Plan,
): SweepBody {
  return {
    name: subject.name,
    exchange,
    symbol,
    interval,
    bars,
    source,
    ...settingsOf(subject),
    space: chosen.map(variedOf),
    where: where.trim() === '' ? [] : [where],
    ...(objective.trim() !== '' && { objective: inNames(objective, FIGURE_NAMES) }),
    constraints: constraints.trim() === '' ? [] : [inNames(constraints, FIGURE_NAMES)],
    windows: { kind: windows },
    ...(mayHalve && halving !== 'no' && { halving: { rungs: Number(halving) } }),
    sampler: isGrid ? 'grid' : sampler === 'auto' ? 'sobol' : sampler,
    ...(!isGrid && { trials: Number(trials) }),
  }
}

/** What is wanted, and how it is looked for. */
function How({ form, plan: { isGrid, mayHalve } }: { form: FormOf<Values>; plan: Plan }) {
  const [ownObjective, setOwnObjective] = useState(false)
  return (
    <div class={j.fields}>
      <Field
        label="Condition between them"
        placeholder="Fast < Slow"
        {...form.field('where')}
        hint={'Names with blanks in double quotes: "Fast length" < "Slow length"'}
      />
      <Select
        label="Wanted as large as possible"
        value={ownObjective ? '' : form.values.objective}
        options={OBJECTIVES}
        onChange={(objective) => {
          setOwnObjective(objective === '')
          if (objective !== '') form.set('objective', objective)
        }}
      />
      {ownObjective && (
        <Field
          label="Figure or expression"
          {...form.field('objective')}
          hint="As the report names them: net profit, Sharpe ratio, net profit / max drawdown"
        />
      )}
      <Field
        label="A trial counts if"
        {...form.field('constraints')}
        hint="Such as trades >= 30, profit factor > 1.2"
      />
      <Select label="Test" options={WINDOWS} {...form.choice('windows')} />
      <Select label="What to try" options={SAMPLERS} {...form.choice('sampler')} />
      {mayHalve && <Select label="Sort out early" options={HALVING} {...form.choice('halving')} />}
      {!isGrid && <Field label="Trials" {...form.field('trials')} />}
    </div>
  )
}

/** The usual condition, if two inputs are named like a fast and a slow average. */
function conditionFor(rows: readonly VariedRow[]): string {
  const named = (pattern: RegExp) => rows.find(({ input }) => pattern.test(input.label))?.input.label
  const [fast, slow] = [named(/fast|short/i), named(/slow|long/i)]
  if (fast === undefined || slow === undefined || fast === slow) return ''
  const quoted = (name: string) => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `"${name}"`)
  return `${quoted(fast)} < ${quoted(slow)}`
}

function InputRow({ row, set }: { row: VariedRow; set: (part: Partial<VariedRow>) => void }) {
  const { label } = row.input
  const problem = row.on ? rowProblem(row) : null
  const problemId = useId()
  const field = (name: RowPart, text: string) => (
    <label class={cx(s.part, name === 'values' && s.list)}>
      <span>{text}</span>
      <input
        class={ui['input']}
        inputMode={name === 'values' ? 'text' : 'decimal'}
        value={row[name]}
        disabled={!row.on}
        aria-label={`${label}: ${text}`}
        aria-invalid={problem?.part === name}
        aria-describedby={problem?.part === name ? problemId : undefined}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  )
  return (
    <div class={s.row}>
      <label class={s.name}>
        <input
          type="checkbox"
          checked={row.on}
          onChange={(event) => set({ on: event.currentTarget.checked })}
        />
        {label}
      </label>
      {row.kind === 'values' ? (
        field('values', 'values')
      ) : (
        <>
          {field('min', 'from')}
          {field('max', 'to')}
          {field('step', 'step')}
        </>
      )}
      {problem !== null && (
        <span class={s.wrong} id={problemId}>
          {problem.text}
        </span>
      )}
    </div>
  )
}
