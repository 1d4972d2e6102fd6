// Servers as clients and faults see them: they start, are killed, stop, and answer requests while they live.

import type { Fleet } from '../store/postgres/fleet.ts'
import { readConfig, type Config } from '../server/config.ts'
import { serveFrom, type App } from '../server/serve.ts'
import { DEFAULT_RATES } from '../http/limits.ts'
import type { History } from './history.ts'
import type { Keeping } from './keeping.ts'
import { Life, type Skew } from './life.ts'
import type { Receivers } from './receivers.ts'
import type { Timeline } from './timeline.ts'

export interface Answer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  readonly cookie: string | null
  /** It is what the database said before it was away. */
  readonly isOld: boolean
  readonly life: Life
}

interface Call {
  readonly body?: unknown
  readonly cookie?: string | undefined
  /** Whether it need not be done when the answer comes. */
  readonly isForLater?: boolean
}

/** It seals nothing: real sealing is done on other threads. */
const OPEN_BOX = { seal: async (text: string) => text, open: async (text: string) => text }
/** How long a server that was killed is away, at most. */
const AWAY_MS = 20_000

const FLAGS = {
  signup: 'open',
  'smtp-url': 'smtp://mail.example',
  'mail-from': 'chartroom@example.com',
  workers: '1',
  'log-level': 'info',
  ...Object.fromEntries(Object.keys(DEFAULT_RATES).map((rate) => [`rate-${rate}`, '0'])),
}

function settings(): Config {
  const { config, mistakes } = readConfig(FLAGS, {})
  if (mistakes.length > 0) throw new Error(mistakes.join(' '))
  return config
}

export class Server {
  readonly name: string
  life: Life | null = null
  /** Requests and answers are lost while it is cut off from its clients. */
  isCutOff = false
  readonly skew: Skew
  readonly #timeline: Timeline
  readonly #keeping: Keeping
  readonly #receivers: Receivers
  readonly #history: History
  /** null: it is alone, or not up yet. */
  fleet: Fleet | null = null
  #app: App | null = null
  /** Requests under way. */
  readonly #answering = new Set<Promise<unknown>>()

  constructor(
    name: string,
    timeline: Timeline,
    history: History,
    keeping: Keeping,
    receivers: Receivers,
    skew: Skew,
  ) {
    this.#history = history
    this.name = name
    this.skew = skew
    this.#timeline = timeline
    this.#keeping = keeping
    this.#receivers = receivers
  }

  get answers(): boolean {
    return this.#app !== null && this.life !== null && !this.life.isOver
  }

  /** Starts it, and again whenever it has ended. */
  async keepUp(): Promise<void> {
    for (;;) {
      const life = new Life(this.name, this.#timeline, this.skew)
      this.life = life
      this.#timeline.tell(this.name, 'starts')
      this.#live(life).catch((error: unknown) => {
        if (!life.isOver) this.#timeline.tell(this.name, `does not start: ${String(error)}`)
        life.finish(true)
      })
      await life.ended
      this.#app = null
      this.fleet = null
      this.#answering.clear()
      await this.#keeping.ended(life)
      await this.#timeline.pause(this.#timeline.between(100, AWAY_MS))
    }
  }

  async #live(life: Life): Promise<void> {
    const timeline = this.#timeline
    const world = life.world(this.#receivers.networkOf(life), (choices) =>
      this.#history.tries(life, choices, this.#keeping.shardsChangedAt()),
    )
    const store = await life.whileAlive(() => this.#keeping.open(life, world))
    this.fleet = store.fleet
    await serveFrom(
      store,
      world,
      settings(),
      {
        log: (level, message, fields = {}) => {
          if (life.isOver || level === 'debug') return
          const line = `${message} ${JSON.stringify(fields)}`
          timeline.tell(this.name, line)
          this.#history.logged(line)
        },
        box: OPEN_BOX,
        backup: null,
        dashboard: () => null,
      },
      (app) => {
        const drained = async () => {
          // From here on nobody is let in, and who is in gets an answer.
          if (this.#app === app) this.#app = null
          await Promise.all(this.#answering)
          return app
        }
        Object.assign(app, { stop: drained })
        if (!life.isOver) this.#app = app
        return null
      },
    )
  }

  kill(): void {
    this.#timeline.tell(this.name, 'is killed')
    this.life?.finish(true)
  }

  standStill(ms: number): void {
    if (this.life) this.life.standsUntil = this.#timeline.now + ms
  }

  stop(): void {
    this.#timeline.tell(this.name, 'is asked to stop')
    this.life?.stop()
  }

  /**
   * null: no answer came, and whether it was done is not known. By then it is either done or never will be, as far as this
   * server is concerned.
   */
  async call(
    method: string,
    path: string,
    { body, cookie, isForLater = false }: Call = {},
  ): Promise<Answer | null> {
    const timeline = this.#timeline
    await timeline.pause(timeline.between(1, 40))
    const { life } = this
    const app = this.#app
    if (!app || !life || life.isOver || this.isCutOff) return null
    await timeline.pause(life.standsUntil - timeline.now)
    const raw = typeof body === 'string'
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': raw ? 'text/csv' : 'application/json' }),
        ...(cookie !== undefined && { cookie }),
        ...(isForLater && { prefer: 'respond-async' }),
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    })
    const answered = life.whileAlive(async (): Promise<Answer> => {
      const response = await app.handle(request)
      const text = await response.text()
      return {
        status: response.status,
        json: text.startsWith('{') ? JSON.parse(text) : null,
        isOld: response.headers.has('age'),
        life,
        cookie: /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? null,
      }
    })
    // What nobody in the server has caught is answered by whatever is around it.
    const settled = answered
      .catch((error: unknown) => ({ status: 500, json: String(error), cookie: null, isOld: false, life }))
      .finally(() => this.#answering.delete(settled))
    this.#answering.add(settled)
    const answer = await Promise.race([settled, life.ended.then(() => null)])
    await timeline.pause(timeline.between(1, 40))
    return this.isCutOff ? null : answer
  }
}
