// Compare: this run with another stored one, or with the list of trades exported from TradingView.

import type { Comparison } from '../../wire/backtest.ts'
import { useSignalEffect } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api-client.ts'
import { zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import { ago, count, money, percent, ratio, time as timeText, tone } from '../format.ts'
import { Badge, Button, cx, Empty, Failure, Progress, Select, Skeleton } from '../ui/ui.tsx'
import { keptRun } from '../run-script.ts'
import { compareWith, lookAt, type Run } from '../workspace.ts'
import { EquityChart } from './equity-chart.tsx'
import type { Backtest } from '../../wire/backtest.ts'
import s from './report.module.css'

export function Compare({ run }: { readonly run: Run }) {
  return (
    <div class={s.compare}>
      <WithRun run={run} />
      <WithExport run={run} />
    </div>
  )
}

function WithRun({ run }: { readonly run: Run }) {
  const [listed, setListed] = useState<readonly Backtest[] | null>(null)
  const [chosen, setChosen] = useState('')
  const [other, setOther] = useState<Run | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  useSignalEffect(() => {
    if (compareWith.value === '') return
    setChosen(compareWith.value)
    compareWith.value = ''
  })
  useEffect(() => {
    const abort = new AbortController()
    call('GET /api/platform/backtests', { query: { limit: 100 }, signal: abort.signal }).then(
      ({ backtests }) => setListed(backtests.filter((one) => one.state === 'done' && one.id !== run.id)),
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error)
      },
    )
    return () => abort.abort()
  }, [run.id])
  useEffect(() => {
    setOther(null)
    const abort = new AbortController()
    if (chosen === '') return () => undefined
    const options = { path: { id: chosen }, signal: abort.signal }
    Promise.all([
      call('GET /api/platform/backtests/{id}', options),
      call('GET /api/platform/backtests/{id}/tracks', options),
    ]).then(
      ([{ backtest, result }, { tracks }]) =>
        result && setOther({ id: chosen, name: backtest.name, report: result.report, tracks }),
      (error: unknown) => {
        if (!abort.signal.aborted) setProblem(error)
      },
    )
    return () => abort.abort()
  }, [chosen])
  return (
    <section>
      <h3>With another run</h3>
      {problem ? (
        <Failure error={problem} onRetry={() => setProblem(null)} />
      ) : listed === null ? (
        <Skeleton height={32} />
      ) : listed.length === 0 ? (
        <p class="muted">This is the only run there is. Change an input and run again to have two.</p>
      ) : (
        <Select
          label="The other run"
          value={chosen}
          onChange={setChosen}
          options={[
            ['', 'Choose a run…'],
            ...listed.map(
              (one) =>
                [one.id, `${one.name} · ${one.symbol} ${one.interval} · ${ago(one.createdAt)}`] as const,
            ),
          ]}
        />
      )}
      {chosen !== '' && !other && !problem && <Skeleton height={180} />}
      {other && (
        <>
          {sameRange(run, other) && <EquityChart run={run} other={other} compactHeight />}
          <Differences run={run} other={other} />
        </>
      )}
    </section>
  )
}

/** Two curves share an axis only where they are of the same bars; an indicator has none. */
const sameRange = (a: Run, b: Run): boolean =>
  a.report.script.kind === 'strategy' &&
  b.report.script.kind === 'strategy' &&
  a.report.symbol === b.report.symbol &&
  a.report.interval === b.report.interval &&
  a.report.range.from === b.report.range.from &&
  a.report.range.to === b.report.range.to

