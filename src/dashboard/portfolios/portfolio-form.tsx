// Asking for a portfolio of backtests that were chosen in Research: with how much money, and which of them goes first.

import { useState } from 'preact/hooks'
import { areAlike, dayToRepeat } from '../../language/behaviour.ts'
import type { Backtest } from '../../wire/backtest.ts'
import { call } from '../api-client.ts'
import { marketText, gain } from '../format.ts'
import { Page, Show, useLoad } from '../frame/page.tsx'
import { navigate, query } from '../router.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Button, Empty, Field, Select } from '../ui/ui.tsx'
import { bodyFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import j from '../jobs/jobs.module.css'
import { partOf } from './portfolio-model.ts'

const FIELDS = bodyFields('POST /api/platform/portfolios')
const LIST = '/research?kind=backtest'
const PRIORITIES = ['1', '2', '3', '4', '5'] as const
type Priority = (typeof PRIORITIES)[number]

export function PortfolioForm() {
  const ids = (query.value.get('runs') ?? '').split(',').filter((id) => id !== '')
  const chosen = useLoad(
    (signal) =>
      Promise.all(ids.map((id) => call('GET /api/platform/backtests/{id}', { path: { id }, signal }))),
    [ids.join()],
    { ofOne: true },
  )
  return (
    <Page
      title="New portfolio"
      back={[LIST, 'Backtests']}
      about="Scripts, markets, bars and settings of the chosen backtests become the parts, and they trade with the same money."
      actions={<Button onClick={() => navigate(LIST)}>Choose others</Button>}
    >
      <Show of={chosen}>
        {(found) =>
          found.length === 0 ? (
            <Empty
              title="No parts yet"
              action={<Button onClick={() => navigate(LIST)}>Choose backtests</Button>}
            >
              Tick the backtests that are to trade together, then Put in a portfolio.
            </Empty>
          ) : (
            <Parts key={ids.join()} backtests={found.map(({ backtest }) => backtest)} />
          )
        }
      </Show>
    </Page>
  )
}

/** To begin with: what its parts are called, each once. */
const nameOf = (backtests: readonly Backtest[]): string =>
  [...new Set(backtests.map(({ name }) => name))].join(' + ').slice(0, 80)

function Parts({ backtests }: { readonly backtests: readonly Backtest[] }) {
  const [priorities, setPriorities] = useState<Readonly<Record<string, Priority>>>({})
  const form = useForm({
    wire: FIELDS,
    start: { name: nameOf(backtests), capital: '', currency: '' },
    async send({ name, capital, currency }) {
      const days = backtests.map((one) => dayToRepeat(one.asOf))
      // All parts run as of one day: that of their backtests, or today's where these are of different ones.
      const asOf = days.every((day) => areAlike(day, days[0])) ? days[0] : undefined
      const { id } = await call('POST /api/platform/portfolios', {
        body: {
          name,
          parts: backtests.map((one) => partOf(one, Number(priorities[one.id] ?? 1))),
          ...(asOf !== undefined && { asOf }),
          ...(capital.trim() !== '' && { capital: Number(capital) }),
          ...(currency.trim() !== '' && { currency: currency.trim().toUpperCase() }),
        },
      })
      navigate(`/research/portfolios/${id}`)
    },
  })
  return (
    <div class={j.job}>
      <DataTable
        label="Parts"
        rows={backtests}
        columns={({ own }) => [
          { of: 'name', head: 'Part', look: 'main' },
          { of: 'symbol', head: 'Market', cell: marketText },
          own('priority', 'Priority', '', ({ id, name }) => (
            <Select
              label={`Priority of ${name}`}
              hideLabel
              value={priorities[id] ?? '1'}
              options={PRIORITIES.map((one) => [one, one === '5' ? '5, first' : one] as const)}
              onChange={(one) => setPriorities({ ...priorities, [id]: one })}
            />
          )),
          own('netProfitPct', 'Net profit alone', 'number', ({ summary }) => gain(summary?.netProfitPct)),
        ]}
      />
      <p class={j.note}>Where the money does not do for all, the higher priority goes first.</p>
      <Form of={form} class={j.form} action={form.busy ? 'Starting' : 'Run together'} variant="primary">
        <div class={j.fields}>
          <Field label="Name" {...form.field('name')} />
          <Field
            label="Capital"
            {...form.field('capital', { required: false })}
            hint="What they have together; that of the first part, if left empty"
          />
          <Field
            label="Currency"
            placeholder="USD"
            {...form.field('currency', { required: false })}
            hint="That of the first part, if left empty"
          />
        </div>
      </Form>
    </div>
  )
}
