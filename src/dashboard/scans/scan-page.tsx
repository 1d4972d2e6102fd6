// One scan: its progress, the conditions that hold, and its rows to choose from; a click on a market shows it on the chart.

import { useState } from 'preact/hooks'
import { LISTED } from '../alerts/alert-model.ts'
import { type KnownWays, listens, useWays } from '../alerts/alert-ways.tsx'
import { call } from '../api-client.ts'
import { showsClock } from '../chart/bars.ts'
import { showMarket } from '../chart/chart-state.ts'
import { nameOf, count, intervalText, percent, quantity, time, gain } from '../format.ts'
import { attempt, readPages, useAnswer, useLoad } from '../frame/page.tsx'
import { JobPage, JobProgress } from '../jobs/job-page.tsx'
import j from '../jobs/jobs.module.css'
import { DataTable, numbers, type Column } from '../ui/data-table.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Badge, Button, Empty, Field } from '../ui/ui.tsx'
import type { Scan, ScanRow } from '../../wire/scan.ts'
import s from './scans.module.css'
import { downloadItem, buttons } from '../ui/buttons.tsx'
import { item } from '../ui/menu.tsx'

const PAGE = 1000

export function ScanPage({ id = '' }: { readonly id?: string }) {
  const path = { id }
  const scan = useAnswer('GET /api/platform/scans/{id}', { path }, 'scan')
  const [where, setWhere] = useState('')
  const ways = waysText(useWays())
  const again = async () => {
    await call('POST /api/platform/scans/{id}/run', { path })
    scan.reload()
  }
  const watch = async ({ conditions, watch: now }: Scan) => {
    const only = conditions.map(({ title }) => title).filter((title) => nameInCondition(title) === where)
    const watched = { conditions: only, channels: ['email' as const, 'webhook' as const] }
    await call('PATCH /api/platform/scans/{id}', { path, body: { watch: now === null ? watched : null } })
    scan.reload()
  }
  return (
    <JobPage
      kind="scan"
      id={id}
      loaded={scan}
      job={scan.data ?? undefined}
      about={aboutOf}
      actions={(one, waits) => [
        !waits && item('Scan again', 'play', () => attempt(again())),
        (one.watch !== null || (one.conditions.length > 0 && one.state !== 'failed')) &&
          item(one.watch === null ? 'Watch' : 'Stop watching', 'bell', () => attempt(watch(one)), {
            note: `When bars come, the markets where a condition becomes true are ${ways}`,
            on: one.watch !== null,
          }),
        downloadItem('CSV', `/api/platform/scans/${id}/results.csv`, { where }),
      ]}
    >
      {(one) => (
        <div class={j.job}>
          <JobProgress
            job={one}
            stopped={`Stopped after ${count(one.done)} of ${count(one.markets)} markets.`}
            label="Markets done"
            fraction={one.done / Math.max(1, one.markets)}
          >
            {count(one.done)} of {count(one.markets)} markets
          </JobProgress>
          {one.watch && <p class={j.note}>{watchedText(one, ways)}</p>}
          {one.news.length > 0 && <News scan={one} />}
          {one.kind !== null && <Rows scan={one} where={where} setWhere={setWhere} />}
        </div>
      )}
    </JobPage>
  )
}

function aboutOf({ interval, bars, watchlistId, symbols }: Scan): string {
  const which =
    watchlistId !== null
      ? 'the markets of a watchlist'
      : symbols !== null
        ? `${count(symbols)} named symbols`
        : 'everything that has bars'
  return `${intervalText(interval)}, the last ${count(bars)} bars of ${which}.`
}

function watchedText({ watch }: Scan, ways: string): string {
  const which = watch && watch.conditions.length > 0 ? watch.conditions.join(', ') : 'any condition'
  return `Watched: when bars come, the markets where ${which} becomes true are ${ways}.`
}

/** What becomes true is listed here, and told by mail where the server sends any, and by webhooks that listen. */
function waysText({ canMail, webhooks }: KnownWays): string {
  const all = [canMail && 'e-mail', webhooks?.some(listens) && 'webhooks'].filter(Boolean)
  return all.length === 0 ? LISTED : `listed here, and you are told by ${all.join(' and ')}`
}

function News({ scan }: { readonly scan: Scan }) {
  const { interval, news } = scan
  return (
    <DataTable
      label="Became true"
      caption="Became true"
      rows={news}
      page={5}
      columns={({ own }) => [
        { of: 'symbol', head: 'Market', look: 'main', cell: nameOf },
        { of: 'condition', head: 'Condition' },
        { of: 'close', head: 'Close', look: 'number', cell: ({ close }) => rounded(close) },
        own('time', 'Bar', 'date', (one) => time(one.time, 'UTC', showsClock(interval))),
      ]}
    />
  )
}

