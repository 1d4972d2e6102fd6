// Names trials, so that the ledger counts a script with one choice of values only once, however often it is tried.

import { sha256 } from '../lib/sha256.ts'
import { scriptTokens } from '../language/same-script.ts'
import { canonicalJson } from './report/hash.ts'

const NAME_LETTERS = 20

/** Depends on the values of all inputs and settings, given or default. */
export function trialName(inputs: object, settings: object): string {
  return nameOf(inputs, settingsText(settings))
}

function nameOf(inputs: object, settings: string): string {
  return sha256(`{"inputs":${canonicalJson(inputs)},"settings":${settings}}`).slice(0, NAME_LETTERS)
}

function settingsText(settings: object): string {
  return canonicalJson({ ...settings, title: null, shorttitle: null })
}

/** Names trials of one script. They mostly differ in their inputs alone, and the text of the settings is most of the work. */
export class TrialNames {
  #overrides: string | null = null
  #settings = ''

  /** `settings` are what `overrides`, and nothing else that differs among these trials, make of the script's. */
  of(inputs: object, settings: object, overrides: object): string {
    const given = JSON.stringify(overrides)
    if (given !== this.#overrides) this.#settings = settingsText(settings)
    this.#overrides = given
    return nameOf(inputs, this.#settings)
  }
}

/** The names of a script in ledgers. */
export interface ScriptNames {
  readonly script: string
  /** What ledgers called it up to 0.2.0: it hung on the layout of the text. */
  readonly formerly: string
}

/**
 * Depend on the script without its inputs' defaults, comments and layout, so that typing in another default is another
 * trial of the same script.
 */
export function scriptNames(source: string): ScriptNames {
  return {
    script: sha256(scriptTokens(source)).slice(0, NAME_LETTERS),
    formerly: sha256(`${bareText(source)} `).slice(0, NAME_LETTERS),
  }
}

const TEXT = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`
const COMMENT = new RegExp(`(${TEXT})|//[^\\n]*`, 'g')
/** The first argument of an input, or the one of that name, wherever it stands. */
const DEFAULT = new RegExp(
  `(\\binput(?:\\.\\w+)?\\s*\\(\\s*(?:defval\\s*=\\s*)?|\\bdefval\\s*=\\s*)(?:-?[\\d.]+(?:[eE][-+]?\\d+)?|true\\b|false\\b|${TEXT})`,
  'g',
)

function bareText(source: string): string {
  return source
    .replace(COMMENT, (_, text: string | undefined) => text ?? '')
    .replace(DEFAULT, '$1_')
    .replace(/\s+/g, ' ')
    .trimEnd()
}
