// The keys that the user has chosen for what the editor and a watchlist do.

import { keysOf } from './commands.ts'
import { areSameKeys, isMac, keyText, pressed, type KeyPress } from './keys.ts'
import { OWN_ACTS } from './own-acts.ts'

function ownKeys(id: string): string {
  const act = OWN_ACTS.find((one) => one.id === id)
  return act ? keysOf(act) : ''
}

/** The keys of an act as on the user's keyboard; '' = none. */
export const ownKeysShown = (id: string): string => keyText(ownKeys(id))

/** The keys of acts as `aria-keyshortcuts` has them. */
export const keysForReaders = (ids: readonly string[]): string =>
  OWN_ACTS.filter(({ id }) => ids.includes(id))
    .map((act) =>
      keysOf(act)
        .replace('Mod', isMac ? 'Meta' : 'Control')
        .replace('Ctrl', 'Control'),
    )
    .filter((keys) => keys !== '')
    .join(' ')

/** Whether the keys of an act were pressed. */
export function arePressed(event: KeyPress, id: string): boolean {
  return areSameKeys(ownKeys(id), pressed(event))
}
