// Tools for long work: many inputs, many markets, and a strategy that is followed from now on.

import { Type } from '@sinclair/typebox'
import type { Answer } from '../../wire/operations.ts'
import type { Input } from '../../wire/script.ts'
import { BARS, heldOutOf, trialOf } from './backtests.ts'
import { call, callText, diagnosticText, Refused, type Agent, type Json } from './call.ts'
import { LONG, timeText } from './short.ts'
import { marketOf, marketOfRun, scriptOf, symbolsOf } from './subjects.ts'
import { arg, optional, out, tool, type Reply } from './tool.ts'
import { waitedFor } from './waiting.ts'

// ——— optimise ———

const Choice = Type.Union([Type.Number(), Type.String(), Type.Boolean()])
const Range = Type.Object({
  min: Type.Number(),
  max: Type.Number(),
  step: optional(Type.Number({ exclusiveMinimum: 0 })),
})

export const OPTIMISE = tool({
  name: 'optimise',
  title: 'Optimise inputs',
  description:
    'Try many inputs of a strategy on the bars before the hold-out. Answers the best and the most robust choice; every trial counts as a try, so choose few inputs and coarse steps. Without `space`: up to three number inputs around their defaults.',
  input: Type.Object({
    script: arg.script,
    market: arg.market,
    space: optional(
      Type.Record(Type.String(), Type.Union([Type.Array(Choice, { minItems: 1, maxItems: 1000 }), Range]), {
        description: 'By title of the input: values, or {min,max,step}',
      }),
    ),
    where: optional(
      Type.Array(Type.String({ maxLength: 500 }), { maxItems: 20, description: 'Such as Fast < Slow' }),
    ),
    objective: optional(arg.text(500, 'netProfit (default), sharpe, returnOverDrawdown, or an expression')),
    trials: optional(Type.Integer({ minimum: 1, maximum: 20_000 })),
    inputs: arg.inputs,
    settings: arg.settings,
    bars: optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: BARS })),
    name: arg.name,
  }),
  output: { id: out.text, state: out.text },
  hints: { readOnly: false, destructive: false, idempotent: false },
  example: { script: 'bt_1', space: { Fast: [5, 10, 20], Slow: { min: 20, max: 100, step: 20 } } },
  async run(agent, { script: named, market, space, where = [], objective, trials, bars, name, ...given }) {
    const script = await scriptOf(agent, named)
    const { note, ...on } = await marketOf(agent, market ?? (await marketOfRun(agent, named)))
    const { holdOut, bars: all } = await heldOutOf(agent, on, bars)
    const body = {
      ...on,
      name: name ?? script.name,
      source: script.source,
      inputs: { ...script.inputs, ...given.inputs },
      overrides: { ...script.overrides, ...given.settings },
      bars: all,
      space: space ? spaceOf(space) : await usualSpace(agent, script.source),
      where,
      constraints: ['trades >= 10'],
      ...(objective !== undefined && { objective }),
      ...(trials !== undefined && { trials }),
      windows: { kind: 'holdout' as const, share: await shareOf(agent, on, holdOut.bars, all) },
    }
    const { id } = await call(agent, 'POST /api/platform/sweeps', { body })
    const { deps, caller } = agent
    await waitedFor(agent, (signal) =>
      deps.features.sweeps.watch(caller.user.id, id, signal, () => undefined),
    )
    return { ...(await sweepReply(agent, id)), note }
  },
})

type Space = Readonly<
  Record<string, readonly (string | number | boolean)[] | { min: number; max: number; step?: number }>
>

const spaceOf = (space: Space) =>
  Object.entries(space).map(([input, values]) =>
    Array.isArray(values)
      ? { input, values: [...values] }
      : { input, ...(values as { min: number; max: number }) },
  )

/** What of the bars is held out; of a short series there may be fewer than were asked for. */
async function shareOf(
  agent: Agent,
  market: { exchange: string; symbol: string; interval: string },
  held: number,
  all: number,
) {
  const { exchange, symbol, interval } = market
  const facts = (await symbolsOf(agent)).find((one) => one.exchange === exchange && one.symbol === symbol)
  const count = facts?.series.find((one) => one.interval === interval)?.count ?? all
  return Math.min(0.5, Math.max(0.05, held / Math.min(all, count)))
}

const FACTORS = [0.5, 0.75, 1, 1.5, 2]

