// The script that is open in the editor: opening, saving, renaming and deleting it, and what the last check found in it.

import { computed, signal } from '@preact/signals'
import type { Script as StoredScript } from '../../wire/script.ts'
import type { Answer } from '../../wire/operations.ts'
import { ApiError, call } from '../api-client.ts'
import { href, query } from '../router.ts'
import { cancelCurrent, runOpened } from '../run-script.ts'
import { remembered } from '../settings.ts'
import { copyText } from '../ui/copy-text.ts'
import { toast, toastError } from '../ui/ui.tsx'
import { withoutPlots } from '../studies/plot-sources.ts'
import {
  bottom,
  diagnostics,
  keepInputsOf,
  lastDone,
  run,
  script,
  type OpenScript,
  type Overrides,
} from '../workspace.ts'

export type { StoredScript }
export type Checked = Answer<'POST /api/platform/scripts/check'>

/** What runs of a script are given besides its source. */
type Given = Pick<OpenScript, 'inputs' | 'overrides' | 'asOf'>

type Saved = Pick<StoredScript, 'id' | 'name' | 'source' | 'visibility'> & Given
/** The text and name as they are stored; null = never stored, or not known yet. */
const saved = remembered<Saved | null>('script.saved', null)
export const visibility = computed(() =>
  saved.value && saved.value.id === script.value.id ? saved.value.visibility : 'private',
)
export const unsaved = computed(() => {
  const { id, name, source, inputs: values, overrides, asOf } = script.value
  if (id === null) return source.trim() !== ''
  const kept = saved.value
  return (
    kept?.id !== id ||
    kept.name !== name ||
    kept.source !== source ||
    kept.asOf !== asOf ||
    !isSame(kept.inputs, values) ||
    !isSame(kept.overrides, overrides)
  )
})

const isSame = (a: Given['inputs'] = {}, b: Given['inputs'] = {}): boolean =>
  Object.keys({ ...a, ...b }).every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]))

export const checked = signal<Checked | null>(null)
const checking = signal(false)
/** The last run's diagnostics, else those of the last check. */
export const problems = computed(() =>
  diagnostics.value.length > 0 ? diagnostics.value : (checked.value?.diagnostics ?? []),
)

/** An unsaved text whose place in the editor another script has taken. */
export interface Draft extends OpenScript {
  readonly at: number
}
const DRAFTS_MAX = 20
/** Newest first; kept in this browser, through reloads, crashes and signing out. */
export const drafts = remembered<readonly Draft[]>('script.drafts', [])

/** The text as it was opened, from an example or another's script: as long as it is unchanged, no draft of it is kept. */
const opened = remembered('script.opened', '')

/** Keeps the text in the editor as a draft if it is not saved, before another one takes its place. */
function keepDraft(): void {
  const { source, name } = script.peek()
  if (!unsaved.peek() || source.trim() === '' || source === opened.peek()) return
  const others = drafts.peek().filter((one) => one.source !== source)
  drafts.value = [{ ...script.peek(), at: Date.now() }, ...others].slice(0, DRAFTS_MAX)
  toast(`“${name.trim() || 'Untitled script'}” was not saved: it is kept under Open, Drafts`)
}

export function openDraft(draft: Draft): void {
  keepDraft()
  drafts.value = drafts.peek().filter((one) => one !== draft)
  const { at: _at, ...open } = draft
  put(open)
  opened.value = ''
  void runOpened()
}

const EMPTY = `//@version=6
strategy("My strategy", overlay = true, initial_capital = 10000,
     default_qty_type = strategy.percent_of_equity, default_qty_value = 100)

`

function show(name: string, source: string, stored: StoredScript | null, given: Given = {}): void {
  keepDraft()
  const { inputs: values = {}, overrides = {}, asOf }: Given = stored ?? given
  const own = { name, source, inputs: values, overrides, ...(asOf !== undefined && { asOf }) }
  saved.value = stored?.mine ? { id: stored.id, visibility: stored.visibility, ...own } : null
  // Saving another user's script makes a copy that belongs to the caller.
  put({ id: stored?.mine ? stored.id : null, ...own })
}

/** How often a script was put into the editor or asked for, and how often put. */
const turns = { asked: 0, put: 0 }

function put(next: OpenScript): void {
  turns.asked++
  turns.put++
  // What ran of the script before would come into the place of this one's.
  cancelCurrent()
  diagnostics.value = []
  run.value = null
  lastDone.value = null
  checked.value = null
  script.value = next
  opened.value = next.source
  bottom.value = bottom.value === '' ? 'script' : bottom.value
}

export function newScript(): void {
  show('My strategy', EMPTY, null)
}

/** With the properties of the script that it is a copy of. */
export function openCopy(name: string, source: string, of: Given = {}): void {
  show(name, source, null, of)
  void runOpened()
}

