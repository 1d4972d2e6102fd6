// The keys of a watchlist's rows, which the user may have changed.

import { keysOf } from '../commands.ts'
import { areSameKeys, isMac, OWN_ACTS, pressed, type KeyPress } from '../keys.ts'

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
  const act = OWN_ACTS.find((one) => one.id === id)
  return act !== undefined && areSameKeys(keysOf(act), pressed(event))
}
