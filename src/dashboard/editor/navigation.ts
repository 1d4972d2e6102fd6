// Ways through a script: to where a name is declared, to all its places at once, and past what is folded away.

import { codeFolding, foldGutter, foldKeymap, foldService } from '@codemirror/language'
import { EditorSelection, type Extension } from '@codemirror/state'
import { crosshairCursor, EditorView, keymap, rectangularSelection } from '@codemirror/view'
import type { Declared } from '../../language/references.ts'

/** Parsing a longer text takes longer than a key press. */
const SOURCE_MAX = 300_000

export function navigation(): Extension {
  return [
    codeFolding(),
    foldGutter({ openText: '⌄', closedText: '›' }),
    foldByIndent,
    keymap.of(foldKeymap),
    // Mod goes to a declaration, so further cursors are set with Alt, and columns dragged with it.
    EditorView.clickAddsSelectionRange.of((event) => event.altKey),
    rectangularSelection(),
    crosshairCursor(),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (event.button !== 0 || !(event.ctrlKey || event.metaKey)) return false
        const at = view.posAtCoords({ x: event.clientX, y: event.clientY })
        return at !== null && act(view, at, toDeclaration)
      },
    }),
  ]
}

export const goToDeclaration = (view: EditorView): boolean =>
  act(view, view.state.selection.main.head, toDeclaration)
export const selectEverywhere = (view: EditorView): boolean =>
  act(view, view.state.selection.main.head, selectAll)

/** Pine's blocks are what is indented below a line. */
const foldByIndent = foldService.of((state, start) => {
  const first = state.doc.lineAt(start)
  const depth = indentOf(first.text)
  if (depth === null) return null
  let end = first.to
  for (let number = first.number + 1; number <= state.doc.lines; number++) {
    const line = state.doc.line(number)
    const below = indentOf(line.text)
    if (below === null) continue
    if (below <= depth) break
    end = line.to
  }
  return end > first.to ? { from: first.to, to: end } : null
})

/** null = the line is blank. */
function indentOf(text: string): number | null {
  const at = text.search(/\S/)
  return at < 0 ? null : text.slice(0, at).replaceAll('\t', '    ').length
}

/** Does something with the name at `at`, once the language is there. */
function act(view: EditorView, at: number, then: (view: EditorView, found: Declared) => void): boolean {
  const { state } = view
  if (state.doc.length > SOURCE_MAX || !state.wordAt(at)) return false
  void import('../../language/references.ts').then(({ referencesAt }) => {
    // What was typed meanwhile has moved everything.
    if (view.state.doc !== state.doc) return
    const found = referencesAt(state.doc.toString(), at)
    if (found) then(view, found)
  })
  return true
}

function toDeclaration(view: EditorView, { declaration: { start, end } }: Declared): void {
  view.dispatch({
    selection: { anchor: start, head: end },
    effects: EditorView.scrollIntoView(start, { y: 'center' }),
  })
}

/** Puts a cursor on every place of the name, so that what is typed next renames it. */
function selectAll(view: EditorView, { ranges, whole }: Declared): void {
  const at = view.state.selection.main.head
  const main = ranges.findIndex(({ start, end }) => start <= at && at <= end)
  const selected = ranges.map(({ start, end }) => EditorSelection.range(start, end))
  const said = whole
    ? 'What you type changes all of them.'
    : 'Calls of a method on a value are not among them.'
  view.dispatch({
    selection: EditorSelection.create(selected, Math.max(0, main)),
    effects: EditorView.announce.of(`${ranges.length} places selected. ${said}`),
  })
}
