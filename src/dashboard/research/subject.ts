// The script or study that a tab, a form or a menu is about, wherever it comes from: stored, built in, an example, the editor.

import { signal } from '@preact/signals'
import { call } from '../api-client.ts'
import { sampleOf } from '../editor/samples.ts'
import type { ListedStudy } from '../studies/catalogue.ts'
import { titleOf } from '../editor/title-of.ts'
import { plainInputs } from '../run-script.ts'
import { script, type Subject } from '../workspace.ts'

export type { Subject }

export interface TabProps {
  readonly subject: Subject
  readonly onChanged: () => void
}

/** The text in the editor, which nobody has to have saved. */
export const EDITOR = 'editor'

/** Studies on charts and stars name stored scripts by `script:scr_…`. */
export const subjectId = (from: string): string => from.replace(/^script:/, '')
export const starId = (id: string): string => (id.startsWith('scr_') ? `script:${id}` : id)

/** What was chosen on a chart or in the editor, with inputs that no address could carry; kept until another is. */
export const carried = signal<Subject | null>(null)

/** Throws what the server answers where there is no such script, and an error with a sentence for others. */
export async function loadSubject(id: string, signal: AbortSignal): Promise<Subject> {
  const found = await find(id, signal)
  const own = carried.peek()
  return own?.id === id && own.source === found.source ? { ...found, ...settingsOf(own) } : found
}

const PLAIN = { inputs: {}, overrides: {}, stored: null } as const

type Named = Pick<ListedStudy, 'id' | 'name' | 'kind' | 'source'>

export const asSubject = ({ id, name, kind, source }: Named): Subject => ({
  ...PLAIN,
  id: subjectId(id),
  name,
  kind,
  source,
})

async function find(id: string, signal: AbortSignal): Promise<Subject> {
  if (id === EDITOR) return { ...editedSubject(), inputs: {} }
  if (/^(library|sample):/.test(id)) {
    const { BUILT_IN, EXAMPLES } = await import('../studies/catalogue.ts')
    const listed = [...BUILT_IN, ...EXAMPLES].find((one) => one.id === id)
    if (!listed) throw new Error('No study of that name comes with this version of Chartroom.')
    return asSubject(listed)
  }
  const { script: stored } = await call('GET /api/platform/scripts/{id}', { path: { id }, signal })
  const { name, kind, source } = stored
  return { ...PLAIN, id, name, kind, source, ...settingsOf(stored), stored }
}

/** Inputs as a run takes them; the script's own where one reads an indicator that is gone, which the chart says already. */
export function orOwn(read: () => Subject['inputs']): Subject['inputs'] {
  try {
    return read()
  } catch {
    return {}
  }
}

/** What its runs are given besides its source: inputs, properties, and the day of whose TradingView they are. */
export const settingsOf = ({ inputs, overrides, asOf }: Settings): Settings => ({
  inputs,
  overrides,
  ...(asOf !== undefined && { asOf }),
})
type Settings = Pick<Subject, 'inputs' | 'overrides' | 'asOf'>

export function editedSubject(): Subject {
  const { source, name, ...open } = script.peek()
  const settings = settingsOf({ overrides: {}, ...open, inputs: orOwn(plainInputs) })
  const own = name.trim() || titleOf(source) || 'Untitled'
  return { ...PLAIN, id: EDITOR, name: own, kind: sampleOf(source).kind, source, ...settings }
}

export const namesOf = ({ name, source }: Pick<Subject, 'name' | 'source'>): readonly string[] =>
  [...new Set([name, titleOf(source)])].filter((one) => one !== '')

/** Alerts run stored scripts: its own id, that of a script of the user with the same text, or one that is stored now. */
export async function storedId({ id, name, source, stored }: Subject): Promise<string> {
  if (stored?.mine) return id
  const { scripts } = await call('GET /api/platform/scripts')
  const there = scripts.find((one) => one.source === source)
  return there?.id ?? (await call('POST /api/platform/scripts', { body: { name, source } })).id
}
