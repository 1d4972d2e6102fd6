// The text editor: CodeMirror in a shadow root.
//
// The root is what lets its style sheets be adopted ones, which a page without inline styles may have. Colours are the
// page's own custom properties, which reach into the root, so a change of theme costs nothing.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab, toggleComment } from '@codemirror/commands'
import { effect } from '@preact/signals'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search'
import { type ChangeSpec, Compartment, EditorState, type Extension, Prec, type Text } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { lazily } from '../../lib/memo.ts'
import type { Diagnostic as ScriptDiagnostic } from '../../wire/script.ts'
import { commandFor } from '../commands.ts'
import LOOK from './code-editor.css' with { type: 'text' }
import { ownKeys, withoutOwn } from './editor-keys.ts'
import { fixesOf, type Fix } from './fixes.ts'
import { box, help } from './help.ts'
import { pine, pineIndent, seriesTag } from './highlight.ts'
import { navigation } from './navigation.ts'

export type CodeEditor = ReturnType<typeof mountCodeEditor>

interface CodeEditorOptions {
  readonly text: string
  readonly onChange: (text: string) => void
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: tags.meta, color: 'var(--code-comment)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.atom, tags.number, tags.color], color: 'var(--code-number)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
  { tag: tags.namespace, color: 'var(--code-namespace)' },
  { tag: tags.propertyName, color: 'var(--code-property)' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: seriesTag, color: 'var(--code-series)' },
  { tag: tags.operator, color: 'var(--code-operator)' },
])

/** It comes behind CodeMirror's own sheet, and so wins over rules of the same weight. Its text has no comments: they would be sent. */
const look = lazily(() => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(LOOK)
  return sheet
})

function rootIn(parent: HTMLElement): ShadowRoot {
  if (parent.shadowRoot) return parent.shadowRoot
  const root = parent.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [look()]
  return root
}

/**
 * If Tab brought the focus here, the next Tab leaves again. After any other key somebody is writing, and Tab indents. (Escape,
 * then Tab always leaves, as CodeMirror does it.)
 */
const tabPassesThrough: Extension = EditorView.domEventObservers({
  keyup(event, view) {
    // The Tab that brought the focus here is released here: it is not a key pressed in the text.
    if (event.key === 'Tab' && !typedInto.has(view)) view.setTabFocusMode(true)
  },
  keydown(event, view) {
    if (['Tab', 'Shift', 'Escape'].includes(event.key)) return
    isTypedInto(view)
  },
  pointerdown: (_event, view) => isTypedInto(view),
  blur: (_event, view) => void typedInto.delete(view),
})
/** What is done with the whole script comes before what the editor would do at the same keys. */
const scriptCommands: Extension = Prec.highest(
  EditorView.domEventHandlers({
    keydown(event) {
      const command = commandFor(event, 'Script')
      command?.run()
      return command !== undefined
    },
  }),
)

/** Editors in which a key was pressed, or that were clicked, since they got the focus. */
const typedInto = new WeakSet<EditorView>()

function isTypedInto(view: EditorView): void {
  typedInto.add(view)
  view.setTabFocusMode(false)
}

/** What a text has whether it can be edited or not. */
const shown: Extension = [
  lineNumbers(),
  highlightSpecialChars(),
  drawSelection(),
  search({ top: true }),
  EditorView.contentAttributes.of({ 'aria-label': 'Pine Script source', tabindex: '0' }),
]

