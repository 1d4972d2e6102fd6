// The form that requests a sweep of the script in the editor: which inputs to vary, over which values, and the objective.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { count, marketText } from '../format.ts'
import { Form, useForm } from '../ui/form.tsx'
import { Button, cx, Empty, Field, Select, uiStyles as ui } from '../ui/ui.tsx'
import { Page, Show, useLoad } from '../frame/page.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { navigate } from '../router.ts'
import { plainInputs, runBars } from '../run-script.ts'
import { titleOf } from '../editor/title-of.ts'
import { market, script } from '../workspace.ts'
import { choicesOf, propertyRows, rowProblem, rowsOf, variedOf, type VariedRow } from './sweep-model.ts'
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

const SWEEP_FIELDS = bodyFields('POST /api/platform/sweeps')
const TRIALS_MAX = SWEEP_FIELDS.trials.max ?? Infinity

export function Optimise() {
  const { source } = script.value
  const checked = useLoad(
    (signal) => call('POST /api/platform/scripts/check', { body: { source }, signal }),
    [source],
  )
  const { exchange, symbol, interval } = market.value
  return (
    <Page
      title="Optimise"
      back={['/sweeps', 'Sweeps']}
      about={`The script in the editor on ${marketText({ exchange, symbol, interval })}, run with many choices of its inputs. The result says how much of the best is luck.`}
    >
      {source.trim() === '' ? (
        <NoScript />
      ) : (
        <Show of={checked}>
          {({ inputs: list, kind }) => {
            const rows = rowsOf(list)
            if (kind !== 'strategy') return <NoScript />
            return <OptimiseForm key={source} start={[...rows, ...propertyRows()]} />
          }}
        </Show>
      )}
    </Page>
  )
}

function NoScript() {
  return (
    <Empty title="Nothing to vary" action={<Button onClick={() => navigate('/')}>To the editor</Button>}>
      Open a strategy in the editor first: only a strategy makes a profit that could be optimised, and it must
      compile.
    </Empty>
  )
}

function OptimiseForm({ start }: { readonly start: readonly VariedRow[] }) {
  const [rows, setRows] = useState(start)
  const [sampler, setSampler] = useState<(typeof SAMPLERS)[number][0]>('auto')
  const [windows, setWindows] = useState<(typeof WINDOWS)[number][0]>('holdout')
  const [ownObjective, setOwnObjective] = useState(false)
  const [halving, setHalving] = useState<(typeof HALVING)[number][0]>('no')
  const chosen = rows.filter(({ on }) => on)
  const inputCount = rows.filter(({ property }) => property === undefined).length
  const size = choicesOf(rows)
  const problem = chosen.length === 0 ? 'Choose at least one input or property.' : null
  const isGrid = sampler === 'grid' || (sampler === 'auto' && size !== null && size <= 1000)
  const mayHalve =
    (isGrid || sampler === 'auto' || sampler === 'sobol' || sampler === 'random') &&
    (windows === 'none' || windows === 'holdout')
  const faulty = chosen.some((row) => rowProblem(row) !== null)
  const form = useForm({
    wire: SWEEP_FIELDS,
    start: { where: '', objective: 'netProfit', constraints: 'trades >= 5', trials: '1000' },
    async send({ where, objective, constraints, trials }) {
      const { source, name, asOf } = script.peek()
      const others = plainInputs()
      const { id } = await call('POST /api/platform/sweeps', {
        body: {
          name: name || titleOf(source) || 'Untitled',
          ...market.peek(),
          bars: runBars.peek(),
          source,
          inputs: others,
          ...(asOf !== undefined && { asOf }),
          space: chosen.map(variedOf),
          where: where.trim() === '' ? [] : [where],
          ...(objective.trim() !== '' && { objective }),
          constraints: constraints.trim() === '' ? [] : [constraints],
          windows: { kind: windows },
          ...(mayHalve && halving !== 'no' && { halving: { rungs: Number(halving) } }),
          sampler: isGrid ? 'grid' : sampler === 'auto' ? 'sobol' : sampler,
          ...(!isGrid && { trials: Number(trials) }),
        },
      })
      navigate(`/sweeps/${id}`)
    },
  })
  const tries = isGrid ? size : Number(form.values.trials)
  useEffect(() => form.set('where', conditionFor(chosen)), [chosen.map(({ input }) => input.label).join()])
  const set = (at: number, part: Partial<VariedRow>) =>
    setRows(rows.map((row, i) => (i === at ? { ...row, ...part } : row)))
  return (
    <Form
      of={form}
      class={j.form}
      action={form.busy ? 'Starting' : 'Optimise'}
      variant="primary"
      disabled={problem !== null || faulty || !(tries !== null && tries >= 1 && tries <= TRIALS_MAX)}
    >
      <fieldset class={s.inputs}>
        <legend>Inputs to vary</legend>
        {rows.map((row, at) =>
          row.property === undefined ? (
            <InputRow key={row.input.label} row={row} set={(part) => set(at, part)} />
          ) : null,
        )}
        {inputCount === 0 && (
          <p class={j.note}>The script has no input that is a number, a choice or a switch.</p>
        )}
      </fieldset>
      <details class={s.inputs}>
        <summary>Properties of strategy()</summary>
        {rows.map((row, at) =>
          row.property === undefined ? null : (
            <InputRow key={row.property} row={row} set={(part) => set(at, part)} />
          ),
        )}
      </details>
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
            hint="As the API names them: netProfit, sharpe, netProfit / maxDrawdown"
          />
        )}
        <Field
          label="A trial counts if"
          {...form.field('constraints')}
          hint="Such as trades >= 30, profitFactor > 1.2"
        />
        <Select label="Test" value={windows} options={WINDOWS} onChange={setWindows} />
        <Select label="What to try" value={sampler} options={SAMPLERS} onChange={setSampler} />
        {mayHalve && (
          <Select label="Sort out early" value={halving} options={HALVING} onChange={setHalving} />
        )}
        {!isGrid && <Field label="Trials" {...form.field('trials')} />}
      </div>
      <p class={j.note} role="status">
        {problem ??
          (faulty
            ? 'A range is not complete.'
            : `${count(tries)} ${tries === 1 ? 'trial' : 'trials'}${size !== null && !isGrid ? ` of ${count(size)} combinations` : ''}, on the last ${count(runBars.value)} bars.`)}
      </p>
    </Form>
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

function InputRow({
  row,
  set,
}: {
  readonly row: VariedRow
  readonly set: (part: Partial<VariedRow>) => void
}) {
  const { label } = row.input
  const problem = row.on ? rowProblem(row) : null
  const field = (name: 'min' | 'max' | 'step' | 'values', text: string) => (
    <label class={cx(s.part, name === 'values' && s.list)}>
      <span>{text}</span>
      <input
        class={ui['input']}
        inputMode={name === 'values' ? 'text' : 'decimal'}
        value={row[name]}
        disabled={!row.on}
        aria-label={`${label}: ${text}`}
        aria-invalid={problem !== null}
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
      {problem !== null && <span class={s.wrong}>{problem}</span>}
    </div>
  )
}
