// One forward run: what it holds, what it is worth, what became of its orders, and how a backtest of today differs.

import { useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { asOfText } from '../as-of.ts'
import { showsClock } from '../chart/bars.ts'
import { count, counted, marketText, money, quantity, time, tone, gain } from '../format.ts'
import { attempt, pageStyles as p, useLoad, Show } from '../frame/page.tsx'
import { Figures, type Figure } from '../jobs/figures.tsx'
import { JobPage } from '../jobs/job-page.tsx'
import { givenText } from '../research/runs.ts'
import { navigate } from '../router.ts'
import { showRun } from '../run-script.ts'
import { DataTable, numbers, type Column } from '../ui/data-table.tsx'
import { Empty, Failure } from '../ui/ui.tsx'
import type { Divergence, ForwardOrder, ForwardRun, WaitingOrder } from '../../wire/forward-run.ts'
import { bottom } from '../workspace.ts'
import j from '../jobs/jobs.module.css'
import { positionText } from './position-text.ts'
import s from '../backtests/compare-runs.module.css'
import { Curves } from '../backtests/curves.tsx'
import { ofKind } from '../../lib/of-kind.ts'
import type { Track } from '../../wire/track.ts'
import { item } from '../ui/menu.tsx'
import { Section } from '../frame/section.tsx'

const WORDS = { 'order.placed': 'placed', 'order.filled': 'filled', 'order.cancelled': 'withdrawn' } as const

export function ForwardPage({ id = '' }: { readonly id?: string }) {
  const path = { id }
  const [compared, setCompared] = useState<Divergence | null>(null)
  const loaded = useLoad(
    async (signal) => {
      const { forwardRun } = await call('GET /api/platform/forward-runs/{id}', { path, signal })
      const { orders } = await call('GET /api/platform/forward-runs/{id}/orders', { path, signal })
      return { run: forwardRun, orders }
    },
    [id],
    { ofOne: true },
  )
  const compare = async () =>
    setCompared((await call('GET /api/platform/forward-runs/{id}/divergence', { path })).divergence)
  return (
    <JobPage
      kind="forward"
      id={id}
      loaded={loaded}
      job={loaded.data?.run}
      about={({ run }) => aboutOf(run)}
      actions={({ run }) => [
        item('Show on the chart', 'candles', () => attempt(showForwardRun(run))),
        item('Compare with a backtest', '', () => attempt(compare())),
      ]}
    >
      {({ run, orders }) => (
        <div class={j.job}>
          {run.error && <Failure error={new Error(run.error.message)} />}
          <Figures of={figuresOf(run)} />
          {compared && (
            <p role="status" class={p['note']} data-tone={compared.equal ? 'up' : 'warn'}>
              {compared.said}
            </p>
          )}
          {compared && !compared.equal && <Differences of={compared} run={run} />}
          <ForwardCurve run={run} compared={compared} />
          <Waiting run={run} />
          <Orders orders={orders} />
        </div>
      )}
    </JobPage>
  )
}

/** Its bars, trades and report on the chart of its market. */
async function showForwardRun({ id, name }: ForwardRun): Promise<void> {
  const path = { id }
  const { report } = await call('GET /api/platform/forward-runs/{id}/report', { path })
  const { tracks } = await call('GET /api/platform/forward-runs/{id}/tracks', { path })
  showRun({ id: null, name, report, tracks })
  bottom.value = 'report'
  navigate('/')
}

function aboutOf(run: ForwardRun): string {
  const bars = counted(run.bars, 'bar')
  // Those from before it was kept do not say.
  const given = run.given && `, with ${givenText(run) || 'the inputs that the script has'}`
  const on = `${marketText(run)}${given ?? ''}, ${asOfText(run.asOf)}`
  if (run.state === 'stopped') return `${on}, stopped after ${bars}.`
  if (run.state === 'failed') return `${on}, failed after ${bars}.`
  return `${on}, followed for ${bars} so far.`
}

function figuresOf(run: ForwardRun): readonly Figure[] {
  const { position, equity, startEquity, currency, fills, trades, last } = run
  const made = equity - startEquity
  const share = gain(startEquity === 0 ? null : made / startEquity)
  const clock = showsClock(run.interval)
  return [
    ['Since it began', money(made, currency, { plus: true }), share, tone(made)],
    ['Equity', money(equity, currency)],
    ['Position', positionText(position)],
    ['Orders filled since', count(fills)],
    ['Closed trades', count(trades), 'with the warm-up'],
    [
      `Newest closed bar${clock ? ' (UTC)' : ''}`,
      time(last, 'UTC', clock),
      'One behind it counts when it is over: its next has come, or a live stream says so',
    ],
  ]
}

function Waiting({ run: { waiting } }: { readonly run: ForwardRun }) {
  if (waiting.length === 0) return null
  return (
    <Section title="Waits for the next bar">
      <DataTable
        label="Waiting orders"
        rows={waiting}
        keyOf={({ id, type, price }) => `${id} ${type} ${price}`}
        columns={[
          { of: 'id', head: 'Order', look: 'main', cell: ({ id }) => id },
          ...orderColumns<ForwardRun['waiting'][number]>(),
        ]}
      />
    </Section>
  )
}

function Orders({ orders }: { readonly orders: readonly ForwardOrder[] }) {
  return (
    <Section title="Orders since it began">
      <DataTable
        label="Orders"
        rows={orders.toReversed()}
        page={50}
        empty={<Empty title="No orders yet">They appear here as bars close.</Empty>}
        columns={[
          { of: 'time', head: 'Bar (UTC)', look: 'main', cell: ({ time: at }) => time(at, 'UTC', true) },
          { of: 'event', head: 'Event', cell: eventText },
          { of: 'orderId', head: 'Order', cell: ({ orderId }) => orderId },
          ...orderColumns<ForwardOrder>(),
          numbers('position', 'Position after', ({ position }: ForwardOrder) => position, quantity),
        ]}
      />
    </Section>
  )
}

/** With its status behind it, where the run tells of bars that are not over. */
const eventText = ({ event, status }: ForwardOrder): string =>
  `${WORDS[event]}${status === 'final' ? '' : `, ${status}`}`

function Differences({ of, run }: { readonly of: Divergence; readonly run: ForwardRun }) {
  const fills = [
    ...of.onlyForward.map((fill) => ({ ...fill, type: null, whose: 'Forward run' })),
    ...of.onlyBacktest.map((fill) => ({ ...fill, type: null, whose: 'Backtest of today’s bars' })),
  ].toSorted((a, b) => a.time - b.time)
  return (
    <Section title="What differs">
      <p>
        Equity {money(of.equity, run.currency)}, of the backtest {money(of.backtestEquity, run.currency)}.
      </p>
      <DataTable
        label="Corrected bars"
        rows={of.bars}
        page={20}
        columns={({ own }) => [
          { of: 'time', head: 'Bar (UTC)', look: 'main', cell: ({ time: at }) => time(at, 'UTC', true) },
          own('seen', 'As it was seen', '', ({ seen, now }) => valuesText(seen, now ?? []) || 'not there'),
          own('now', 'Now', '', ({ seen, now }) => (now ? valuesText(now, seen) : 'gone')),
        ]}
      />
      {fills.length > 0 && (
        <DataTable
          label="Fills that differ"
          rows={fills}
          keyOf={({ whose, time: at, id, side, qty }) => [whose, at, id, side, qty].join(' ')}
          page={20}
          columns={[
            { of: 'fill', head: 'Fill (UTC)', look: 'main', cell: ({ time: at }) => time(at, 'UTC', true) },
            { of: 'whose', head: 'Only in', cell: ({ whose }) => whose },
            { of: 'id', head: 'Order', cell: ({ id }) => id },
            ...orderColumns<(typeof fills)[number]>().filter(({ of: column }) => column !== 'type'),
          ]}
        />
      )}
    </Section>
  )
}

/** Those values of a bar that the other has not. */
const valuesText = (values: readonly number[], others: readonly number[]): string =>
  BAR_VALUES.flatMap((name, i) =>
    values[i] === undefined || values[i] === others[i] ? [] : [`${name} ${quantity(values[i])}`],
  ).join(', ')
const BAR_VALUES = ['open', 'high', 'low', 'close', 'volume']

type Order = Pick<WaitingOrder, 'side' | 'qty'> & {
  readonly price: number | null
  readonly type: string | null
}

/** Without the noise of binary fractions: 100.24775000000001 is 100.24775. */
const priceText = (price: number | null | undefined) =>
  price === null || price === undefined ? 'market' : String(Number(price.toPrecision(12)))

const orderColumns = <R extends Order>(): readonly Column<R>[] => [
  { of: 'type', head: 'Type', cell: ({ type }) => type ?? '' },
  { of: 'side', head: 'Side', cell: ({ side }) => side },
  numbers('qty', 'Size', ({ qty }) => qty, quantity),
  numbers('price', 'Price', ({ price }) => price, priceText),
]

interface CurveProps {
  readonly run: ForwardRun
  /** The newest comparison, with which the backtest is run again. */
  readonly compared: Divergence | null
}

function ForwardCurve({ run, compared }: CurveProps) {
  const { id, bars, warmup, startEquity } = run
  const loaded = useLoad(
    async (signal) => {
      const report = { initialCapital: startEquity }
      const curve = async (of: 'seen' | 'stored', name: string, color: number) => {
        const asked = { path: { id }, query: { bars: of }, signal }
        const { tracks } = await call('GET /api/platform/forward-runs/{id}/tracks', asked)
        return { id: of, name, color, report, ...curveOf(tracks, warmup) }
      }
      // The backtest lies below, so that it is seen only where it is another.
      return Promise.all([curve('stored', 'Backtest of today’s bars', 1), curve('seen', 'Forward run', 0)])
    },
    [id, bars, compared],
  )
  return (
    <Section class={s.curves} aria-label="Equity" title="Equity">
      {bars === 0 ? (
        <p class={j.note}>The curve begins with the first bar that closes.</p>
      ) : (
        <Show of={loaded}>{(runs) => <Curves runs={runs} currency={run.currency} />}</Show>
      )}
    </Section>
  )
}

/** From the last bar of the warm-up on: what it was worth as it began. */
function curveOf(tracks: readonly Track[], warmup: number) {
  const from = Math.max(0, warmup - 1)
  return {
    times: (ofKind(tracks, 'time')?.data ?? []).slice(from),
    equity: (ofKind(tracks, 'equity')?.data ?? []).slice(from),
  }
}
