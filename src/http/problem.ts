// The one place that turns a Problem, or our own mistake, into JSON.
//
//     {"ok":false,"error":{"code":"alert_not_found","message":"There is no such alert.","requestId":"req_…"}}
//
// With `Accept: application/problem+json` the same data is sent in the form of RFC 9457. Internal messages stay in the log.

import { ValidationError } from 'elysia'
import type { ValueError } from '@sinclair/typebox/errors'
import { Problem, type FieldProblem } from '../lib/problem.ts'
import { fieldProblems, validationFailed } from './validate.ts'

/** Turns any thrown value into a Problem; null if it is a mistake of ours. */
export function asProblem(error: unknown, code: string | number): Problem | null {
  if (error instanceof Problem) return error
  // Errors thrown by hooks around parsing arrive wrapped.
  if (error instanceof Error && error.cause instanceof Problem) return error.cause
  if (error instanceof ValidationError && error.type !== 'response') {
    const where: Record<string, FieldProblem['in']> = { query: 'query', params: 'path', headers: 'header' }
    const errors = error.all as unknown as ValueError[]
    return validationFailed(fieldProblems(where[error.type] ?? 'body', errors))
  }
  if (code === 'NOT_FOUND') return new Problem(404, 'not_found', 'There is nothing at this address.')
  if (code === 'PARSE') return new Problem(400, 'malformed_json', 'The body could not be read.')
  return null
}

export const internalError = () =>
  new Problem(500, 'internal_error', 'Something went wrong on our side. The request id names it in the log.')

export function problemResponse(problem: Problem, requestId: string, accept: string | null): Response {
  const { status, code, message, details } = problem
  const { fields, retryAfter, diagnostics } = details
  const data = {
    code,
    message,
    requestId,
    ...(fields && { fields }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(diagnostics && { diagnostics }),
  }
  const headers: Record<string, string> = {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...details.headers,
  }
  if (!accept?.includes('application/problem+json'))
    return Response.json({ ok: false, error: data }, { status, headers })
  const { message: detail, ...rest } = data
  const body = {
    type: `urn:chartroom:problem:${code}`,
    title: code.replaceAll('_', ' '),
    status,
    detail,
    ...rest,
  }
  return Response.json(body, { status, headers: { ...headers, 'content-type': 'application/problem+json' } })
}