/** The first three number inputs, each around its default. */
async function usualSpace(agent: Agent, source: string) {
  const { inputs, diagnostics } = await call(agent, 'POST /api/platform/scripts/check', { body: { source } })
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    throw new Refused('The script does not compile.', [callText('write_script', { source: '…mended…' })], {
      diagnostics: errors.slice(0, 5).map(diagnosticText),
    })
  const space = inputs.flatMap((input) => {
    const values = valuesAround(input)
    return values.length > 1 ? [{ input: input.label, values }] : []
  })
  if (space.length > 0) return space.slice(0, 3)
  throw new Refused(
    'The script has no number inputs to vary. Give the numbers that matter an input.int() or input.float(), or name `space`.',
    [callText('write_script', { source: '…with inputs…' })],
  )
}

function valuesAround({ kind, default: usual, minval, maxval, options }: Input): number[] {
  if ((kind !== 'int' && kind !== 'float') || typeof usual !== 'number') return []
  if (options) return options.filter((one) => typeof one === 'number')
  const values = FACTORS.map((factor) => (kind === 'int' ? Math.round(usual * factor) : usual * factor))
  const within = values.filter((value) => value >= (minval ?? -Infinity) && value <= (maxval ?? Infinity))
  return [...new Set(within.map((value) => Number(value.toPrecision(12))))]
}

/** A sweep without what its bars held out say. */
export async function sweepReply(agent: Agent, id: string): Promise<Reply> {
  const { sweep, verdict } = await call(agent, 'GET /api/platform/sweeps/{id}', { path: { id } })
  const { name, exchange, symbol, interval, state, tried, trials, counted, error, objective } = sweep
  const head = { id, name, market: `${exchange}:${symbol} ${interval}`, state, objective, tried, counted }
  if (error) throw new Refused(error.message, [], { id, code: error.code })
  if (state !== 'done') return { ...head, of: trials, next: [callText('read', { id })] }
  const best = await shownTrial(agent, sweep, verdict?.best?.trial)
  const robust = await shownTrial(agent, sweep, verdict?.robust?.trial)
  return {
    ...head,
    best,
    robust,
    chanceOfOverfitting: verdict?.overfitting?.probability,
    next: best ? [callText('judge', { id }), callText('run', { script: id, inputs: best['inputs'] })] : [],
  }
}

async function shownTrial(
  agent: Agent,
  { id, space }: Pick<Answer<'GET /api/platform/sweeps/{id}'>['sweep'], 'id' | 'space'>,
  trial: number | undefined,
): Promise<Json | null> {
  if (trial === undefined) return null
  const { choices, score, figures } = await trialOf(agent, id, trial)
  const named = space.map(({ input, property }, i) => [input ?? property ?? '', choices[i]] as const)
  return { inputs: Object.fromEntries(named), score, figures }
}

// ——— scan ———

export const SCAN = tool({
  name: 'scan',
  title: 'Scan markets',
  description:
    'Run a script over many markets to see where its conditions hold now, and its plots’ last values. All markets with bars, or a watchlist, or named symbols.',
  input: Type.Object({
    script: arg.script,
    interval: optional(arg.text(16, 'Such as 1d; the commonest if missing')),
    symbols: optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 10_000 })),
    watchlist: optional(arg.text(100, 'wl_… id')),
    where: optional(arg.text(2000, 'Rows: RSI < 30 and close > 5')),
    sort: optional(arg.text(200, 'Title of a plot, or close, change, symbol')),
    bars: optional(Type.Integer({ minimum: 1, maximum: 50_000, default: 500 })),
    inputs: arg.inputs,
    limit: arg.limit(1000, 10),
    name: arg.name,
  }),
  output: { id: out.text, rows: out.list },
  hints: { readOnly: false, destructive: false, idempotent: false },
  example: {
    script:
      '//@version=6\nindicator("Low RSI")\nr = ta.rsi(close, 14)\nplot(r, "RSI")\nalertcondition(r < 30, "low")',
    where: 'RSI < 30',
  },
  size: ({ limit }) => (typeof limit === 'number' && limit > 10 ? LONG : undefined),
  async run(
    agent,
    { script: named, interval, symbols, watchlist, where, sort, bars = 500, inputs, limit = 10, name },
  ) {
    const script = await scriptOf(agent, named)
    const body = {
      name: name ?? script.name,
      source: script.source,
      interval: interval ?? (await commonest(agent)),
      bars,
      inputs: { ...script.inputs, ...inputs },
      ...(watchlist !== undefined && { watchlistId: watchlist }),
      ...(symbols !== undefined && symbols.length > 0 && { symbols: symbols.map((symbol) => ({ symbol })) }),
    }
    const { id } = await call(agent, 'POST /api/platform/scans', { body })
    const { deps, caller } = agent
    await waitedFor(agent, (signal) => deps.features.scans.watch(caller.user.id, id, signal, () => undefined))
    return scanRows(agent, id, { where, sort, limit })
  },
})

