// A database made anew from the steps of a backup: pages are written where they stood, later ones over earlier ones.

import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { DataRefused } from '../data-refused.ts'
import { chainTo, type Step, stepsOf } from './chain.ts'
import { metaPages, type Moment } from './pages.ts'
import { decodePart } from './parts.ts'
import type { Place } from './place.ts'

export interface RestoreOptions {
  readonly place: Place
  /** The file of the database, which must not be there yet. */
  readonly path: string
  /** The latest state that is wanted. */
  readonly until?: number | undefined
  /** Told how many parts have been written. */
  readonly progress: (done: number, all: number) => void
}

export interface Restored {
  /** When the state was that the database has now. */
  readonly time: number
  readonly bytes: number
  readonly steps: number
}

/** So many parts are asked for before they are needed. */
const AHEAD = 8
/** Asks for nothing more. */
const END = { name: '', step: null }

/** Throws `DataRefused` where there is no whole backup. */
export async function restoreDatabase({ place, path, until, progress }: RestoreOptions): Promise<Restored> {
  const steps = stepsOf(await place.list(''))
  const chain = chainTo(steps, until)
  const last = chain?.at(-1)
  if (!chain || !last) throw nothingAt(place, steps, until)
  const names = chain.flatMap((step) => step.parts.map((name) => ({ name, step })))
  const file = openSync(path, 'wx', 0o600)
  try {
    let moment: Moment | null = null
    const asked: ReturnType<typeof decodePart>[] = []
    for (const [i, { name, step }] of [...names, ...Array.from({ length: AHEAD }, () => END)].entries()) {
      if (step) asked.push(early(partOf(place, name, chain, step)))
      const part = i < AHEAD ? undefined : await asked.shift()
      if (!part) continue
      for (const { first, bytes } of part.pages)
        writeSync(file, bytes, 0, bytes.length, first * part.moment.pageSize)
      moment = part.moment
      progress(i + 1 - AHEAD, names.length)
    }
    if (!moment) throw nothingAt(place, steps, until)
    ftruncateSync(file, (moment.lastPage + 1) * moment.pageSize)
    const pages = metaPages(moment)
    writeSync(file, pages, 0, pages.length, 0)
    fsyncSync(file)
    return { time: last.time, bytes: (moment.lastPage + 1) * moment.pageSize, steps: chain.length }
  } finally {
    closeSync(file)
  }
}

/** A promise that may fail before anybody waits for it. */
function early<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

async function partOf(
  place: Place,
  name: string,
  chain: readonly Step[],
  step: Step,
): ReturnType<typeof decodePart> {
  const bytes = await place.get(name)
  try {
    if (bytes === null) throw new Error('it is gone')
    return await decodePart(bytes)
  } catch (error) {
    const before = chain[chain.indexOf(step) - 1]
    const remedy = before
      ? `What was stored before it can be restored with --at ${new Date(before.time).toISOString()}.`
      : 'Name an earlier time with --at.'
    throw new DataRefused(
      `${name} in ${place.address} cannot be used: ${error instanceof Error ? error.message : String(error)}. Nothing was restored. ${remedy}`,
    )
  }
}

function nothingAt(place: Place, steps: readonly Step[], until: number | undefined): DataRefused {
  const first = steps
    .filter(({ isWhole, from }) => isWhole && from === 0)
    .toSorted((a, b) => a.time - b.time)[0]
  if (until !== undefined && first)
    return new DataRefused(
      `The backup in ${place.address} begins at ${new Date(first.time).toISOString()}, which is later than --at. Nothing was restored.`,
    )
  const what = steps.length > 0 ? 'a backup whose first snapshot is not whole' : 'no backup of Chartroom'
  return new DataRefused(
    `There is ${what} in ${place.address}. Nothing was restored. Check bucket, prefix and endpoint.`,
  )
}
