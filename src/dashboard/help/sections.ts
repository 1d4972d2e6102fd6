// The table of contents of the help.

import { words } from '../../lib/words.ts'

/** Sections in the order in which a new user needs them. Every article is in one. */
export const SECTIONS: readonly (readonly [title: string, ids: readonly string[]])[] = [
  ['Start', words('getting-started playground coming-from-tradingview editor run-backtest report install')],
  ['The chart', words('chart chart-types draw indicators several-charts layouts compare keys')],
  [
    'Bars and symbols',
    words('import-bars fetch-bars live-bars symbols intervals sessions-timezones watchlists'),
  ],
  ['Scripts', words('pine-versions inputs script-errors request-security script-limits drawings libraries')],
  [
    'Results',
    words(
      'optimise sweep-verdict scans portfolios forward-runs trades-list fills position-size as-of',
      'commission-slippage margin bar-magnifier drawdown sharpe-sortino what-is-exact compare-tradingview',
      'verify-backtest repaint',
    ),
  ],
  ['Replay', ['replay']],
  [
    'Alerts and webhooks',
    words('alerts channels brokers alert-delivery alert-limits webhooks webhook-signature webhook-retries'),
  ],
  [
    'Account and API',
    words('accounts sessions password passkeys openid api api-tokens errors rate-limits mcp search ideas'),
  ],
  [
    'Running it',
    words(
      'docker configuration command-line reverse-proxy database fleet backup privacy how-fast torture',
      'simulation',
    ),
  ],
]
