// Runs of all kinds as rows of one list: backtests, sweeps, scans, portfolios and forward runs, and what can be done with each.

import { isUnderWay, JOB_STATES } from '../../wire/job-state.ts'
import type { Backtest } from '../../wire/backtest.ts'
import type { ForwardRun } from '../../wire/forward-run.ts'
import type { Portfolio } from '../../wire/portfolio.ts'
import type { Scan } from '../../wire/scan.ts'
import type { Sweep } from '../../wire/sweep.ts'
import { call } from '../api-client.ts'
import { positionText } from '../forward/position-text.ts'
import { count, counted, intervalText, marketText, money, quantity } from '../format.ts'
import type { LiveEvent } from '../live-hub.ts'
import { valueText } from '../report/value-text.ts'
import type { Sortable } from '../ui/sorting.ts'

export type RunKind = 'backtest' | 'sweep' | 'scan' | 'portfolio' | 'forward'

export interface Run {
  readonly kind: RunKind
  readonly id: string
  readonly name: string
  readonly state: (typeof JOB_STATES)[number] | 'stopped'
  readonly createdAt: number
  /** What it ran over. */
  readonly where: string
  /** What came of it, or why nothing did, as a sentence; '' where figures say it. */
  readonly said: string
  /** From 0 to 1. */
  readonly fraction?: Figure
  readonly profit?: Figure
  /** Of the money at the start. */
  readonly profitPct?: Figure
  readonly currency?: string | null | undefined
  /** Of the highest equity. */
  readonly drawdown?: Figure
  /** The figures of a backtest, without which it has no others. */
  readonly summary?: Backtest['summary']
  readonly trades?: Figure
  /** Its equity in multiples of what it began with. */
  readonly curve?: readonly number[] | null | undefined
  /** Choices of inputs and settings of its script that were ever tried on its market. */
  readonly tried?: Figure
  readonly range?: Backtest['range']
  readonly pinned?: boolean
  /** Names of what it ran: of a portfolio those of its parts. */
  readonly scripts: readonly string[]
}
/** What a kind, or a run that is not done, does not know is missing. */
type Figure = number | null | undefined

