// Commands of every page that can wait: parts of the settings, and how everything looks.

import type { Command } from '../commands.ts'
import { navigate } from '../router.ts'
import { palette, theme, themeChoice } from '../settings.ts'

const PLACES = [
  ['/markets/sources', 'Import bars'],
  ['/settings/tokens', 'API tokens'],
  ['/settings/keys', 'Change keys'],
] as const

export const MORE: readonly Command[] = [
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
