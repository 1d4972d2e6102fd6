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
    '(string prefix, string ticker, string session = na, string adjustment = na, string backadjustment = na, string settlement_as_close = na) string',
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
    '(string tickerid, string session = na, string adjustment = na, string backadjustment = na, string settlement_as_close = na) string',
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
    '(string from_tickerid, string symbol) string',
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
    '(string symbol = na) string',
    {
      fn: (runtime: Runtime, symbol: Text) => {
        const { exchange, symbol: name } = decodeTicker(symbol ?? tickerIdOf(runtime.symbol))
        return encodeTicker({ exchange, symbol: name, session: null, adjustment: null, chart: null })
      },
      runtime: true,
    },
  ),
  fn('ticker.heikinashi', 'The identifier for Heikin Ashi bars.', '(string symbol) string', {
    fn: (symbol: Text) => withChart(symbol, 'heikinashi', {}),
    pure: true,
  }),
  fn(
    'ticker.renko',
    'The identifier for Renko bars.',
    "(string symbol, string style, float param, bool request_wicks = false, string source = 'Close') string",
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
    '(string symbol, int number_of_lines) string',
    {
      fn: (symbol: Text, lines: number) => withChart(symbol, 'linebreak', { number_of_lines: lines }),
      pure: true,
    },
  ),
  fn(
    'ticker.kagi',
    'The identifier for Kagi bars.',
    ['(string symbol, float reversal) string', '(string symbol, string style, float param) string'],
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
    '(string symbol, string source, string style, float param, int reversal) string',
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