/** What was set for a run, as in a sentence; '' where the script ran as it is. */
export const givenText = ({ given = {} }: Pick<Backtest, 'given'>): string => {
  const text = (value: unknown) => (typeof value === 'number' ? quantity(value) : valueText(value))
  return Object.entries(given)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${text(value)}`)
    .join(', ')
}

type Named = Pick<Run, 'id' | 'name' | 'state' | 'createdAt'>

/** What the records of all kinds have. */
const named = (kind: RunKind, { id, name, state, createdAt }: Named) =>
  ({ kind, id, name, state, createdAt, scripts: [name] }) as const

export const ofBacktest = (one: Backtest): Run => ({
  ...named('backtest', one),
  where: `${marketText(one)}${one.range ? ` · ${counted(one.range.bars, 'bar')}` : ''}`,
  said: one.error?.message ?? givenText(one),
  profit: one.summary?.netProfit,
  profitPct: one.summary?.netProfitPct,
  currency: one.currency,
  drawdown: one.summary && Math.abs(one.summary.maxDrawdownPct),
  summary: one.summary,
  trades: one.summary?.trades,
  curve: one.curve,
  tried: one.counted,
  range: one.range,
  pinned: one.pinned,
})

const ofSweep = (one: Sweep): Run => ({
  ...named('sweep', one),
  where: `${marketText(one)} · ${one.space.map(({ input, property }) => input ?? property).join(', ')}`,
  said: one.sentence ?? one.error?.message ?? '',
  fraction: one.trials > 0 ? one.trying / one.trials : null,
  tried: one.counted,
  range: one.range,
})

const ofScan = (one: Scan): Run => ({
  ...named('scan', one),
  where: `${counted(one.markets, 'market')}, ${intervalText(one.interval)}`,
  said:
    one.state === 'done'
      ? one.conditions.map(({ title, holds }) => `${title}: ${count(holds)}`).join(' · ')
      : (one.error?.message ?? ''),
  fraction: one.markets > 0 ? one.done / one.markets : null,
})

const ofPortfolio = (one: Portfolio): Run => ({
  ...named('portfolio', one),
  where: one.parts.map(({ symbol }) => symbol).join(' · '),
  said: one.error?.message ?? '',
  profit: one.netProfit,
  currency: one.currency,
  drawdown: one.maxDrawdownPct,
  scripts: one.parts.map(({ name }) => name),
})

const ofForward = (one: ForwardRun): Run => ({
  ...named('forward', one),
  where: `${marketText(one)} · ${counted(one.bars, 'bar')}`,
  said:
    one.error?.message ??
    [positionText(one.position), givenText(one)].filter((text) => text !== '').join(' · '),
  profit: one.equity - one.startEquity,
  profitPct: one.startEquity > 0 ? one.equity / one.startEquity - 1 : null,
  currency: one.currency,
  trades: one.trades,
})

export interface Listed {
  readonly runs: readonly Run[]
  /** Whether the server keeps more than were asked for. */
  readonly more: boolean
}
interface Kind {
  readonly text: string
  readonly many: string
  /** The folder of its page below Research; a backtest opens on the chart. */
  readonly folder?: string
  /** The live event that tells of a change, and how often one that is under way is asked for again. */
  readonly event?: LiveEvent
  readonly lookMs: number
  readonly load: (limit: number, signal: AbortSignal) => Promise<Listed>
  /** What goes with it when it is deleted. */
  readonly goesToo: string
  /** Ends one that is under way, which keeps what it has. */
  readonly stop: (id: string) => Promise<unknown>
  readonly remove: (ids: readonly string[]) => Promise<unknown>
}

/** The most backtests that the server deletes in one request. */
const DELETED_AT_ONCE = 500

async function removeBacktests(ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += DELETED_AT_ONCE)
    await call('DELETE /api/platform/backtests', { body: { ids: ids.slice(at, at + DELETED_AT_ONCE) } })
}

/** How those of the other kinds are stopped and deleted. */
const kept = (resource: 'sweeps' | 'scans' | 'portfolios') => ({
  stop: (id: string) => call(`POST /api/platform/${resource}/{id}/cancel`, { path: { id } }),
  remove: oneByOne(resource),
})
const oneByOne =
  (resource: 'sweeps' | 'scans' | 'portfolios' | 'forward-runs') => async (ids: readonly string[]) => {
    for (const id of ids) await call(`DELETE /api/platform/${resource}/{id}`, { path: { id } })
  }
/** Of those the server keeps few, and lists all. */
const all =
  (load: (signal: AbortSignal) => Promise<readonly Run[]>): Kind['load'] =>
  async (_limit, signal) => ({ runs: await load(signal), more: false })

/** The most that the server lists at once of what it keeps a hundred or fewer of. */
const query = { limit: 100 }
const FORWARD_MAX = 50

export const KINDS: Readonly<Record<RunKind, Kind>> = {
  backtest: {
    text: 'Backtest',
    many: 'Backtests',
    event: 'backtest',
    lookMs: 2000,
    goesToo: 'Reports, chart data and replays are deleted too.',
    // It keeps nothing, and goes itself.
    stop: (id) => removeBacktests([id]),
    remove: removeBacktests,
    async load(limit, signal) {
      const asked = { query: { limit }, signal }
      const { backtests, nextCursor } = await call('GET /api/platform/backtests', asked)
      return { runs: backtests.map(ofBacktest), more: nextCursor !== null }
    },
  },
  sweep: {
    text: 'Sweep',
    many: 'Sweeps',
    folder: 'sweeps',
    event: 'sweep',
    lookMs: 1000,
    goesToo: 'Its trials and its verdict are gone then. They stay counted.',
    ...kept('sweeps'),
    load: all(async (signal) =>
      (await call('GET /api/platform/sweeps', { query, signal })).sweeps.map(ofSweep),
    ),
  },
  scan: {
    text: 'Scan',
    many: 'Scans',
    folder: 'scans',
    lookMs: 1000,
    goesToo: 'Its rows are gone then.',
    ...kept('scans'),
    load: all(async (signal) => (await call('GET /api/platform/scans', { query, signal })).scans.map(ofScan)),
  },
  portfolio: {
    text: 'Portfolio',
    many: 'Portfolios',
    folder: 'portfolios',
    lookMs: 1000,
    goesToo: 'Its result and the reports of its parts are gone then.',
    ...kept('portfolios'),
    load: all(async (signal) =>
      (await call('GET /api/platform/portfolios', { query, signal })).portfolios.map(ofPortfolio),
    ),
  },
  forward: {
    text: 'Forward run',
    many: 'Forward runs',
    folder: 'forward',
    lookMs: 5000,
    goesToo: 'The bars that it saw and its orders are gone then.',
    stop: (id) => call('POST /api/platform/forward-runs/{id}/stop', { path: { id } }),
    remove: oneByOne('forward-runs'),
    load: all(async (signal) => {
      const asked = { query: { limit: FORWARD_MAX }, signal }
      return (await call('GET /api/platform/forward-runs', asked)).forwardRuns.map(ofForward)
    }),
  },
}
export const RUN_KINDS = Object.keys(KINDS) as readonly RunKind[]

export const isGoing = ({ state }: Pick<Run, 'state'>): boolean =>
  state !== 'stopped' && isUnderWay({ state })

/** The page of a run; null for a backtest, which opens on the chart. */
export const pageOf = ({ kind, id }: Pick<Run, 'kind' | 'id'>): string | null => {
  const { folder } = KINDS[kind]
  return folder === undefined ? null : `/research/${folder}/${id}`
}

/** Ends one that is under way, and keeps what it has. A backtest keeps nothing: it is deleted instead. */
export const stopRun = ({ kind, id }: Pick<Run, 'kind' | 'id'>): Promise<unknown> => KINDS[kind].stop(id)

export async function deleteRuns(some: readonly Pick<Run, 'kind' | 'id'>[]): Promise<void> {
  for (const kind of RUN_KINDS)
    await KINDS[kind].remove(some.flatMap((run) => (run.kind === kind ? [run.id] : [])))
}

export function deletionText(some: readonly Run[]): string {
  const gone = [...new Set(some.map(({ kind }) => KINDS[kind].goesToo))].join(' ')
  const pinned = some.filter((one) => one.pinned).length
  if (pinned === 0) return gone
  return `${gone} ${some.length === 1 ? 'It has a star' : pinned === 1 ? 'One has a star' : `${pinned} have a star`}.`
}

/** Without a trade there is no win rate, which must not sort like a rate of zero. */
const ofTrades = (value: (summary: NonNullable<Run['summary']>) => number) => (run: Run) =>
  run.summary && run.summary.trades > 0 ? value(run.summary) : undefined

export const SORTS = {
  name: { of: 'name', leastFirst: true, sort: ({ name }) => name },
  profit: { of: 'profit', sort: ({ profitPct, profit }) => profitPct ?? profit },
  drawdown: { of: 'drawdown', sort: ({ drawdown }) => drawdown, leastFirst: true },
  trades: { of: 'trades', sort: ({ trades }) => trades },
  wins: { of: 'wins', sort: ofTrades(({ winRate }) => winRate) },
  factor: { of: 'factor', sort: ofTrades(({ profitFactor }) => profitFactor) },
  sharpe: { of: 'sharpe', sort: ofTrades(({ sharpe }) => sharpe) },
  tried: { of: 'tried', sort: ({ tried }) => tried },
  period: { of: 'period', sort: ({ range }) => range?.from },
  createdAt: { of: 'createdAt', sort: ({ createdAt }) => createdAt },
} as const satisfies Readonly<Record<string, Sortable<Run>>>

export const NEWEST_FIRST = { by: 'createdAt', down: true } as const

/** Whether every word of `query` is in its name, market or kind; the word `pinned` finds those with a star. */
export function isFound(run: Run, query: string): boolean {
  const text = `${run.name} ${run.where} ${KINDS[run.kind].text}${run.pinned ? ' pinned' : ''}`.toLowerCase()
  const words = query.toLowerCase().split(/\s+/)
  return words.every((word) => text.includes(word))
}

export const profitText = ({ profit, currency }: Run): string =>
  typeof profit === 'number' ? money(profit, currency ?? '', { plus: true }) : ''