function Rows({ scan, where, setWhere }: { scan: Scan; where: string; setWhere: (where: string) => void }) {
  const { id, done, state } = scan
  const form = useForm({
    start: { where },
    send: async (values) => {
      // A refusal is shown beside the field.
      const query = { limit: 1, ...(values.where.trim() !== '' && { where: values.where }) }
      await call('GET /api/platform/scans/{id}/results', { path: { id }, query })
      setWhere(values.where.trim())
    },
  })
  // Read again while more are coming.
  const { data: rows } = useLoad((signal) => rowsOf(id, where, signal), [id, done, state, where])
  const choose = (condition: string) => {
    form.set('where', condition)
    setWhere(condition)
  }
  const choice = (title: string, condition: string, holds: number) =>
    item(`${title} ${count(holds)}`, '', () => choose(condition), { on: where === condition })
  return (
    <>
      <div class={s.conditions} role="group" aria-label="Conditions">
        {buttons(
          [
            choice('All', '', scan.done),
            ...scan.conditions.map(({ title, holds }) => choice(title, nameInCondition(title), holds)),
          ],
          'small',
        )}
      </div>
      <Form of={form} class={s.where} action="Choose">
        <Field
          label="Rows where"
          placeholder={`change > 0.02 and ${nameInCondition(scan.values[0] ?? 'close')} > 0`}
          {...form.field('where', { required: false })}
          hint={'Names of plots and conditions, close, change; those with blanks in double quotes'}
        />
      </Form>
      <p role="status" class={j.note}>
        {rows === null ? 'Reading' : `${count(rows.length)} of ${count(scan.done)} markets`}
        {scan.failed > 0 && `, ${count(scan.failed)} without bars or with an error`}
      </p>
      {rows !== null && (
        <DataTable
          label="Markets"
          rows={rows}
          keyOf={nameOf}
          columns={columnsOf(scan)}
          page={100}
          empty={<Empty title="Nothing chosen">No market is so now.</Empty>}
        />
      )}
    </>
  )
}

/** All chosen rows. */
async function rowsOf(id: string, where: string, signal: AbortSignal): Promise<readonly ScanRow[]> {
  const load = (page: object) =>
    call('GET /api/platform/scans/{id}/results', {
      path: { id },
      query: { ...page, ...(where !== '' && { where }) },
      signal,
    })
  return (await readPages('rows', load, { limit: PAGE })).items
}

function columnsOf(scan: Scan): Column<ScanRow>[] {
  const { values, conditions, kind, interval } = scan
  type Value = number | null | undefined
  const number = (of: string, head: string, value: (row: ScanRow) => Value, shown = rounded) =>
    numbers(of, head, value, shown)
  return [
    {
      of: 'symbol',
      head: 'Market',
      look: 'main',
      leastFirst: true,
      sort: ({ exchange, symbol }) => `${symbol} ${exchange}`,
      cell: (row) => (
        <>
          <Button
            class={s.market}
            size="small"
            variant="quiet"
            aria-label={`Show ${nameOf(row)} on the chart`}
            onClick={() => showMarket({ exchange: row.exchange, symbol: row.symbol, interval })}
          >
            {nameOf(row)}
          </Button>
          {row.error && (
            <span title={row.error.message}>
              <Badge tone="down">{row.error.code === 'bars_not_found' ? 'no bars' : 'failed'}</Badge>
            </span>
          )}
        </>
      ),
    },
    {
      of: 'conditions',
      head: 'Holds',
      sort: ({ holds }) => holds.length,
      cell: ({ holds }) => holds.map((place) => conditions[place]?.title ?? '').join(', '),
    },
    number('close', 'Close', ({ close }) => close),
    number('change', 'Change', ({ change }) => change, gain),
    ...values.map((title, i) => number(`value ${i}`, title, (row) => row.values[i])),
    ...(kind === 'strategy'
      ? [
          number('position', 'Position', ({ position }) => position),
          number('trades', 'Trades', ({ summary }) => summary?.trades, count),
          number('netProfit', 'Net profit', ({ summary }) => summary?.netProfit),
          number('winRate', 'Won', ({ summary }) => summary?.winRate, percent),
          number(
            'maxDrawdownPct',
            'Max drawdown (TradingView)',
            (row) => row.summary?.maxDrawdownPct,
            percent,
          ),
        ]
      : []),
    {
      of: 'time',
      head: 'Bar',
      look: 'date',
      sort: (row) => row.time,
      cell: (row) => time(row.time, 'UTC', showsClock(interval)),
    },
  ]
}

/** Rounds to six digits, since nobody compares markets by more. */
const rounded = (value: number | null | undefined): string =>
  quantity(value === null || value === undefined ? value : Number(value.toPrecision(6)))

/** A title as a condition on rows has to spell it. */
function nameInCondition(title: string): string {
  const isName = /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(title) && !/^(and|or|not|true|false)$/.test(title)
  return isName ? title : `"${title}"`
}