/** Into an editor that is empty. A run that the address names stays on the chart. */
export function openFirst({ name, source }: Pick<OpenScript, 'name' | 'source'>): void {
  if (!query.peek().has('backtest')) return openCopy(name, source)
  script.value = { id: null, name, source }
  opened.value = source
}

/** The one that was asked for last stays, whichever comes last. */
export async function openScript(id: string): Promise<void> {
  const mine = ++turns.asked
  const { script: stored } = await call('GET /api/platform/scripts/{id}', { path: { id } })
  if (mine !== turns.asked) return
  show(stored.name, stored.source, stored)
  void runOpened()
}

/** The last one that was asked for. The next waits for it: until it is answered, a new script has no id. */
let saving: Promise<void> = Promise.resolve()

export function saveScript(): Promise<void> {
  const mine = turns.put
  saving = saving.then(() => (mine === turns.put ? save() : undefined))
  return saving
}

async function save(): Promise<void> {
  const mine = turns.put
  const { id, source, inputs: values = {}, overrides = {}, asOf } = script.value
  const name = script.value.name.trim() || 'Untitled script'
  const body = { name, source, inputs: withoutPlots(values) as Overrides, overrides, asOf: asOf ?? null }
  try {
    const { script: stored } =
      id === null
        ? await call('POST /api/platform/scripts', { body })
        : await call('PATCH /api/platform/scripts/{id}', { path: { id }, body })
    toast(`Saved as version ${stored.revision}`, { tone: 'up' })
    // Another script is in the editor by now.
    if (mine !== turns.put) return
    const given = { inputs: values, overrides, ...(asOf !== undefined && { asOf }) }
    saved.value = { id: stored.id, name, source, visibility: stored.visibility, ...given }
    // Keep what was typed while the answer was on its way.
    script.value = {
      ...script.value,
      id: stored.id,
      name: script.value.name.trim() ? script.value.name : name,
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && mine === turns.put) {
      script.value = { ...script.value, id: null }
      toast('This script was deleted meanwhile. Save again to store it as a new one.', { tone: 'down' })
    } else toastError(error)
  }
}

/** Makes a private script public or a public one private, also in the editor if it is open there. */
export async function publishOrNot(of: Pick<StoredScript, 'id' | 'visibility'>): Promise<void> {
  const { id } = of
  const visibility = of.visibility === 'public' ? 'private' : 'public'
  await call('PATCH /api/platform/scripts/{id}', { path: { id }, body: { visibility } })
  if (saved.value?.id === id) saved.value = { ...saved.value, visibility }
  if (visibility === 'private') return toast('Only you can see it now', { tone: 'up' })
  const link = new URL(href(`/research/${id}`), location.href).href
  toast('Everybody can find it and read its source now', {
    tone: 'up',
    action: { text: 'Copy the link', run: () => copyText(link, 'Link copied') },
  })
}

/** What is stored again when it is undone begins with a first version, and has another id. */
export async function deleteScript(id: string): Promise<void> {
  const { script: was } = await call('GET /api/platform/scripts/{id}', { path: { id } })
  await call('DELETE /api/platform/scripts/{id}', { path: { id } })
  const { name, source, visibility, inputs, overrides, asOf = null } = was
  const undo = async () => {
    const body = { name, source, visibility, inputs, overrides, asOf }
    await openScript((await call('POST /api/platform/scripts', { body })).id)
    toast(`“${name}” is stored again`, { tone: 'up' })
  }
  toast(`“${name}” is deleted`, { action: { text: 'Undo', run: () => void undo().catch(toastError) } })
  if (script.value.id !== id) return
  // It was deleted on purpose, so no draft of it is kept.
  script.value = { id: null, name: '', source: '' }
  newScript()
}

export async function formatScript(): Promise<void> {
  const before = script.value.source
  const { source } = await call('POST /api/platform/scripts/format', { body: { source: before } })
  if (script.value.source === before) script.value = { ...script.value, source }
}

let last: AbortController | null = null

/** Lets the server check the text; answers to older texts are dropped. */
export async function checkScript(): Promise<void> {
  last?.abort()
  const abort = (last = new AbortController())
  const { source } = script.value
  if (source.trim() === '') {
    checked.value = null
    return
  }
  checking.value = true
  try {
    const answer = await call('POST /api/platform/scripts/check', { body: { source }, signal: abort.signal })
    if (abort.signal.aborted) return
    // While a script does not compile, the form of its inputs stays as it was.
    const kept = answer.kind === 'draft' ? (checked.value?.inputs ?? []) : answer.inputs
    checked.value = { ...answer, inputs: kept }
    keepInputsOf(kept)
    diagnostics.value = answer.diagnostics
  } catch (error) {
    // Without a server one can still write; the next key press asks again.
    if (!abort.signal.aborted && !(error instanceof ApiError)) throw error
  } finally {
    if (last === abort) checking.value = false
  }
}
