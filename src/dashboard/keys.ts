// Combinations of keys: how they are written, shown and compared, and which a person may choose.
//
// One is written as `Mod+K`, `Shift+ArrowLeft`, `Alt+Shift+F`, `/`. Mod is ⌘ on a Mac, Ctrl elsewhere.

/** In the order in which the list of keys has them. */
export const SECTIONS = [
  'Go to',
  'Chart',
  'Drawing',
  'Alerts',
  'Script',
  'Editor',
  'Report',
  'Replay',
  'Watchlist',
  'Settings',
] as const
type Section = (typeof SECTIONS)[number]

/** Something that keys do. */
export interface Act {
  readonly id: string
  readonly title: string
  /** Shown in the palette's groups and in the list of keys. */
  readonly section: Section
  /** The keys it has unless the user chooses others. */
  readonly keys?: string
}

/** What the editor and a watchlist do by keys while they have the focus. */
export const OWN_ACTS: readonly Act[] = [
  ...(
    [
      ['find', 'Find and replace', 'Mod+F'],
      ['comment', 'Comment or uncomment lines', 'Mod+/'],
      ['complete', 'Complete', 'Ctrl+Space'],
      ['next', 'Select the next occurrence', 'Mod+D'],
      ['rename', 'Rename everywhere', 'F2'],
      ['definition', 'Go to the declaration', 'F12'],
      ['up', 'Move lines up', 'Alt+ArrowUp'],
      ['down', 'Move lines down', 'Alt+ArrowDown'],
      ['copy', 'Copy lines down', 'Alt+Shift+ArrowDown'],
      ['delete', 'Delete lines', 'Mod+Shift+K'],
    ] as const
  ).map(([id, title, keys]) => ({ id: `editor:${id}`, title, section: 'Editor' as const, keys })),
  { id: 'watchlist:up', title: 'Move the row up', section: 'Watchlist', keys: 'Alt+ArrowUp' },
  { id: 'watchlist:down', title: 'Move the row down', section: 'Watchlist', keys: 'Alt+ArrowDown' },
  { id: 'watchlist:note', title: 'Note on the row', section: 'Watchlist', keys: 'F2' },
]

export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

const MODIFIERS: ReadonlySet<string> = new Set([
  'Control',
  'Shift',
  'Alt',
  'Meta',
  'AltGraph',
  'CapsLock',
  'Dead',
  'Process',
  'Unidentified',
])

export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** '' while only modifiers are held. */
export function pressed({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyPress, mac = isMac): string {
  if (MODIFIERS.has(key)) return ''
  const parts: string[] = []
  if (mac ? metaKey : ctrlKey) parts.push('Mod')
  if (mac && ctrlKey) parts.push('Ctrl')
  if (altKey) parts.push('Alt')
  // Shift is part of the character for `?`, and of the name for arrows, and for letters with a modifier.
  if (shiftKey && (key.length > 1 || parts.length > 0)) parts.push('Shift')
  // With modifiers, a system may say another character than the one on the key.
  const named = parts.length > 0 ? /^(?:Key|Digit)(.)$/.exec(code)?.[1] : undefined
  parts.push(named ?? nameOf(key))
  return parts.join('+')
}

function nameOf(key: string): string {
  if (key === ' ') return 'Space'
  if (key === '+') return 'Plus'
  return key.length === 1 ? key.toUpperCase() : key
}

/** Where there is no ⌘, Ctrl and Mod are one key. */
const plain = (keys: string, mac: boolean): string =>
  (mac ? keys : keys.replace('Ctrl+', 'Mod+')).toUpperCase()

export const areSameKeys = (a: string, b: string, mac = isMac): boolean =>
  a !== '' && plain(a, mac) === plain(b, mac)

/** `Mod+K` as it is on the user's keyboard: ⌘K or Ctrl K. */
export function keyText(keys: string, mac = isMac): string {
  const names: Readonly<Record<string, string>> = {
    Mod: mac ? '⌘' : 'Ctrl',
    Ctrl: mac ? '⌃' : 'Ctrl',
    Shift: mac ? '⇧' : 'Shift',
    Alt: mac ? '⌥' : 'Alt',
    ArrowLeft: mac ? '←' : 'Left',
    ArrowRight: mac ? '→' : 'Right',
    ArrowUp: mac ? '↑' : 'Up',
    ArrowDown: mac ? '↓' : 'Down',
    Enter: mac ? '↵' : 'Enter',
    Plus: '+',
  }
  return keys
    .split('+')
    .map((key) => names[key] ?? key)
    .join(mac ? '' : ' ')
}

const MOVES: ReadonlySet<string> = new Set(
  'ArrowLeft ArrowRight ArrowUp ArrowDown Home End PageUp PageDown Space Enter Delete Backspace Plus = -'.split(
    ' ',
  ),
)
const CLIPBOARD: ReadonlySet<string> = new Set(['Mod+A', 'Mod+C', 'Mod+V', 'Mod+X'])

/** Why an act cannot have these keys, as a sentence; null = it can. */
export function refusalOf({ section }: Pick<Act, 'section'>, keys: string): string | null {
  const last = keys.split('+').at(-1)!
  if (last === 'Tab' || last === 'Escape')
    return 'Tab and Escape go on and back everywhere, so they stay as they are.'
  if (CLIPBOARD.has(keys)) return `${keyText(keys)} selects, copies and pastes text, so it stays as it is.`
  // During a replay the chart leaves these to it.
  const isAlone = !keys.includes('+')
  if (section === 'Replay' || (!isAlone && !(MOVES.has(last) && /^Shift\+[^+]+$/.test(keys)))) return null
  if (MOVES.has(last)) return `${keyText(keys)} moves about on the chart: hold Ctrl, ⌘ or Alt with it.`
  if (/^[A-Z]$/.test(last)) return 'A letter on the chart looks for a symbol: hold Ctrl, ⌘ or Alt with it.'
  if (/^[0-9]$/.test(last)) return 'A digit on the chart types an interval: hold Ctrl, ⌘ or Alt with it.'
  return null
}

/** Whether two acts can hear the same key press. Those of the editor and a watchlist do so only in their own places. */
export function canClash(a: Pick<Act, 'section'>, b: Pick<Act, 'section'>): boolean {
  if (a.section === b.section) return true
  const sections = [a.section, b.section]
  if (sections.includes('Watchlist')) return false
  // The script's own work in its editor too.
  return !sections.includes('Editor') || sections.includes('Script')
}
