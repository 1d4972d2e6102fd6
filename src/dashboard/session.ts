// The signed-in user. `undefined` = not known yet, null = nobody.

import type { User } from '../wire/account.ts'
import { signal } from '@preact/signals'
import { ApiError, call, isAway, watchCalls } from './api-client.ts'
import { Offline } from './offline/offline.ts'
import { belongTo } from './settings.ts'

export type { User }

/** What is kept for when the server is away. */
export const offline = new Offline()

export const user = signal<User | null | undefined>(undefined)
/** Whether nobody is signed in: then a shared page is all there is to see. */
export const visiting = (): boolean => user.value === null
/** Who may sign up: the first user (who will own the server), everybody, or those with an invitation. */
export const signUpState = signal<'owner' | 'open' | 'invited'>('invited')

/** Whether signing up takes a code, from an invitation or the setup link. The first user on the server's own machine needs none. */
export const signUpNeedsCode = signal(true)

/**
 * The newest event when the page asked who is signed in; everything it shows was requested later. Null once a stream has
 * begun.
 */
export const newestEvent = signal<string | null>(null)

function welcome(next: User | null): void {
  if (next) {
    belongTo(next.id)
    offline.start().catch(() => undefined)
  }
  user.value = next
}

export async function loadSession(): Promise<void> {
  try {
    const visitor = await call('GET /api/auth/visitor')
    signUpNeedsCode.value = visitor.needsCode
    signUpState.value = visitor.signUp
    if (!user.peek()) newestEvent.value = visitor.newestEvent
    // The session has ended elsewhere: what is kept of it goes, too.
    if (visitor.user === null) await offline.forget()
    welcome(visitor.user)
  } catch (error) {
    // A server that cannot answer just now does not say that nobody is signed in.
    if (isAway(error) && !(error instanceof ApiError && error.status === 401)) throw error
    user.value = null
  }
}

/** Admits a user who has just signed in or up, before which the page could not learn the newest event. */
export async function enter(next: User): Promise<void> {
  if (!user.peek())
    newestEvent.value = await call('GET /api/auth/visitor').then(
      (visitor) => visitor.newestEvent,
      () => null,
    )
  welcome(next)
}

/** Asks for the password after the session has ended. Called with whether the requests that failed are repeated. */
export const signInAgain = signal<((goOn: boolean) => void) | null>(null)
/** All requests refused meanwhile wait for the same answer. */
let waiting: Promise<boolean> | null = null
/** After "not now", only an action of the user asks again, not what loads by itself. */
let declined = false

function onSignedOut(method: string): Promise<boolean> {
  if (!user.peek() || (declined && method === 'GET')) return Promise.resolve(false)
  waiting ??= new Promise((resolve) => {
    signInAgain.value = (goOn) => {
      signInAgain.value = null
      waiting = null
      declined = !goOn
      resolve(goOn)
    }
  })
  return waiting
}

/** True while the server does not answer. */
export const unreachable = signal(false)
/** Whether something could not be asked for while the server was away, which it no longer is. */
export const canAskAgain = (problem: unknown): boolean =>
  !unreachable.value && problem instanceof ApiError && problem.status === 0
const RETRY_LEAST_MS = 1000
const RETRY_MOST_MS = 30_000

/** Asks whether the server is there, where something other than a call suggests that it is not: the page says so at once. */
export function lookForServer(): void {
  if (!unreachable.peek()) call('GET /api/health').catch(() => undefined)
}

function onReached(reached: boolean): void {
  if (!reached && !unreachable.peek()) retryAfter(RETRY_LEAST_MS)
  // A server that was away may be another version by now.
  if (reached && unreachable.peek()) offline.look().catch(() => undefined)
  unreachable.value = !reached
}

/** Asks again after ever longer pauses, until this or any other call gets through. */
function retryAfter(ms: number): void {
  setTimeout(() => {
    if (!unreachable.peek()) return
    call('GET /api/health')
      .catch(() => undefined)
      .finally(() => {
        if (unreachable.peek()) retryAfter(Math.min(RETRY_MOST_MS, ms * 2))
      })
  }, ms)
}

watchCalls({
  onReached,
  onSignedOut,
  onAnswer: (operation, args, answer) => void offline.keep(operation, args, answer).catch(() => undefined),
  onAway: (operation, args) => offline.find(operation, args).catch(() => null),
})
