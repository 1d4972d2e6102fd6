// What the editor offers to write instead, for mistakes whose remedy is known to the letter.

import type { Diagnostic } from '../../wire/script.ts'

export interface Fix {
  readonly label: string
  /** Takes the place of this part of the marked text: from a character on, to its end. */
  readonly from: number
  readonly insert: string
}

/** Fixes of a problem whose marked text is `marked`; none where a person has to decide. */
export function fixesOf({ code, hint }: Pick<Diagnostic, 'code' | 'hint'>, marked: string): readonly Fix[] {
  const named = [...(hint ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text)
  const change = (insert: string | undefined, from = 0): readonly Fix[] =>
    insert === undefined || insert === marked.slice(from)
      ? []
      : [{ label: `Change to ${insert}`, from, insert }]
  switch (code) {
    case 'undeclared-name':
    case 'undeclared-function':
    case 'assigned-undeclared':
      return change(named[0])
    case 'unknown-member':
      // Only what stands behind the dot is wrong.
      return change(named[0], marked.lastIndexOf('.') + 1)
    case 'renamed':
      return named[0] === marked ? change(named[1]) : []
    case 'na-without-type':
      return change(named[0])
    case 'expected-line-end':
      return marked === '=' ? named.slice(0, 2).flatMap((text) => change(text)) : []
    case 'no-version':
      // It is marked before the first letter.
      return named.slice(0, 1).map((line) => ({ label: `Write ${line}`, from: 0, insert: `${line}\n` }))
    default:
      return []
  }
}
