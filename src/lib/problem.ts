// A Problem is the caller's mistake: what a room refuses to do, and how the caller can mend it.
//
// Rooms throw it; `http/problem.ts` alone turns it into an HTTP answer and the command line into a sentence. A message
// never contains submitted values, since it may be logged, mailed or shown to somebody else.

import type { ProblemCode } from './problem-codes.ts'

/** One field that was wrong. `path` is a JSON Pointer into the part of the request that `in` names. */
export interface FieldProblem {
  readonly in: 'body' | 'query' | 'path' | 'header'
  readonly path: string
  readonly code: string
  readonly message: string
}

export interface ProblemDetails {
  readonly fields?: readonly FieldProblem[]
  /** Seconds until a retry makes sense; only with 429 and 503. */
  readonly retryAfter?: number
  /** Script diagnostics, already in wire form. */
  readonly diagnostics?: readonly unknown[]
  readonly headers?: Readonly<Record<string, string>>
}

/** `status` is the HTTP status, `code` the stable name from the catalogue, `message` a whole sentence. */
export class Problem extends Error {
  readonly status: number
  readonly code: ProblemCode
  readonly details: ProblemDetails
  constructor(status: number, code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.code = code
    this.details = details
  }
}

/** A 422 that names one field of the body. */
export function invalidField(path: string, code: string, message: string): Problem {
  return new Problem(422, 'validation_failed', message, { fields: [{ in: 'body', path, code, message }] })
}

/** A name as a part of a field's path, as RFC 6901 writes it. */
export const pointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
