// One scan: its progress, the conditions that hold, and its rows to choose from; a click on a market shows it on the chart.

import { useEffect, useState } from 'preact/hooks'
import { apiUrl, call } from '../api-client.ts'
import { showMarket } from '../chart/chart-state.ts'
import { count, percent, quantity, time } from '../format.ts'
import { navigate } from '../router.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Form, useForm } from '../ui/form.tsx'
import { Badge, Button, Empty, Failure, Field, Progress } from '../ui/ui.tsx'
import { attempt, Confirm, Page, Show, useLoad, useReloadWhile } from '../frame/page.tsx'
import type { Scan, ScanRow } from '../../wire/scan.ts'
import { nameInCondition } from './scan-model.ts'
import s from './scans.module.css'
import { isUnderWay } from '../../wire/job-state.ts'

const LOOK_MS = 700
const PAGE = 1000

export function ScanPage({ id = '' }: { readonly id?: string }) {
  const path = { id }
  const scan = useLoad((signal) => call('GET /api/platform/scans/{id}', { path, signal }), [id])
  const [removing, setRemoving] = useState(false)
  const [where, setWhere] = useState('')
  const state = scan.data?.scan
  const waits = state !== undefined && isUnderWay(state)
  useReloadWhile(waits, scan, LOOK_MS)
  const change = async (operation: 'cancel' | 'run') => {
    await call(`POST /api/platform/scans/{id}/${operation}`, { path })
    scan.reload()
  }
  const watch = async (begins: boolean) => {
    const only = state?.conditions.filter(({ title }) => nameInCondition(title) === where) ?? []
    const body = {
      watch: begins
        ? { conditions: only.map(({ title }) => title), channels: ['email' as const, 'webhook' as const] }
        : null,
    }
    await call('PATCH /api/platform/scans/{id}', { path, body })
    scan.reload()
  }
  return (
    <Page
      title={state?.name ?? 'Scan'}
      back={['/scans', 'Scans']}
      about={state && aboutOf(state)}
      wide
      actions={
        state && (
          <>
            {waits ? (
              <Button onClick={() => attempt(change('cancel'))}>Stop</Button>
            ) : (
              <Button icon="play" onClick={() => attempt(change('run'))}>
                Scan again
              </Button>
            )}
            {(state.watch !== null || state.conditions.length > 0) && (
              <Button
                icon="bell"
                title="Be told by e-mail and webhooks when a condition becomes true on a market"
                aria-pressed={state.watch !== null}
                onClick={() => attempt(watch(state.watch === null))}
              >
                {state.watch === null ? 'Watch' : 'Stop watching'}
              </Button>
            )}
            <Button icon="download" onClick={() => location.assign(apiUrl(csvPath(id, where)))}>
              CSV
            </Button>
            <Button variant="danger" icon="trash" onClick={() => setRemoving(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Show of={scan}>
        {({ scan: one }) => (
          <div class={s.scan}>
            <State scan={one} />
            {one.watch && <p class={s.note}>{watchedText(one)}</p>}
            {one.news.length > 0 && <News scan={one} />}
            {one.kind !== null && <Rows scan={one} where={where} setWhere={setWhere} />}
          </div>
        )}
      </Show>
      {removing && (
        <Confirm
          title="Delete this scan?"
          action="Delete"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            await call('DELETE /api/platform/scans/{id}', { path })
            navigate('/scans')
          }}
        >
          Its rows are gone then.
        </Confirm>
      )}
    </Page>
  )
}

function csvPath(id: string, where: string): string {
  const chosen = where === '' ? '' : `?where=${encodeURIComponent(where)}`
  return `/api/platform/scans/${id}/results.csv${chosen}`
}

function aboutOf({ interval, bars, watchlistId, symbols }: Scan): string {
  const which =
    watchlistId !== null
      ? 'the markets of a watchlist'
      : symbols !== null
        ? `${count(symbols)} named symbols`
        : 'everything that has bars'
  return `${interval}, the last ${count(bars)} bars of ${which}.`
}

function watchedText({ watch }: Scan): string {
  const which = watch && watch.conditions.length > 0 ? watch.conditions.join(', ') : 'any condition'
  return `Watched: when bars come you are told by e-mail and webhooks where ${which} becomes true.`
}

function News({ scan }: { readonly scan: Scan }) {
  const { interval, news } = scan
  return (
    <DataTable
      label="Became true"
      caption="Became true"
      rows={news}
      keyOf={({ exchange, symbol, condition, time: bar }) => `${exchange}:${symbol} ${condition} ${bar}`}
      page={5}
      columns={[
        { of: 'symbol', head: 'Market', look: 'main', cell: (one) => `${one.exchange}:${one.symbol}` },
        { of: 'condition', head: 'Condition' },
        { of: 'close', head: 'Close', look: 'number', cell: ({ close }) => rounded(close) },
        {
          of: 'time',
          head: 'Bar',
          look: 'date',
          cell: (one) => time(one.time, 'UTC', /[smh]$/.test(interval)),
        },
      ]}
    />
  )
}

function State({ scan }: { readonly scan: Scan }) {
  if (scan.state === 'failed' && scan.error) return <Failure error={new Error(scan.error.message)} />
  if (scan.state === 'cancelled')
    return (
      <p class={s.note}>
        Stopped after {count(scan.done)} of {count(scan.markets)} markets.
      </p>
    )
  if (!isUnderWay(scan)) return null
  return (
    <div class={s.progress} role="status">
      <Progress
        fraction={scan.state === 'queued' ? null : scan.done / Math.max(1, scan.markets)}
        label="Markets done"
      />
      <span>
        {scan.state === 'queued'
          ? 'Waits for its turn.'
          : `${count(scan.done)} of ${count(scan.markets)} markets`}
      </span>
    </div>
  )
}

interface RowsProps {
  readonly scan: Scan
  readonly where: string
  readonly setWhere: (where: string) => void
}

function Rows({ scan, where, setWhere }: RowsProps) {
  const form = useForm({
    start: { where },
    send: async (values) => {
      // A refusal is shown beside the field.
      await call('GET /api/platform/scans/{id}/results', {
        path: { id: scan.id },
        query: { limit: 1, ...(values.where.trim() !== '' && { where: values.where }) },
      })
      setWhere(values.where.trim())
    },
  })
  const rows = useRows(scan, where)
  const choose = (condition: string) => {
    form.set('where', condition)
    setWhere(condition)
  }
  return (
    <>
      <div class={s.conditions} role="group" aria-label="Conditions">
        <Button size="small" aria-pressed={where === ''} onClick={() => choose('')}>
          All {count(scan.done)}
        </Button>
        {scan.conditions.map(({ title, holds }) => {
          const condition = nameInCondition(title)
          return (
            <Button
              key={title}
              size="small"
              aria-pressed={where === condition}
              onClick={() => choose(condition)}
            >
              {title} {count(holds)}
            </Button>
          )
        })}
      </div>
      <Form of={form} class={s.where} action="Choose">
        <Field
          label="Rows where"
          placeholder={`change > 0.02 and ${nameInCondition(scan.values[0] ?? 'close')} > 0`}
          {...form.field('where', { required: false })}
          hint={'Names of plots and conditions, close, change; those with blanks in double quotes'}
        />
      </Form>
      <p role="status" class={s.note}>
        {rows === null ? 'Reading' : `${count(rows.length)} of ${count(scan.done)} markets`}
        {scan.failed > 0 && `, ${count(scan.failed)} without bars or with an error`}
      </p>
      {rows !== null && (
        <DataTable
          label="Markets"
          rows={rows}
          keyOf={({ exchange, symbol }) => `${exchange}:${symbol}`}
          columns={columnsOf(scan)}
          page={100}
          empty={<Empty title="Nothing chosen">No market is so now.</Empty>}
        />
      )}
    </>
  )
}

/** All chosen rows, read again while more are coming. */
function useRows({ id, done, state }: Scan, where: string): readonly ScanRow[] | null {
  const [rows, setRows] = useState<readonly ScanRow[] | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const read = async () => {
      const all: ScanRow[] = []
      let cursor: string | null = null
      do {
        const page: { rows: readonly ScanRow[]; nextCursor: string | null } = await call(
          'GET /api/platform/scans/{id}/results',
          {
            path: { id },
            query: { limit: PAGE, cursor, ...(where !== '' && { where }) },
            signal: abort.signal,
          },
        )
        all.push(...page.rows)
        cursor = page.nextCursor
      } while (cursor !== null)
      setRows(all)
    }
    read().catch(() => undefined)
    return () => abort.abort()
  }, [id, done, state, where])
  return rows
}

