// What the editor does by keys that a person can change.

import { startCompletion } from '@codemirror/autocomplete'
import { copyLineDown, deleteLine, moveLineDown, moveLineUp, toggleComment } from '@codemirror/commands'
import { openSearchPanel, selectNextOccurrence } from '@codemirror/search'
import type { Command, KeyBinding } from '@codemirror/view'
import { keysOf } from '../commands.ts'
import { OWN_ACTS } from '../own-acts.ts'
import { goToDeclaration, selectEverywhere } from './navigation.ts'

const RUNS: Readonly<Record<string, Command>> = {
  'editor:find': openSearchPanel,
  'editor:comment': toggleComment,
  'editor:complete': startCompletion,
  'editor:next': selectNextOccurrence,
  'editor:rename': selectEverywhere,
  'editor:definition': goToDeclaration,
  'editor:up': moveLineUp,
  'editor:down': moveLineDown,
  'editor:copy': copyLineDown,
  'editor:delete': deleteLine,
}
const OWN: ReadonlySet<Command> = new Set(Object.values(RUNS))

export function ownKeys(): readonly KeyBinding[] {
  return OWN_ACTS.flatMap((act) => {
    const run = RUNS[act.id]
    const keys = keysOf(act)
    return run && keys !== '' ? [{ key: inEditor(keys), run, preventDefault: true }] : []
  })
}

/** CodeMirror's own keys for the rest. */
export const withoutOwn = (bindings: readonly KeyBinding[]): readonly KeyBinding[] =>
  bindings.filter(({ run }) => !run || !OWN.has(run))

/** `Alt+Shift+K` as CodeMirror writes it. */
const inEditor = (keys: string): string =>
  keys
    .split('+')
    .map((key) => (key === 'Plus' ? '+' : key.length === 1 ? key.toLowerCase() : key))
    .join('-')
