// What an agent means by a market or a script, of which it names as much as it knows.

import { editDistance, nearest } from '../../lib/nearest.ts'
import type { SymbolFacts } from '../../wire/bars.ts'
import { call, callText, Refused, refuseIfLacking, type Agent } from './call.ts'

export interface Market {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
}

export async function symbolsOf(agent: Agent): Promise<readonly SymbolFacts[]> {
  const { symbols } = await call(agent, 'GET /api/platform/symbols', {})
  return symbols.filter(({ series }) => series.length > 0)
}

/** `EXCHANGE:SYMBOL INTERVAL`, of which each part may be missing; `note` says what was chosen where several would do. */
export async function marketOf(agent: Agent, named = ''): Promise<Market & { readonly note: string | null }> {
  const [ticker = '', ...rest] = named.trim().split(/[\s,]+/)
  const wantsInterval = rest.join('')
  const colon = ticker.indexOf(':')
  const exchange = ticker.slice(0, Math.max(0, colon))
  const symbol = ticker.slice(colon + 1)
  if (exchange !== '' && symbol !== '' && wantsInterval !== '')
    return { exchange, symbol, interval: wantsInterval, note: null }
  const all = await symbolsOf(agent)
  if (all.length === 0)
    throw new Refused('There are no bars of any market here. Import some, or follow a market.', [
      callText('find_operation', { q: 'import bars' }),
      callText('find_operation', { q: 'follow series feed' }),
    ])
  const isSame = (a: string, b: string) => a.toUpperCase() === b.toUpperCase()
  const found = all
    .filter((one) => symbol === '' || isSame(one.symbol, symbol))
    .filter((one) => exchange === '' || isSame(one.exchange, exchange))
    .toSorted((a, b) => most(b) - most(a))
  const [first] = found
  if (!first) throw noSuchMarket(ticker, all)
  const interval = wantsInterval || first.series.reduce((a, b) => (b.count > a.count ? b : a)).interval
  const others = found.slice(1, 4).map((one) => `${one.exchange}:${one.symbol}`)
  return {
    exchange: first.exchange,
    symbol: first.symbol,
    interval,
    note:
      others.length > 0
        ? `No market was named in full, so ${first.exchange}:${first.symbol} was taken; there are others: ${others.join(', ')}.`
        : null,
  }
}

const most = ({ series }: SymbolFacts) => Math.max(...series.map(({ count }) => count))

function noSuchMarket(ticker: string, all: readonly SymbolFacts[]): Refused {
  const names = all.map(({ exchange, symbol }) => (ticker.includes(':') ? `${exchange}:${symbol}` : symbol))
  const near = nearest(ticker, names, 10_000).found
  // Two letters make another market: ETHUSDT is no misspelt BTCUSDT.
  const found = near !== null && editDistance(ticker.toUpperCase(), near.toUpperCase()) === 1 ? near : null
  const known = names.slice(0, 5).join(', ')
  return new Refused(
    `There are no bars of ${ticker.slice(0, 60)}. ${found === null ? `There are bars of ${known}.` : `Is ${found} meant?`}`,
    [callText('find', { kind: 'markets', q: ticker.slice(0, 60) })],
  )
}

export interface Script {
  readonly source: string
  readonly name: string
  /** Its saved script, if it is one. */
  readonly id: string | null
  readonly inputs: Readonly<Record<string, unknown>>
  readonly overrides: Readonly<Record<string, string | number | boolean>>
}

/** Source text, the id or the name of a saved script, or the id of a backtest or a sweep, whose script it is. */
export async function scriptOf(agent: Agent, named: string): Promise<Script> {
  const text = named.trim()
  const path = { id: text }
  if (/^bt_\w+$/.test(text)) {
    const { deps, caller } = agent
    // The operation answers the whole report, so it is asked only whether this credential may read it.
    await call(agent, 'GET /api/platform/trials', { query: { of: text } })
    const { name } = await deps.runs.get(caller.user.id, text)
    const { source, inputs, overrides } = await deps.runs.script(caller.user.id, text)
    return { name, id: null, source, inputs, overrides }
  }
  if (/^sw_\w+$/.test(text)) {
    const { sweep } = await call(agent, 'GET /api/platform/sweeps/{id}', { path })
    const { name, source = '', inputs = {}, overrides = {} } = sweep
    return { name, id: null, source, inputs, overrides: overrides as Script['overrides'] }
  }
  const saved = /^scr_\w+$/.test(text)
    ? (await call(agent, 'GET /api/platform/scripts/{id}', { path })).script
    : null
  if (saved) return savedScript(saved)
  if (/[\n(]/.test(text)) return { source: named, name: titleIn(named), id: null, inputs: {}, overrides: {} }
  const { scripts } = await call(agent, 'GET /api/platform/scripts', { query: { limit: '100' } })
  const byName = scripts.find(({ name }) => name.toLowerCase() === text.toLowerCase())
  if (byName) return savedScript(byName)
  refuseIfLacking(agent)
  const { found } = nearest(
    text,
    scripts.map(({ name }) => name),
    100,
  )
  throw new Refused(
    `There is no saved script of this name${found === null ? '.' : `; is ${found} meant?`} \`script\` takes Pine source, the id or name of a saved script, or the id of a backtest.`,
    [callText('find', { kind: 'scripts' })],
  )
}

const savedScript = ({ id, name, source, inputs, overrides }: Script & { readonly id: string }): Script => ({
  id,
  name,
  source,
  inputs,
  overrides,
})

/** The title that a declaration gives, for what nobody has named. */
function titleIn(source: string): string {
  const [, title = ''] =
    /\b(?:strategy|indicator|study)\s*\(\s*(?:title\s*=\s*)?["']([^"'\n]{1,150})["']/.exec(source) ?? []
  return title.trim() || 'Untitled'
}

/** The market of the backtest that is meant by a script. */
export async function marketOfRun({ deps, caller }: Agent, named: string): Promise<string | undefined> {
  if (!/^bt_\w+$/.test(named)) return undefined
  const { exchange, symbol, interval } = await deps.runs.get(caller.user.id, named)
  return `${exchange}:${symbol} ${interval}`
}
