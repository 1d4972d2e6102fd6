// How a tool of an agent does anything: it calls operations of the API with the agent's credential. So scopes, limits and
// validation are the API's, and an agent can do nothing here that it could not do there.

import { accessParts, reaches, type ApiDeps } from '../access.ts'
import type { Caller } from '../visit.ts'
import type { Answer, Args, OperationName } from '../../wire/operations.ts'
import { OPERATIONS } from '../../wire/operations.ts'
import type { Operation } from '../../wire/operation.ts'
import type { ProblemData } from '../../wire/problem.ts'
import type { Scope } from '../../wire/scopes.ts'

export type Json = Record<string, unknown>

/** Who calls the tools, and what they call. */
export interface Agent {
  readonly deps: ApiDeps
  readonly caller: Caller
  readonly credential: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Scopes of what was called that its token does not have: what they cover is in no answer. */
  readonly lacking: Set<Scope>
}

/** What is told instead of an answer; `next` are calls that help. */
export class Refused extends Error {
  readonly next: readonly string[]
  readonly more: Json

  constructor(message: string, next: readonly string[] = [], more: Json = {}) {
    super(message)
    this.next = next
    this.more = more
  }
}

/** Those of the scopes that the agent's token lacks, which its answer will say. */
export function lackedBy({ caller, lacking }: Agent, scopes: readonly Scope[]): readonly Scope[] {
  const lacks = scopes.filter((scope) => !reaches(caller, scope))
  for (const scope of lacks) lacking.add(scope)
  return lacks
}

/** Why there may be more than was answered, or null. */
export const leftOut = ({ lacking }: Agent): string | null =>
  lacking.size === 0
    ? null
    : `The access token lacks ${[...lacking].join(', ')}, so not everything could be looked at.`

/** Null if it is refused for want of a scope. */
export const unlessLacking = <T>(answer: Promise<T>): Promise<T | null> =>
  answer.catch((error: unknown) => {
    if (error instanceof Refused && error.more['code'] === 'insufficient_scope') return null
    throw error
  })

/** Told instead of there being nothing, where the token may not see whether there is. */
export function refuseIfLacking(agent: Agent, message = leftOut(agent)): void {
  if (message !== null) throw new Refused(message, [callText('account')], { code: 'insufficient_scope' })
}

/** A call as the agent is told of it: `judge {"id":"bt_1"}`. */
export const callText = (tool: string, args: Json = {}): string => `${tool} ${JSON.stringify(args)}`

/** More than this is no answer for an agent, whatever it asks for. */
const ANSWER_BYTES = 8 << 20

export interface Given {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** The fields of an operation's answer. Throws `Refused` with what the API says against it. */
export async function call<K extends OperationName>(
  agent: Agent,
  name: K,
  args: Args<K>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<K>> {
  const text = await wholeText(await send(agent, name, args, headers))
  return JSON.parse(text) as Answer<K>
}

/** The answer as it comes. Throws `Refused` if it is none. */
export async function send(
  agent: Agent,
  name: OperationName,
  { path = {}, query = {}, body }: Given,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const [method = '', template = ''] = name.split(' ')
  const url = new URL('http://localhost')
  url.pathname = template.replace(/\{(\w+)\}/g, (_whole, part: string) => pathPart(name, part, path[part]))
  for (const [field, value] of Object.entries(query))
    if (value !== undefined && value !== null) url.searchParams.set(field, textOf(value))
  const isText = typeof body === 'string'
  const operation: Operation = OPERATIONS[name]
  const takesBody = body !== undefined || operation.body !== undefined
  const response = await agent.deps.inner(
    new Request(url.href, {
      method,
      signal: agent.signal,
      headers: {
        ...agent.credential,
        accept: 'application/json',
        ...(takesBody && { 'content-type': isText ? 'text/csv' : 'application/json' }),
        ...headers,
      },
      ...(takesBody && { body: isText ? body : JSON.stringify(body ?? {}) }),
    }),
  )
  const lacks = lackedBy(agent, accessParts(operation.access).scopes)
  if (response.ok) return response
  const refused = refusalOf(name, await wholeText(response))
  // A route for everybody shows such a token what is public.
  if (response.status === 404 && lacks.length > 0)
    refuseIfLacking(agent, `${refused.message} ${leftOut(agent)}`)
  throw refused
}

/** Without an id, or with one that leads up the path, the call would reach another address, such as the list. */
function pathPart(name: string, part: string, value: unknown): string {
  const text = textOf(value)
  if (value === undefined || value === null || /^\.{0,2}$/.test(text))
    throw new Refused(`\`${name}\` needs \`${part}\`, a part of its path.`)
  return encodeURIComponent(text)
}

/** Throws `Refused` rather than to keep megabytes that no agent can read. */
export async function wholeText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > ANSWER_BYTES)
      throw new Refused(
        `The answer has more than ${ANSWER_BYTES >> 20} MB. Ask for a part of it: a \`limit\`, a span, or one item by its id.`,
      )
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function refusalOf(name: OperationName, text: string): Refused {
  const { error } = JSON.parse(text) as { readonly error: ProblemData }
  const { code, message, fields, diagnostics, retryAfter } = error
  const wrong = diagnostics?.slice(0, 5).map(diagnosticText) ?? []
  return new Refused(message, adviceFor(name, code), {
    code,
    ...(fields && { fields: fields.slice(0, 10).map(({ path, message: fault }) => `${path}: ${fault}`) }),
    ...(wrong.length > 0 && { diagnostics: wrong }),
    ...(retryAfter !== undefined && { retryAfterSeconds: retryAfter }),
  })
}

export const diagnosticText = ({
  severity,
  line,
  column,
  message,
  hint,
}: NonNullable<ProblemData['diagnostics']>[number]): string =>
  `${severity} ${line}:${column} ${message}${hint ? ` (${hint})` : ''}`

/** What helps against a refusal with this code. */
function adviceFor(name: OperationName, code: string): string[] {
  if (code === 'bars_not_found') return [callText('find', { kind: 'markets' })]
  if (code === 'script_invalid') return [callText('find', { kind: 'pine', q: 'ta.' })]
  if (code === 'insufficient_scope' || code === 'session_required' || code === 'unauthenticated')
    return [callText('account')]
  if (code === 'validation_failed') return [callText('find_operation', { q: name })]
  const noun = /^(\w+)_not_found$/.exec(code)?.[1]
  const kind = noun === undefined ? undefined : KIND_OF_NOUN[noun]
  return kind === undefined ? [] : [callText('find', { kind })]
}

const KIND_OF_NOUN: Readonly<Record<string, string>> = {
  script: 'scripts',
  backtest: 'backtests',
  sweep: 'sweeps',
  scan: 'scans',
  portfolio: 'portfolios',
  forward_run: 'followed',
  alert: 'alerts',
  firing: 'firings',
  idea: 'ideas',
  watchlist: 'watchlists',
  webhook: 'webhooks',
  channel: 'channels',
}