function columnsOf(scan: Scan): Column<ScanRow>[] {
  const { values, conditions, kind, interval } = scan
  const number = (
    of: string,
    head: string,
    value: (row: ScanRow) => number | null | undefined,
    shown: (value: number | null | undefined) => string = rounded,
  ): Column<ScanRow> => ({
    of,
    head,
    look: 'number',
    cell: (row) => shown(value(row)),
    sort: (row) => value(row) ?? null,
  })
  return [
    {
      of: 'symbol',
      head: 'Market',
      look: 'main',
      leastFirst: true,
      sort: ({ exchange, symbol }) => `${symbol} ${exchange}`,
      cell: ({ exchange, symbol, error }) => (
        <>
          <Button
            size="small"
            variant="quiet"
            aria-label={`Show ${exchange}:${symbol} on the chart`}
            onClick={() => showMarket({ exchange, symbol, interval })}
          >
            {exchange}:{symbol}
          </Button>
          {error && (
            <span title={error.message}>
              <Badge tone="down">{error.code === 'bars_not_found' ? 'no bars' : 'failed'}</Badge>
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
    number(
      'change',
      'Change',
      ({ change }) => change,
      (value) => percent(value, { plus: true }),
    ),
    ...values.map((title, i) => number(`value ${i}`, title, (row) => row.values[i])),
    ...(kind === 'strategy'
      ? [
          number('position', 'Position', ({ position }) => position),
          number('trades', 'Trades', ({ summary }) => summary?.trades, count),
          number('netProfit', 'Net profit', ({ summary }) => summary?.netProfit),
          number('winRate', 'Won', ({ summary }) => summary?.winRate, percent),
          number('maxDrawdownPct', 'Max drawdown', ({ summary }) => summary?.maxDrawdownPct, percent),
        ]
      : []),
    {
      of: 'time',
      head: 'Bar',
      look: 'date',
      sort: (row) => row.time,
      cell: (row) => time(row.time, 'UTC', /[smh]$/.test(interval)),
    },
  ]
}

/** Rounds to six digits, since nobody compares markets by more. */
const rounded = (value: number | null | undefined): string =>
  quantity(value === null || value === undefined ? value : Number(value.toPrecision(6)))
