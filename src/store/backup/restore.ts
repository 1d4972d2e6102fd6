// A database made anew from the steps of a backup: pages are written where they stood, later ones over earlier ones.

import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { DataRefused } from '../data-refused.ts'
import { chainTo, databaseOf, type Step, stepsOf } from './chain.ts'
import { metaPages, type Moment } from './pages.ts'
import { decodePart } from './parts.ts'
import type { Place } from './place.ts'

export interface RestoreOptions {
  readonly place: Place
  /** The file of the database. */
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
  /** What is damaged or missing in the backup, and was done without, as sentences. */
  readonly avoided: readonly string[]
}

/** So many parts are asked for before they are needed. */
const AHEAD = 8
/** Asks for nothing more. */
const END = { name: '', step: null }

/**
 * Where an object cannot be used, other steps may lead to the same state: an older snapshot with what came after it, or the narrow
 * steps instead of a wide one. Throws `DataRefused` where there is no whole backup of one database.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<Restored> {
  const { place, until } = options
  const steps = stepsOf(await place.list(''))
  const databases = new Set(steps.filter(({ isWhole }) => isWhole).map(({ line }) => databaseOf(line)))
  if (databases.size > 1)
    throw new DataRefused(
      `There are backups of ${databases.size} databases in ${place.address} (${[...databases].join(', ')}), and which is wanted cannot be known. Nothing was restored. Copy the objects of one, whose names have its id, to a place of their own.`,
    )
  const wanted = chainTo(steps, until)?.at(-1)
  const unusable = new Set<Step>()
  const avoided: string[] = []
  for (;;) {
    const chain = chainTo(
      steps.filter((step) => !unusable.has(step)),
      until,
    )
    if (!chain || !wanted) throw nothingAt(place, steps, until)
    try {
      return { ...(await writtenFrom(chain, options)), avoided }
    } catch (error) {
      if (!(error instanceof UnusableStep)) throw error
      unusable.add(error.step)
      const others = chainTo(
        steps.filter((step) => !unusable.has(step)),
        until,
      )
      const last = others?.at(-1)
      if (last?.line !== wanted.line || last.to !== wanted.to) throw refusedAt(place, error, last)
      avoided.push(`${error.message} in ${place.address}`)
    }
  }
}

/** Writes the file anew. */
async function writtenFrom(
  chain: readonly Step[],
  { place, path, progress }: RestoreOptions,
): Promise<Omit<Restored, 'avoided'>> {
  const names = chain.flatMap((step) => step.parts.map((name) => ({ name, step })))
  const file = openSync(path, 'w', 0o600)
  try {
    let moment: Moment | null = null
    const asked: ReturnType<typeof decodePart>[] = []
    for (const [i, { name, step }] of [...names, ...Array.from({ length: AHEAD }, () => END)].entries()) {
      if (step) asked.push(early(partOf(place, name, step)))
      const part = i < AHEAD ? undefined : await asked.shift()
      if (!part) continue
      for (const { first, bytes } of part.pages)
        writeSync(file, bytes, 0, bytes.length, first * part.moment.pageSize)
      moment = part.moment
      progress(i + 1 - AHEAD, names.length)
    }
    const last = chain.at(-1)
    if (!moment || !last) throw new Error('a chain of steps without a part')
    const bytes = (moment.lastPage + 1) * moment.pageSize
    ftruncateSync(file, bytes)
    const pages = metaPages(moment)
    writeSync(file, pages, 0, pages.length, 0)
    fsyncSync(file)
    return { time: last.time, bytes }
  } finally {
    closeSync(file)
  }
}

/** The message names the object and what is wrong with it. */
class UnusableStep extends Error {
  readonly step: Step

  constructor(step: Step, message: string) {
    super(message)
    this.step = step
  }
}

/** A promise that may fail before anybody waits for it. */
function early<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

async function partOf(place: Place, name: string, step: Step): ReturnType<typeof decodePart> {
  for (let tried = 1; ; tried++) {
    const bytes = await place.get(name)
    try {
      if (bytes === null) throw new Error('it is gone')
      return await decodePart(bytes)
    } catch (error) {
      // It may have been damaged on the way.
      if (tried < 2) continue
      throw new UnusableStep(
        step,
        `${name} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
}

/** `last` is the last state that can be had without the step. */
function refusedAt(place: Place, { message }: UnusableStep, last: Step | undefined): DataRefused {
  const remedy = last
    ? `What was stored before it can be restored with --at ${new Date(last.time).toISOString()}.`
    : 'Nothing else there leads to a whole database.'
  return new DataRefused(`${place.address}: ${message}. Nothing was restored. ${remedy}`)
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
