// Every script and study that can be chosen, as one list: the user's own, those of others, examples, and the built-in ones.

import type { Script } from '../../wire/script.ts'
import { call } from '../api-client.ts'
import { openCopy, openScript } from '../editor/documents.ts'
import { SAMPLES } from '../editor/samples.ts'
import { attempt, useLoad } from '../frame/page.tsx'
import { remembered } from '../settings.ts'
import { LIBRARY } from './library.ts'

export interface ListedStudy {
  /** `script:scr_…`, `sample:NAME` or `library:NAME`: what studies on charts and stars name it by. */
  readonly id: string
  readonly name: string
  readonly short: string
  /** `Yours`, `Public`, `Examples`, or the category of a built-in study. */
  readonly group: string
  readonly words: string
  readonly kind: Script['kind']
  readonly source: string
  /** Opens it in the editor below the chart. */
  readonly edit: () => void
}

export const favourites = remembered<readonly string[]>('studies.favourites', [])

export function star(id: string): void {
  const before = favourites.peek()
  favourites.value = before.includes(id) ? before.filter((one) => one !== id) : [...before, id]
}

export const BUILT_IN: readonly ListedStudy[] = LIBRARY.map(
  ({ id, title, shortTitle, category, also, source }) => ({
    id: `library:${id}`,
    name: title,
    short: shortTitle,
    group: category,
    words: also,
    kind: 'indicator',
    source,
    edit: () => openCopy(title, source),
  }),
)
export const EXAMPLES: readonly ListedStudy[] = SAMPLES.map(({ name, about, kind, source }) => ({
  id: `sample:${name}`,
  name,
  short: '',
  group: 'Examples',
  words: about,
  kind,
  source,
  edit: () => openCopy(name, source),
}))

const storedRow = (script: Script, group: string): ListedStudy => ({
  id: `script:${script.id}`,
  name: script.name,
  short: '',
  group,
  words: script.author,
  kind: script.kind,
  source: script.source,
  edit: () => attempt(openScript(script.id)),
})

/** The user's own and, behind them, those that others have published. */
async function storedStudies(signal: AbortSignal): Promise<readonly ListedStudy[]> {
  const [mine, others] = await Promise.all([
    call('GET /api/platform/scripts', { query: { feed: 'mine' }, signal }),
    call('GET /api/platform/scripts', { query: { feed: 'public' }, signal }),
  ])
  return [
    ...mine.scripts.map((one) => storedRow(one, 'Yours')),
    ...others.scripts.filter(({ mine: own }) => !own).map((one) => storedRow(one, 'Public')),
  ]
}

/** What is stored, loaded again when `keys` change; empty until it is there, and where it cannot be loaded. */
export function useStored(keys: readonly unknown[] = []): readonly ListedStudy[] {
  return useLoad(storedStudies, keys).data ?? NONE
}
const NONE: readonly ListedStudy[] = []
