// What the editor and a watchlist do by keys while they have the focus.

import type { Act } from './keys.ts'

/** In the order in which the list of keys has them. */
export const SECTIONS = [
  'Go to',
  'Chart',
  'Drawing',
  'Alerts',
  'Script',
  'Editor',
  'Report',
  'Replay',
  'Watchlist',
  'Settings',
] as const
export type Section = (typeof SECTIONS)[number]

export const OWN_ACTS: readonly Act[] = [
  ...(
    [
      ['find', 'Find and replace', 'Mod+F'],
      ['comment', 'Comment or uncomment lines', 'Mod+/'],
      ['complete', 'Complete', 'Ctrl+Space'],
      ['next', 'Select the next occurrence', 'Mod+D'],
      ['rename', 'Rename everywhere', 'F2'],
      ['definition', 'Go to the declaration', 'F12'],
      ['up', 'Move lines up', 'Alt+ArrowUp'],
      ['down', 'Move lines down', 'Alt+ArrowDown'],
      ['copy', 'Copy lines down', 'Alt+Shift+ArrowDown'],
      ['delete', 'Delete lines', 'Mod+Shift+K'],
    ] as const
  ).map(([id, title, keys]) => ({ id: `editor:${id}`, title, section: 'Editor' as const, keys })),
  { id: 'watchlist:up', title: 'Move the row up', section: 'Watchlist', keys: 'Alt+ArrowUp' },
  { id: 'watchlist:down', title: 'Move the row down', section: 'Watchlist', keys: 'Alt+ArrowDown' },
  { id: 'watchlist:note', title: 'Note on the row', section: 'Watchlist', keys: 'F2' },
]
