// Combinations of keys: how they are written, shown and compared.
//
// One is written as `Mod+K`, `Shift+ArrowLeft`, `Alt+Shift+F`, `/`. Mod is ⌘ on a Mac, Ctrl elsewhere.

import type { Section } from './own-acts.ts'
import { words } from '../lib/words.ts'

/** Something that keys do. */
export interface Act {
  readonly id: string
  readonly title: string
  /** Shown in the palette's groups and in the list of keys. */
  readonly section: Section
  /** The keys it has unless the user chooses others. */
  readonly keys?: string
}

export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

const MODIFIERS: ReadonlySet<string> = new Set(
  words('Control Shift Alt Meta AltGraph CapsLock Dead Process Unidentified'),
)

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
