// What the objects of a backup are called, and which of them lead to a moment.
//
// A step holds the pages that make the state after transaction `from` that after `to`; a step from 0 is a snapshot. It applies
// to any state between its two ends, so a wide step stands for all the narrow ones within it. A step may be in several parts,
// of which the last is named so: without it the others count for nothing. All steps of one file of a database, whose
// transactions are numbered on, are a line; another file begins another line.
//
//     20261122T214500Z-4f3a…-9c01ab37/0000000000000912-0000000000000907-1763848000123.00000.end
//     when the line began, of which database, by chance / to - from - the time of the state . part . last

export interface Step {
  readonly line: string
  readonly from: number
  readonly to: number
  /** When the state was, by the server's clock. */
  readonly time: number
  /** In order. */
  readonly parts: readonly string[]
  readonly isWhole: boolean
}

/** Of a database's id, what is in the name of a line. */
export const ID_LETTERS = 16
const NAME = /^(\d{8}T\d{6}Z-[0-9a-f]{1,32}-[0-9a-f]{8})\/(\d{16})-(\d{16})-(\d{13})\.(\d{5})(\.end)?$/

export function lineName(startedAt: number, instance: string, chance: Uint8Array): string {
  const started = new Date(startedAt).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `${started}-${instance.slice(0, ID_LETTERS)}-${Buffer.from(chance).toString('hex')}`
}

/** Which database a line is of: the beginning of its id. */
export const databaseOf = (line: string) => line.split('-')[1] ?? ''

export function partName(
  line: string,
  { from, to, time }: Pick<Step, 'from' | 'to' | 'time'>,
  part: number,
  isLast: boolean,
): string {
  const digits = (value: number, count: number) => String(value).padStart(count, '0')
  return `${line}/${digits(to, 16)}-${digits(from, 16)}-${digits(time, 13)}.${digits(part, 5)}${isLast ? '.end' : ''}`
}

/** Names that are none of ours are left out. */
export function stepsOf(names: readonly string[]): Step[] {
  const steps = new Map<string, { step: Omit<Step, 'isWhole' | 'parts'>; parts: string[]; end: number }>()
  for (const name of names.toSorted()) {
    const [, line, to, from, time, part, end] = NAME.exec(name) ?? []
    if (line === undefined) continue
    const key = name.slice(0, name.lastIndexOf('.', name.length - (end ? 5 : 1)))
    const known = steps.get(key) ?? {
      step: { line, from: Number(from), to: Number(to), time: Number(time) },
      parts: [],
      end: -1,
    }
    known.parts.push(name)
    if (end) known.end = Number(part)
    steps.set(key, known)
  }
  return [...steps.values()].map(({ step, parts, end }) => ({
    ...step,
    parts,
    isWhole: parts.length === end + 1,
  }))
}

export const isSnapshot = ({ from }: Pick<Step, 'from'>) => from === 0

/** The steps to the last state of any line that is not later than `until`, a snapshot first; null: there is none. */
export function chainTo(steps: readonly Step[], until = Infinity): readonly Step[] | null {
  const usable = steps.filter(({ isWhole, time }) => isWhole && time <= until)
  const chains = Map.groupBy(usable, ({ line }) => line)
    .values()
    .flatMap((ofLine) => chainOf(ofLine) ?? [])
    .toArray()
  return chains.toSorted((a, b) => endOf(b) - endOf(a))[0]?.steps ?? null
}

interface Chain {
  readonly steps: readonly Step[]
}
const endOf = ({ steps }: Chain) => steps.at(-1)?.time ?? 0

/** From the newest snapshot on, always the step that leads furthest. */
function chainOf(steps: readonly Step[]): Chain[] | null {
  const snapshot = steps.filter(isSnapshot).toSorted((a, b) => b.to - a.to)[0]
  if (!snapshot) return null
  const rest = steps.filter(({ from }) => from > 0).toSorted((a, b) => a.from - b.from)
  const chain = [snapshot]
  let at = snapshot.to
  for (let i = 0; ;) {
    let furthest: Step | undefined
    // A step that begins earlier was looked at before, and leads no further than to where we are.
    for (let step = rest[i]; step && step.from <= at; step = rest[++i])
      if (step.to > at && (!furthest || step.to > furthest.to)) furthest = step
    if (!furthest) return [{ steps: chain }]
    chain.push(furthest)
    at = furthest.to
  }
}

/** How long narrow steps are kept beside the wide one that stands for them. */
const NARROW_MS = 24 * 3600_000
/** How much earlier than its end a wide step is near enough. Where little is written it may hold days, to which one can go back. */
const NEAR_MS = 120_000
/** Parts of a step that is still under way are younger. */
const UNDER_WAY_MS = 24 * 3600_000

/** The objects that nobody needs who wants to go back by no more than `keepMs`. Other databases' are left alone. */
export function outdated(
  steps: readonly Step[],
  { now, keepMs, line }: { now: number; keepMs: number; line: string },
): string[] {
  const own = steps.filter((step) => step.line === line)
  const others = [
    ...Map.groupBy(
      steps.filter((step) => step.line !== line && databaseOf(step.line) === databaseOf(line)),
      (step) => step.line,
    ).values(),
  ]
  const isSafe = own.some((step) => step.isWhole && isSnapshot(step))
  const gone = others.filter((of) => isSafe && of.every(({ time }) => time < now - keepMs)).flat()
  const thin = [own, ...others.filter((of) => !gone.includes(of[0] as Step))].flatMap((of) =>
    withinLine(of, now, keepMs),
  )
  return [...gone, ...thin].flatMap(({ parts }) => parts)
}

function withinLine(steps: readonly Step[], now: number, keepMs: number): Step[] {
  const halves = steps.filter(({ isWhole, time }) => !isWhole && time < now - UNDER_WAY_MS)
  const whole = steps.filter(({ isWhole }) => isWhole)
  const base = whole
    .filter((step) => isSnapshot(step) && step.time <= now - keepMs)
    .toSorted((a, b) => b.to - a.to)[0]
  const before = base ? whole.filter((step) => step !== base && step.to <= base.to) : []
  const wide = whole.filter((step) => !isSnapshot(step)).toSorted((a, b) => a.from - b.from || b.to - a.to)
  const gone = new Set(before)
  const narrow: Step[] = []
  let furthest: Step | undefined
  for (const step of wide) {
    if (!furthest || step.to > furthest.to) furthest = step
    else if (furthest.time < now - NARROW_MS && step.time >= furthest.time - NEAR_MS && !gone.has(step))
      narrow.push(step)
  }
  return [...halves, ...before, ...narrow]
}
