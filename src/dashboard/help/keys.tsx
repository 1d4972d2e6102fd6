// The list of keys: those of the commands available now, and those that the editor and watchlists handle themselves.

import { commands, keyText } from '../commands.ts'
import { keysOpen } from '../frame/overlays.ts'
import { Dialog } from '../ui/ui.tsx'
import s from './tour.module.css'

type Group = readonly [title: string, rows: readonly (readonly [what: string, keys: string])[]]
const BY_THEMSELVES: readonly Group[] = [
  [
    'In the editor',
    [
      ['Find', 'Mod+F'],
      ['Comment lines', 'Mod+/'],
      ['Complete', 'Ctrl+Space'],
      ['Undo', 'Mod+Z'],
      ['Select next occurrence', 'Mod+D'],
      ['Leave it', 'Esc+Tab'],
    ],
  ],
  [
    'In a watchlist',
    [
      ['Move a row up', 'Alt+ArrowUp'],
      ['Move a row down', 'Alt+ArrowDown'],
      ['Note on a row', 'F2'],
    ],
  ],
]

export function Keys() {
  const sections = new Map<string, [string, string][]>()
  for (const { section, title, keys } of commands.value)
    if (keys !== undefined) sections.set(section, [...(sections.get(section) ?? []), [title, keys]])
  return (
    <Dialog title="Keys" onClose={() => (keysOpen.value = false)} width={720}>
      <div class={s.keys}>
        {[...sections, ...BY_THEMSELVES].map(([title, rows]) => (
          <section key={title}>
            <h3>{title}</h3>
            <ul>
              {rows.map(([what, keys]) => (
                <li key={what}>
                  {what} <kbd>{keyText(keys)}</kbd>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      {!sections.has('Chart') && <p class="muted">The chart has many more: ask for them there.</p>}
    </Dialog>
  )
}
