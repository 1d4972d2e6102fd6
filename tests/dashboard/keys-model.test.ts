// Combinations of keys: how a press is written, how it is shown, and which may be chosen.

import { expect, test } from 'bun:test'
import { canClash, refusalOf } from '../../src/dashboard/help/key-choice.ts'
import { areSameKeys, keyText, pressed } from '../../src/dashboard/keys.ts'
import { OWN_ACTS } from '../../src/dashboard/own-acts.ts'

const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
const press = (key: string, code: string, held: Partial<typeof NONE> = {}, mac = false) =>
  pressed({ key, code, ...NONE, ...held }, mac)

test('a key press is written by its modifiers and the key, whatever character the system makes of it', () => {
  expect(press('k', 'KeyK', { ctrlKey: true })).toBe('Mod+K')
  expect(press('K', 'KeyK', { ctrlKey: true, shiftKey: true })).toBe('Mod+Shift+K')
  expect(press('†', 'KeyT', { altKey: true }, true)).toBe('Alt+T')
  expect(press('¡', 'Digit1', { altKey: true }, true)).toBe('Alt+1')
  expect(press('?', 'Slash', { shiftKey: true })).toBe('?')
  expect(press(' ', 'Space')).toBe('Space')
  expect(press('+', 'Equal', { ctrlKey: true })).toBe('Mod+Plus')
  expect(press('ArrowLeft', 'ArrowLeft', { shiftKey: true })).toBe('Shift+ArrowLeft')
  expect(press('Control', 'ControlLeft', { ctrlKey: true })).toBe('')
  expect(press('Dead', 'BracketLeft')).toBe('')
})

test('Ctrl and ⌘ are one key elsewhere and two on a Mac', () => {
  expect(press('k', 'KeyK', { metaKey: true }, true)).toBe('Mod+K')
  expect(press('k', 'KeyK', { ctrlKey: true }, true)).toBe('Ctrl+K')
  expect(areSameKeys('Ctrl+Space', 'Mod+Space', false)).toBe(true)
  expect(areSameKeys('Ctrl+Space', 'Mod+Space', true)).toBe(false)
  expect(areSameKeys('', '', false)).toBe(false)
})

test('keys are shown as they stand on the keyboard', () => {
  expect(keyText('Mod+Shift+K', false)).toBe('Ctrl Shift K')
  expect(keyText('Mod+Shift+K', true)).toBe('⌘⇧K')
  expect(keyText('Alt+ArrowUp', false)).toBe('Alt Up')
  expect(keyText('Alt+ArrowUp', true)).toBe('⌥↑')
  expect(keyText('Mod+Plus', false)).toBe('Ctrl +')
})

test('keys that the chart, text fields and dialogs need are not to be had, and why is said', () => {
  const chart = { section: 'Chart' } as const
  expect(refusalOf(chart, 'Mod+J')).toBeNull()
  expect(refusalOf(chart, 'F4')).toBeNull()
  expect(refusalOf(chart, ';')).toBeNull()
  expect(refusalOf(chart, 'T')).toStartWith('A letter on the chart looks for a symbol')
  expect(refusalOf(chart, '5')).toStartWith('A digit on the chart types an interval')
  expect(refusalOf(chart, 'ArrowLeft')).toContain('moves about on the chart')
  expect(refusalOf(chart, 'Shift+ArrowLeft')).toContain('moves about on the chart')
  expect(refusalOf(chart, 'Alt+ArrowLeft')).toBeNull()
  expect(refusalOf(chart, 'Mod+C')).toContain('copies')
  expect(refusalOf(chart, 'Mod+Tab')).toStartWith('Tab and Escape')
  expect(refusalOf({ section: 'Replay' }, 'T')).toBeNull()
})

test('acts of the editor, of a watchlist and of the page may share keys, but not two of one place', () => {
  const clash = (a: Parameters<typeof canClash>[0]['section'], b: typeof a) =>
    canClash({ section: a }, { section: b })
  expect(clash('Chart', 'Drawing')).toBe(true)
  expect(clash('Editor', 'Script')).toBe(true)
  expect(clash('Editor', 'Chart')).toBe(false)
  expect(clash('Watchlist', 'Editor')).toBe(false)
  for (const act of OWN_ACTS)
    expect(
      OWN_ACTS.filter((other) => canClash(act, other) && areSameKeys(act.keys!, other.keys!)),
    ).toHaveLength(1)
})
