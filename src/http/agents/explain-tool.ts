// Why two things that should agree do not: a run and TradingView, a run today and then, on paper and in the past.

import { Type } from '@sinclair/typebox'
import { backtestReply } from './backtests.ts'
import { call, callText, Refused, send, wholeText, type Agent, type Json } from './call.ts'
import { scriptOf } from './subjects.ts'
import { arg, optional, out, tool, type Reply } from './tool.ts'

const KINDS = ['tradingview', 'future', 'again', 'live', 'backtests'] as const

export const EXPLAIN_DIFFERENCE = tool({
  name: 'explain_difference',
  title: 'Explain a difference',
  description:
    'tradingview: why a backtest differs from an exported list of trades (`csv`). future: does it repaint or see the future? again: the same today, byte for byte? live: a followed run (fwd_…) against a backtest. backtests: two runs (`id`, `other`).',
  input: Type.Object({
    kind: Type.Union(KINDS.map((kind) => Type.Literal(kind))),
    id: arg.id,
    other: optional(arg.text(100, 'A second bt_…')),
    csv: optional(Type.String({ maxLength: 1 << 20, description: 'TradingView’s export' })),
  }),
  output: { said: out.text },
  hints: { readOnly: true },
  example: { kind: 'future', id: 'bt_1' },
  async run(agent, { kind, id, other, csv }) {
    const path = { id }
    if (kind === 'live') {
      const { divergence } = await call(agent, 'GET /api/platform/forward-runs/{id}/divergence', { path })
      return { ...divergence }
    }
    if (kind === 'again') {
      const { verification } = await call(agent, 'POST /api/platform/backtests/{id}/verify', { path })
      const said = verification.equal
        ? 'It gives the same report today, byte for byte.'
        : `It differs at ${verification.difference}${verification.ranOnOther ? ': bars, symbol or engine have changed since' : ''}.`
      return { said, ...verification }
    }
    if (kind === 'future') {
      const { repaint } = await call(agent, 'POST /api/platform/backtests/{id}/repaint', { path })
      const said = repaint.clean
        ? `No difference at ${repaint.samples} places. That is no proof: what differs on none of them is not seen.`
        : 'It does not show live what it shows in the past: see each difference, with its line and cause.'
      return { said, ...repaint }
    }
    if (kind === 'backtests') return sideBySide(agent, id, other)
    if (csv === undefined)
      throw new Refused('`csv` is missing: the list of trades that TradingView exports.', [
        callText('explain_difference', { kind, id, csv: '…' }),
      ])
    return againstExport(agent, id, csv)
  },
})

async function againstExport(agent: Agent, id: string, csv: string): Promise<Reply> {
  const response = await send(agent, 'POST /api/platform/backtests/{id}/compare', {
    path: { id },
    body: { csv },
  })
  const { comparison, explanation, warnings } = JSON.parse(await wholeText(response)) as {
    comparison: { expected: number; found: number; exact: number; firstDivergence: Json | null }
    explanation: {
      message: string
      causes: readonly { message: string }[]
      notes: readonly { message: string }[]
      overrides: Json
    } | null
    warnings?: readonly { code: string; message: string }[]
  }
  const { expected, found, exact, firstDivergence } = comparison
  return {
    said: explanation?.message ?? `${exact} of ${expected} trades agree.`,
    expected,
    found,
    exact,
    causes: explanation?.causes.map(({ message }) => message),
    notes: explanation?.notes.map(({ message }) => message),
    settings: explanation?.overrides,
    firstDivergence,
    unreadable: warnings?.filter(({ code }) => code === 'unreadable_row').map(({ message }) => message),
    next:
      explanation && Object.keys(explanation.overrides).length > 0
        ? [callText('run', { script: id, settings: explanation.overrides })]
        : [],
  }
}

async function sideBySide(agent: Agent, id: string, other: string | undefined): Promise<Reply> {
  if (other === undefined)
    throw new Refused('`other` is missing: the id of the second backtest.', [
      callText('find', { kind: 'backtests' }),
    ])
  const of = async (one: string) => {
    const { name, market, span, figures } = await backtestReply(agent, one)
    const { source, inputs, overrides } = await scriptOf(agent, one)
    return { shown: { id: one, name, market, span, figures, inputs, settings: overrides }, source }
  }
  const [a, b] = [await of(id), await of(other)]
  const said = a.source === b.source ? 'The same script.' : 'Two scripts.'
  return { said, backtests: [a.shown, b.shown] }
}
