// One stream of events for all tabs. It runs in a shared worker, or in the tab itself in browsers without shared workers.
//
// Over HTTP/1.1 a browser opens at most six connections to a host, in all tabs together. If each tab had a stream, the
// seventh would never load. The hub holds one for all tabs, and closes it when no tab has been visible for a while. When
// one is visible again it reopens the stream after the last event it saw: the server keeps events for clients that come
// back, and sends `resync` if it no longer has them.

const LIVE_EVENTS = ['bars', 'forming', 'firing', 'backtest', 'sweep', 'drawings', 'layout'] as const
export type LiveEvent = (typeof LIVE_EVENTS)[number]

/**
 * A message from a tab. It sends `join` again when another user has signed in. `after` is the last event before the tab
 * requested the data it shows; null = only events from now on.
 */
export type FromTab =
  | {
      readonly say: 'join'
      readonly url: string
      readonly user: string
      readonly visible: boolean
      readonly after: string | null
    }
  | { readonly say: 'visible'; readonly visible: boolean }
  | { readonly say: 'leave' }

/** A message to a tab; `resync` says that events were missed, `broken` that the stream has ended, perhaps with the server. */
export type ToTab =
  { readonly event: LiveEvent; readonly data: unknown } | { readonly event: 'resync' | 'broken' }

/** A tab's end of the connection to the hub. */
export interface Tab {
  readonly send: (message: ToTab) => void
}

/** The part of EventSource that the hub uses. */
export interface Stream {
  readonly readyState: number
  addEventListener(event: string, listener: (message: { data?: string; lastEventId?: string }) => void): void
  close(): void
}

const CLOSED = 2
const RETRY_MS = 5000
const RETRY_MOST_MS = 60_000
/** How many events are kept for tabs that join. */
const KEPT = 256

export class LiveHub {
  readonly #open: (url: string) => Stream
  readonly #hiddenMs: number
  readonly #tabs = new Map<Tab, { readonly user: string; visible: boolean }>()
  #url = ''
  #user = ''
  #stream: Stream | null = null
  /** Id of the last event seen; null = start with the next one. */
  #last: string | null = null
  /** The newest events of the stream, oldest first. */
  #kept: { readonly id: string; readonly message: ToTab }[] = []
  #closing: ReturnType<typeof setTimeout> | undefined
  #retrying: ReturnType<typeof setTimeout> | undefined
  #failures = 0

  /** `hiddenMs`: how long the stream stays open while no tab is visible. */
  constructor(open: (url: string) => Stream, hiddenMs: number) {
    this.#open = open
    this.#hiddenMs = hiddenMs
  }

  hear(tab: Tab, message: FromTab): void {
    switch (message.say) {
      case 'join':
        this.#tabs.set(tab, { user: message.user, visible: message.visible })
        if (message.user !== this.#user || message.url !== this.#url)
          this.#begin(message.url, message.user, message.after)
        else if (message.after !== null) this.#catchUp(tab, message.after)
        break
      case 'visible': {
        const member = this.#tabs.get(tab)
        if (member) member.visible = message.visible
        break
      }
      case 'leave':
        this.#tabs.delete(tab)
    }
    this.#update()
  }

  /** A stream belongs to one user, so the last event seen for another one means nothing here. */
  #begin(url: string, user: string, after: string | null): void {
    this.#close()
    this.#url = url
    this.#user = user
    this.#last = after
    this.#kept = []
    this.#failures = 0
  }

  /** A tab that joins gets the events since it requested the data it shows. */
  #catchUp(tab: Tab, after: string): void {
    if (this.#kept.length === KEPT && isLater(this.#kept[0]!.id, after)) tab.send({ event: 'resync' })
    else for (const { id, message } of this.#kept) if (isLater(id, after)) tab.send(message)
  }

  #update(): void {
    const isSeen = [...this.#tabs.values()].some(({ visible }) => visible)
    if (isSeen || this.#tabs.size === 0) {
      clearTimeout(this.#closing)
      this.#closing = undefined
    }
    if (this.#tabs.size === 0) this.#begin('', '', null)
    else if (isSeen) {
      if (this.#retrying === undefined) this.#connect()
    } else if (this.#stream || this.#retrying !== undefined)
      this.#closing ??= setTimeout(() => {
        this.#closing = undefined
        this.#close()
      }, this.#hiddenMs)
  }

  #close(): void {
    this.#stream?.close()
    this.#stream = null
    clearTimeout(this.#retrying)
    this.#retrying = undefined
  }

  #connect(): void {
    if (this.#stream) return
    const url = new URL(this.#url)
    if (this.#last !== null) url.searchParams.set('after', this.#last)
    const stream = this.#open(url.href)
    this.#stream = stream
    for (const event of LIVE_EVENTS)
      stream.addEventListener(event, ({ data = '', lastEventId = '' }) => {
        const message = { event, data: JSON.parse(data) as unknown }
        // A forming bar is news only now: it has no id, and nobody who comes later is told of it.
        if (event === 'forming') return this.#tell(message)
        this.#last = lastEventId
        this.#kept = [...this.#kept.slice(1 - KEPT), { id: lastEventId, message }]
        this.#tell(message)
      })
    stream.addEventListener('resync', ({ lastEventId = '' }) => {
      this.#last = lastEventId
      this.#tell({ event: 'resync' })
    })
    stream.addEventListener('hello', ({ lastEventId = '' }) => {
      this.#failures = 0
      if (lastEventId !== '') this.#last = lastEventId
    })
    // The browser reconnects by itself when a stream breaks, but not when the server refused it.
    stream.addEventListener('error', () => {
      if (stream !== this.#stream) return
      this.#tell({ event: 'broken' })
      if (stream.readyState === CLOSED) this.#retry()
    })
  }

  #retry(): void {
    this.#close()
    const wait = Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** this.#failures++)
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      this.#update()
    }, wait)
  }

  #tell(message: ToTab): void {
    for (const [tab, { user }] of this.#tabs) if (user === this.#user) tab.send(message)
  }
}

/** Ids of one server are its name, a dot and a growing number. An id of another server cannot be compared. */
function isLater(id: string, than: string): boolean {
  const [name, number] = id.split('.')
  const [other, place] = than.split('.')
  return name !== other || Number(number) > Number(place)
}
