// A way to PostgreSQL that can be cut: what a network does to a server and its database.

import type { Socket } from 'bun'

export interface Proxy {
  /** The same database, by this way. */
  readonly url: string
  /** So many pieces of answers still come through; the next one is lost, and its connection with it. 0 = that was that. */
  loseAnswer(at: number): void
  /** Every answer comes so much later, as from a database that is far away. */
  delay(ms: number): void
  /** Nothing comes through any more, either way, and nobody is told. */
  silence(): void
  /** Nobody listens; who was connected is cut off. */
  close(): void
  /** As it was in the beginning. */
  open(): void
  stop(): void
}

interface Line {
  readonly client: Outgoing
  /** null: the database does not listen. */
  readonly server: Promise<Outgoing | null>
  silent: boolean
}

/** One end of a line. What its socket does not take at once waits: a socket says how much it took, and forgets the rest. */
class Outgoing {
  readonly socket: Socket<Line>
  #waiting: Uint8Array[] = []

  constructor(socket: Socket<Line>) {
    this.socket = socket
  }

  write(bytes: Uint8Array): void {
    // The caller's bytes are only lent to it.
    this.#waiting.push(Uint8Array.from(bytes))
    if (this.#waiting.length === 1) this.drain()
  }

  drain(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const taken = Math.max(0, this.socket.write(next))
      if (taken < next.length) {
        this.#waiting[0] = next.subarray(taken)
        return
      }
      this.#waiting.shift()
    }
  }
}

/** `url` names the folder of the database's socket. */
export function postgresProxy(url: string): Proxy {
  const path = `${new URL(url).searchParams.get('path')}/.s.PGSQL.5432`
  const lines = new Set<Line>()
  let isSilent = false
  let toLose = 0
  let delayMs = 0
  const listen = (port: number) =>
    Bun.listen<Line>({
      hostname: '127.0.0.1',
      port,
      socket: {
        open(client) {
          const line: Line = {
            client: new Outgoing(client),
            server: connected(() => line),
            silent: isSilent,
          }
          client.data = line
          lines.add(line)
        },
        async data({ data }, bytes) {
          const copy = Uint8Array.from(bytes)
          const server = await data.server
          if (!data.silent) server?.write(copy)
        },
        drain: ({ data }) => data.client.drain(),
        async close({ data }) {
          lines.delete(data)
          ;(await data.server)?.socket.end()
        },
      },
    })
  const connect = (lineOf: () => Line) =>
    Bun.connect<Line>({
      unix: path,
      data: undefined as never,
      socket: {
        data(_, bytes) {
          const line = lineOf()
          if (line.silent) return
          if (toLose > 0 && --toLose === 0) line.client.socket.terminate()
          else if (delayMs === 0) line.client.write(bytes)
          else {
            const copy = Uint8Array.from(bytes)
            // Timers of the same length go off in their order.
            setTimeout(() => line.client.write(copy), delayMs)
          }
        },
        async drain() {
          ;(await lineOf().server)?.drain()
        },
        close() {
          lineOf().client.socket.end()
        },
      },
    })
  const connected = async (lineOf: () => Line) => {
    try {
      return new Outgoing(await connect(lineOf))
    } catch {
      lineOf().client.socket.terminate()
      return null
    }
  }
  let listener: ReturnType<typeof listen> | null = listen(0)
  const { port } = listener
  const target = new URL(url)
  target.searchParams.delete('path')
  target.hostname = '127.0.0.1'
  target.port = String(port)
  const close = () => {
    listener?.stop(true)
    listener = null
    for (const { client } of lines) client.socket.terminate()
  }
  return {
    url: target.href,
    loseAnswer: (at) => (toLose = at),
    delay: (ms) => (delayMs = ms),
    silence() {
      isSilent = true
      for (const line of lines) line.silent = true
    },
    close,
    open() {
      isSilent = false
      listener ??= listen(port)
    },
    stop: close,
  }
}
