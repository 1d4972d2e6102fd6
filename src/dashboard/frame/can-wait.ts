// What every page has that can wait, since the first page is small: files that are dropped, where a page begins, being told of a
// newer version, and commands for parts of the settings and for how everything looks.

import { effect } from '@preact/signals'
import { addCommands, commandOf, type Command } from '../commands.ts'
import { listenForFiles } from '../markets/dropped.ts'
import { navigate, path } from '../router.ts'
import { offline } from '../session.ts'
import { palette, theme, themeChoice } from '../settings.ts'
import { toast } from '../ui/ui.tsx'

const does = commandOf('Settings')
const goes = (to: string, title: string) => commandOf('Go to')(`go:${to}`, title, '', () => navigate(to))
const commands: readonly Command[] = [
  goes('/markets/sources', 'Import bars'),
  goes('/settings/tokens', 'API tokens'),
  goes('/settings/keys', 'Change keys'),
  does('theme', 'Switch between dark and light', '', () => {
    themeChoice.value = theme.value === 'dark' ? 'light' : 'dark'
  }),
  does('theme:system', 'Follow the system’s theme', '', () => (themeChoice.value = 'system')),
  does('colours', 'Switch up and down colours (colour-blind pair)', '', () => {
    palette.value = palette.value === 'green-red' ? 'blue-orange' : 'green-red'
  }),
]

/** Once a page, for as long as it is there. */
export function startWhatCanWait(): void {
  addCommands(commands)
  listenForFiles()
  beginAtTheTop()
  const action = { text: 'Reload', run: () => location.reload() }
  offline.newer.subscribe((newer) => newer && toast('A new version of Chartroom is here.', { action }))
}

/**
 * A page begins at its top, whatever of the one before was looked at. What was pressed is gone with that page, and the focus
 * with it: the next Tab goes on in the new one.
 */
function beginAtTheTop(): void {
  let last = path.peek()
  effect(() => {
    if (path.value === last) return
    last = path.value
    // Once it is rendered. An anchor is gone to by its page.
    requestAnimationFrame(() => {
      const main = document.querySelector<HTMLElement>('#main')
      if (!main || location.hash !== '') return
      main.scrollTop = 0
      if (document.activeElement === document.body) main.focus({ preventScroll: true })
    })
  })
}
