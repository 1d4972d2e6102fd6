// The codes that each route may refuse with, beyond those that follow from its access, body and query. Tests compare every
// answer they see with this table, so the reference page tells the truth.

import type { ProblemCode } from '../lib/problem-codes.ts'

type Codes = readonly ProblemCode[]

/** For everything done by a worker: it may have no room, be cut short, or take too much. */
const JOB: Codes = [
  'script_limit_exceeded',
  'concurrency_limited',
  'overloaded',
  'shutting_down',
  'conflict',
  'validation_failed',
]
const RUN: Codes = ['bars_not_found', 'script_invalid', 'script_runtime_error', ...JOB]
const KEPT: Codes = ['quota_exceeded']
const ALERT: Codes = ['alert_not_found']
const BACKTEST: Codes = ['backtest_not_found']
const IDEA: Codes = ['idea_not_found']
const SWEEP: Codes = ['sweep_not_found']
const PORTFOLIO: Codes = ['portfolio_not_found']
const FORWARD: Codes = ['forward_run_not_found']
const SCAN: Codes = ['scan_not_found']
const SCRIPT: Codes = ['script_not_found']
const LAYOUT: Codes = ['layout_not_found']
const WATCHLIST: Codes = ['watchlist_not_found']
const WEBHOOK: Codes = ['webhook_not_found']
const INBOX: Codes = ['inbox_not_found']
const BRIDGE: Codes = ['bridge_not_found']
const CHANNEL: Codes = ['channel_not_found']
const OWNER: Codes = ['not_found']
const OPENID: Codes = ['not_found', 'identity_provider_unavailable']
const TICKET: Codes = ['sign_in_refused', 'sign_in_expired']
const CONFIRM: Codes = ['invalid_credentials', 'confirmation_required', 'concurrency_limited', 'overloaded']

