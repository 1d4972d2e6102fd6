// Overlays that can be opened from anywhere.

import { signal } from '@preact/signals'

export const paletteOpen = signal(false)
export const keysOpen = signal(false)
