// What is wrong with one of several things that came in one request, such as the parts of a portfolio.

import { Problem } from './problem.ts'

/** The problem of a part, told by its number and by the place of its field in the whole. */
export function problemOfPart(
  { status, code, message, details }: Problem,
  part: number,
  parts: number,
): Problem {
  const named = (text: string) => (parts === 1 ? text : `Part ${part + 1}: ${text}`)
  const fields = details.fields?.map((field) => ({
    ...field,
    path: `/parts/${part}${field.path}`,
    message: named(field.message),
  }))
  return new Problem(status, code, named(message), { ...details, ...(fields && { fields }) })
}
