// Stored backtests: search and sort them, open them on the chart, choose some to compare.

import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { count, money, percent, ratio, time, tone, marketText } from '../format.ts'
import { onLive } from '../live.ts'
import { navigate } from '../router.ts'
import { openReport } from '../open-report.ts'
import { Menu } from '../ui/menu.tsx'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, Button, cx, Empty, uiStyles as ui } from '../ui/ui.tsx'
import { rowFields } from '../ui/wire-fields.ts' with { type: 'macro' }
import { RUNS_MAX } from './compare-model.ts'
import { found, NEWEST_FIRST, SORTS, type Backtest } from './backtest-list.ts'
import { attempt, Confirm, Page, pageStyles as p, Show, useLoad } from '../frame/page.tsx'
import { isUnderWay } from '../../wire/job-state.ts'

const STATE_TONES = {
  queued: 'accent',
  running: 'accent',
  done: undefined,
  failed: 'down',
  cancelled: undefined,
} as const
/** Rows shown at first, and how many more the button brings. */
const PAGE = 100
/** The most the server lists at once: searching and sorting must see all of them. */
const ALL = 9999
/** The most the server deletes in one request. */
const DELETED_AT_ONCE = 500
const FIELDS = rowFields('GET /api/platform/backtests', 'backtests')

function deletionText(some: readonly Backtest[]): string {
  const pinned = some.filter((one) => one.pinned).length
  const gone = 'Reports, chart data and replays are deleted too.'
  if (pinned === 0) return gone
  return `${gone} ${some.length === 1 ? 'It has a star' : pinned === 1 ? 'One has a star' : `${pinned} have a star`}.`
}

export function Backtests({ id }: { readonly id?: string }) {
  const [whole, setWhole] = useState(false)
  const [order, setOrder] = useState(NEWEST_FIRST)
  const [query, setQuery] = useState('')
  const [picked, setPicked] = useState<readonly string[]>([])
  const [deleting, setDeleting] = useState<readonly string[] | null>(null)
  const newestFirst = order.by === NEWEST_FIRST.by && order.down === NEWEST_FIRST.down
  const limit = newestFirst && query.trim() === '' && !whole ? PAGE : ALL
  const list = useLoad((signal) => call('GET /api/platform/backtests', { query: { limit }, signal }), [limit])
  useEffect(() => {
    if (id !== undefined) attempt(openReport(id))
  }, [id])
  useEffect(() => onLive('backtest', list.reload, list.reload), [])
  const pick = (some: readonly string[], on: boolean) =>
    setPicked((before) => [...before.filter((one) => !some.includes(one)), ...(on ? some : [])])
  const pin = async (one: Backtest) => {
    await call('PATCH /api/platform/backtests/{id}', { path: { id: one.id }, body: { pinned: !one.pinned } })
    list.set((before) => ({
      ...before,
      backtests: before.backtests.map((other) =>
        other.id === one.id ? { ...other, pinned: !one.pinned } : other,
      ),
    }))
  }
  const all = list.data?.backtests ?? []
  const columns = columnsOf({
    onPin: (one) => attempt(pin(one)),
    onDelete: (one) => setDeleting([one.id]),
  })
  const chosen = all.filter(({ id: one }) => picked.includes(one))
  const comparable =
    chosen.length >= 2 && chosen.length <= RUNS_MAX && chosen.every(({ state }) => state === 'done')
  return (
    <Page
      title="Backtests"
      about="Runs are kept until newer ones need their place; a star keeps one for good. Click a run to open it with its chart and report."
      actions={
        <>
          {list.data && list.data.backtests.length > 0 && (
            <input
              class={cx(ui['input'], p['find'])}
              type="search"
              aria-label="Find a backtest"
              placeholder="Name, market, interval"
              value={query}
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
          )}
          {picked.length > 0 && (
            <Button variant="danger" icon="trash" onClick={() => setDeleting(picked)}>
              Delete {picked.length}
            </Button>
          )}
          <Button
            disabled={!comparable}
            title={
              comparable
                ? 'Their curves over one axis, and their figures'
                : `Choose 2 to ${RUNS_MAX} that are done to compare`
            }
            onClick={() => navigate(`/backtests/compare?runs=${picked.join(',')}`)}
          >
            Compare
          </Button>
        </>
      }
    >
      <Show of={list}>
        {({ backtests, nextCursor }) => {
          if (backtests.length === 0)
            return (
              <Empty title="No runs yet" action={<Button onClick={() => navigate('/')}>To the chart</Button>}>
                Run a script on the chart, or post one to /api/platform/backtests.
              </Empty>
            )
          const rows = found(backtests, query)
          if (rows.length === 0)
            return (
              <Empty title="None fits" action={<Button onClick={() => setQuery('')}>Show all</Button>}>
                No backtest has “{query.trim()}” in its name, market or interval.
              </Empty>
            )
          return (
            <DataTable
              label="Backtests"
              rows={rows}
              keyOf={(one) => one.id}
              columns={columns}
              wire={FIELDS}
              page={PAGE}
              order={order}
              onOrder={setOrder}
              onMore={nextCursor === null ? undefined : () => setWhole(true)}
              choice={{ chosen: picked, nameOf: (one) => one.name, onChoose: pick }}
            />
          )
        }}
      </Show>
      {deleting && (
        <Confirm
          title={deleting.length === 1 ? 'Delete this backtest?' : `Delete ${deleting.length} backtests?`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            for (let at = 0; at < deleting.length; at += DELETED_AT_ONCE)
              await call('DELETE /api/platform/backtests', {
                body: { ids: deleting.slice(at, at + DELETED_AT_ONCE) },
              })
            pick(deleting, false)
            list.reload()
          }}
        >
          {deletionText(all.filter((one) => deleting.includes(one.id)))}
        </Confirm>
      )}
    </Page>
  )
}

