// The answers that a route may give, status by status, for the OpenAPI document. They follow from its access, from whether
// it has a body and a query, and from the codes in its own table.

import { PROBLEM_CODES, type ProblemCode } from '../lib/problem-codes.ts'
import { BODY_BYTES, accessParts, keepsAnswers } from './access.ts'
import type { AccessOptions } from './visit.ts'
import { ROUTE_CODES } from './route-codes.ts'
import { words } from '../lib/words.ts'

/** The parts of a route that its answers depend on. */
export interface Answering {
  readonly method: string
  /** With `:id`, and without a final slash. */
  readonly path: string
  readonly options: AccessOptions
  readonly hasBody: boolean
  readonly hasQuery: boolean
}

/** Every code the route may refuse with. */
export function codesOf({ method, path, options, hasBody, hasQuery }: Answering): ProblemCode[] {
  const { label, scopes, tokens } = accessParts(options.to)
  const writes = method !== 'GET'
  const { streams = false } = options
  const isLarge = (options.bodyBytes ?? 0) > BODY_BYTES
  const codes: (ProblemCode | false)[] = [
    'duplicate_parameter',
    'invalid_token',
    'token_expired',
    'token_revoked',
    label !== 'none' && 'unauthenticated',
    label !== 'none' && 'session_expired',
    !tokens && 'session_required',
    label !== 'none' && scopes.length > 0 && 'insufficient_scope',
    writes && 'cross_origin_blocked',
    (hasBody || streams) && 'malformed_json',
    hasBody && 'body_not_object',
    (streams || isLarge) && 'upload_too_slow',
    (hasBody || streams) && 'payload_too_large',
    (hasBody || streams) && 'unsupported_media_type',
    // The id is longer than any valid address.
    path.includes(':') && 'not_found',
    'misdirected_request',
    (hasBody || hasQuery || path.includes(':') || keepsAnswers({ method, options })) && 'validation_failed',
    keepsAnswers({ method, options }) && 'idempotency_in_progress',
    keepsAnswers({ method, options }) && 'idempotency_key_reused',
    options.unlimited !== true && 'rate_limited',
    isLarge && 'overloaded',
    'internal_error',
    'store_unavailable',
    writes && 'storage_full',
  ]
  const all = new Set([
    ...codes.filter((code) => code !== false),
    ...(ROUTE_CODES[`${method} ${path}`] ?? []),
  ])
  return Object.keys(PROBLEM_CODES).filter((code): code is ProblemCode => all.has(code as ProblemCode))
}

/** What any operation may answer that is asked like this; `default` says it, and a status of its own only what is more. */
const EVERYWHERE: ReadonlySet<ProblemCode> = new Set(
  words(
    'duplicate_parameter invalid_token token_expired token_revoked unauthenticated session_expired',
    'malformed_json body_not_object cross_origin_blocked session_required insufficient_scope',
    'misdirected_request payload_too_large unsupported_media_type rate_limited internal_error',
    'store_unavailable storage_full',
  ),
)

const refusal = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
const text = { schema: { type: 'string' } }
/** Headers that stand in the document once. */
export const HEADERS = {
  Replayed: {
    description: '`true` where the answer is that of an earlier request with the same `Idempotency-Key`.',
    ...text,
  },
} as const
const RETRY = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }

/** `done` is the content of the 200, `accepted` that of the 202. */
export function responsesOf(
  route: Answering,
  { done, accepted }: { readonly done: object; readonly accepted: object },
): Record<string, object> {
  const responses: Record<string, object> = {
    200: {
      description: 'OK.',
      ...done,
      ...(keepsAnswers(route) && {
        headers: { 'Idempotent-Replayed': { $ref: '#/components/headers/Replayed' } },
      }),
    },
  }
  if (route.options.async)
    responses[202] = {
      description: 'It was asked for with `Prefer: respond-async` and goes on behind the answer.',
      headers: { Location: { description: 'Where to ask for it.', ...text } },
      ...accepted,
    }
  if (route.options.etag)
    responses[304] = { description: '`If-None-Match` names the state that is still so. No body.' }
  const own = codesOf(route).filter((code) => !EVERYWHERE.has(code))
  for (const [status, codes] of Map.groupBy(own, (code) => PROBLEM_CODES[code].status))
    responses[status] = refused(codes, status === 429 || status === 503)
  responses['default'] = refused([...EVERYWHERE], true)
  return responses
}

