// Stored backtests: what they made, found and put in order, opened on the chart, compared two at a time.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { ago, count, money, percent, ratio, time, tone } from '../format.ts'
import { onLive } from '../live.ts'
import { navigate } from '../router.ts'
import { openBacktest } from '../run-script.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Button, cx, Empty, uiStyles as ui } from '../ui/ui.tsx'
import { bottom, compareWith } from '../workspace.ts'
import {
  arranged,
  COLUMNS,
  NEWEST_FIRST,
  orderAfterClick,
  type Backtest,
  type Column,
  type Order,
} from './backtest-list.ts'
import { attempt, Confirm, Page, pageStyles as p, Show, useLoad } from './page.tsx'

const STATE_TONES = {
  queued: 'accent',
  running: 'accent',
  done: undefined,
  failed: 'down',
  cancelled: undefined,
} as const
/** What the page shows at first; more come with a button. */
const PAGE = 100
/** As many as the server lists at once: what is searched or put in order is all of them. */
const ALL = 9999
/** As many as the server deletes at once. */
const DELETED_AT_ONCE = 500
/** Columns of words; the others are numbers and stand to the right. */
const TO_THE_LEFT: readonly Column[] = ['name', 'period', 'when']

function deletionText(some: readonly Backtest[]): string {
  const pinned = some.filter((one) => one.pinned).length
  const gone = 'Report, chart data and replays are gone then.'
  if (pinned === 0) return gone
  return `${gone} ${some.length === 1 ? 'It has a star' : pinned === 1 ? 'One has a star' : `${pinned} have a star`}.`
}

function open(id: string): void {
  attempt(
    openBacktest(id).then(() => {
      bottom.value = 'report'
      navigate('/')
    }),
  )
}

