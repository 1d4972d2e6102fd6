// The worker's side: takes jobs and answers them. `worker.ts` passes in the real kinds of jobs.
//
// The pool gives a worker one job at a time, except imports: those mostly wait for bytes, so they share one worker.

import process from 'node:process'
import { ALERTS_SIZE_MAX, CompiledScripts } from '../../broker/compiled-scripts.ts'
import { Problem } from '../../lib/problem.ts'
import { turn } from '../../lib/turn.ts'
import {
  LARGE_BYTES,
  UNKNOWN_THREAD,
  USED,
  type FromWorker,
  type JobKind,
  type Jobs,
  type Said,
  type ToWorker,
} from './job.ts'
import type { Desk, Host } from './desk.ts'
import { KeptColumns } from './kept-columns.ts'
import { later, type Later } from './later.ts'
import { TextGarbage } from './text-garbage.ts'
import { ownThread, ownThreadMs } from './thread-time.ts'

/** The way between a worker and its pool. */
export interface WorkerPort {
  onmessage: ((event: MessageEvent<ToWorker>) => unknown) | null
  postMessage(message: FromWorker, transfer: ArrayBuffer[]): void
}

declare const self: WorkerPort

export type Kinds = {
  readonly [K in JobKind]: (job: Jobs[K]['job'], desk: Desk) => Jobs[K]['answer'] | Promise<Jobs[K]['answer']>
}

/** Progress is reported at most once in this many bars: a message costs 10 us, a bar less. */
const PROGRESS_BARS = 5000
/** Where bars take long, progress is reported at least this often. */
const PROGRESS_MS = 200

const OF_MANY: ReadonlySet<string> = new Set(['trials', 'scan'])

/** The host could not answer. */
class Refused extends Error {}

interface Asker {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** `busy` is called before each job that is one of many, `collect` where there is garbage. */
export function serveJobs(
  kinds: Partial<Kinds>,
  busy: () => void = () => {},
  port: WorkerPort = self,
  collect: () => void = () => Bun.gc(true),
  wait: Later = later,
): void {
  /** Unanswered questions by job. */
  const tasks = new Map<number, Map<number, Asker>>()
  let asked = 0
  const thread = ownThread() ?? UNKNOWN_THREAD
  const kept = {
    scripts: new CompiledScripts(),
    alertScripts: new CompiledScripts(ALERTS_SIZE_MAX),
    columns: new KeptColumns(wait, collect),
    last: { report: 0, tracks: 0 },
  }
  const garbage = new TextGarbage(wait, collect)

  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.to === 'job') {
      void serve(data)
      return
    }
    const askers = tasks.get(data.task)
    if (data.to === 'stop') {
      tasks.delete(data.task)
      for (const { reject } of askers?.values() ?? []) reject(new Refused('nobody waits for it'))
      return
    }
    const asker = askers?.get(data.id)
    askers?.delete(data.id)
    if (data.to === 'reply') asker?.resolve(data.value)
    else asker?.reject(new Refused('the host could not answer'))
  }

  async function serve(data: ToWorker & { readonly to: 'job' }): Promise<void> {
    const { task, used } = data
    used[USED.threadMs] = ownThreadMs()
    used[USED.thread] = thread
    tasks.set(task, new Map())
    if (OF_MANY.has(data.kind)) busy()
    garbage.busy()
    const tell = (said: Said) => port.postMessage({ task, ...said } satisfies FromWorker, handedOver(said))
    const ask = (name: string, args: readonly unknown[]) =>
      new Promise<unknown>((resolve, reject) => {
        const askers = tasks.get(task)
        if (!askers) throw new Refused('nobody waits for it')
        const id = ++asked
        askers.set(id, { resolve, reject })
        tell({ from: 'question', id, name, args })
      })
    tell(await answer(kinds, data, { ...deskFor(data, tell, ask), ...kept }))
    tasks.delete(task)
    garbage.rest(kept.scripts.compiled + kept.alertScripts.compiled)
    if ((used[USED.bytes] ?? 0) <= LARGE_BYTES) return
    // Waits for a turn, so that nothing refers to the answer any more. Collecting takes some 25 ms, whereas a fresh worker
    // needs 150 until it is as fast as this one.
    await turn()
    collect()
    const { heapTotal, external } = process.memoryUsage()
    tell({ from: 'left', bytes: heapTotal + external })
  }
}

/** The bytes and packed columns of an answer, which now belong to the server. */
function handedOver(said: Said): ArrayBuffer[] {
  const answer = said.from === 'done' ? (said.answer as Partial<Handed> | undefined) : undefined
  const { bytes, result, report, tracks, packed } = answer ?? {}
  const lists = [bytes, result?.bytes, report, tracks, packed?.bytes].filter((list) => Array.isArray(list))
  // Several columns may share a buffer.
  return [...new Set(lists.flat().map(({ buffer }) => buffer))]
}

/** The parts of any answer that may hold large buffers. */
type Handed = Jobs['pack']['answer'] & Jobs['preview']['answer'] & Jobs['run']['answer']

function deskFor(
  { used }: ToWorker & { readonly to: 'job' },
  tell: (said: Said) => void,
  ask: (name: string, args: readonly unknown[]) => Promise<unknown>,
): Desk {
  let told = 0
  let toldAt = performance.now()
  const asking =
    (name: keyof Host) =>
    (...args: unknown[]) =>
      ask(name, args) as Promise<never>
  return {
    // Each is a property of its own: jobs copy a host, and put another function in the place of one.
    host: {
      library: asking('library'),
      series: asking('series'),
      finer: asking('finer'),
      piece: asking('piece'),
      addBars: asking('addBars'),
      readBars: asking('readBars'),
      keep: asking('keep'),
      part: asking('part'),
    },
    progress(bar) {
      // Runs look at the clock every few milliseconds, and with it tell how far they are.
      const now = performance.now()
      if (bar < told) told = 0
      if (bar - told < PROGRESS_BARS && now - toldAt < PROGRESS_MS) return
      told = bar
      toldAt = now
      tell({ from: 'progress', bar })
    },
    used(bytes) {
      // Keeps the highest count, since that says whether there is garbage to collect.
      used[USED.bytes] = Math.max(used[USED.bytes] ?? 0, bytes)
    },
  }
}

async function answer(
  kinds: Partial<Kinds>,
  { kind, job }: ToWorker & { readonly to: 'job' },
  desk: Desk,
): Promise<Said> {
  try {
    const work = (kinds as Record<string, ((job: unknown, desk: Desk) => unknown) | undefined>)[kind]
    if (!work) throw new Error(`there is no job of the kind ${kind}`)
    return { from: 'done', answer: await work(job, desk) }
  } catch (error) {
    if (error instanceof Refused) return { from: 'refused' }
    if (error instanceof Problem) {
      const { status, code, message, details } = error
      return { from: 'problem', status, code, message, details }
    }
    return { from: 'failure', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
