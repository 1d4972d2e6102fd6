// Names trials, so that the ledger counts a script with one choice of values only once, however often it is tried.

import { sha256 } from '../lib/sha256.ts'
import { canonicalJson } from './report/hash.ts'

const NAME_LETTERS = 20

/** Depends on the values of all inputs and settings, given or default. */
export function trialName(inputs: object, settings: object): string {
  const counted = { ...settings, title: null, shorttitle: null }
  return sha256(canonicalJson({ inputs, settings: counted })).slice(0, NAME_LETTERS)
}

const TEXT = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`
const COMMENT = new RegExp(`(${TEXT})|//[^\\n]*`, 'g')
/** The first argument of an input, or the one of that name, wherever it stands. */
const DEFAULT = new RegExp(
  `(\\binput(?:\\.\\w+)?\\s*\\(\\s*(?:defval\\s*=\\s*)?|\\bdefval\\s*=\\s*)(?:-?[\\d.]+(?:[eE][-+]?\\d+)?|true\\b|false\\b|${TEXT})`,
  'g',
)

/**
 * Depends on the script without its inputs' defaults, comments and blanks, so that typing in another default is another
 * trial of the same script.
 */
export function scriptName(source: string): string {
  const bare = source
    .replace(COMMENT, (_, text: string | undefined) => text ?? '')
    .replace(DEFAULT, '$1_')
    .replace(/\s+/g, ' ')
    .trimEnd()
  // The blank stands for the line break that most scripts end with: their names stay what they are in stored ledgers.
  return sha256(`${bare} `).slice(0, NAME_LETTERS)
}
