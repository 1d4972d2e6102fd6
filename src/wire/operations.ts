// Every operation of the API: from this table requests are validated, the document and the typed client are made, and the
// dashboard calls.

import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import { ACCOUNTS } from './account.ts'
import { ALERTS } from './alert.ts'
import { BACKUPS } from './backup.ts'
import { BACKTESTS } from './backtest.ts'
import { BARS } from './bars.ts'
import { BRIDGES } from './bridge.ts'
import { CHANNELS } from './channel.ts'
import { CLIENT_ERRORS } from './client-error.ts'
import { DRAWINGS } from './drawing.ts'
import { FEEDS } from './feed.ts'
import { HEALTH } from './health.ts'
import { IDEAS } from './idea.ts'
import { INBOXES } from './inbox.ts'
import { JUDGEMENTS } from './judgement.ts'
import { LAYOUTS } from './layout.ts'
import { LINKS } from './link.ts'
import type { OperationTable } from './operation.ts'
import { PROVIDERS } from './provider.ts'
import { REPLAYS } from './replay.ts'
import type { Unchanged, Warning, Wire } from './schema.ts'
import { FORWARD_RUNS } from './forward-run.ts'
import { PORTFOLIOS } from './portfolio.ts'
import { SCANS } from './scan.ts'
import { SCRIPTS } from './script.ts'
import { SEARCH } from './search.ts'
import { SIGN_IN_WAYS } from './sign-in-way.ts'
import { STREAM } from './stream.ts'
import { SUPPORT } from './support.ts'
import { SYMBOL_SEARCH } from './symbol-search.ts'
import { SWEEPS } from './sweep.ts'
import { TOKENS } from './token.ts'
import { TRANSFERS } from './transfer.ts'
import { WATCHLISTS } from './watchlist.ts'
import { WEBHOOKS } from './webhook.ts'

export const OPERATIONS = {
  ...ACCOUNTS,
  ...SIGN_IN_WAYS,
  ...TOKENS,
  ...BACKTESTS,
  ...SWEEPS,
  ...JUDGEMENTS,
  ...PORTFOLIOS,
  ...FORWARD_RUNS,
  ...SCANS,
  ...ALERTS,
  ...IDEAS,
  ...SCRIPTS,
  ...WATCHLISTS,
  ...DRAWINGS,
  ...LAYOUTS,
  ...REPLAYS,
  ...WEBHOOKS,
  ...CHANNELS,
  ...INBOXES,
  ...BRIDGES,
  ...LINKS,
  ...SEARCH,
  ...SUPPORT,
  ...CLIENT_ERRORS,
  ...FEEDS,
  ...SYMBOL_SEARCH,
  ...PROVIDERS,
  ...STREAM,
  ...BARS,
  ...TRANSFERS,
  ...BACKUPS,
  ...HEALTH,
} as const satisfies OperationTable

export type Operations = typeof OPERATIONS

/** `POST /api/platform/alerts/{id}` and so on. */
export type OperationName = keyof Operations

/** The fields of an operation's answer beside `ok` and `warnings`. */
export type AnswerOf<K extends OperationName> = Operations[K] extends {
  readonly answer: infer P extends TProperties
}
  ? Unchanged<Static<TObject<P>>>
  : unknown
/** The answer of an operation, as a client reads it. */
export type Answer<K extends OperationName> = AnswerOf<K> & {
  readonly warnings?: readonly Wire<typeof Warning>[]
}

/** The names of the parts of a path that are given. */
export type PathOf<K extends string> = K extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathOf<Rest>
  : never
type Taken<K extends OperationName, Part extends 'body' | 'query'> = Operations[K] extends {
  readonly [P in Part]: infer S extends TSchema
}
  ? Part extends 'query'
    ? { readonly query: Queried<Static<S>> }
    : { readonly body: Unchanged<Static<S>> }
  : unknown
/** A text in an address may be given as a number, and as null if it is optional. */
type Queried<T> = {
  readonly [F in keyof T]:
    T[F] | (string extends T[F] ? number : never) | ({} extends Pick<T, F> ? null : never)
}

type OptionalWhereEmpty<T> = { readonly [P in keyof T as {} extends T[P] ? never : P]: T[P] } & {
  readonly [P in keyof T as {} extends T[P] ? P : never]?: T[P]
}

/** The arguments of an operation: `path`, `query` and `body`, if it has them. */
export type Args<K extends OperationName> = OptionalWhereEmpty<
  ([PathOf<K>] extends [never] ? unknown : { readonly path: Readonly<Record<PathOf<K>, string>> }) &
    Taken<K, 'query'> &
    Taken<K, 'body'>
>
