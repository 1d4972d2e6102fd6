// Stored backtests: what they made, opened on the chart, compared two at a time.

import { useEffect, useState } from 'preact/hooks'
import { del, get } from '../api-client.ts'
import { ago, count, money, percent, ratio, tone } from '../format.ts'
import { onLive } from '../live.ts'
import { navigate } from '../router.ts'
import { openBacktest } from '../run-script.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Button, Empty, uiStyles as ui } from '../ui/ui.tsx'
import { bottom, compareWith } from '../workspace.ts'
import { attempt, Confirm, Page, pageStyles as p, Show, useLoad } from './page.tsx'

interface Backtest {
  readonly id: string
  readonly name: string
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  readonly state: 'queued' | 'running' | 'done' | 'failed' | 'cancelled'
  readonly createdAt: number
  readonly error: { readonly message: string } | null
  readonly summary: {
    readonly trades: number
    readonly netProfit: number
    readonly netProfitPct: number
    readonly winRate: number
    readonly profitFactor: number
    readonly maxDrawdownPct: number
    readonly sharpe: number
  } | null
  readonly range: { readonly from: number; readonly to: number; readonly bars: number } | null
}

const STATE_TONES = {
  queued: 'accent',
  running: 'accent',
  done: undefined,
  failed: 'down',
  cancelled: undefined,
} as const
/** What the page shows at first; older ones come with a button. */
const PAGE = 100

function open(id: string): void {
  attempt(
    openBacktest(id).then(() => {
      bottom.value = 'report'
      navigate('/')
    }),
  )
}

export function Backtests({ id }: { readonly id?: string }) {
  const [limit, setLimit] = useState(PAGE)
  const [picked, setPicked] = useState<readonly string[]>([])
  const [deleting, setDeleting] = useState<readonly string[] | null>(null)
  const list = useLoad(
    (signal) =>
      get<{ backtests: Backtest[]; nextCursor: string | null }>('/api/platform/backtests', { limit }, signal),
    [limit],
  )
  useEffect(() => {
    if (id !== undefined) open(id)
  }, [id])
  useEffect(() => onLive('backtest', list.reload), [])
  const pick = (one: string, on: boolean) =>
    setPicked((before) => (on ? [...before, one] : before.filter((other) => other !== one)))
  return (
    <Page
      title="Backtests"
      about="Every run is kept as it was. A click opens it with its chart and report."
      actions={
        <>
          {picked.length > 0 && (
            <Button variant="danger" icon="trash" onClick={() => setDeleting(picked)}>
              Delete {picked.length}
            </Button>
          )}
          <Button
            disabled={picked.length !== 2}
            title={picked.length === 2 ? undefined : 'Choose two to compare'}
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
        {({ backtests, nextCursor }) =>
          backtests.length === 0 ? (
            <Empty title="No runs yet" action={<Button onClick={() => navigate('/')}>To the chart</Button>}>
              Run a script on the chart, or post one to /api/platform/backtests.
            </Empty>
          ) : (
            <>
              <div class={p['scroll']}>
                <table class={ui['table']}>
                  <thead>
                    <tr>
                      <th>
                        <span class="visually-hidden">Chosen</span>
                      </th>
                      <th>Name</th>
                      <th class={ui['right']}>Net profit</th>
                      <th class={ui['right']}>Drawdown</th>
                      <th class={ui['right']}>Trades</th>
                      <th class={ui['right']}>Win rate</th>
                      <th class={ui['right']}>Profit factor</th>
                      <th class={ui['right']}>Sharpe</th>
                      <th>When</th>
                      <th>
                        <span class="visually-hidden">More</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {backtests.map((one) => (
                      <Row
                        key={one.id}
                        one={one}
                        picked={picked.includes(one.id)}
                        onPick={(on) => pick(one.id, on)}
                        onDelete={() => setDeleting([one.id])}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
              {nextCursor !== null && (
                <p style={{ marginTop: '16px' }}>
                  <Button onClick={() => setLimit(limit + PAGE)}>Show older ones</Button>
                </p>
              )}
            </>
          )
        }
      </Show>
      {deleting && (
        <Confirm
          title={deleting.length === 1 ? 'Delete this backtest?' : `Delete ${deleting.length} backtests?`}
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            for (const one of deleting) await del(`/api/platform/backtests/${one}`)
            setPicked([])
            list.reload()
          }}
        >
          Report, chart data and replays of it are gone then.
        </Confirm>
      )}
    </Page>
  )
}

interface RowProps {
  readonly one: Backtest
  readonly picked: boolean
  readonly onPick: (on: boolean) => void
  readonly onDelete: () => void
}

function Row({ one, picked, onPick, onDelete }: RowProps) {
  const { summary } = one
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={`Choose ${one.name}`}
          checked={picked}
          disabled={one.state !== 'done'}
          onChange={(event) => onPick(event.currentTarget.checked)}
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
        <span class="muted">{money(summary?.netProfit, '', { plus: true })}</span>
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
      <td class={`num ${ui['right']}`}>{summary ? ratio(summary.sharpe) : '—'}</td>
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
