// What is said of a file or of a hint that cannot be read.

import { Problem } from '../../../lib/problem.ts'

export function badHint(name: string, message: string): Problem {
  return new Problem(422, 'validation_failed', `The parameter ${name} ${message}.`, {
    fields: [{ in: 'query', path: `/${name}`, code: 'invalid', message }],
  })
}

/** A file that nobody could read. */
export function notRead(row: number, message: string): Problem {
  return new Problem(422, 'validation_failed', `Nothing was imported: row ${row}: ${message}.`, {
    fields: [{ in: 'body', path: `/rows/${row}`, code: 'invalid_bar', message: `row ${row}: ${message}` }],
  })
}

/** What is said of a row of another symbol. */
export function otherTicker(text: string): string {
  return `is of another symbol than the rows above, ${text.slice(0, 40)}`
}