/** `better`: 1 where more is better, 0 where neither is. A drawdown is a loss: more of it is further below zero. */
function Differences({ run, other }: { readonly run: Run; readonly other: Run }) {
  const [a, b] = [run.report, other.report]
  const figures: readonly (readonly [
    string,
    number | null,
    number | null,
    (value: number | null) => string,
    1 | 0,
  ])[] = [
    ['Net profit', a.all.netProfit, b.all.netProfit, (value) => money(value, a.currency), 1],
    ['Net profit, %', a.all.netProfitPct, b.all.netProfitPct, (value) => percent(value), 1],
    ['Max drawdown', -a.equity.maxDrawdownPct, -b.equity.maxDrawdownPct, (value) => percent(value), 1],
    ['Profit factor', a.all.profitFactor, b.all.profitFactor, (value) => ratio(value, 3), 1],
    ['Profitable', a.all.winRate, b.all.winRate, (value) => percent(value), 1],
    ['Trades', a.all.trades, b.all.trades, (value) => count(value), 0],
    ['Average trade', a.all.averageTrade, b.all.averageTrade, (value) => money(value, a.currency), 1],
    ['Sharpe', a.equity.sharpe, b.equity.sharpe, (value) => ratio(value, 3), 1],
    ['Return a year', a.equity.cagr, b.equity.cagr, (value) => percent(value), 1],
    ['Time in the market', a.equity.timeInMarketPct, b.equity.timeInMarketPct, (value) => percent(value), 0],
  ]
  const inputs = [...new Set([...Object.keys(a.inputs), ...Object.keys(b.inputs)])].filter(
    (name) => JSON.stringify(a.inputs[name]) !== JSON.stringify(b.inputs[name]),
  )
  return (
    <table class={s.columns}>
      <thead>
        <tr>
          <th scope="col">
            <span class="visually-hidden">Figure</span>
          </th>
          <th scope="col">This run</th>
          <th scope="col" class={s.otherName} title={other.name}>
            {other.name}
          </th>
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {figures.map(([name, one, two, text, better]) => {
          const difference = one === null || two === null ? null : one - two
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num">{text(one)}</td>
              <td class="num">{text(two)}</td>
              <td class={cx('num', tone((difference ?? 0) * better))}>
                {difference === null || Math.abs(difference) < 1e-12
                  ? '='
                  : `${difference > 0 ? '+' : ''}${text(difference)}`}
              </td>
            </tr>
          )
        })}
        {inputs.map((name) => (
          <tr key={`input ${name}`}>
            <th scope="row">Input {name}</th>
            <td class="num">{JSON.stringify(a.inputs[name]) ?? '—'}</td>
            <td class="num">{JSON.stringify(b.inputs[name]) ?? '—'}</td>
            <td>
              <Badge tone="accent">changed</Badge>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Difference {
  readonly field: string
  readonly expected: string | number | null
  readonly found: string | number | null
}
interface ComparedTrade {
  readonly n: number
  readonly agrees: boolean
  readonly differences: readonly Difference[]
}

const ROWS_SHOWN = 100

function WithExport({ run }: { readonly run: Run }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [result, setResult] = useState<Comparison | null>(null)
  const [over, setOver] = useState(false)
  const clock = showsClock(run.report.interval)
  const compare = async (file: File | undefined) => {
    if (!file) return
    setBusy(true)
    setProblem(null)
    try {
      const answer = await call('POST /api/platform/backtests/{id}/compare', {
        path: { id: (await keptRun()) ?? '' },
        body: {
          csv: await file.text(),
        },
      })
      setResult(answer.comparison)
      const first = answer.comparison.firstDivergence
      if (first) lookAt.value = { time: first.time, trade: first.n }
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
    }
  }
  const first = result?.firstDivergence
  return (
    <section>
      <h3>With TradingView</h3>
      <label
        class={s.drop}
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault()
          setOver(false)
          void compare(event.dataTransfer?.files[0])
        }}
      >
        <input
          class="visually-hidden"
          type="file"
          accept=".csv,text/csv"
          aria-label="TradingView's list of trades, as CSV"
          onChange={(event) => void compare((event.target as HTMLInputElement).files?.[0])}
        />
        <span>
          Drop the <b>List of trades</b> exported from TradingView here, or{' '}
          <span class={s.link}>choose the file</span>
        </span>
        <span class="muted">
          Every trade is laid beside this run’s; the first that differs is shown on the chart.
        </span>
      </label>
      {busy && <Progress fraction={null} label="Comparing" />}
      {problem !== null && <Failure error={problem} />}
      {result && !busy && (
        <>
          <p class={s.verdict}>
            <Badge
              tone={result.exact === result.expected && result.expected === result.found ? 'up' : 'warn'}
            >
              {count(result.exact)} of {count(result.expected)} trades agree
            </Badge>
            <span class="muted">
              {count(result.found)} here · times in {result.timezone}
              {result.timezoneDetected ? ', found from the trades' : ''}
            </span>
          </p>
          {first ? (
            <>
              <Button
                size="small"
                icon="eye"
                onClick={() => (lookAt.value = { time: first.time, trade: first.n })}
              >
                First difference: trade {first.n}, {timeText(first.time, zone.value, clock)}
              </Button>
              <DifferenceTable trades={result.trades} />
            </>
          ) : (
            <Empty title="Every trade agrees">
              Entry, exit, price, size, result and signal of all of them.
            </Empty>
          )}
        </>
      )}
    </section>
  )
}

function DifferenceTable({ trades }: { readonly trades: readonly ComparedTrade[] }) {
  const wrong = trades.filter((trade) => !trade.agrees)
  return (
    <table class={s.columns}>
      <thead>
        <tr>
          <th scope="col">Trade</th>
          <th scope="col">What</th>
          <th scope="col">TradingView</th>
          <th scope="col">Here</th>
        </tr>
      </thead>
      <tbody>
        {wrong.slice(0, ROWS_SHOWN).flatMap((trade) =>
          trade.differences.map((one) => (
            <tr key={`${trade.n} ${one.field}`}>
              <th scope="row">#{trade.n}</th>
              <td>{one.field}</td>
              <td class="num">{one.expected ?? '—'}</td>
              <td class="num">{one.found ?? '—'}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  )
}
