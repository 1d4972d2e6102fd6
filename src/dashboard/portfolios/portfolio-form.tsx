// Asking for a portfolio: which backtests trade together, with how much, and which of them goes first.

import { useState } from 'preact/hooks'
import { areAlike, dayToRepeat } from '../../language/behaviour.ts'
import { call } from '../api-client.ts'
import { madeColumns } from '../backtests/choice-columns.ts'
import { marketText } from '../format.ts'
import { Page, Show, useLoad } from '../frame/page.tsx'
import { navigate } from '../router.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Button, Empty, Field, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import type { Backtest } from '../../wire/backtest.ts'
import { partOf } from './portfolio-model.ts'
import j from '../jobs/jobs.module.css'
import s from './portfolios.module.css'

const FIELDS = bodyFields('POST /api/platform/portfolios')
const PARTS_MAX = 20
const PRIORITIES = ['1', '2', '3', '4', '5'] as const
type Priority = (typeof PRIORITIES)[number]

export function PortfolioForm() {
  const list = useLoad((signal) => call('GET /api/platform/backtests', { query: { limit: 100 }, signal }), [])
  return (
    <Page
      title="New portfolio"
      back={['/portfolios', 'Portfolios']}
      about="Choose backtests: their scripts, markets, bars and settings become the parts, and they trade with the same money."
    >
      <Show of={list}>
        {({ backtests }) => {
          const done = backtests.filter(({ state }) => state === 'done')
          return done.length === 0 ? (
            <Empty title="No backtests" action={<Button onClick={() => navigate('/')}>To the chart</Button>}>
              Run a strategy on the chart and keep it first. Kept backtests can be parts of a portfolio.
            </Empty>
          ) : (
            <Parts backtests={done} />
          )
        }}
      </Show>
    </Page>
  )
}

function Parts({ backtests }: { readonly backtests: readonly Backtest[] }) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Priority>>(new Map())
  const form = useForm({
    wire: FIELDS,
    start: { name: '', capital: '10000', currency: '' },
    async send({ name, capital, currency }) {
      const parts = []
      const days: string[] = []
      for (const [id, priority] of chosen) {
        const { backtest } = await call('GET /api/platform/backtests/{id}', { path: { id } })
        parts.push(partOf(backtest, Number(priority)))
        days.push(dayToRepeat(backtest.asOf))
      }
      // All parts run as of one day: that of their backtests, or today's where these are of different ones.
      const asOf = days.every((day) => areAlike(day, days[0])) ? days[0] : undefined
      const { id } = await call('POST /api/platform/portfolios', {
        body: {
          name,
          parts,
          ...(asOf !== undefined && { asOf }),
          ...(capital.trim() !== '' && { capital: Number(capital) }),
          ...(currency.trim() !== '' && { currency: currency.trim().toUpperCase() }),
        },
      })
      navigate(`/portfolios/${id}`)
    },
  })
  const choose = (id: string, priority: Priority | null) => {
    const next = new Map(chosen)
    if (priority === null) next.delete(id)
    else next.set(id, priority)
    setChosen(next)
  }
  return (
    <div class={j.job}>
      <DataTable
        label="Backtests"
        rows={backtests}
        keyOf={({ id }) => id}
        page={20}
        columns={[
          {
            of: 'name',
            head: 'Part',
            look: 'main',
            cell: ({ id, name }) => (
              <div>
                <label class={s.choice}>
                  <input
                    type="checkbox"
                    checked={chosen.has(id)}
                    disabled={!chosen.has(id) && chosen.size >= PARTS_MAX}
                    onChange={() => choose(id, chosen.has(id) ? null : '1')}
                  />
                  {name}
                </label>
              </div>
            ),
          },
          { of: 'symbol', head: 'Market', cell: marketText },
          {
            of: 'priority',
            head: 'Priority',
            sort: false,
            cell: ({ id, name }) =>
              chosen.has(id) ? (
                <Select
                  label={`Priority of ${name}`}
                  hideLabel
                  value={chosen.get(id)!}
                  options={PRIORITIES.map((one) => [one, one === '5' ? '5, first' : one] as const)}
                  onChange={(priority) => choose(id, priority)}
                />
              ) : (
                ''
              ),
          },
          ...madeColumns('Net profit alone'),
        ]}
      />
      <p role="status" class={j.note}>
        {chosen.size === 0
          ? 'Choose at least one backtest.'
          : `${chosen.size} of ${PARTS_MAX} parts. Where the money does not do for all, the higher priority goes first.`}
      </p>
      {chosen.size > 0 && (
        <Form of={form} class={j.form} action={form.busy ? 'Starting' : 'Run together'} variant="primary">
          <div class={j.fields}>
            <Field label="Name" {...form.field('name')} />
            <Field
              label="Capital"
              {...form.field('capital', { required: false })}
              hint="What they have together"
            />
            <Field
              label="Currency"
              placeholder="USD"
              {...form.field('currency', { required: false })}
              hint="That of the first part, if left empty"
            />
          </div>
        </Form>
      )}
    </div>
  )
}
