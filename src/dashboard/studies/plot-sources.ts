// Source inputs that read a plot of an indicator on the same chart. The chart keeps which one it is; a run is told that
// indicator itself, with its inputs, since the server runs both.

import type { Study } from '../charts.ts'

/** Values of a script's inputs that differ from its defaults, by label. */
export type Values = Readonly<Record<string, unknown>>

/** The value of such an input on the chart. */
export interface StudyPlot {
  readonly study: string
  /** Its title; without one its number, counted from 0. */
  readonly plot: string
}

/** A plot that can be chosen, by its value as text. */
export interface OfferedPlot {
  readonly value: StudyPlot
  readonly text: string
}

type Reading = Pick<Study, 'id' | 'shortName' | 'source' | 'inputs'>

export function isStudyPlot(value: unknown): value is StudyPlot {
  if (typeof value !== 'object' || value === null) return false
  const { study, plot } = value as Partial<Record<keyof StudyPlot, unknown>>
  return typeof study === 'string' && typeof plot === 'string'
}

/** Inputs as they can be kept apart from the chart that they are on. */
export const withoutPlots = (inputs: Study['inputs']): Study['inputs'] =>
  Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isStudyPlot(value)))

const readsOf = ({ inputs }: Pick<Reading, 'inputs'>): readonly string[] =>
  Object.values(inputs).flatMap((value) => (isStudyPlot(value) ? [value.study] : []))

/** Those that read a plot of a study, directly or by way of others. */
export function readersOf(id: string, all: readonly Reading[]): readonly Reading[] {
  const found = new Set<string>([id])
  // Each round finds those that read one of the last; there are no more rounds than studies.
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const one of all) if (readsOf(one).some((read) => found.has(read))) found.add(one.id)
  }
  return all.filter((one) => one.id !== id && found.has(one.id))
}

/**
 * The plots that a study may read: those of the others, but not of one that reads its own. '' = the editor's script, which
 * nobody reads.
 */
export function offeredTo(
  id: string,
  all: readonly Reading[],
  titlesOf: (id: string) => readonly string[],
): readonly OfferedPlot[] {
  const readers = new Set(readersOf(id, all).map((one) => one.id))
  const names = all.map(({ shortName }) => shortName)
  return all.flatMap((one, i) => {
    if (one.id === id || readers.has(one.id)) return []
    // Two of one name are told apart by their number.
    const twin = names.indexOf(one.shortName) !== names.lastIndexOf(one.shortName)
    const name = twin
      ? `${one.shortName} (${names.slice(0, i + 1).filter((each) => each === one.shortName).length})`
      : one.shortName
    return titlesOf(one.id).map((title, n) => ({
      value: { study: one.id, plot: title || String(n) },
      text: `${name}: ${title || `plot ${n + 1}`}`,
    }))
  })
}

/** What stands in the way of a run, as a sentence for the legend. */
const unreadable = (label: string, why: string): Error =>
  new Error(`“${label}” ${why}. Choose another source.`)

/** The inputs as a run takes them: with the scripts that are read in place of their names on the chart. */
export function runInputs(inputs: Values, all: readonly Reading[], path: readonly string[] = []): Values {
  return Object.fromEntries(
    Object.entries(inputs).map(([label, value]) => {
      if (!isStudyPlot(value)) return [label, value]
      const of = all.find(({ id }) => id === value.study)
      if (!of) throw unreadable(label, 'read a plot of an indicator that is no longer on the chart')
      if (path.includes(of.id)) throw unreadable(label, `leads back to itself by way of ${of.shortName}`)
      const read = runInputs(of.inputs, all, [...path, of.id])
      return [label, { script: of.source, inputs: read, plot: value.plot }]
    }),
  )
}
