// The page's end of the worker. A worker of a data: address has an origin that is nobody's, so it has no storage, and inherits the
// page's policy, so it has no network; a script that never ends goes with it.
//
// The address holds one line, which runs the first message that comes. With the engine itself in it, 940 kB of base64, the page
// took 190 ms of its processor to start the worker, a fifth of all that it takes to open.

import type { Asked, Question, Questions, Refused, Told } from './messages.ts'

/** What the worker refused, or that it was stopped. */
export class Refusal extends Error {
  readonly code: string
  readonly diagnostics: Refused['diagnostics']

  constructor({ code, message, diagnostics }: Refused) {
    super(message)
    this.code = code
    this.diagnostics = diagnostics
  }
}

interface Waiting {
  readonly resolve: (answer: never) => void
  readonly reject: (error: Refusal) => void
  readonly progress: (part: number) => void
}

/** The engine sets another `onmessage`, for all that comes after it. */
const FIRST_LINE = 'data:text/javascript,onmessage=({data})=>(0,eval)(data)'

export class EngineClient {
  readonly #engine: string
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker
  #asked = 0

  constructor(text: string) {
    this.#engine = text
    this.#worker = this.#started()
  }

  /** Rejects with Refusal. */
  ask<Q extends Question>(
    what: Q,
    ask: Questions[Q]['ask'],
    progress: (part: number) => void = () => {},
  ): Promise<Questions[Q]['answer']> {
    const id = ++this.#asked
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, progress })
      this.#worker.postMessage({ id, what, ask } satisfies Asked<Q>)
    })
  }

  /** Ends whatever it does; all that was asked is refused with this. */
  stop(message: string): void {
    this.#worker.terminate()
    this.#worker = this.#started()
    this.#refuseAll({ code: 'stopped', message, diagnostics: [] })
  }

  #started(): Worker {
    const worker = new Worker(FIRST_LINE)
    worker.postMessage(this.#engine)
    worker.onmessage = ({ data }: { readonly data: Told }) => this.#heard(data)
    worker.onerror = (event) => {
      event.preventDefault()
      this.#refuseAll({
        code: 'internal_error',
        message: `The engine failed: ${event.message || 'this browser starts no worker here'}.`,
        diagnostics: [],
      })
    }
    return worker
  }

  #refuseAll(refused: Refused): void {
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of all) reject(new Refusal(refused))
  }

  #heard(told: Told): void {
    const waiting = this.#waiting.get(told.id)
    if (!waiting) return
    if ('progress' in told) return waiting.progress(told.progress)
    this.#waiting.delete(told.id)
    if ('refused' in told) waiting.reject(new Refusal(told.refused))
    else waiting.resolve(told.answer as never)
  }
}
