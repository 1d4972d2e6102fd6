// Backtests of agents: run on all bars, shown without those that are held out, judged on them.

import { Type } from '@sinclair/typebox'
import type { Picked } from '../../work/workers/job.ts'
import type { ShownAnswer, ShownTrades } from '../../work/workers/pick-job.ts'
import type { HoldOut } from '../../wire/judgement.ts'
import type { Run } from '../../work/runs/records.ts'
import { call, callText, diagnosticText, Refused, send, type Agent, type Json } from './call.ts'
import type { Diagnostic } from '../../wire/script.ts'
import { PRICE_DIGITS, rounded, timeText } from './short.ts'
import { marketOf, marketOfRun, scriptOf, type Market, type Script } from './subjects.ts'
import { arg, optional, out, sized, tool, type Reply } from './tool.ts'
import { waitedFor } from './waiting.ts'

/** As many bars before those held out are taken if the agent names no number: about what it takes to judge anything. */
export const BARS = 15_000

/** The bars held out, and how many to run on so that `bars` of them stand before. */
export async function heldOutOf(
  agent: Agent,
  { exchange, symbol, interval }: Market,
  bars = BARS,
): Promise<{ readonly holdOut: HoldOut; readonly bars: number }> {
  const query = { exchange, symbol, interval }
  const { holdOut } = await call(agent, 'GET /api/platform/hold-out', { query })
  return { holdOut, bars: Math.min(2_000_000, bars + holdOut.bars) }
}

