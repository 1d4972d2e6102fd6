// Every code of a refusal, with its status, its meaning, and what to do about it. The reference page shows this
// table, and `Problem` takes no code that is not in it. A code never changes its meaning, since clients compare it.

interface CodeEntry {
  readonly status: number
  readonly meaning: string
  readonly remedy: string
}

const notThere = (noun: string): CodeEntry => ({
  status: 404,
  meaning: `No such ${noun}, or it is somebody else's.`,
  remedy: 'Check the id in the list.',
})
const credential = (meaning: string, remedy: string): CodeEntry => ({ status: 401, meaning, remedy })
const script = (meaning: string, remedy: string): CodeEntry => ({ status: 422, meaning, remedy })

export const PROBLEM_CODES = {
  malformed_json: {
    status: 400,
    meaning: 'The body is not JSON in UTF-8, broke off, or names a field `__proto__`.',
    remedy: 'Send JSON text as UTF-8.',
  },
  body_not_object: {
    status: 400,
    meaning: 'The body is JSON, but not an object.',
    remedy: 'Wrap it in an object.',
  },
  duplicate_parameter: {
    status: 400,
    meaning: 'A query parameter is given more than once.',
    remedy: 'Give each once.',
  },

  logout_refused: {
    status: 400,
    meaning: 'The logout token of the identity provider does not hold, or came before.',
    remedy: 'The log of the server says why.',
  },

  unauthenticated: credential(
    'The address needs a credential and none came.',
    'Sign in, or send an access token as `Authorization: Bearer <token>`.',
  ),
  invalid_token: credential('The access token is not one of this server.', 'Check that it is whole.'),
  token_expired: credential('The access token has expired.', 'Create another.'),
  token_revoked: credential('The access token was revoked.', 'Create another.'),
  session_expired: credential('The session is over.', 'Sign in again.'),
  invalid_credentials: credential('E-mail address or password is wrong.', 'Try again.'),

  sign_in_refused: credential(
    'The identity provider refused, or what it or a passkey answered does not hold.',
    'Begin again, or sign in another way. The log of the server says why.',
  ),

  insufficient_scope: {
    status: 403,
    meaning: 'The access token lacks a scope that the address needs.',
    remedy: 'Create a token with the scope that the message names.',
  },
  session_required: {
    status: 403,
    meaning: 'No access token may do this.',
    remedy: 'Sign in and use the session.',
  },
  cross_origin_blocked: {
    status: 403,
    meaning: 'A page of another site tried to act with the session.',
    remedy: 'Use an access token, or a page of this server.',
  },
  setup_required: {
    status: 403,
    meaning: 'The server has no owner yet.',
    remedy: 'Open the setup link from its console, or sign up from the same machine.',
  },
  signup_closed: {
    status: 403,
    meaning: 'Sign-up is closed, or the invitation does not hold.',
    remedy: 'Ask the owner for an invitation.',
  },
  account_not_linked: {
    status: 403,
    meaning: 'The identity provider names somebody whom this server cannot take for one of its users.',
    remedy: 'Sign in with the password and link the identity in the settings, or get an invitation.',
  },
  account_refused: {
    status: 403,
    meaning: 'Only members of certain groups may sign in by the identity provider.',
    remedy: 'Ask who runs the server.',
  },
  confirmation_required: {
    status: 403,
    meaning: 'An account without a password gets another way to sign in only soon after signing in.',
    remedy: 'Sign out and in again.',
  },
  message_in_circle: {
    status: 422,
    meaning: 'The message has come through five inboxes: a channel of one of them posts to it again.',
    remedy: 'Let no channel that an inbox forwards to post to that inbox, or to one that leads to it.',
  },
  sender_refused: {
    status: 403,
    meaning: 'The inbox takes messages only from the addresses of TradingView.',
    remedy: 'Let it take messages from anyone, or let TradingView send it.',
  },
  not_series_owner: {
    status: 403,
    meaning: "The series or symbol is everybody's, and for the owner of the server and its admins to change.",
    remedy: 'Import bars under the name: they are yours alone, and found first. Or ask an admin.',
  },
  owner_required: {
    status: 403,
    meaning: 'Only the owner of the server may do this.',
    remedy: 'Ask the owner.',
  },

  not_found: { status: 404, meaning: 'There is nothing at this address.', remedy: 'Check the path.' },
  alert_not_found: notThere('alert'),
  article_not_found: notThere('help article'),
  backtest_not_found: notThere('backtest'),
  bridge_not_found: notThere('bridge or order'),
  channel_not_found: notThere('channel'),
  delivery_not_found: notThere('delivery'),
  idea_not_found: notThere('idea'),
  notification_not_found: notThere('notification'),
  firing_not_found: notThere('firing'),
  identity_not_found: notThere('identity'),
  inbox_not_found: notThere('inbox'),
  link_not_found: notThere('link'),
  forward_run_not_found: notThere('forward run'),
  passkey_not_found: notThere('passkey'),
  portfolio_not_found: notThere('portfolio'),
  scan_not_found: notThere('scan'),
  script_not_found: notThere('script'),
  session_not_found: notThere('session'),
  snapshot_not_found: {
    status: 404,
    meaning: 'Nothing is published of a backtest with this idea.',
    remedy: "Its author can publish one; the idea's `snapshot` says whether there is one.",
  },
  sweep_not_found: notThere('sweep'),
  token_not_found: notThere('access token'),
  user_not_found: notThere('user'),
  layout_not_found: notThere('layout'),
  watchlist_not_found: notThere('watchlist'),
  webhook_not_found: notThere('webhook'),
  symbol_not_found: {
    status: 404,
    meaning: 'Nothing is known of the symbol, here or at its provider.',
    remedy: 'Check exchange and symbol, or import bars of it.',
  },
  bars_not_found: {
    status: 404,
    meaning: 'No bars are cached of this series, nor finer ones that it could be built from.',
    remedy: 'Import or fetch them; the message names what is cached.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The address takes other methods.',
    remedy: 'The header `Allow` names them.',
  },

  link_expired: {
    status: 410,
    meaning: 'The link of a message holds for seven days after its alert fired.',
    remedy: 'Sign in to change the alert.',
  },
  sign_in_expired: {
    status: 410,
    meaning: 'What was begun ten minutes ago, elsewhere, or for something else is finished no more.',
    remedy: 'Begin again.',
  },
  last_sign_in_way: {
    status: 409,
    meaning: 'Without it nobody could sign in to the account any more.',
    remedy: 'Set a password or add a passkey first.',
  },
  passkeys_unavailable: {
    status: 409,
    meaning: 'The page came neither over https nor from localhost, or by an IP address.',
    remedy: 'The message says what to do.',
  },
  conflict: {
    status: 409,
    meaning: 'The state of the object does not allow it, such as a backtest that is not done.',
    remedy: 'Read the object and try again when it is ready.',
  },
  already_exists: {
    status: 409,
    meaning: 'The name is taken.',
    remedy: 'Choose another, or use what is there.',
  },
  idempotency_in_progress: {
    status: 409,
    meaning: 'The first request with this `Idempotency-Key` is still running.',
    remedy: 'Wait, then send the same request again.',
  },

  upload_too_slow: {
    status: 408,
    meaning: 'The body came so slowly that the server stopped waiting for it.',
    remedy: 'Send it over a faster connection, or in parts.',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than the address takes.',
    remedy: 'Send less; the message names the limit.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body has another `Content-Type` than the address takes.',
    remedy: 'The message names those that it takes.',
  },
  misdirected_request: {
    status: 421,
    meaning: 'The server does not answer to this host name.',
    remedy: 'Set PUBLIC_URL or ALLOWED_HOSTS if it should.',
  },

  validation_failed: {
    status: 422,
    meaning: 'A field is missing or not what it has to be.',
    remedy: '`fields` names each, and what was expected.',
  },
  quota_exceeded: {
    status: 422,
    meaning: 'The user has as many of these as are allowed.',
    remedy: 'Delete some first.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'This `Idempotency-Key` came with another body or query before.',
    remedy: 'Use a new key for a new request.',
  },
  webhook_url_blocked: {
    status: 422,
    meaning: 'The address of the webhook is none that this server posts to.',
    remedy: 'Use a public https address, or have WEBHOOK_ALLOW opened for it.',
  },
  script_invalid: script('The script does not compile.', '`diagnostics` say where and why.'),
  script_runtime_error: script('The script failed while it ran.', '`diagnostics` say where and why.'),
  script_limit_exceeded: script(
    'The script took more time, memory or requests than one may.',
    'Make it do less, or run it on fewer bars.',
  ),

  rate_limited: {
    status: 429,
    meaning: 'Too many requests of this kind, or too many failed attempts to sign in.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  concurrency_limited: {
    status: 429,
    meaning: 'Too much of this user is running or waiting already.',
    remedy: 'Wait for one to end.',
  },

  internal_error: {
    status: 500,
    meaning: 'A mistake of the server.',
    remedy: 'Report the request id; the log has the rest.',
  },
  overloaded: {
    status: 503,
    meaning: 'The server has too much waiting.',
    remedy: 'Try again after `Retry-After`.',
  },
  shutting_down: {
    status: 503,
    meaning: 'The server is stopping.',
    remedy: 'Try again after `Retry-After`.',
  },
  feeds_disabled: {
    status: 503,
    meaning: 'Requests to providers are switched off (FEEDS=off).',
    remedy: 'Import bars instead, or switch them on.',
  },
  provider_not_found: {
    status: 404,
    meaning: 'There is no provider of that name, or none that has what was asked for.',
    remedy: 'Use one of the names that the message lists.',
  },
  provider_unavailable: {
    status: 503,
    meaning: 'The provider of the bars did not answer, or refused.',
    remedy: 'Try again after `Retry-After`.',
  },
  identity_provider_unavailable: {
    status: 503,
    meaning: 'The identity provider does not answer, or not as OpenID Connect has it.',
    remedy: 'Sign in with the password, or try again after `Retry-After`.',
  },
  store_unavailable: {
    status: 503,
    meaning: 'The database does not answer; what was answered before is not lost.',
    remedy: 'Try again after `Retry-After`, writes with the same Idempotency-Key.',
  },
  storage_full: {
    status: 507,
    meaning: 'There is no room to store it; nothing was stored.',
    remedy: 'Delete something, or give the server more room.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

export type ProblemCode = keyof typeof PROBLEM_CODES
