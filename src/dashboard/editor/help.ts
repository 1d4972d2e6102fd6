// Completion, parameter help and hover, from what the compiler knows of the language.
//
// That part of the compiler (64 kB compressed) is a chunk of its own, fetched after the editor is on screen.

import {
  startCompletion,
  type Completion as Option,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete'
import { EditorState, StateEffect, StateField, type Extension } from '@codemirror/state'
import {
  EditorView,
  hoverTooltip,
  keymap,
  showTooltip,
  ViewPlugin,
  type Tooltip,
  type ViewUpdate,
} from '@codemirror/view'
import { h, render } from 'preact'
import type { Completion, SignatureHelp } from '../../language/editor.ts'
import { Said } from '../ui/ui.tsx'
import { partsOf } from './signature-parts.ts'

type Language = typeof import('../../language/editor.ts')
let language: Language | null = null
const loading = async (): Promise<Language> => (language ??= await import('../../language/editor.ts'))

/** Completion parses the text; in a longer one that would take longer than a key press. */
const SOURCE_MAX = 300_000

export function help(): Extension {
  return [
    EditorState.languageData.of(() => [{ autocomplete: complete }]),
    hover,
    signature,
    signatureUpdates,
    keymap.of([{ key: 'Escape', run: closeSignature }]),
  ]
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/)
  if (!word && !context.explicit) return null
  if (word && insideTextOrComment(context.state, word.from)) return null
  const source = context.state.doc.toString()
  if (source.length > SOURCE_MAX) return null
  const { completions } = await loading()
  if (context.aborted) return null
  const options = completions(source, context.pos).map(optionOf)
  return { from: word?.from ?? context.pos, options, validFor: /^\w*$/ }
}

function optionOf(one: Completion): Option {
  return {
    label: one.name,
    type: one.kind,
    ...(one.detail !== '' && { detail: shortened(one.detail) }),
    ...(one.own && { boost: 2 }),
    ...((one.doc !== '' || one.detail !== '') && { info: () => described(one) }),
    apply: (view, _option, from, to) => {
      const call = one.kind === 'function' && view.state.sliceDoc(to, to + 1) !== '('
      const space = one.kind === 'namespace'
      const text = one.name + (call ? '()' : space ? '.' : '')
      const inside = call && !/^\(\s*\)/.test(one.detail) ? 1 : 0
      view.dispatch({
        changes: { from, to, insert: text },
        selection: { anchor: from + text.length - inside },
        userEvent: 'input.complete',
      })
      if (space) startCompletion(view)
    },
  }
}

const shortened = (text: string) => (text.length > 48 ? `${text.slice(0, 47)}…` : text)

function described(one: Pick<Completion, 'name' | 'detail' | 'doc'>): HTMLElement {
  const head = one.detail.startsWith('(') ? one.name + one.detail : `${one.name}  ${one.detail}`
  return box('', box('pine-signature', head), ...paragraph(one.doc))
}

function paragraph(text: string): readonly HTMLElement[] {
  if (text === '') return []
  const doc = box('pine-doc')
  render(h(Said, { text }), doc)
  return [doc]
}

const hover = hoverTooltip(async (view, pos) => {
  const { text, from } = view.state.doc.lineAt(pos)
  const at = pos - from
  const before = /[A-Za-z_][\w.]*$/.exec(text.slice(0, at))?.[0] ?? ''
  // Pointing at `ta` in `ta.ema` shows the help of ta.ema.
  const after = /^\w*(?:\.\w+)*/.exec(text.slice(at))?.[0] ?? ''
  const name = before + after
  if (name === '' || insideTextOrComment(view.state, pos)) return null
  const start = pos - before.length
  const source = view.state.doc.toString()
  if (source.length > SOURCE_MAX) return null
  const { completions } = await loading()
  const found = completions(source, start + name.length).find((one) => one.name === name)
  if (!found || (found.detail === '' && found.doc === '')) return null
  return {
    pos: start,
    end: start + name.length,
    above: true,
    create: () => {
      const dom = described(found)
      dom.classList.add('pine-help')
      return { dom }
    },
  }
})

const setSignature = StateEffect.define<Tooltip | null>()
const signature = StateField.define<Tooltip | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setSignature)) return effect.value
    return value && transaction.docChanged ? { ...value, pos: transaction.changes.mapPos(value.pos) } : value
  },
  provide: (field) => showTooltip.from(field),
})

const signatureUpdates = ViewPlugin.fromClass(
  class {
    readonly #view: EditorView
    #shown = ''
    constructor(view: EditorView) {
      this.#view = view
    }
    update(update: ViewUpdate): void {
      if (!update.docChanged && !update.selectionSet && !update.focusChanged) return
      // CodeMirror allows no dispatch during an update, so dispatch in a microtask.
      queueMicrotask(() => void this.#refresh())
    }
    async #refresh(): Promise<void> {
      const { state } = this.#view
      const pos = state.selection.main.head
      const source = state.doc.toString()
      const wanted = this.#view.hasFocus && state.selection.main.empty && source.length <= SOURCE_MAX
      const { signatureHelp } = wanted ? await loading() : { signatureHelp: () => null }
      if (this.#view.state !== state) return
      const found = wanted ? signatureHelp(source, pos) : null
      const text = found ? JSON.stringify(found) : ''
      if (text === this.#shown) return
      this.#shown = text
      const tooltip: Tooltip | null = found && {
        pos,
        above: true,
        strictSide: false,
        create: () => ({ dom: signatureDom(found) }),
      }
      this.#view.dispatch({ effects: setSignature.of(tooltip) })
    }
  },
)

function closeSignature(view: EditorView): boolean {
  if (!view.state.field(signature)) return false
  view.dispatch({ effects: setSignature.of(null) })
  return true
}

/** Elements of the editor's tooltips are not made by Preact. */
export function box(name: string, ...content: readonly (string | Node)[]): HTMLElement {
  const made = document.createElement('div')
  made.className = name
  made.append(...content)
  return made
}

function signatureDom(found: SignatureHelp): HTMLElement {
  const lines = found.signatures.slice(0, 4).map((text) => {
    const parts = partsOf(text, found).map((part) => {
      const span = document.createElement('span')
      span.textContent = part.text
      if (part.current) span.className = 'pine-argument'
      return span
    })
    return box('pine-signature', found.name, ...parts)
  })
  return box('pine-help', ...lines, ...paragraph(found.doc))
}

/** Words in comments and strings are not names. */
function insideTextOrComment(state: EditorState, pos: number): boolean {
  const line = state.doc.lineAt(pos)
  let quote = ''
  for (let i = 0; i < pos - line.from; i++) {
    const character = line.text[i] ?? ''
    if (quote !== '') {
      if (character === '\\') i++
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '/' && line.text[i + 1] === '/') return true
  }
  return quote !== ''
}
