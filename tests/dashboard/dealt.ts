import { test } from 'bun:test'
import { DEALT_ONE_OF, isTurn } from '../long.ts'
import { noBrowser } from './browser.ts'

/**
 * `test` for the journeys of a file. A run of all files makes every fifth of them, beginning with another for each commit's
 * seed, since a journey costs seconds of the processor; whoever runs the file by itself, and a long run, makes all.
 */
export function dealtTests(): (name: string, run: () => Promise<void>, timeout: number) => void {
  let journeys = 0
  return (name, run, timeout) => {
    const isMade = process.env['TEST_DEALT'] !== '1' || isTurn(journeys, 0, DEALT_ONE_OF)
    journeys += 1
    if (isMade) test.skipIf(noBrowser)(name, run, timeout)
  }
}
