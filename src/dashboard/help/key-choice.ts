// Which keys a person may choose for an act, and which acts would hear the same ones.

import { words } from '../../lib/words.ts'
import { keyText, type Act } from '../keys.ts'

const MOVES: readonly string[] = words(
  'ArrowLeft ArrowRight ArrowUp ArrowDown Home End PageUp PageDown Space Enter Delete Backspace Plus = -',
)
const CLIPBOARD: readonly string[] = words('Mod+A Mod+C Mod+V Mod+X')

/** Why an act cannot have these keys, as a sentence; null = it can. */
export function refusalOf({ section }: Pick<Act, 'section'>, keys: string): string | null {
  const last = keys.split('+').at(-1)!
  if (last === 'Tab' || last === 'Escape')
    return 'Tab and Escape go on and back everywhere, so they stay as they are.'
  if (CLIPBOARD.includes(keys))
    return `${keyText(keys)} selects, copies and pastes text, so it stays as it is.`
  // During a replay the chart leaves these to it.
  const isAlone = !keys.includes('+')
  if (section === 'Replay' || (!isAlone && !(MOVES.includes(last) && /^Shift\+[^+]+$/.test(keys))))
    return null
  if (MOVES.includes(last)) return `${keyText(keys)} moves about on the chart: hold Ctrl, ⌘ or Alt with it.`
  if (/^[A-Z]$/.test(last)) return 'A letter on the chart looks for a symbol: hold Ctrl, ⌘ or Alt with it.'
  if (/^[0-9]$/.test(last)) return 'A digit on the chart types an interval: hold Ctrl, ⌘ or Alt with it.'
  return null
}

/** Whether two acts can hear the same key press. Those of the editor and a watchlist do so only in their own places. */
export function canClash(a: Pick<Act, 'section'>, b: Pick<Act, 'section'>): boolean {
  if (a.section === b.section) return true
  const sections = [a.section, b.section]
  if (sections.includes('Watchlist')) return false
  // What a script's keys do, they also do in its editor.
  return !sections.includes('Editor') || sections.includes('Script')
}