export function Backtests({ id }: { readonly id?: string }) {
  const [rows, setRows] = useState(PAGE)
  const [order, setOrder] = useState(NEWEST_FIRST)
  const [query, setQuery] = useState('')
  const [picked, setPicked] = useState<readonly string[]>([])
  const [deleting, setDeleting] = useState<readonly string[] | null>(null)
  const newestFirst = order.by === NEWEST_FIRST.by && order.down === NEWEST_FIRST.down
  const limit = newestFirst && query.trim() === '' ? rows : ALL
  const list = useLoad((signal) => call('GET /api/platform/backtests', { query: { limit }, signal }), [limit])
  useEffect(() => {
    if (id !== undefined) open(id)
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
  const chosen = all.filter(({ id: one }) => picked.includes(one))
  const comparable = chosen.length === 2 && chosen.every(({ state }) => state === 'done')
  return (
    <Page
      title="Backtests"
      about="Every run is kept as it was, until newer ones need its place; a star keeps it for good. A click opens it with its chart and report."
      wide
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
            title={comparable ? undefined : 'Choose two that are done to compare'}
            onClick={() => {
              const [one = '', other = ''] = picked
              attempt(
                openBacktest(one).then(() => {
                  bottom.value = 'report'
                  compareWith.value = other
                  navigate('/')
                }),
              )
            }}
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
          const found = arranged(backtests, order, query)
          if (found.length === 0)
            return (
              <Empty title="None fits" action={<Button onClick={() => setQuery('')}>Show all</Button>}>
                No backtest has “{query.trim()}” in its name, market or interval.
              </Empty>
            )
          const rowsShown = found.slice(0, rows)
          return (
            <>
              <div class={p['scroll']}>
                <table class={ui['table']}>
                  <Head
                    order={order}
                    onOrder={(by) => setOrder(orderAfterClick(order, by))}
                    picked={rowsShown.filter((one) => picked.includes(one.id)).length}
                    shown={rowsShown.length}
                    onPick={(on) =>
                      pick(
                        rowsShown.map((one) => one.id),
                        on,
                      )
                    }
                  />
                  <tbody>
                    {rowsShown.map((one) => (
                      <Row
                        key={one.id}
                        one={one}
                        picked={picked.includes(one.id)}
                        onPick={(on) => pick([one.id], on)}
                        onPin={() => attempt(pin(one))}
                        onDelete={() => setDeleting([one.id])}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
              {(nextCursor !== null || found.length > rows) && (
                <p style={{ marginTop: '16px' }}>
                  <Button onClick={() => setRows(rows + PAGE)}>Show more</Button>
                </p>
              )}
            </>
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

interface HeadProps {
  readonly order: Order
  readonly onOrder: (by: Column) => void
  /** How many of the rows shown are chosen. */
  readonly picked: number
  readonly shown: number
  readonly onPick: (on: boolean) => void
}

function Head({ order, onOrder, picked, shown, onPick }: HeadProps) {
  const box = useRef<HTMLInputElement>(null)
  const some = picked > 0 && picked < shown
  useEffect(() => {
    if (box.current) box.current.indeterminate = some
  }, [some])
  return (
    <thead>
      <tr>
        <th>
          <input
            ref={box}
            type="checkbox"
            aria-label="Choose all that are shown"
            checked={picked === shown}
            onChange={(event) => onPick(event.currentTarget.checked)}
          />
        </th>
        <th>
          <span class="visually-hidden">Pinned</span>
        </th>
        {COLUMNS.map(([id, text]) => (
          <th
            key={id}
            class={TO_THE_LEFT.includes(id) ? undefined : ui['right']}
            aria-sort={order.by === id ? (order.down ? 'descending' : 'ascending') : 'none'}
          >
            <button type="button" class={ui['sort']} onClick={() => onOrder(id)}>
              {text}
              <span aria-hidden="true">{order.by === id && (order.down ? '↓' : '↑')}</span>
            </button>
          </th>
        ))}
        <th>
          <span class="visually-hidden">More</span>
        </th>
      </tr>
    </thead>
  )
}

interface RowProps {
  readonly one: Backtest
  readonly picked: boolean
  readonly onPick: (on: boolean) => void
  readonly onPin: () => void
  readonly onDelete: () => void
}

function Row({ one, picked, onPick, onPin, onDelete }: RowProps) {
  const { summary } = one
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${one.name}`}
          checked={picked}
          onChange={(event) => onPick(event.currentTarget.checked)}
        />
      </td>
      <td class={p['cellPin']}>
        <Button
          variant="quiet"
          size="small"
          icon="star"
          class={p['pin']}
          label={`Keep ${one.name} for good`}
          pressed={one.pinned}
          onClick={onPin}
        />
      </td>
      <td class={p['cellMain']}>
        <button
          type="button"
          class={p['linkButton']}
          disabled={one.state !== 'done'}
          onClick={() => open(one.id)}
        >
          {one.name}
        </button>
        <span class={p['cellNote']}>
          {one.exchange}:{one.symbol} {one.interval}
          {one.range && ` · ${count(one.range.bars)} bars`}{' '}
          {one.state !== 'done' && <Badge tone={STATE_TONES[one.state]}>{one.state}</Badge>}{' '}
          {one.error?.message}
        </span>
      </td>
      <td class={`num ${ui['right']} ${tone(summary?.netProfit)}`}>
        {percent(summary?.netProfitPct, { plus: true })}
        <br />
        <span class="muted">{summary && money(summary.netProfit, one.currency ?? '', { plus: true })}</span>
      </td>
      <td class={`num ${ui['right']}`}>{summary ? percent(-Math.abs(summary.maxDrawdownPct)) : '—'}</td>
      <td class={`num ${ui['right']}`}>{count(summary?.trades)}</td>
      <td class={`num ${ui['right']}`}>
        {summary && summary.trades > 0 ? percent(summary.winRate, { places: 1 }) : '—'}
      </td>
      <td class={`num ${ui['right']}`}>
        {summary && summary.trades > 0
          ? summary.profitFactor >= 1e6
            ? '∞'
            : ratio(summary.profitFactor)
          : '—'}
      </td>
      <td class={`num ${ui['right']}`}>{summary && summary.trades > 0 ? ratio(summary.sharpe) : '—'}</td>
      <td class="num">
        {one.range && (
          <>
            {time(one.range.from, 'UTC', false)}
            <br />
            <span class="muted">{time(one.range.to, 'UTC', false)}</span>
          </>
        )}
      </td>
      <td class="muted" style={{ whiteSpace: 'nowrap' }}>
        {ago(one.createdAt)}
      </td>
      <td class={p['cellEnd']}>
        <Menu
          label={`More for ${one.name}`}
          size="small"
          items={[
            { text: 'Open', icon: 'report', disabled: one.state !== 'done', run: () => open(one.id) },
            '-',
            {
              text: one.state === 'running' || one.state === 'queued' ? 'Cancel and delete' : 'Delete',
              icon: 'trash',
              danger: true,
              run: onDelete,
            },
          ]}
        />
      </td>
    </tr>
  )
}
