// All commands that keys and the palette can run. Each part of the page adds its own while it is on screen.

import { signal } from '@preact/signals'

export interface Command {
  readonly id: string
  readonly title: string
  /** Shown in the palette's groups and in the list of keys. */
  readonly section: 'Go to' | 'Chart' | 'Drawing' | 'Script' | 'Report' | 'Replay' | 'Alerts' | 'Settings'
  /** As `Mod+K`, `Shift+ArrowLeft`, `Alt+A`, `/`, `?`. Mod is ⌘ on a Mac, Ctrl elsewhere. */
  readonly keys?: string
  readonly run: () => void
  /** The command is available only while this returns true. */
  readonly when?: () => boolean
}

export const commands = signal<readonly Command[]>([])

/** Adds commands. The returned function removes them again: return it from useEffect. */
export function addCommands(added: readonly Command[]): () => void {
  commands.value = [...commands.value.filter((old) => !added.some((one) => one.id === old.id)), ...added]
  return () => {
    commands.value = commands.value.filter((one) => !added.includes(one))
  }
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

/** `Mod+K` as it is on the user's keyboard: ⌘K or Ctrl K. */
export function keyText(keys: string): string {
  return keys
    .split('+')
    .map((key) => {
      if (key === 'Mod') return isMac ? '⌘' : 'Ctrl'
      if (key === 'Shift') return isMac ? '⇧' : 'Shift'
      if (key === 'Alt') return isMac ? '⌥' : 'Alt'
      return (
        { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Enter: '↵', ' ': 'Space' }[key] ??
        key
      )
    })
    .join(isMac ? '' : ' ')
}

function pressed(event: KeyboardEvent): string {
  const parts: string[] = []
  if (isMac ? event.metaKey : event.ctrlKey) parts.push('Mod')
  if (event.altKey) parts.push('Alt')
  // Shift is part of the character for `?` and of the name for arrows and letters with a modifier.
  if (event.shiftKey && (event.key.length > 1 || parts.length > 0)) parts.push('Shift')
  const key = event.code.startsWith('Key') && parts.length > 0 ? event.code.slice(3) : event.key
  parts.push(key.length === 1 ? key.toUpperCase() : key)
  return parts.join('+')
}

function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof Element ? target : null
  return Boolean(element?.closest('input, textarea, select, [contenteditable], [data-editor]'))
}

/** Keys work everywhere, single characters only outside text fields. */
export function listenForKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return
    const typed = pressed(event)
    if (isTyping(event.target) && !/^(Mod|Alt)\+/.test(typed)) return
    const command = commands.value.find(
      (one) => one.keys?.toUpperCase() === typed.toUpperCase() && (one.when?.() ?? true),
    )
    if (!command) return
    event.preventDefault()
    command.run()
  }
  window.addEventListener('keydown', onKey)
  return () => window.removeEventListener('keydown', onKey)
}