const refused = (codes: readonly ProblemCode[], mayRetry: boolean) => ({
  description: codes.map((code) => `\`${code}\`: ${PROBLEM_CODES[code].meaning}`).join('\n\n'),
  content: refusal,
  ...(mayRetry && { headers: RETRY }),
})

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
})

/** The headers that have an effect on this route. */
export function headerParameters(route: Answering): object[] {
  return [
    ...(keepsAnswers(route)
      ? [
          header(
            'Idempotency-Key',
            '1 to 255 characters of your own. For a day the same key with the same request gets the same answer, and nothing is created again.',
          ),
        ]
      : []),
    ...(route.options.etag ? [header('If-None-Match', 'The `ETag` of an earlier answer.')] : []),
    ...(route.options.async ? [header('Prefer', '`respond-async` to be answered 202 at once.')] : []),
  ]
}

export const ABOUT_COLUMNS = [
  'The same answer with its long lists as raw numbers behind it, several times smaller and faster to read. `decodeColumns` of `/api/client.ts` makes of it what `JSON.parse` makes of the JSON.',
  'Bytes 0 to 3 are `CRC1`, bytes 4 to 7 the length of the header; all numbers are little-endian. The header is JSON with spaces at its end: `{"answer", "columns", "tables"}`. Behind it come the columns: those of `columns`, then the fields of each of `tables`, every one at a multiple of 8 bytes.',
  '`answer` is the JSON answer with null where a column or a table belongs. A column is `{"at", "type", "length", "scale"?, "from"?, "values"?}`: the path in the answer, `f64`, `i32`, `i16` or `i8`, and how many items. NaN, and the least number of a whole type, is null. With `from` the items are steps: a value is the sum of `from` and the items up to it. With `scale` it is divided by that. With `values` the item is an index into those. A table is `{"at", "length", "fields"}`, a list of objects, and each of `fields` a column whose `at` is the path in the object.',
].join('\n\n')

/** The catalogue of codes, and the refusals before any route is found, as text for the reference page. */
export function aboutErrors(): string {
  const rows = Object.entries(PROBLEM_CODES).map(
    ([code, { status, meaning, remedy }]) => `| ${status} | \`${code}\` | ${meaning} | ${remedy} |`,
  )
  return [
    'Backtests, replays, alerts, ideas and webhooks.',
    'Answers of 16 kB and more are compressed for who sends `Accept-Encoding`: zstd, br or gzip. Their ETag is the weak form (`W/…`) of the plain one; either is good in `If-None-Match`.',
    'Events sent to webhooks are signed: `X-Service-Signature`, and `webhook-id`, `webhook-timestamp`, `webhook-signature` after Standard Webhooks. Any 2xx answer takes one.',
    '## Errors',
    'A refusal is `{"ok":false,"error":{"code","message","requestId"}}`, for every path, unknown ones (404 `not_found`) and other methods of known ones (405 `method_not_allowed`) included; with `Accept: application/problem+json` the same as RFC 9457 has it. Compare `code`; `message` is for people.',
    'What is no HTTP is answered before this API sees it, by a bare status without a body, and the connection is closed: 400 (a malformed request line, header or chunk, no `Host`, two lengths), 413 (a body announced larger than any address takes), 431 (more than 16 kB or 100 of headers, or as long an address), 505 (other versions than HTTP/1.0 and 1.1). On a method that HTTP does not know the connection is closed without an answer.',
    'Texts are measured in characters (Unicode code points), and a name, title, tag or symbol is kept in its composed form (NFC).',
    `| status | code | meaning | what to do |\n|---|---|---|---|\n${rows.join('\n')}`,
  ].join('\n\n')
}
