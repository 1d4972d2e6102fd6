// The list of keys: whatever commands are there now, and what the editor knows by itself.

import { commands, keyText } from '../commands.ts'
import { keysOpen } from '../frame/overlays.ts'
import { Dialog } from '../ui/ui.tsx'
import s from './tour.module.css'

const EDITOR: readonly (readonly [string, string])[] = [
  ['Find', 'Mod+F'],
  ['Comment lines', 'Mod+/'],
  ['Complete', 'Ctrl+Space'],
  ['Undo', 'Mod+Z'],
  ['Select next occurrence', 'Mod+D'],
  ['Leave it', 'Esc+Tab'],
]
const WATCHLIST: readonly (readonly [string, string])[] = [
  ['Move a row up', 'Alt+ArrowUp'],
  ['Move a row down', 'Alt+ArrowDown'],
  ['Note on a row', 'F2'],
]

export function Keys() {
  const withKeys = commands.value.filter((one) => one.keys !== undefined)
  const sections = [...new Set(withKeys.map((one) => one.section))]
  return (
    <Dialog title="Keys" onClose={() => (keysOpen.value = false)} width={720}>
      <div class={s.keys}>
        {sections.map((section) => (
          <section key={section}>
            <h3>{section}</h3>
            <ul>
              {withKeys
                .filter((one) => one.section === section)
                .map((one) => (
                  <li key={one.id}>
                    {one.title} <kbd>{keyText(one.keys ?? '')}</kbd>
                  </li>
                ))}
            </ul>
          </section>
        ))}
        {(
          [
            ['In the editor', EDITOR],
            ['In a watchlist', WATCHLIST],
          ] as const
        ).map(([title, list]) => (
          <section key={title}>
            <h3>{title}</h3>
            <ul>
              {list.map(([what, keys]) => (
                <li key={what}>
                  {what} <kbd>{keyText(keys)}</kbd>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      {!sections.includes('Chart') && <p class="muted">The chart has many more: ask for them there.</p>}
    </Dialog>
  )
}