export function mountCodeEditor(parent: HTMLElement, options: CodeEditorOptions) {
  const root = rootIn(parent)
  const chosen = new Compartment()
  const extensions: Extension[] = [
    shown,
    lintGutter(),
    highlightActiveLineGutter(),
    history(),
    EditorState.allowMultipleSelections.of(true),
    indentUnit.of('    '),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    pine,
    pineIndent,
    syntaxHighlighting(colours),
    autocompletion({ icons: true, maxRenderedOptions: 80, defaultKeymap: false }),
    help(),
    navigation(),
    scriptCommands,
    Prec.highest(keymap.of(withoutOwn(completionKeymap))),
    chosen.of(keymap.of(ownKeys())),
    keymap.of([
      ...closeBracketsKeymap,
      ...withoutOwn(defaultKeymap),
      ...withoutOwn(searchKeymap),
      ...historyKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options.onChange(update.state.doc.toString())
    }),
    tabPassesThrough,
    EditorView.contentAttributes.of({ 'data-editor': 'pine' }),
  ]
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({ doc: options.text, extensions }),
  })
  const stopKeys = effect(() => view.dispatch({ effects: chosen.reconfigure(keymap.of(ownKeys())) }))
  return {
    /** Replaces the text if it differs. Undo brings the old one back. */
    setText(text: string) {
      const before = view.state.doc.toString()
      if (before !== text) view.dispatch({ changes: smallestChange(before, text) })
    },
    setProblems(problems: readonly ScriptDiagnostic[]) {
      const marks = problems.map((problem) => mark(view.state.doc, problem))
      view.dispatch(setDiagnostics(view.state, marks))
      // Opening the list of problems makes the text area smaller: scroll the line being written into view.
      if (view.hasFocus)
        requestAnimationFrame(() =>
          view.dispatch({ effects: EditorView.scrollIntoView(view.state.selection.main.head) }),
        )
    },
    /** Writes what was offered for a problem, unless its text has changed meanwhile. */
    fix(problem: ScriptDiagnostic, { from: skipped, insert, label }: Fix) {
      const { from, to } = rangeOf(view.state.doc, problem)
      const offered = fixesOf(problem, view.state.sliceDoc(from, to)).some((one) => one.label === label)
      if (!offered) return
      applyFix(view, { from: from + skipped, to, insert })
    },
    markedBy(problem: ScriptDiagnostic) {
      const { from, to } = rangeOf(view.state.doc, problem)
      return view.state.sliceDoc(from, to)
    },
    /** Lines and columns count from 1. */
    jumpTo(line: number, column: number) {
      const anchor = offsetOf(view.state.doc, line, column)
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) })
      view.focus()
    },
    focus: () => view.focus(),
    find: () => void openSearchPanel(view),
    toggleComment: () => void toggleComment(view),
    destroy() {
      stopKeys()
      view.destroy()
    },
  }
}

/** Shows a text that cannot be edited in the same colours and at its full height. Returns a function that removes it. */
export function mountCodeReader(parent: HTMLElement, text: string): () => void {
  const root = rootIn(parent)
  const extensions: Extension[] = [
    shown,
    pine,
    syntaxHighlighting(colours),
    keymap.of([...searchKeymap, ...defaultKeymap]),
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ 'aria-readonly': 'true' }),
  ]
  const view = new EditorView({ parent: root, root, state: EditorState.create({ doc: text, extensions }) })
  return () => view.destroy()
}

/** The smallest change from one text to the other, so that formatting keeps the cursor and undo. */
function smallestChange(before: string, after: string): { from: number; to: number; insert: string } {
  let from = 0
  const shorter = Math.min(before.length, after.length)
  while (from < shorter && before[from] === after[from]) from++
  let tail = 0
  while (tail < shorter - from && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return { from, to: before.length - tail, insert: after.slice(from, after.length - tail) }
}

function offsetOf(doc: Text, line: number, column: number): number {
  const at = doc.line(Math.max(1, Math.min(doc.lines, line)))
  return Math.min(at.to, at.from + Math.max(0, column - 1))
}

function rangeOf(doc: Text, problem: ScriptDiagnostic): { from: number; to: number } {
  const from = offsetOf(doc, problem.line, problem.column)
  return { from, to: Math.max(from, offsetOf(doc, problem.endLine, problem.endColumn)) }
}

function applyFix(view: EditorView, changes: ChangeSpec): void {
  view.dispatch({ changes, userEvent: 'input.fix' })
  view.focus()
}

function mark(doc: Text, problem: ScriptDiagnostic): Diagnostic {
  const { from, to } = rangeOf(doc, problem)
  return {
    from,
    to,
    actions: fixesOf(problem, doc.sliceString(from, to)).map(({ label, from: skipped, insert }) => ({
      name: label,
      apply: (view, start, end) => applyFix(view, { from: start + skipped, to: end, insert }),
    })),
    severity: problem.severity,
    message: problem.message,
    renderMessage: () =>
      box('', box('', problem.message), ...(problem.hint ? [box('pine-doc', problem.hint)] : [])),
  }
}
