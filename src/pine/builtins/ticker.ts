// ticker.*: identifiers for request.security() with another session, adjustment or kind of chart.

import { decodeTicker, encodeTicker } from '../runtime/ticker.ts'
import type { ChartKind, TickerId } from '../runtime/ticker.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'
import { tickerIdOf } from './syminfo.ts'

type Text = string | null

export const TICKER: readonly BuiltinEntry[] = [
  fn(
    'ticker.new',
    'The identifier of a symbol with a session and an adjustment.',
    '(simple string prefix, simple string ticker, simple string session = na, simple string adjustment = na, simple string backadjustment = na, simple string settlement_as_close = na) simple string',
    {
      fn: (prefix: Text, ticker: Text, session: Text, adjustment: Text) =>
        encodeTicker({
          exchange: (prefix ?? '').toUpperCase(),
          symbol: ticker ?? '',
          session,
          adjustment,
          chart: null,
        }),
      pure: true,
    },
  ),
  fn(
    'ticker.modify',
    'An identifier with another session or adjustment.',
    '(simple string tickerid, simple string session = na, simple string adjustment = na, simple string backadjustment = na, simple string settlement_as_close = na) simple string',
    {
      fn: (id: Text, session: Text, adjustment: Text) => {
        const ticker = decodeTicker(id ?? '')
        return encodeTicker({
          ...ticker,
          session: session ?? ticker.session,
          adjustment: adjustment ?? ticker.adjustment,
        })
      },
      pure: true,
    },
  ),
  fn(
    'ticker.inherit',
    'The identifier of a symbol with the modifiers of another identifier.',
    '(simple string from_tickerid, simple string symbol) simple string',
    {
      fn: (from: Text, symbol: Text) => {
        const { exchange, symbol: name } = decodeTicker(symbol ?? '')
        return encodeTicker({ ...decodeTicker(from ?? ''), exchange, symbol: name })
      },
      pure: true,
    },
  ),
  fn(
    'ticker.standard',
    'The identifier of the same symbol with standard bars and no modifiers.',
    '(simple string symbol = na) simple string',
    {
      fn: (runtime: Runtime, symbol: Text) => {
        const { exchange, symbol: name } = decodeTicker(symbol ?? tickerIdOf(runtime.symbol))
        return encodeTicker({ exchange, symbol: name, session: null, adjustment: null, chart: null })
      },
      runtime: true,
    },
  ),
  fn('ticker.heikinashi', 'The identifier for Heikin Ashi bars.', '(simple string symbol) simple string', {
    fn: (symbol: Text) => withChart(symbol, 'heikinashi', {}),
    pure: true,
  }),
  fn(
    'ticker.renko',
    'The identifier for Renko bars.',
    "(simple string symbol, simple string style, simple float param, simple bool request_wicks = false, simple string source = 'Close') simple string",
    {
      fn: (symbol: Text, style: Text, param: number, wicks: boolean, source: Text) =>
        withChart(symbol, 'renko', {
          style: style ?? 'ATR',
          param,
          request_wicks: wicks,
          source: source ?? 'Close',
        }),
      pure: true,
    },
  ),
  fn(
    'ticker.linebreak',
    'The identifier for Line Break bars.',
    '(simple string symbol, simple int number_of_lines) simple string',
    {
      fn: (symbol: Text, lines: number) => withChart(symbol, 'linebreak', { number_of_lines: lines }),
      pure: true,
    },
  ),
  fn(
    'ticker.kagi',
    'The identifier for Kagi bars.',
    [
      '(simple string symbol, simple float reversal) simple string',
      '(simple string symbol, simple string style, simple float param) simple string',
    ],
    [
      { fn: (symbol: Text, reversal: number) => withChart(symbol, 'kagi', { reversal }), pure: true },
      {
        fn: (symbol: Text, style: Text, param: number) =>
          withChart(symbol, 'kagi', { style: style ?? 'ATR', param }),
        pure: true,
      },
    ],
  ),
  fn(
    'ticker.pointfigure',
    'The identifier for Point & Figure bars.',
    '(simple string symbol, simple string source, simple string style, simple float param, simple int reversal) simple string',
    {
      fn: (symbol: Text, source: Text, style: Text, param: number, reversal: number) =>
        withChart(symbol, 'pointfigure', { source: source ?? 'hl', style: style ?? 'ATR', param, reversal }),
      pure: true,
    },
  ),
]

function withChart(
  id: Text,
  kind: ChartKind,
  parameters: Readonly<Record<string, number | string | boolean>>,
): string {
  const ticker: TickerId = decodeTicker(id ?? '')
  return encodeTicker({ ...ticker, chart: { kind, parameters } })
}
