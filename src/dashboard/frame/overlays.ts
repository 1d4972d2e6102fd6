// Overlays that can be opened from anywhere.

import { signal } from '@preact/signals'

export const paletteOpen = signal(false)
/** What was typed for the palette before it was there to receive it. */
export const typedAhead = signal('')
export const keysOpen = signal(false)

/** Keeps what is typed between the keys that open the palette and its field, whose code may still be on its way. */
export function typeAhead(): void {
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event
    if (!paletteOpen.peek() || ctrlKey || metaKey || altKey || event.isComposing) return
    if (document.getElementById('palette-list')) return
    if (key === 'Escape') paletteOpen.value = false
    else if (key === 'Backspace') typedAhead.value = typedAhead.peek().slice(0, -1)
    else if (key.length === 1) typedAhead.value += key
    else if (key !== 'Enter') return
    event.preventDefault()
    event.stopPropagation()
  }
  paletteOpen.subscribe((open) => {
    if (!open) typedAhead.value = ''
  })
  window.addEventListener('keydown', onKey, true)
}
