// Tools that write: scripts and alerts.

import { Type } from '@sinclair/typebox'
import { ALERT_KINDS, FREQUENCIES, OPERATORS, type Alert } from '../../wire/alert.ts'
import { call, callText, diagnosticText, Refused, type Agent, type Json } from './call.ts'
import { marketOf, scriptOf } from './subjects.ts'
import { arg, optional, out, tool } from './tool.ts'

export const WRITE_SCRIPT = tool({
  name: 'write_script',
  title: 'Check or save a script',
  description:
    'Compile Pine Script (v4, v5, v6): what is wrong, with positions and hints; its inputs and plots. Saved only with save: true; with `id` an existing script gets this text, and keeps its earlier ones.',
  input: Type.Object({
    source: Type.String({ maxLength: 500_000 }),
    save: optional(Type.Boolean({ default: false })),
    name: arg.name,
    id: optional(arg.text(100, 'scr_… to change')),
  }),
  output: { ok: out.flag, diagnostics: out.texts },
  hints: { readOnly: false, destructive: false, idempotent: true },
  example: { source: '//@version=6\nindicator("RSI")\nplot(ta.rsi(close, 14), "RSI")' },
  async run(agent, { source, save = false, name, id }) {
    const checked = await call(agent, 'POST /api/platform/scripts/check', { body: { source } })
    const { kind, inputs, plots, diagnostics, pineVersion } = checked
    const ok = diagnostics.every(({ severity }) => severity !== 'error')
    const saved = save || id !== undefined ? await stored(agent, { source, name, id }) : null
    const next = saved ? [callText('read', { id: saved })] : []
    return {
      ok,
      kind,
      pineVersion,
      diagnostics: diagnostics.slice(0, 20).map(diagnosticText),
      inputs: inputs.map(
        ({ label, kind: of, default: usual }) => `${label}: ${of} = ${JSON.stringify(usual)}`,
      ),
      plots,
      id: saved ?? undefined,
      next:
        ok && kind === 'strategy' ? [...next, callText('run', { script: saved ?? '…this source…' })] : next,
    }
  },
})

async function stored(
  agent: Agent,
  { source, name, id }: { source: string; name: string | undefined; id: string | undefined },
): Promise<string> {
  if (id !== undefined) {
    const body = { source, ...(name !== undefined && { name }) }
    return (await call(agent, 'PATCH /api/platform/scripts/{id}', { path: { id }, body })).script.id
  }
  const title = /\b(?:strategy|indicator|library)\s*\(\s*["']([^"'\n]{1,150})["']/.exec(source)?.[1]
  const body = { source, name: name ?? title ?? 'Untitled' }
  return (await call(agent, 'POST /api/platform/scripts', { body })).id
}

const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)))

export const ALERT = tool({
  name: 'alert',
  title: 'Alerts',
  description:
    'Create, change, pause, resume or delete an alert, or acknowledge a firing (fir_…). A price alert needs `price` only: it fires on crossing, and tells by e-mail. With `script` its conditions or orders fire.',
  input: Type.Object({
    action: optional(
      Type.Union(
        ['create', 'change', 'pause', 'resume', 'delete', 'acknowledge'].map((one) => Type.Literal(one)),
        { default: 'create' },
      ),
    ),
    id: optional(arg.text(100, 'al_… or fir_…')),
    market: arg.market,
    kind: optional(oneOf(ALERT_KINDS)),
    op: optional(oneOf(OPERATORS)),
    price: optional(Type.Number()),
    price2: optional(Type.Number()),
    percent: optional(Type.Number()),
    script: optional(arg.text(200, 'Id or name of a saved script')),
    plot: optional(Type.String({ maxLength: 200 })),
    message: optional(Type.String({ maxLength: 2000 })),
    channels: optional(Type.Array(oneOf(['email', 'webhook']))),
    channelIds: optional(Type.Array(Type.String(), { description: 'ch_… phones, chats' })),
    frequency: optional(oneOf(FREQUENCIES)),
    name: arg.name,
  }),
  output: { id: out.text, state: out.text },
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  example: { market: 'BTCUSDT 1h', price: 70_000 },
  async run(agent, { action = 'create', id, market, script: named, ...given }) {
    const script = named === undefined ? undefined : await savedId(agent, named)
    if (action === 'create') return created(agent, market, script, given)
    const at = (kind: string) => {
      if (id !== undefined) return { id }
      throw new Refused(`\`alert\` needs \`id\` to ${action} something.`, [callText('find', { kind })])
    }
    if (action === 'acknowledge') {
      const path = at('firings')
      const { firing } = await call(agent, 'POST /api/platform/alerts/firings/{id}/acknowledge', { path })
      return { id: firing.id, state: 'acknowledged' }
    }
    const path = at('alerts')
    if (action === 'delete') {
      await call(agent, 'DELETE /api/platform/alerts/{id}', { path })
      return { id: path.id, state: 'deleted' }
    }
    const { note: _note, ...on } = market === undefined ? { note: null } : await marketOf(agent, market)
    const state = action === 'pause' ? 'paused' : action === 'resume' ? 'active' : undefined
    const changes = {
      ...given,
      ...on,
      ...(script !== undefined && { scriptId: script }),
      ...(state && { state }),
    }
    const { alert } = await call(agent, 'PATCH /api/platform/alerts/{id}', { path, body: changes as never })
    return shown(alert)
  },
})

/** An alert looks at what is saved, and not at a text that may change unseen. */
async function savedId(agent: Agent, named: string): Promise<string> {
  const { id } = await scriptOf(agent, named)
  if (id !== null) return id
  throw new Refused('`alert` needs a saved script.', [
    callText('write_script', { source: '…this source…', save: true }),
  ])
}

async function created(agent: Agent, market: string | undefined, script: string | undefined, given: Json) {
  const { note, ...on } = await marketOf(agent, market)
  const kind = given['kind'] ?? (script === undefined ? 'price' : 'script')
  if (kind === 'price' && given['price'] === undefined)
    throw new Refused('A price alert needs `price`.', [
      callText('alert', { market: `${on.exchange}:${on.symbol} ${on.interval}`, price: 100 }),
      callText('bars', { market: `${on.exchange}:${on.symbol} ${on.interval}`, limit: 1 }),
    ])
  const told = given['channels'] ?? (given['channelIds'] === undefined ? ['email'] : [])
  const body = {
    ...(script === undefined && { op: 'crossing' }),
    ...given,
    ...on,
    kind,
    channels: told,
    ...(script !== undefined && { scriptId: script }),
  }
  const { alert, warnings } = await call(agent, 'POST /api/platform/alerts', { body: body as never })
  return { ...shown(alert), warnings: warnings?.map(({ message }) => message), note }
}

const shown = ({ id, state, kind, op, price, exchange, symbol, interval, channels }: Alert) => ({
  id,
  state,
  kind,
  op,
  price,
  market: `${exchange}:${symbol} ${interval}`,
  channels,
  next: [callText('find', { kind: 'firings' }), callText('alert', { action: 'pause', id })],
})
