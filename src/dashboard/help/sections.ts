// The table of contents of the help.

/** Sections in the order in which a new user needs them. Every article is in one. */
export const SECTIONS: readonly (readonly [title: string, ids: readonly string[]])[] = [
  [
    'Start',
    [
      'getting-started',
      'what-is-chartroom',
      'coming-from-tradingview',
      'editor',
      'run-backtest',
      'report',
      'install',
    ],
  ],
  [
    'The chart',
    ['chart', 'chart-types', 'draw', 'indicators', 'several-charts', 'layouts', 'compare', 'keys'],
  ],
  [
    'Bars and symbols',
    ['import-bars', 'fetch-bars', 'live-bars', 'symbols', 'intervals', 'sessions-timezones', 'watchlists'],
  ],
  [
    'Scripts',
    [
      'pine-versions',
      'inputs',
      'script-errors',
      'request-security',
      'script-limits',
      'drawings',
      'libraries',
    ],
  ],
  [
    'Results',
    [
      'optimise',
      'sweep-verdict',
      'scans',
      'portfolios',
      'forward-runs',
      'trades-list',
      'fills',
      'position-size',
      'commission-slippage',
      'margin',
      'bar-magnifier',
      'drawdown',
      'sharpe-sortino',
      'what-is-exact',
      'compare-tradingview',
      'verify-backtest',
      'repaint',
    ],
  ],
  ['Replay', ['replay', 'bookmarks']],
  [
    'Alerts and webhooks',
    [
      'alerts',
      'channels',
      'alert-delivery',
      'alert-limits',
      'webhooks',
      'webhook-signature',
      'webhook-retries',
      'webhook-addresses',
    ],
  ],
  [
    'Account and API',
    [
      'accounts',
      'sessions',
      'password',
      'passkeys',
      'openid',
      'api',
      'api-tokens',
      'errors',
      'rate-limits',
      'mcp',
      'search',
      'ideas',
    ],
  ],
  [
    'Running it',
    ['configuration', 'command-line', 'docker', 'reverse-proxy', 'database', 'fleet', 'backup', 'privacy'],
  ],
]
