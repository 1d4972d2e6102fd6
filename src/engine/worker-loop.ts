// A worker's side: does one job at a time and answers. `worker.ts` gives it the real kinds of jobs.

import { Problem } from '../lib/problem.ts'
import type { FromWorker, Host, JobKind, Jobs, ToWorker } from './job.ts'

declare const self: Worker

/** What a job has of the server: its questions, and where it tells how far it is and how much it took. */
export interface Desk {
  /** The host's functions; each call goes to the server and back. */
  readonly host: {
    readonly [N in keyof Host]: (...args: Parameters<Host[N]>) => Promise<Awaited<ReturnType<Host[N]>>>
  }
  readonly progress: (bar: number) => void
  readonly used: (bytes: number) => void
}

export type Kinds = {
  readonly [K in JobKind]: (job: Jobs[K]['job'], desk: Desk) => Jobs[K]['answer'] | Promise<Jobs[K]['answer']>
}

/** Progress is told at most once in so many bars: a message costs 10 us, a bar less. */
const PROGRESS_BARS = 5000

export function serveJobs(kinds: Partial<Kinds>): void {
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let asked = 0

  function ask(name: string, args: readonly unknown[]): Promise<unknown> {
    const id = ++asked
    tell({ from: 'question', id, name, args })
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  }

  self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.to === 'job') {
      void answer(kinds, data, ask).then(tell)
      return
    }
    const asker = waiting.get(data.id)
    waiting.delete(data.id)
    if (data.to === 'reply') asker?.resolve(data.value)
    else asker?.reject(new Error(data.message))
  }
}

function tell(message: FromWorker): void {
  self.postMessage(message)
}

async function answer(
  kinds: Partial<Kinds>,
  { kind, job, used }: ToWorker & { readonly to: 'job' },
  ask: (name: string, args: readonly unknown[]) => Promise<unknown>,
): Promise<FromWorker> {
  let told = 0
  const question =
    (name: string) =>
    (...args: unknown[]) =>
      ask(name, args)
  const desk = {
    host: { library: question('library'), series: question('series'), finer: question('finer') },
    progress(bar: number) {
      if (bar - told < PROGRESS_BARS) return
      told = bar
      tell({ from: 'progress', bar })
    },
    used(bytes: number) {
      used[0] = bytes
    },
  }
  try {
    const work = (kinds as Record<string, ((job: unknown, desk: unknown) => unknown) | undefined>)[kind]
    if (!work) throw new Error(`there is no job of the kind ${kind}`)
    return { from: 'done', answer: await work(job, desk) }
  } catch (error) {
    if (error instanceof Problem) {
      const { status, code, message, details } = error
      return { from: 'problem', status, code, message, details }
    }
    return { from: 'failure', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