export const RUN = tool({
  name: 'run',
  title: 'Run a backtest',
  description:
    'Backtest a strategy and store it. Answers figures of the bars before the hold-out (the newest quarter), which only judge shows. Every distinct choice of inputs counts as a try. Runs over several markets: scan; many inputs: optimise.',
  input: Type.Object({
    script: arg.script,
    market: arg.market,
    bars: optional(
      Type.Integer({ minimum: 1, maximum: 2_000_000, default: BARS, description: 'Before the hold-out' }),
    ),
    inputs: arg.inputs,
    settings: arg.settings,
    name: arg.name,
  }),
  output: { id: out.text, figures: out.object },
  hints: { readOnly: false, destructive: false, idempotent: false },
  example: {
    script:
      '//@version=6\nstrategy("Cross")\nfast = ta.sma(close, input.int(10, "Fast"))\nslow = ta.sma(close, input.int(30, "Slow"))\nif ta.crossover(fast, slow)\n    strategy.entry("L", strategy.long)\nif ta.crossunder(fast, slow)\n    strategy.close("L")',
    market: 'BTCUSDT 1h',
  },
  async run(agent, { script: named, market, bars, inputs = {}, settings = {}, name }) {
    const script = await scriptOf(agent, named)
    if (!/\bstrategy\s*\(/.test(script.source))
      throw new Refused(
        'The script has no strategy(), and an indicator trades nothing. See where its conditions hold, or write a strategy.',
        [
          callText('scan', { script: '…this script…' }),
          callText('write_script', { source: '…with strategy()…' }),
        ],
      )
    const { note, ...on } = await marketOf(agent, market ?? (await marketOfRun(agent, named)))
    const id = await ran(agent, on, {
      ...script,
      name: name ?? script.name,
      inputs: { ...script.inputs, ...inputs },
      overrides: { ...script.overrides, ...settings },
      bars,
    })
    return { ...(await backtestReply(agent, id)), note }
  },
})

/**
 * Runs and stores a backtest. Answers its id once it is done, or has taken as long as a client waits. One that failed meanwhile is
 * not kept, as for everybody who waits: an agent mends a script in ten steps, and would leave as many.
 */
export async function ran(
  agent: Agent,
  market: Market,
  {
    name,
    source,
    inputs,
    overrides,
    bars,
  }: Pick<Script, 'name' | 'source' | 'inputs' | 'overrides'> & { readonly bars?: number | undefined },
): Promise<string> {
  const { bars: all } = await heldOutOf(agent, market, bars)
  const body = { ...market, name, source, inputs, overrides, bars: all }
  const { id } = await call(agent, 'POST /api/platform/backtests', { body }, { prefer: 'respond-async' })
  const { deps, caller } = agent
  await waitedFor(agent, (signal) => deps.runs.watch(caller.user.id, id, signal, () => undefined))
  const { state, error } = await deps.runs.get(caller.user.id, id)
  if (state !== 'failed') return id
  await call(agent, 'DELETE /api/platform/backtests/{id}', { path: { id } })
  throw failureOf(error, `${market.exchange}:${market.symbol} ${market.interval}`)
}

/** What is told of a backtest: the bars before the hold-out, and what to do next. */
export async function backtestReply(agent: Agent, id: string): Promise<Reply> {
  const { backtest, trials } = await partOf(agent, id, 'figures')
  const { exchange, symbol, interval, name, state, error } = backtest
  const head = { id, name, market: `${exchange}:${symbol} ${interval}`, state }
  if (state === 'failed' || state === 'cancelled')
    throw failureOf(error, head.market, [callText('read', { id, part: 'script' })], { id })
  if (state !== 'done') return { ...head, figures: {}, next: [callText('read', { id })] }
  const { holdOut } = await heldOutOf(agent, { exchange, symbol, interval })
  const query = { end: new Date(holdOut.from).toISOString() }
  const { stretch } = await call(agent, 'GET /api/platform/backtests/{id}/stretch', { path: { id }, query })
  if (!stretch)
    throw new Refused(
      `All bars of this backtest are held out: they are newer than ${timeText(holdOut.from)}.`,
      [callText('judge', { id })],
    )
  const { from, to, ...figures } = stretch
  return {
    ...head,
    span: `${timeText(from)} to ${timeText(to)}, then ${holdOut.bars} bars are held out`,
    figures,
    tried: trials?.counted,
    next: [
      callText('judge', { id }),
      callText('read', { id, part: 'trades' }),
      callText('optimise', { script: id }),
    ],
  }
}

/** `read`: the calls that show what is stored of it. */
function failureOf(
  error: Run['error'],
  market: string,
  read: readonly string[] = [],
  stored: Json = {},
): Refused {
  return new Refused(
    error?.message ?? 'The backtest was cancelled.',
    error?.code === 'validation_failed'
      ? [callText('run', { script: '…the same…', market, inputs: {}, settings: {} }), ...read]
      : [callText('write_script', { source: '…the mended source…' })],
    {
      ...stored,
      code: error?.code,
      diagnostics: (error?.diagnostics as readonly Diagnostic[] | undefined)?.slice(0, 5).map(diagnosticText),
    },
  )
}

export async function readBacktest(agent: Agent, id: string, part: string, limit: number): Promise<Reply> {
  if (part === 'figures') return backtestReply(agent, id)
  if (part === 'script') {
    const { source, inputs, overrides } = await scriptOf(agent, id)
    return { id, source, inputs, overrides, next: [callText('run', { script: id, inputs: {} })] }
  }
  const { exchange, symbol, interval } = (await partOf(agent, id, 'figures')).backtest
  const { holdOut } = await heldOutOf(agent, { exchange, symbol, interval })
  const { trades, tradeCount } = await partOf(agent, id, { trades: limit, before: holdOut.from })
  return {
    id,
    tradeCount,
    trades: trades.map(({ side, entryTime, exitTime, entryPrice, exitPrice, qty, profit }) =>
      [
        side,
        timeText(entryTime),
        timeText(exitTime),
        ...[entryPrice, exitPrice, qty, profit].map((value) => rounded(value, PRICE_DIGITS)),
      ].join(),
    ),
    columns: 'side,entry,exit,entryPrice,exitPrice,qty,profit',
    next:
      tradeCount > trades.length
        ? [callText('read', { id, part: 'trades', limit: Math.min(500, tradeCount) })]
        : [],
  }
}

type PartOf<W extends Picked> = W extends 'figures'
  ? Required<Pick<ShownAnswer, 'backtest' | 'trials'>> & Pick<ShownAnswer, 'report'>
  : ShownTrades

/** A part of a stored backtest's answer, which a worker takes out of it: a hundred thousand trades are no work for the server. */
async function partOf<W extends Picked>(agent: Agent, id: string, what: W): Promise<PartOf<W>> {
  const { body } = await send(agent, 'GET /api/platform/backtests/{id}', { path: { id } })
  const text = await agent.deps.features.texts.pick(agent.caller.user.id, what, body ?? new ReadableStream())
  return JSON.parse(text) as PartOf<W>
}

export const JUDGE = tool({
  name: 'judge',
  title: 'Judge: edge or luck',
  description:
    'The verdict on a backtest or a sweep (its best trial): "edge" or "no edge", by all you ever tried on this market and by the bars held out. Each new candidate is a further look at them and makes the next harder, so judge one, at the end. Report the verdict as it is.',
  input: Type.Object({
    id: arg.id,
    report: optional(Type.Boolean({ description: 'The whole report too, of all bars' })),
    max_chars: arg.chars,
  }),
  output: { verdict: out.text, sentence: out.text },
  hints: { readOnly: false, destructive: false, idempotent: true },
  example: { id: 'bt_1' },
  size: sized,
  async run(agent, { id, report = false }) {
    const of = id.startsWith('sw_') ? await bestOf(agent, id) : id
    const { judgement } = await call(agent, 'POST /api/platform/backtests/{id}/judge', { path: { id: of } })
    const { verdict, sentence, before, heldOut, ...rest } = judgement
    return {
      id: of,
      verdict,
      sentence,
      ...rest,
      before: shownStretch(before),
      heldOut: shownStretch(heldOut),
      ...(report && { report: (await partOf(agent, of, 'figures')).report as unknown as Json }),
      next:
        verdict === 'edge'
          ? [callText('follow', { script: of }), callText('explain_difference', { kind: 'future', id: of })]
          : [callText('read', { id: of, part: 'trades' })],
    }
  },
})

const shownStretch = ({ from, to, ...figures }: Json & { from: number; to: number }) => ({
  span: `${timeText(from)} to ${timeText(to)}`,
  ...figures,
})

/** The best trial of a sweep as a backtest of its own. */
async function bestOf(agent: Agent, id: string): Promise<string> {
  const { sweep, verdict } = await call(agent, 'GET /api/platform/sweeps/{id}', { path: { id } })
  const best = verdict?.best
  if (!best)
    throw new Refused(
      sweep.state === 'done'
        ? 'No trial of this sweep meets its objective.'
        : (sweep.error?.message ?? `The sweep is ${sweep.state}, not done.`),
      [callText('read', { id })],
    )
  const { choices } = await trialOf(agent, id, best.trial)
  const chosen = sweep.space.map(({ input, property }, i) => ({ input, property, value: choices[i]! }))
  const picked = (of: 'input' | 'property') =>
    Object.fromEntries(
      chosen.flatMap((one) => (one[of] === undefined ? [] : [[one[of], one.value] as const])),
    )
  const { exchange, symbol, interval } = sweep
  const { holdOut } = await heldOutOf(agent, sweep)
  return ran(
    agent,
    { exchange, symbol, interval },
    {
      name: `${sweep.name}: best`.slice(0, 200),
      source: sweep.source ?? '',
      inputs: { ...sweep.inputs, ...picked('input') },
      overrides: { ...(sweep.overrides as Script['overrides']), ...picked('property') },
      bars: Math.max(1, sweep.bars - holdOut.bars),
    },
  )
}

/** One trial of a sweep that the agent may read. */
export async function trialOf({ deps, caller }: Agent, id: string, trial: number) {
  const { trials } = await deps.features.sweeps.results(caller.user.id, id, { limit: 1, from: trial })
  const [found] = trials
  if (!found) throw new Refused('This trial is not there.', [callText('read', { id })])
  return found
}
