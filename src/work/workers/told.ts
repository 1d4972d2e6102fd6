// What the text of a script tells before anything is compiled, remembered for the texts that come again and again: whoever
// tries one input after the other sends the same script each time, and reading it took a tenth of a run over 5,000 bars.

import { scriptNames, type ScriptNames } from '../../broker/trial-name.ts'
import { memo } from '../../lib/memo.ts'
import { outline, type Outline } from '../../language/outline.ts'

interface Told {
  readonly outline: Omit<Outline, 'series'>
  /** Its names in the ledger of trials. */
  readonly names: ScriptNames
  /** If not, it asks for no other series, whatever it runs on. */
  readonly mayAsk: boolean
}

/** How many texts a thread remembers, and the longest of them. */
const TEXTS = 64
const LETTERS_MAX = 32_768

/** Whatever asks for a series has one of these in its name. A comment may have them too, and only costs a second look. */
const ASKING = /security|currency|footprint/

const remembered = memo(TEXTS, told)

export function toldBy(source: string): Told {
  return source.length > LETTERS_MAX ? told(source) : remembered(source)
}

function told(source: string): Told {
  return { outline: outline(source), names: scriptNames(source), mayAsk: ASKING.test(source) }
}