export const ROUTE_CODES: Readonly<Record<string, Codes>> = {
  'POST /api/auth/sign-up': [
    'setup_required',
    'signup_closed',
    'already_exists',
    'concurrency_limited',
    'overloaded',
  ],
  'POST /api/auth/sign-in': ['invalid_credentials', 'concurrency_limited', 'overloaded'],
  'POST /api/auth/openid/start': OPENID,
  'POST /api/auth/openid/sign-in': [
    ...OPENID,
    ...TICKET,
    'account_not_linked',
    'account_refused',
    'already_exists',
    'setup_required',
    'user_not_found',
    'invalid_credentials',
  ],
  'POST /api/auth/openid/backchannel-logout': [...OPENID, 'logout_refused'],
  'POST /api/auth/identities/start': [...OPENID, ...CONFIRM],
  'POST /api/auth/identities': [...OPENID, ...TICKET, ...KEPT, 'already_exists'],
  'DELETE /api/auth/identities/:id': ['identity_not_found', 'last_sign_in_way'],
  'POST /api/auth/passkeys/start': [...CONFIRM, 'passkeys_unavailable'],
  'POST /api/auth/passkeys': [...TICKET, ...KEPT, 'already_exists'],
  'PATCH /api/auth/passkeys/:id': ['passkey_not_found'],
  'DELETE /api/auth/passkeys/:id': ['passkey_not_found', 'last_sign_in_way'],
  'POST /api/auth/passkey/start': ['passkeys_unavailable'],
  'POST /api/auth/passkey/sign-in': [...TICKET, 'invalid_credentials'],
  'POST /api/auth/password': [...CONFIRM, 'user_not_found'],
  'PATCH /api/auth/user': ['user_not_found'],
  'DELETE /api/auth/sessions/:id': ['session_not_found'],
  'GET /api/auth/users': ['owner_required'],
  'PATCH /api/auth/users/:id': ['owner_required', 'user_not_found', 'conflict'],
  'POST /api/auth/invitations': ['owner_required'],
  'POST /api/platform/tokens': KEPT,
  'DELETE /api/platform/tokens': ['token_not_found'],

  // For a key whose answer is a run that has been deleted since.
  'POST /api/platform/backtests': [...RUN, ...KEPT, ...BACKTEST],
  'POST /api/platform/backtests/preview': RUN,
  'GET /api/platform/backtests/:id': BACKTEST,
  'PATCH /api/platform/backtests/:id': [...BACKTEST, ...KEPT],
  'GET /api/platform/backtests/:id/tracks': [...BACKTEST, 'conflict'],
  'POST /api/platform/backtests/:id/replay': [...BACKTEST, ...RUN],
  'DELETE /api/platform/backtests/:id': BACKTEST,
  'GET /api/platform/backtests/:id/events': [...BACKTEST, 'concurrency_limited'],
  'POST /api/platform/backtests/:id/verify': [...BACKTEST, ...RUN],
  'POST /api/platform/backtests/:id/repaint': [...BACKTEST, ...RUN],
  'POST /api/platform/backtests/:id/compare': [...BACKTEST, ...RUN, 'body_not_object'],

  'POST /api/platform/sweeps': [...KEPT, 'bars_not_found', 'concurrency_limited'],
  'GET /api/platform/sweeps/:id': SWEEP,
  'GET /api/platform/sweeps/:id/results': SWEEP,
  'GET /api/platform/sweeps/:id/results.csv': SWEEP,
  'GET /api/platform/sweeps/:id/walk-forward': SWEEP,
  'GET /api/platform/sweeps/:id/walk-forward.csv': SWEEP,
  'POST /api/platform/sweeps/:id/cancel': SWEEP,
  'POST /api/platform/sweeps/:id/resume': [...SWEEP, 'conflict', 'concurrency_limited'],
  'DELETE /api/platform/sweeps/:id': SWEEP,
  'GET /api/platform/sweeps/:id/events': [...SWEEP, 'concurrency_limited'],
  'GET /api/platform/backtests/:id/verdict': [...BACKTEST, ...RUN],
  'GET /api/platform/hold-out': ['bars_not_found'],
  'GET /api/platform/backtests/:id/stretch': [...BACKTEST, ...RUN],
  'POST /api/platform/backtests/:id/judge': [...BACKTEST, ...RUN, 'conflict'],
  'GET /api/platform/trials': [...SWEEP, ...BACKTEST],

  'POST /api/platform/forward-runs': [...RUN, ...KEPT],
  'GET /api/platform/forward-runs/:id': FORWARD,
  'GET /api/platform/forward-runs/:id/report': [...FORWARD, ...RUN],
  'GET /api/platform/forward-runs/:id/tracks': [...FORWARD, ...RUN],
  'GET /api/platform/forward-runs/:id/orders': FORWARD,
  'GET /api/platform/forward-runs/:id/divergence': [...FORWARD, ...RUN],
  'POST /api/platform/forward-runs/:id/stop': FORWARD,
  'DELETE /api/platform/forward-runs/:id': FORWARD,
  'POST /api/platform/portfolios': [...RUN, ...KEPT],
  'GET /api/platform/portfolios/:id': PORTFOLIO,
  'GET /api/platform/portfolios/:id/parts/:part': PORTFOLIO,
  'GET /api/platform/portfolios/:id/parts/:part/tracks': PORTFOLIO,
  'GET /api/platform/portfolios/:id/equity.csv': PORTFOLIO,
  'GET /api/platform/portfolios/:id/parts.csv': PORTFOLIO,
  'GET /api/platform/portfolios/:id/trades.csv': PORTFOLIO,
  'POST /api/platform/portfolios/:id/cancel': PORTFOLIO,
  'DELETE /api/platform/portfolios/:id': PORTFOLIO,
  'GET /api/platform/portfolios/:id/events': [...PORTFOLIO, 'concurrency_limited'],

  'POST /api/platform/scans': [...KEPT, ...WATCHLIST, 'concurrency_limited'],
  'GET /api/platform/scans/:id': SCAN,
  'PATCH /api/platform/scans/:id': [...SCAN, ...KEPT, 'conflict'],
  'GET /api/platform/scans/:id/results': SCAN,
  'GET /api/platform/scans/:id/results.csv': SCAN,
  'POST /api/platform/scans/:id/run': [...SCAN, 'concurrency_limited'],
  'POST /api/platform/scans/:id/cancel': SCAN,
  'DELETE /api/platform/scans/:id': SCAN,
  'GET /api/platform/scans/:id/events': [...SCAN, 'concurrency_limited'],

  'POST /api/platform/alerts': [...KEPT, ...SCRIPT, ...JOB, 'script_invalid'],
  'GET /api/platform/alerts/:id': ALERT,
  'GET /api/platform/alerts/:id/firings': ALERT,
  'PATCH /api/platform/alerts/:id': [...ALERT, ...SCRIPT, ...JOB, 'script_invalid'],
  'DELETE /api/platform/alerts/:id': ALERT,

  'POST /api/platform/ideas': KEPT,
  'GET /api/platform/ideas/:id': IDEA,
  'PATCH /api/platform/ideas/:id': IDEA,
  'DELETE /api/platform/ideas/:id': IDEA,
  'PUT /api/platform/ideas/:id/snapshot': [
    ...IDEA,
    ...BACKTEST,
    ...SWEEP,
    ...JOB,
    'conflict',
    'quota_exceeded',
  ],
  'GET /api/platform/ideas/:id/snapshot': [...IDEA, 'snapshot_not_found'],
  'DELETE /api/platform/ideas/:id/snapshot': IDEA,
  'GET /api/platform/ideas/:id/picture': [...IDEA, 'snapshot_not_found'],

  'POST /api/platform/scripts': [...KEPT, ...JOB],
  'POST /api/platform/scripts/check': JOB,
  'POST /api/platform/scripts/format': JOB,
  'POST /api/platform/scripts/libraries': [...KEPT, ...SCRIPT, ...JOB, 'script_invalid'],
  'GET /api/platform/scripts/libraries/wanted': OWNER,
  'GET /api/platform/scripts/:id': SCRIPT,
  'GET /api/platform/scripts/:id/revisions': SCRIPT,
  'PATCH /api/platform/scripts/:id': [...SCRIPT, ...JOB],
  'DELETE /api/platform/scripts/:id': SCRIPT,

  'POST /api/platform/watchlists/import': KEPT,
  'PATCH /api/platform/drawings': KEPT,
  'POST /api/platform/layouts': KEPT,
  'GET /api/platform/layouts/:id': LAYOUT,
  'PATCH /api/platform/layouts/:id': [...LAYOUT, ...KEPT, 'conflict'],
  'DELETE /api/platform/layouts/:id': LAYOUT,
  'GET /api/platform/watchlists/:id': WATCHLIST,
  'GET /api/platform/watchlists/:id/export': WATCHLIST,
  'PATCH /api/platform/watchlists/:id': WATCHLIST,
  'DELETE /api/platform/watchlists/:id': WATCHLIST,

  'GET /api/platform/replay': ['bars_not_found'],
  'POST /api/platform/replay/bookmarks': KEPT,

  'POST /api/platform/inboxes': KEPT,
  'POST /api/platform/bridges': [...KEPT, 'webhook_url_blocked'],
  'PATCH /api/platform/bridges/:id': [...BRIDGE, 'webhook_url_blocked', 'conflict', 'session_required'],
  'DELETE /api/platform/bridges/:id': BRIDGE,
  'POST /api/platform/bridges/:id/test': [...BRIDGE, 'conflict'],
  'POST /api/platform/bridges/orders/:id/resend': [...BRIDGE, 'conflict'],
  'PATCH /api/platform/inboxes/:id': INBOX,
  'DELETE /api/platform/inboxes/:id': INBOX,
  'GET /api/platform/inboxes/:id/messages': INBOX,
  'POST /api/links/show': ['link_not_found', 'link_expired', ...ALERT],
  'GET /api/links/pictures/:token': ['link_not_found', 'link_expired'],
  'POST /api/links/follow': ['link_not_found', 'link_expired', 'firing_not_found', ...ALERT],
  'POST /api/platform/alerts/firings/:id/acknowledge': ['firing_not_found'],
  'POST /api/hooks/:secret': [...INBOX, 'sender_refused', 'message_in_circle'],
  'POST /api/platform/channels': KEPT,
  'GET /api/platform/channels/:id': CHANNEL,
  'PATCH /api/platform/channels/:id': CHANNEL,
  'DELETE /api/platform/channels/:id': CHANNEL,
  'POST /api/platform/channels/:id/test': [...CHANNEL, 'conflict'],
  'GET /api/platform/channels/:id/notifications': CHANNEL,
  'POST /api/platform/channels/notifications/:id/resend': [...CHANNEL, 'notification_not_found', 'conflict'],
  'POST /api/platform/webhooks': [...KEPT, 'webhook_url_blocked'],
  'GET /api/platform/webhooks/:id': WEBHOOK,
  'GET /api/platform/webhooks/:id/deliveries': WEBHOOK,
  'PATCH /api/platform/webhooks/:id': [...WEBHOOK, 'webhook_url_blocked'],
  'DELETE /api/platform/webhooks/:id': WEBHOOK,
  'POST /api/platform/webhooks/:id/test': [...WEBHOOK, 'conflict'],
  'POST /api/platform/webhooks/:id/rotate': [...WEBHOOK, 'conflict'],
  'POST /api/platform/webhooks/:id/rotate/confirm': [...WEBHOOK, 'conflict'],
  'POST /api/platform/webhooks/deliveries/:id/resend': [
    'delivery_not_found',
    'webhook_not_found',
    'conflict',
  ],

  'GET /api/search': JOB,
  'GET /api/support/articles/:id': ['article_not_found'],
  'GET /api/support/tickets': OWNER,
  'GET /api/errors': OWNER,
  'POST /api/platform/import': [
    'validation_failed',
    'concurrency_limited',
    'upload_too_slow',
    'malformed_json',
  ],
  'GET /api/platform/backup': OWNER,

  'POST /api/platform/bars/import': JOB,
  'POST /api/platform/bars/inspect': JOB,
  'DELETE /api/platform/bars': ['not_series_owner'],
  'POST /api/platform/bars/share': ['not_series_owner', 'bars_not_found', 'already_exists'],
  'GET /api/platform/bars': ['bars_not_found'],
  'GET /api/platform/bars/contracts': ['bars_not_found'],
  'GET /api/platform/bars/export': ['bars_not_found'],
  'GET /api/platform/symbols/:exchange/:symbol': ['symbol_not_found'],
  'POST /api/platform/bars/fetch': ['symbol_not_found', 'provider_unavailable', 'feeds_disabled'],
  'POST /api/platform/symbols/lists': ['provider_not_found', 'feeds_disabled'],
  'PUT /api/platform/providers/:name/key': ['not_series_owner', 'provider_not_found'],
  'DELETE /api/platform/providers/:name/key': ['not_series_owner', 'provider_not_found'],
  'POST /api/platform/feeds': ['not_series_owner', 'quota_exceeded'],
  'DELETE /api/platform/feeds': ['not_series_owner'],
  'GET /api/platform/stream': ['concurrency_limited'],
  'GET /api/ready': ['shutting_down'],
}
