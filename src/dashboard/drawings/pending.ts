// Changes of drawings that the server does not have yet. The browser keeps them for all tabs together: each tab puts its
// changes beside those of the others, so that of several tabs without a connection none loses what another has drawn. Of
// one drawing the last change counts, in whichever tab it was made.
//
// A tab may see late what another has written, and then writes without it. So each knows which changes are its own, and puts
// them back when they are missing. What is missing and not its own has been sent by the tab that made it.

import type { Drawing } from '../../wire/drawing.ts'

/** Changes by id of the drawing; null = removed. */
export type Changes = Readonly<Record<string, Drawing | null>>
/** By symbol. */
export type Pending = Readonly<Record<string, Changes>>

/** What is kept, together with the changes of this tab that got lost when another tab wrote; `own` tells them among `known`. */
export function withOwn(kept: Pending, known: Pending, own: (key: string, id: string) => boolean): Pending {
  let all = kept
  for (const [key, changes] of Object.entries(known)) {
    const missing = Object.entries(changes).filter(([id]) => own(key, id) && !(id in (kept[key] ?? {})))
    if (missing.length > 0) all = withChanges(all, key, Object.fromEntries(missing))
  }
  return all
}

/** `kept` with changes made now, which replace earlier ones of the same drawings. */
export const withChanges = (kept: Pending, key: string, changes: Changes): Pending => ({
  ...kept,
  [key]: { ...kept[key], ...changes },
})

/** `kept` without changes that were sent, unless a drawing has been changed again since, in this tab or another. */
export function withoutSent(kept: Pending, key: string, sent: Changes): Pending {
  const { [key]: now = {}, ...others } = kept
  const left = Object.fromEntries(
    Object.entries(now).filter(
      ([id, drawing]) => !(id in sent) || JSON.stringify(sent[id]) !== JSON.stringify(drawing),
    ),
  )
  return Object.keys(left).length > 0 ? { ...others, [key]: left } : others
}

/** A changed drawing keeps its place among the others. */
export function merged(before: readonly Drawing[], changes: Changes): readonly Drawing[] {
  const byId = new Map(before.map((one) => [one.id, one]))
  for (const [id, drawing] of Object.entries(changes))
    if (drawing) byId.set(id, drawing)
    else byId.delete(id)
  return [...byId.values()]
}