/** The figure of a run that has trades, otherwise a dash. */
const ofTrades = (summary: Backtest['summary'], text: (summary: Summary) => string): string =>
  summary && summary.trades > 0 ? text(summary) : '—'
type Summary = NonNullable<Backtest['summary']>

interface ColumnActs {
  readonly onPin: (one: Backtest) => void
  readonly onDelete: (one: Backtest) => void
}

const columnsOf = ({ onPin, onDelete }: ColumnActs): readonly Column<Backtest>[] => [
  {
    of: 'pinned',
    head: 'Pinned',
    bare: true,
    look: 'pin',
    cell: (one) => (
      <Button
        variant="quiet"
        size="small"
        icon="star"
        class={p['pin']}
        label={`Keep ${one.name} for good`}
        pressed={one.pinned}
        onClick={() => onPin(one)}
      />
    ),
  },
  { ...SORTS.name, head: 'Name', look: 'main', cell: (one) => <Title one={one} /> },
  {
    ...SORTS.profit,
    head: 'Net profit',
    look: 'number',
    tone: ({ summary }) => tone(summary?.netProfit),
    cell: ({ summary, currency }) => (
      <>
        {percent(summary?.netProfitPct, { plus: true })}
        <br />
        <span class="muted">{summary && money(summary.netProfit, currency ?? '', { plus: true })}</span>
      </>
    ),
  },
  {
    ...SORTS.drawdown,
    head: 'Max drawdown',
    look: 'number',
    cell: ({ summary }) => (summary ? percent(-Math.abs(summary.maxDrawdownPct)) : '—'),
  },
  { ...SORTS.trades, head: 'Trades', look: 'number', cell: ({ summary }) => count(summary?.trades) },
  {
    ...SORTS.wins,
    head: 'Win rate',
    look: 'number',
    cell: ({ summary }) => ofTrades(summary, ({ winRate }) => percent(winRate, { places: 1 })),
  },
  {
    ...SORTS.factor,
    head: 'Profit factor',
    look: 'number',
    cell: ({ summary }) =>
      ofTrades(summary, ({ profitFactor }) => (profitFactor >= 1e6 ? '∞' : ratio(profitFactor))),
  },
  {
    ...SORTS.sharpe,
    head: 'Sharpe',
    look: 'number',
    cell: ({ summary }) => ofTrades(summary, ({ sharpe }) => ratio(sharpe)),
  },
  {
    of: 'counted',
    head: 'Tried',
    look: 'number',
    cell: ({ counted }) => count(counted),
  },
  {
    ...SORTS.period,
    head: 'Period',
    look: 'date',
    cell: ({ range }) =>
      range && (
        <>
          {time(range.from, 'UTC', false)}
          <br />
          <span class="muted">{time(range.to, 'UTC', false)}</span>
        </>
      ),
  },
  { ...SORTS.createdAt, head: 'Run' },
  {
    of: 'more',
    head: 'More',
    bare: true,
    look: 'end',
    cell: (one) => (
      <Menu
        label={`More for ${one.name}`}
        size="small"
        items={[
          {
            text: 'Open',
            icon: 'report',
            disabled: one.state !== 'done',
            run: () => attempt(openReport(one.id)),
          },
          {
            text: 'Follow from now on',
            icon: 'play',
            disabled: one.state !== 'done',
            run: () =>
              attempt(
                import('../forward/forward-form.tsx').then(({ followBacktest }) => followBacktest(one.id)),
              ),
          },
          '-',
          {
            text: isUnderWay(one) ? 'Cancel and delete' : 'Delete',
            icon: 'trash',
            danger: true,
            run: () => onDelete(one),
          },
        ]}
      />
    ),
  },
]

function Title({ one }: { readonly one: Backtest }) {
  return (
    <>
      <button
        type="button"
        class={p['linkButton']}
        disabled={one.state !== 'done'}
        onClick={() => attempt(openReport(one.id))}
      >
        {one.name}
      </button>
      <span class={p['cellNote']}>
        {marketText(one)}
        {one.range && ` · ${count(one.range.bars)} bars`}{' '}
        {one.state !== 'done' && <Badge tone={STATE_TONES[one.state]}>{one.state}</Badge>}{' '}
        {one.error?.message}
      </span>
    </>
  )
}
