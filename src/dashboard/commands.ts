// All commands that keys and the palette can run. Each part of the page adds its own while it is on screen.

import { computed, signal } from '@preact/signals'
import { commandNow } from './addresses.ts'
import { areSameKeys, keyText, pressed, type Act, type KeyPress } from './keys.ts'
import { remembered } from './settings.ts'

export interface Command extends Act {
  readonly run: () => void
  /** Keys that do it as well, unless somebody gave them to another. */
  readonly also?: string
  /** The command is available only while this returns true. */
  readonly when?: () => boolean
}

/** Makes the commands of one section; `keys`: '' = none. */
export const commandOf =
  (section: Command['section']) =>
  (id: string, title: string, keys: string, run: () => void, when?: () => boolean): Command => ({
    id,
    title,
    section,
    run,
    ...(keys && { keys }),
    ...(when && { when }),
  })

/** What turns a switch. */
export const turns = (of: { value: boolean }) => (): void => {
  of.value = !of.value
}

export const commands = signal<readonly Command[]>([])

/** Adds commands. The returned function removes them again: return it from useEffect. */
export function addCommands(added: readonly Command[]): () => void {
  commands.value = [...commands.value.filter((old) => !added.some((one) => one.id === old.id)), ...added]
  return () => {
    commands.value = commands.value.filter((one) => !added.includes(one))
  }
}

const stored = remembered<Readonly<Record<string, string>>>('keys', {})
/** The keys that the user chose, by the act's id; '' = none. */
export const chosenKeys = computed<Readonly<Record<string, string>>>(() =>
  Object.fromEntries(
    Object.entries(stored.value ?? {}).flatMap(([id, keys]) =>
      typeof keys === 'string' ? [[commandNow(id), keys]] : [],
    ),
  ),
)
export const chooseKeys = (keys: Readonly<Record<string, string>>): void => {
  stored.value = keys
}

/** The keys an act has; '' = none. */
export const keysOf = ({ id, keys = '' }: Pick<Act, 'id' | 'keys'>): string => chosenKeys.value[id] ?? keys

/** The keys of a command that is there, as on the user's keyboard; '' = none. */
export function keysShown(id: string): string {
  const act = commands.value.find((one) => one.id === id)
  return act ? keyText(keysOf(act)) : ''
}

/** A tooltip with the keys of what it is about, as `Save (Ctrl S)`. */
export function withKeys(text: string, id: string): string {
  const keys = keysShown(id)
  return keys === '' ? text : `${text} (${keys})`
}

/** The command whose keys were pressed, if it is there and available. */
export function commandFor(event: KeyPress, section?: Command['section']): Command | undefined {
  const keys = pressed(event)
  const there = commands
    .peek()
    .filter((one) => (section === undefined || one.section === section) && (one.when?.() ?? true))
  return (
    there.find((one) => areSameKeys(keysOf(one), keys)) ??
    there.find((one) => areSameKeys(one.also ?? '', keys))
  )
}

export function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof Element ? target : null
  return Boolean(element?.closest('input, textarea, select, [contenteditable], [data-editor]'))
}

/** Keys work everywhere, single characters only outside text fields. */
export function listenForKeys(): void {
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    if (isTyping(event.target) && !/^(Mod|Ctrl|Alt)\+/.test(pressed(event))) return
    const command = commandFor(event)
    if (!command) return
    event.preventDefault()
    command.run()
  })
}
