// Settings that the browser remembers: theme, palette, sizes, the last chart. Nothing secret, and nothing the server needs.

import { effect, signal, type Signal } from '@preact/signals'

/** A signal that survives a reload. A stored value that is not of the default's type is dropped. */
export function remembered<T>(key: string, initial: T): Signal<T> {
  const name = `chartroom.${key}`
  let start = initial
  try {
    const text = localStorage.getItem(name)
    const stored: unknown = text === null ? undefined : JSON.parse(text)
    if (stored !== undefined && (initial === null || typeof stored === typeof initial)) start = stored as T
  } catch {
    // In a private window, or with a broken value, use the default.
  }
  const value = signal(start)
  let first = true
  effect(() => {
    const text = JSON.stringify(value.value)
    if (first) {
      first = false
      return
    }
    try {
      localStorage.setItem(name, text)
    } catch {
      // Storage is full or forbidden: the setting lasts until the page is reloaded.
    }
  })
  return value
}

export const theme = remembered<'dark' | 'light'>('theme', 'dark')
export const palette = remembered<'green-red' | 'blue-orange'>('palette', 'green-red')
/** '' = the exchange's own zone. */
export const timezone = remembered('timezone', '')
export const sideWidth = remembered('side.width', 320)
/** The bar of drawing tools; where there is no room beside the chart it starts hidden. */
export const drawingBar = remembered('drawings.bar', innerWidth > 760)
export const bottomHeight = remembered('bottom.height', 340)
/** Id of the last run, which a reload shows again. */
export const lastRun = remembered('run.last', '')
export const tourDone = remembered('tour.done', false)

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
  document.documentElement.dataset['palette'] = palette.value
})
