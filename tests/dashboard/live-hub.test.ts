// The one stream of all tabs, against a stream that the test plays. Time is the runner's fake timers.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { LiveHub, type FromTab, type Stream, type ToTab } from '../../src/dashboard/live-hub.ts'

class PlayedStream implements Stream {
  readyState = 1
  readonly url: URL
  readonly #listeners = new Map<string, (message: { data?: string; lastEventId?: string }) => void>()
  constructor(url: string) {
    this.url = new URL(url)
  }
  addEventListener(event: string, listener: (message: { data?: string; lastEventId?: string }) => void) {
    this.#listeners.set(event, listener)
  }
  play(event: string, lastEventId = '', data: unknown = {}) {
    this.#listeners.get(event)?.({ data: JSON.stringify(data), lastEventId })
  }
  close() {
    this.readyState = 2
  }
}

let streams: PlayedStream[]
let hub: LiveHub
const open = () => streams.filter(({ readyState }) => readyState !== 2)
const newest = () => streams.at(-1) as PlayedStream

function tab(user = 'usr_1', visible = true, after: string | null = null) {
  const heard: ToTab[] = []
  const line = { send: (message: ToTab) => void heard.push(message) }
  const say = (message: FromTab) => hub.hear(line, message)
  const join = (name = user) => say({ say: 'join', url: 'http://x/stream', user: name, visible, after })
  join()
  return {
    heard,
    join,
    look: (on: boolean) => say({ say: 'visible', visible: on }),
    leave: () => say({ say: 'leave' }),
  }
}

beforeEach(() => {
  jest.useFakeTimers()
  streams = []
  hub = new LiveHub((url) => {
    streams.push(new PlayedStream(url))
    return newest()
  }, 60_000)
})
afterEach(() => jest.useRealTimers())

test('all tabs share one stream, and each hears everything', () => {
  const tabs = Array.from({ length: 8 }, () => tab())
  expect(streams).toHaveLength(1)
  newest().play('firing', 'a.1', { message: 'up' })
  for (const { heard } of tabs) expect(heard).toEqual([{ event: 'firing', data: { message: 'up' } }])
})

test('a tab that joins hears what came since it asked for what it shows, and nothing twice', () => {
  const first = tab('usr_1', true, 'a.7')
  expect(newest().url.searchParams.get('after')).toBe('a.7')
  for (const id of ['a.8', 'a.9', 'a.10']) newest().play('firing', id, { message: id })
  const late = tab('usr_1', true, 'a.8')
  expect(late.heard).toEqual(first.heard.slice(1))
  newest().play('firing', 'a.11', { message: 'all' })
  expect([first.heard.length, late.heard.length]).toEqual([4, 3])
  // Whose page was served before all that is still known asks for everything.
  for (let i = 12; i < 300; i++) newest().play('bars', `a.${i}`)
  expect(tab('usr_1', true, 'a.11').heard).toEqual([{ event: 'resync' }])
  expect(tab('usr_1', true, 'a.299').heard).toEqual([])
})

test('the tabs hear that the stream broke, whether the browser opens it again or not', () => {
  const [one, another] = [tab(), tab()]
  const broken = newest()
  broken.play('error')
  broken.readyState = 2
  broken.play('error')
  const twice = [{ event: 'broken' }, { event: 'broken' }]
  expect([one.heard, another.heard]).toEqual([twice, twice] as ToTab[][])
  jest.advanceTimersByTime(5000)
  broken.play('error')
  expect([streams.length, one.heard.length]).toEqual([2, 2])
})

test('it outlives the tab that was first, and ends with the last', () => {
  const [first, second] = [tab(), tab()]
  first.leave()
  newest().play('firing', 'a.1')
  expect(second.heard).toHaveLength(1)
  second.leave()
  expect(open()).toEqual([])
  tab()
  expect(newest().url.search).toBe('')
})

test('the stream is closed when no tab was looked at for a while, and goes on after the last event when one is', () => {
  const [one, two] = [tab(), tab()]
  newest().play('hello', 'a.3')
  newest().play('bars', 'a.4')
  one.look(false)
  jest.advanceTimersByTime(120_000)
  expect(open()).toHaveLength(1)
  two.look(false)
  jest.advanceTimersByTime(59_000)
  expect(open()).toHaveLength(1)
  jest.advanceTimersByTime(2000)
  expect(open()).toEqual([])
  two.look(true)
  expect(newest().url.searchParams.get('after')).toBe('a.4')
  newest().play('resync', 'b.9')
  expect([one, two].map(({ heard }) => heard.at(-1))).toEqual([{ event: 'resync' }, { event: 'resync' }])
})

test('a tab that was opened in the background opens none', () => {
  tab('usr_1', false)
  expect(streams).toEqual([])
})

test('one that was refused is asked for again, ever less often; one that broke is the browser’s to open', () => {
  const one = tab()
  newest().play('hello', 'a.1')
  newest().readyState = 0
  newest().play('error')
  jest.advanceTimersByTime(600_000)
  expect(streams).toHaveLength(1)
  const refuse = () => {
    newest().readyState = 2
    newest().play('error')
  }
  refuse()
  for (const wait of [5, 10, 20, 40, 60, 60]) {
    jest.advanceTimersByTime(wait * 1000 - 1)
    expect(open()).toEqual([])
    // Looking at it does not ask sooner.
    one.look(true)
    expect(open()).toEqual([])
    jest.advanceTimersByTime(1)
    expect(open()).toHaveLength(1)
    expect(newest().url.searchParams.get('after')).toBe('a.1')
    refuse()
  }
})

test('another user has another stream, and hears nothing of the first one’s', () => {
  const one = tab()
  newest().play('hello', 'a.1')
  const other = tab('usr_2')
  expect(open()).toHaveLength(1)
  expect(newest().url.search).toBe('')
  newest().play('firing', 'a.2')
  expect([one.heard.length, other.heard.length]).toEqual([0, 1])
})
