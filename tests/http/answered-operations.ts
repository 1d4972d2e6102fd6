// Which operations of the API the tests of a run have had answered, so that one whose answer is never held against its
// schema is named at the end of the run (`src/tools/test.ts`).

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { OPERATIONS } from '../../src/wire/operations.ts'

/** The file that a whole run gathers them in, a line each; nothing is gathered where only some files are run. */
export const ANSWERED = 'CHARTROOM_ANSWERED'

/** A function that writes down each operation once. */
export function noteAnswered(): (operation: string) => void {
  const file = process.env[ANSWERED]
  const noted = new Set<string>()
  return (operation) => {
    if (file === undefined || noted.has(operation)) return
    noted.add(operation)
    appendFileSync(file, `${operation}\n`)
  }
}

/** The operations that are not in `file`. A stream of events has no end, so its tests read it by themselves. */
export function neverAnswered(file: string): string[] {
  const answered = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  return Object.keys(OPERATIONS).filter((name) => !answered.has(name) && !/\/(events|stream)$/.test(name))
}
