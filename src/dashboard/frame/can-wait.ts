// What every page has that can wait, since the first page is small: files that are dropped, and commands for parts of the
// settings and for how everything looks.

import { addCommands, type Command } from '../commands.ts'
import { listenForFiles } from '../markets/dropped.ts'
import { navigate } from '../router.ts'
import { palette, theme, themeChoice } from '../settings.ts'

const PLACES = [
  ['/markets/sources', 'Import bars'],
  ['/settings/tokens', 'API tokens'],
  ['/settings/keys', 'Change keys'],
] as const

const commands: readonly Command[] = [
  ...PLACES.map(([to, title]) => ({
    id: `go:${to}`,
    title,
    section: 'Go to' as const,
    run: () => navigate(to),
  })),
  {
    id: 'theme',
    title: 'Switch between dark and light',
    section: 'Settings',
    run: () => (themeChoice.value = theme.value === 'dark' ? 'light' : 'dark'),
  },
  {
    id: 'theme:system',
    title: 'Follow the system’s theme',
    section: 'Settings',
    run: () => (themeChoice.value = 'system'),
  },
  {
    id: 'colours',
    title: 'Switch up and down colours (colour-blind pair)',
    section: 'Settings',
    run: () => (palette.value = palette.value === 'green-red' ? 'blue-orange' : 'green-red'),
  },
]

/** Once a page, for as long as it is there. */
export function startWhatCanWait(): void {
  addCommands(commands)
  listenForFiles()
}