async function commonest(agent: Agent): Promise<string> {
  const counts = new Map<string, number>()
  for (const { series } of await symbolsOf(agent))
    for (const { interval } of series) counts.set(interval, (counts.get(interval) ?? 0) + 1)
  const [first] = [...counts].toSorted((a, b) => b[1] - a[1])
  if (first) return first[0]
  throw new Refused('There are no bars of any market here.', [
    callText('find_operation', { q: 'import bars' }),
  ])
}

export async function scanRows(
  agent: Agent,
  id: string,
  { where, sort, limit }: { where?: string | undefined; sort?: string | undefined; limit: number },
): Promise<Reply> {
  const { scan } = await call(agent, 'GET /api/platform/scans/{id}', { path: { id } })
  const { name, interval, state, markets, done, failed, conditions, values, error } = scan
  if (error) throw new Refused(error.message, [], { id, code: error.code })
  const query = { limit: String(limit), ...(where && { where }), ...(sort && { sort }) }
  const { rows, found } = await call(agent, 'GET /api/platform/scans/{id}/results', { path: { id }, query })
  return {
    id,
    name,
    interval,
    state,
    markets,
    done,
    failed,
    holds: conditions.map(({ title, holds }) => `${title}: ${holds}`),
    found,
    rows: rows.map((row) => ({
      market: `${row.exchange}:${row.symbol}`,
      close: row.close,
      change: row.change,
      ...Object.fromEntries(values.map((title, i) => [title, row.values[i]])),
      holds: row.holds.map((place) => conditions[place]?.title),
      error: row.error?.message,
    })),
    next: state === 'done' ? [] : [callText('read', { id })],
  }
}

// ——— follow ———

export const FOLLOW = tool({
  name: 'follow',
  title: 'Follow on paper',
  description:
    'Let a strategy trade on paper from now on, bar by bar as they close (action start), or stop it. read shows position and equity; nothing is sent to a broker.',
  input: Type.Object({
    action: optional(Type.Union([Type.Literal('start'), Type.Literal('stop')], { default: 'start' })),
    script: optional(arg.script),
    market: arg.market,
    inputs: arg.inputs,
    settings: arg.settings,
    id: optional(arg.text(100, 'fwd_… to stop')),
    name: arg.name,
  }),
  output: { id: out.text, state: out.text },
  hints: { readOnly: false, destructive: false, idempotent: false },
  example: { script: 'bt_1' },
  async run(agent, { action = 'start', script: named, market, inputs, settings, id, name }) {
    if (action === 'stop') {
      if (id === undefined)
        throw new Refused('`follow` needs `id` to stop something.', [callText('find', { kind: 'followed' })])
      const { forwardRun } = await call(agent, 'POST /api/platform/forward-runs/{id}/stop', { path: { id } })
      return { id, state: forwardRun.state, position: forwardRun.position, equity: forwardRun.equity }
    }
    if (named === undefined)
      throw new Refused('`follow` needs `script`: source, a saved script, or a backtest.', [
        callText('follow', { script: 'bt_1' }),
        callText('find', { kind: 'backtests' }),
      ])
    const script = await scriptOf(agent, named)
    const { note, ...on } = await marketOf(agent, market ?? (await marketOfRun(agent, named)))
    const body = {
      ...on,
      name: name ?? script.name,
      source: script.source,
      inputs: { ...script.inputs, ...inputs },
      overrides: { ...script.overrides, ...settings },
    }
    const { forwardRun } = await call(agent, 'POST /api/platform/forward-runs', { body })
    const { id: made, state, position, equity, warmup, last } = forwardRun
    return {
      id: made,
      state,
      position,
      equity,
      warmup,
      last: timeText(last),
      note,
      next: [callText('read', { id: made })],
    }
  },
})
