// Runs before the page is painted for the first time, so that nobody whose theme is light sees a dark page flash by.
//
// The page's own code comes as a module, which a browser runs when it has already painted. This is part of a small classic
// script in the head (`early.ts`), a file of its own since the page's policy allows no inline code. What it sets, `settings.ts`
// sets again.

import { shownTheme, showTheme, SYSTEM_IS_LIGHT } from './theme.ts'

export function stored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(`chartroom.${key}`) ?? 'null')
  } catch {
    return null
  }
}

showTheme(shownTheme(stored('theme'), matchMedia(SYSTEM_IS_LIGHT).matches))
