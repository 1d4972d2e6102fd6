// Settings that the browser remembers: theme, palette, sizes, the last chart. Nothing secret, and nothing the server needs.

import { computed, effect, signal, type Signal } from '@preact/signals'
import { words } from '../lib/words.ts'
import { THEME_CHOICES, shownTheme, showTheme, SYSTEM_IS_LIGHT, type ThemeChoice } from './theme.ts'

/** The name that the browser stores a setting under. */
export const nameOf = (key: string): string => `chartroom.${key}`

/** Settings that belong to the signed-in user, which no other user of the browser may see or send. */
const OWNED: ReadonlySet<string> = new Set(
  words(
    'chart.studies charts drawings.pending drawings.templates keys layout market run.last script script.drafts',
    'script.opened script.saved studies.defaults studies.favourites watchlist',
  ),
)
/** Of those the ones that each tab has for itself once it has set them: two tabs may have two scripts open. */
const OF_TAB: ReadonlySet<string> = new Set(['script', 'script.opened', 'script.saved'])
const OWNER = nameOf('owner')
/** The user whose settings this tab shows; '' = not known yet. */
let owner = ''
const readAgain: (() => void)[] = []

/**
 * Tells who is signed in. Settings that another user left in this browser are put away under that user's id, and restored
 * when that user returns. Other tabs, which still show them, restart.
 */
export function belongTo(userId: string): void {
  if (owner === '')
    addEventListener('storage', () => {
      if (localStorage.getItem(OWNER) !== owner) location.reload()
    })
  owner = userId
  quietly(() => {
    const before = localStorage.getItem(OWNER)
    if (before === userId) return
    if (before !== null)
      for (const name of [...OWNED].map(nameOf)) {
        move(name, `${name}@${before}`)
        move(`${name}@${userId}`, name)
      }
    localStorage.setItem(OWNER, userId)
    if (before !== null) for (const read of readAgain) read()
  })
}

/** Storage is full or forbidden, as in a private window, or what it has is cut off: then there is nothing, and the page goes on. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Whether this page still shows the user in whose name the browser sends requests. */
export const isStillOwn = (): boolean =>
  owner !== '' && (quietly(() => localStorage.getItem(OWNER) === owner) ?? true)
/** Id of the user whom this page belongs to; '' = nobody, or not known yet. */
export const currentOwner = (): string => owner
/** Id of the user whom this browser belonged to last. */
export const lastOwner = (): string => quietly(() => localStorage.getItem(OWNER)) ?? ''

/** The user has signed out: this page, which is about to restart, sends nothing more for them. */
export const leave = (): void => {
  owner = ''
}

function move(from: string, to: string): void {
  const text = localStorage.getItem(from)
  localStorage.removeItem(from)
  if (text !== null) localStorage.setItem(to, text)
}

const isOthers = (key: string): boolean =>
  OWNED.has(key) && owner !== '' && localStorage.getItem(OWNER) !== owner

/** What the browser has stored now, which another tab may have written; undefined = nothing, or not this user's. */
export const stored = (key: string): unknown =>
  quietly(() => {
    const text = isOthers(key) ? null : localStorage.getItem(nameOf(key))
    return text === null ? undefined : (JSON.parse(text) as unknown)
  })

/** What this tab has set of the user whom the browser belongs to; null = nothing. */
const tabsOwn = (name: string): string | null => sessionStorage.getItem(`${name}@${lastOwner()}`)

/** A signal that survives a reload. A stored value that is not of the default's type is dropped. */
export function remembered<T>(key: string, initial: T): Signal<T> {
  const name = nameOf(key)
  const read = (): T => {
    const kept = quietly(() => {
      const text = (OF_TAB.has(key) ? tabsOwn(name) : null) ?? localStorage.getItem(name)
      return text === null ? undefined : (JSON.parse(text) as unknown)
    })
    return kept !== undefined && (initial === null || typeof kept === typeof initial) ? (kept as T) : initial
  }
  const value = signal(read())
  if (OWNED.has(key)) readAgain.push(() => (value.value = read()))
  let first = true
  effect(() => {
    const text = JSON.stringify(value.value)
    if (first) {
      first = false
      return
    }
    quietly(() => {
      // Another tab has signed in another user, and this one is about to restart.
      if (isOthers(key)) return
      if (OF_TAB.has(key) && owner !== '') sessionStorage.setItem(`${name}@${owner}`, text)
      localStorage.setItem(name, text)
    })
  })
  return value
}

export const themeChoice = remembered<ThemeChoice>('theme', 'system')
/** Whatever the browser has stored under its name. */
const chooseTheme = (value: unknown): void => {
  themeChoice.value = THEME_CHOICES.find((one) => one === value) ?? 'system'
}
chooseTheme(themeChoice.peek())
addEventListener('storage', () => chooseTheme(stored('theme')))
const system = matchMedia(SYSTEM_IS_LIGHT)
const systemIsLight = signal(system.matches)
system.addEventListener('change', ({ matches }) => (systemIsLight.value = matches))
/** The theme that is shown, whether the user or the system chose it. */
export const theme = computed(() => shownTheme(themeChoice.value, systemIsLight.value))
export const palette = remembered<'green-red' | 'blue-orange'>('palette', 'green-red')
/** '' = the exchange's own zone. */
export const timezone = remembered('timezone', '')
export const sideWidth = remembered('side.width', 320)
/** The bar of drawing tools; it starts hidden if there is no room beside the chart. */
export const drawingBar = remembered('drawings.bar', innerWidth > 760)
export const bottomHeight = remembered('bottom.height', 340)
/** Id of the last run, which a reload shows again, or `UNSTORED`. Empty until a script was run in this browser. */
export const lastRun = remembered('run.last', '')
/** Whether alerts are shown by the browser, and sound, while a tab is open. */
export const notifyHere = remembered('alerts.notify', false)
export const soundHere = remembered('alerts.sound', false)
export const tourDone = remembered('tour.done', false)

effect(() => {
  showTheme(theme.value)
  document.documentElement.dataset['palette'] = palette.value
})
